import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Clock } from '#ports/clock';
import type { Queues, Received } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { QueueSource } from '#runtime/topology';
import type { Gate } from './gate.ts';

export type QueueHandler = (event: SQSEvent) => Promise<SQSBatchResponse | undefined>;

/** Feeds a queue to a function, as Lambda's event source mapping does. */
export interface EventSource {
  /** Takes no new batch and waits for those at work. */
  stop(): Promise<void>;
  readonly queue: string;
}

/** A reason of its own: without one, every abort makes an exception with a stack that nobody reads. */
const answered = 'answered';
const shut = 'shut';

const waitMs = 20_000;
const restAfterFailureMs = 200;
/** Before it looks again whether its channel has been opened. */
const restWhileShutMs = 1_000;

/** Who sent a message, where the channel has nobody to tell senders apart. */
const localSenderId = 'local';

export interface EventSourceOptions {
  readonly queues: Queues;
  readonly gate: Gate;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly onFatal: (error: unknown) => void;
}

export function startEventSource(
  source: QueueSource,
  handler: QueueHandler,
  { queues, gate, clock, telemetry, onFatal }: EventSourceOptions,
): EventSource {
  const stopping = new AbortController();
  /** Of all that wait for something to come. */
  let waiting = new AbortController();
  gate.onShut(source.queue, () => {
    waiting.abort(shut);
    waiting = new AbortController();
  });

  const poll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await gate.isShut(source.queue)) {
          await clock.sleep(restWhileShutMs, stopping.signal);
          continue;
        }
        const messages = await queues.receive(source.queue, {
          max: source.batchSize,
          visibilityMs: source.visibilityMs,
          waitMs,
          signal: waiting.signal,
        });
        // It may have been closed in the very moment in which something came.
        if (messages.length > 0 && (await gate.isShut(source.queue))) await queues.release(source.queue, receiptsOf(messages), 0);
        else if (messages.length > 0) await settle(messages, await handled(messages));
      } catch (error) {
        if ((error as { fatal?: boolean }).fatal) return onFatal(error);
        telemetry.log('warn', 'event source rests', { queue: source.queue, error });
        await clock.sleep(restAfterFailureMs, stopping.signal);
      }
    }
  };

  const settle = async (messages: readonly Received[], processed: readonly string[]): Promise<void> => {
    await queues.acknowledge(source.queue, processed);
    if (!stopping.signal.aborted || processed.length === messages.length) return;
    // Given up because the host stops: another one may take it at once.
    const open = receiptsOf(messages).filter((receipt) => !processed.includes(receipt));
    await queues.release(source.queue, open, 0);
  };

  /** A function may be at work for longer than a message stays invisible; nobody else is to begin it meanwhile. */
  const keepInvisible = async (messages: readonly Received[], ended: AbortSignal): Promise<void> => {
    for (;;) {
      await clock.sleep(source.visibilityMs / 2, ended);
      if (ended.aborted) return;
      await queues.release(source.queue, receiptsOf(messages), source.visibilityMs);
    }
  };

  /** Receipts of what was processed. The rest becomes visible again by itself when its time is over. */
  const handled = async (messages: readonly Received[]): Promise<readonly string[]> => {
    const atWork = new AbortController();
    keepInvisible(messages, atWork.signal).catch(() => undefined);
    try {
      const response = await handler(queueEvent(source.queue, messages));
      const failed = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      return messages.filter(({ messageId }) => !failed.has(messageId)).map(({ receipt }) => receipt);
    } catch (error) {
      telemetry.log('error', 'function failed', { queue: source.queue, error });
      return [];
    } finally {
      atWork.abort(answered);
    }
  };

  const polls = Array.from({ length: source.concurrency }, poll);
  return {
    queue: source.queue,
    async stop() {
      stopping.abort();
      waiting.abort(shut);
      await Promise.all(polls);
    },
  };
}

const receiptsOf = (messages: readonly Received[]): readonly string[] => messages.map(({ receipt }) => receipt);

/** What Lambda hands to a function. */
export const queueEvent = (queue: string, messages: readonly Received[]): SQSEvent => ({
  Records: messages.map(({ messageId, body, receiveCount, sentAt, senderId = localSenderId, group, receipt }) => ({
    messageId,
    body,
    receiptHandle: receipt,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(sentAt),
      SenderId: senderId,
      ApproximateFirstReceiveTimestamp: String(sentAt),
      ...(group === undefined ? {} : { MessageGroupId: group }),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:local:000000000000:${queue}`,
    awsRegion: 'local',
  })),
});

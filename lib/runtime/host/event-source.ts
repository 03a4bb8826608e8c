import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { Queues, Received } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { QueueSource } from '#runtime/topology';
import type { Gate } from './gate.ts';

export type QueueHandler = (event: SQSEvent) => Promise<SQSBatchResponse | undefined>;

/** Part that delivers the messages of a queue to a function, like Lambda's event source mapping. */
export interface EventSource {
  /** Stops receiving and waits for the running batches. */
  stop(): Promise<void>;
  readonly queue: string;
}

/** Abort reasons as constants: without a reason, every abort creates an exception with a stack trace. */
const answered = 'answered';
const shut = 'shut';

const waitMs = 20_000;
const restAfterFailureMs = 200;
/** The pause before the next check of a closed channel. */
const restWhileShutMs = 1_000;

/** The sender id of messages on queues that do not record senders. */
const localSenderId = 'local';

interface Ports {
  readonly queues: Queues;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

export interface EventSourceOptions extends Ports {
  readonly gate: Gate;
  readonly onFatal: (error: unknown) => void;
}

export function startEventSource(
  source: QueueSource,
  handler: QueueHandler,
  { queues, gate, clock, telemetry, onFatal }: EventSourceOptions,
): EventSource {
  const ports = { queues, clock, telemetry };
  const stopping = new AbortController();
  /** Aborts all waiting receives. */
  let waiting = new AbortController();
  gate.onShut(source.queue, () => {
    waiting.abort(shut);
    waiting = new AbortController();
  });

  /** The numbers of receives that wait, and of messages that are being processed. */
  const load = { receiving: 0, messages: 0 };
  const messagesMax = source.concurrency * source.batchSize;
  const running = new Set<Promise<void>>();
  const start = (isExtra: boolean): void => {
    const ended: Promise<void> = poll(isExtra).finally(() => running.delete(ended));
    running.add(ended);
  };

  /** Receives one batch and processes it. */
  const round = async (): Promise<void> => {
    load.receiving += 1;
    const max = Math.max(1, Math.min(source.batchSize, messagesMax - load.messages));
    const messages = await queues
      .receive(source.queue, { max, visibilityMs: source.visibilityMs, waitMs, signal: waiting.signal })
      .finally(() => (load.receiving -= 1));
    if (messages.length === 0) return;
    load.messages += messages.length;
    // One slow message holds its whole batch. So another batch begins while the running batches have fewer messages than they could hold.
    if (load.receiving === 0 && load.messages < messagesMax && !stopping.signal.aborted) start(true);
    try {
      // The channel may have been closed during the receive.
      if (await gate.isShut(source.queue)) await queues.release(source.queue, receiptsOf(messages), 0);
      else await acknowledge(source, messages, await processed(source, messages, handler, ports), { queues, stopping: stopping.signal });
    } finally {
      load.messages -= messages.length;
    }
  };

  /** Receives until the source stops. An extra poll ends as soon as another poll waits for messages. */
  const poll = async (isExtra: boolean): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await gate.isShut(source.queue)) await clock.sleep(restWhileShutMs, stopping.signal);
        else await round();
      } catch (error) {
        if (isFatal(error)) return onFatal(error);
        telemetry.log('warn', 'polling failed, backing off', { queue: source.queue, error });
        await clock.sleep(restAfterFailureMs, stopping.signal);
      }
      if (isExtra && load.receiving > 0) return;
    }
  };

  for (let polls = 0; polls < source.concurrency; polls++) start(false);
  return {
    queue: source.queue,
    async stop() {
      stopping.abort();
      waiting.abort(shut);
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Acknowledges the processed messages of a batch. If the host stops, it releases the other messages. */
async function acknowledge(
  { queue }: QueueSource,
  messages: readonly Received[],
  done: readonly string[],
  { queues, stopping }: { readonly queues: Queues; readonly stopping: AbortSignal },
): Promise<void> {
  await queues.acknowledge(queue, done);
  if (!stopping.aborted || done.length === messages.length) return;
  // Another host receives the released messages at once.
  const open = receiptsOf(messages).filter((receipt) => !done.includes(receipt));
  await queues.release(queue, open, 0);
}

/** Returns the receipts of the processed messages. The other messages become visible again after their timeout. */
async function processed(
  source: QueueSource,
  messages: readonly Received[],
  handler: QueueHandler,
  ports: Ports,
): Promise<readonly string[]> {
  const handling = new AbortController();
  keepInvisible(source, messages, handling.signal, ports).catch(() => undefined);
  try {
    const response = await handler(queueEvent(source.queue, messages));
    const failed = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return messages.filter(({ messageId }) => !failed.has(messageId)).map(({ receipt }) => receipt);
  } catch (error) {
    ports.telemetry.log('error', 'function failed', { queue: source.queue, error });
    return [];
  } finally {
    handling.abort(answered);
  }
}

/** Extends the visibility timeout while the function works, so that no other host receives the messages meanwhile. */
async function keepInvisible(
  source: QueueSource,
  messages: readonly Received[],
  ended: AbortSignal,
  { queues, clock }: Ports,
): Promise<void> {
  for (;;) {
    await clock.sleep(source.visibilityMs / 2, ended);
    if (ended.aborted) return;
    await queues.release(source.queue, receiptsOf(messages), source.visibilityMs);
  }
}

const receiptsOf = (messages: readonly Received[]): readonly string[] => messages.map(({ receipt }) => receipt);

/** Returns the event that Lambda would pass to a function. */
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

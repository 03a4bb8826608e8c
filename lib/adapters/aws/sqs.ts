import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Clock } from '#ports/clock';
import { queueFigures } from '#ports/limits';
import { delayMaxMs, groupOf, type Outgoing, type Queues, type Received, responseQueuePrefix } from '#ports/queues';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { type Backoff, backoffMs } from '#ports/util/backoff';

export interface SqsQueuesOptions {
  /** A client with `useQueueUrlAsEndpoint: false`. Otherwise the URL of a queue determines the endpoint. */
  readonly client: SQSClient;
  /** The prefix of this deployment's queue names. */
  readonly prefix: string;
  readonly clock: Clock;
}

/** A request holds at most ten entries, and one MiB in all. */
const { batchMax, messageBytesMax: batchBytesMax } = queueFigures;
const waitMaxSeconds = 20;
const visibilityMaxSeconds = queueFigures.hiddenMaxMs / 1000;
const attemptsMax = 4;
const pauseMs: Backoff = { first: 50, jitter: [0.5, 1] };

/** The time limit of a response, beyond the requested long polling. Milliseconds. */
const answerMs = 5000;

/**
 * How long a receiver that stops still waits for a response. SQS may already have delivered messages; an immediate abort would hide them
 * for their visibility timeout.
 */
const graceMs = 250;

/** The failure of one entry of a batch. */
interface Failure {
  readonly Id?: string | undefined;
  readonly SenderFault?: boolean | undefined;
  readonly Code?: string | undefined;
  readonly Message?: string | undefined;
}

/**
 * Queues on SQS. SQS counts times in whole seconds: a delayed or hidden message arrives up to a second late, never early. If a queue does
 * not exist, `receive` rejects.
 */
export function sqsQueues({ client, prefix, clock }: SqsQueuesOptions): Queues {
  const urls = new Map<string, Promise<string>>();
  const nameOf = (queue: string): string => (queue.startsWith(responseQueuePrefix) ? queue : prefix + queue);

  /** Returns the URL of a queue, read once. Queues are addressed by name alone, so that no message can choose a URL. */
  function urlOf(queue: string): Promise<string> {
    let url = urls.get(queue);
    if (!url) {
      url = client.send(new GetQueueUrlCommand({ QueueName: nameOf(queue) })).then(({ QueueUrl = '' }) => QueueUrl);
      urls.set(queue, url);
      url.catch(() => urls.delete(queue));
    }
    return url;
  }

  async function at<T>(queue: string, work: (url: string) => Promise<T>): Promise<T> {
    try {
      return await work(await urlOf(queue));
    } catch (error) {
      if (!(error instanceof QueueDoesNotExist)) throw error;
      // The queue may be created again, under another URL.
      urls.delete(queue);
      throw new Error(`Queue ${nameOf(queue)} does not exist.`, { cause: error });
    }
  }

  /** Sends entries in batches until all are accepted. SQS may accept some entries of a batch and refuse others. */
  async function inBatches<E extends { readonly Id?: string | undefined }>(
    entries: readonly E[],
    batches: (entries: readonly E[]) => readonly E[][],
    send: (batch: E[]) => Promise<readonly Failure[]>,
  ): Promise<void> {
    let open = entries;
    for (let attempt = 1; ; attempt++) {
      const failures = (await allSettledOrThrow(batches(open).map(send))).flat();
      if (failures.length === 0) return;
      const [first] = failures;
      const isHopeless = failures.some(({ SenderFault }) => SenderFault);
      if (isHopeless || attempt === attemptsMax) {
        throw new Error(`the queue refused ${failures.length} of ${entries.length} entries: ${first?.Code}: ${first?.Message ?? ''}`);
      }
      const ids = new Set(failures.map(({ Id }) => Id));
      open = open.filter(({ Id }) => ids.has(Id));
      await clock.sleep(backoffMs(pauseMs, attempt, Math.random()));
    }
  }

  const sendTo = (queue: string, messages: readonly Outgoing[]): Promise<void> =>
    at(queue, (url) =>
      inBatches(messages.map(entryOf), bySize, async (batch) => {
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: batch }));
        return Failed;
      }),
    );

  return {
    async send(messages) {
      const byQueue = Map.groupBy(messages, ({ queue }) => queue);
      await allSettledOrThrow([...byQueue].map(([queue, its]) => sendTo(queue, its)));
    },

    async receive(queue, { max, visibilityMs, waitMs, signal }) {
      if (signal?.aborted) return [];
      const cut = cutAfterGrace(signal);
      try {
        return await at(queue, async (url) => {
          const { Messages = [] } = await client.send(
            new ReceiveMessageCommand({
              QueueUrl: url,
              MaxNumberOfMessages: Math.min(max, batchMax),
              VisibilityTimeout: secondsOf(visibilityMs, visibilityMaxSeconds),
              WaitTimeSeconds: secondsOf(waitMs, waitMaxSeconds),
              MessageSystemAttributeNames: ['ApproximateReceiveCount', 'SentTimestamp', 'SenderId', 'MessageGroupId'],
            }),
            { abortSignal: cut.signal, requestTimeout: waitMs + answerMs },
          );
          return Messages.map(receivedOf);
        });
      } catch (error) {
        if (cut.signal.aborted) return [];
        throw error;
      } finally {
        cut.done();
      }
    },

    acknowledge: (queue, receipts) =>
      at(queue, (url) =>
        inBatches(receipts.filter(isReceipt).map(receiptEntry), inTens, async (batch) => {
          const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: batch }));
          return Failed.filter(isSerious);
        }),
      ),

    release: (queue, receipts, afterMs) =>
      at(queue, (url) =>
        inBatches(receipts.filter(isReceipt).map(receiptEntry), inTens, async (batch) => {
          const VisibilityTimeout = secondsOf(afterMs, visibilityMaxSeconds);
          const Entries = batch.map((entry) => ({ ...entry, VisibilityTimeout }));
          const { Failed = [] } = await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
          return Failed.filter(isSerious);
        }),
      ),

    /** Returns approximate counts. Only CloudWatch has the age of the oldest message, so `oldestAgeMs` is always 0. */
    depth: (queue) =>
      at(queue, async (url) => {
        const { Attributes = {} } = await client.send(
          new GetQueueAttributesCommand({
            QueueUrl: url,
            AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateNumberOfMessagesDelayed'],
          }),
        );
        const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible, ApproximateNumberOfMessagesDelayed } = Attributes;
        return {
          visible: Number(ApproximateNumberOfMessages ?? 0),
          inFlight: Number(ApproximateNumberOfMessagesNotVisible ?? 0),
          delayed: Number(ApproximateNumberOfMessagesDelayed ?? 0),
          oldestAgeMs: 0,
        };
      }),
  };
}

const secondsOf = (ms: number, max: number): number => Math.min(Math.ceil(ms / 1000), max);

const isReceipt = (receipt: string): boolean => receipt !== '';
const receiptEntry = (ReceiptHandle: string, index: number) => ({ Id: String(index), ReceiptHandle });
/** Whether a failed acknowledgment matters. A void receipt (`SenderFault`) does not: its message was redelivered, or is deleted. */
const isSerious = ({ SenderFault }: Failure): boolean => !SenderFault;

const entryOf = ({ body, delayMs = 0, group }: Outgoing, index: number): SendMessageBatchRequestEntry => ({
  Id: String(index),
  MessageBody: sendable(body),
  ...(delayMs > 0 ? { DelaySeconds: secondsOf(delayMs, delayMaxMs / 1000) } : {}),
  ...(group === undefined ? {} : { MessageGroupId: groupIdOf(group) }),
});

/** Escapes the two characters that JSON allows and SQS refuses. */
const sendable = (body: string): string => body.replace(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/** Returns a valid group id for SQS: at most 128 ASCII letters, digits and punctuation characters. */
const groupIdOf = (group: string): string => group.replace(/[^\x21-\x7e]/g, '_').slice(0, 128);

const receivedOf = ({ MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} }: Message): Received => ({
  messageId: MessageId,
  body: Body,
  receiveCount: Number(Attributes['ApproximateReceiveCount'] ?? 1),
  sentAt: Number(Attributes['SentTimestamp'] ?? 0),
  ...(Attributes['SenderId'] === undefined ? {} : { senderId: Attributes['SenderId'] }),
  ...groupOf({ group: Attributes['MessageGroupId'] }),
  receipt: ReceiptHandle,
});

function inTens<E>(entries: readonly E[]): E[][] {
  const tens: E[][] = [];
  for (let start = 0; start < entries.length; start += batchMax) tens.push(entries.slice(start, start + batchMax));
  return tens;
}

/** Splits entries into requests by size. An entry that is too large goes alone, so that SQS refuses only that one. */
function bySize(entries: readonly SendMessageBatchRequestEntry[]): SendMessageBatchRequestEntry[][] {
  const batches: SendMessageBatchRequestEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const own = Buffer.byteLength(entry.MessageBody ?? '');
    const batch = batches.at(-1);
    if (batch && batch.length < batchMax && bytes + own <= batchBytesMax) {
      batch.push(entry);
      bytes += own;
    } else {
      batches.push([entry]);
      bytes = own;
    }
  }
  return batches;
}

/** Returns a signal that aborts a little later than another one. */
function cutAfterGrace(signal: AbortSignal | undefined): { readonly signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => controller.abort(), graceMs);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    done: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

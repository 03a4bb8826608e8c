import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Clock } from '#ports/clock';
import { queueFigures } from '#ports/limits';
import type { Outgoing, Queues } from '#ports/queues';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { bySize, type Failure, inBatches, inTens } from './batches.ts';
import { entryOf, receivedOf, secondsOf } from './messages.ts';
import { type AtQueue, queueUrls } from './queue-urls.ts';

export interface SqsQueuesOptions {
  /** A client with `useQueueUrlAsEndpoint: false`. Otherwise the URL of a queue determines the endpoint. */
  readonly client: SQSClient;
  /** The prefix of this deployment's queue names. */
  readonly prefix: string;
  readonly clock: Clock;
}

const { batchMax, hiddenMaxMs } = queueFigures;
const waitMaxSeconds = 20;
const visibilityMaxSeconds = hiddenMaxMs / 1000;

/** The time limit of a response, beyond the requested long polling. Milliseconds. */
const answerMs = 5000;

/**
 * The time that a receiver waits for a response after it was stopped. SQS may already have delivered messages; an immediate abort would
 * hide them for their visibility timeout.
 */
const graceMs = 250;

/**
 * Queues on SQS. SQS counts times in whole seconds: a delayed or hidden message arrives up to a second late, never early. If a queue does
 * not exist, `receive` rejects.
 */
export function sqsQueues({ client, prefix, clock }: SqsQueuesOptions): Queues {
  const at = queueUrls(client, prefix);

  const sendTo = (queue: string, messages: readonly Outgoing[]): Promise<void> =>
    at(queue, (url) =>
      inBatches(clock, messages.map(entryOf), bySize, async (batch) => {
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

    ...receiptHandling(client, clock, at),

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

/** Deletes received messages, or makes them visible again, by their receipts. */
function receiptHandling(client: SQSClient, clock: Clock, at: AtQueue): Pick<Queues, 'acknowledge' | 'release'> {
  const sendReceipts = (
    queue: string,
    receipts: readonly string[],
    send: (QueueUrl: string, Entries: Receipt[]) => Promise<{ readonly Failed?: readonly Failure[] | undefined }>,
  ): Promise<void> =>
    at(queue, (url) =>
      inBatches(clock, receipts.filter(isReceipt).map(receiptEntry), inTens, async (batch) => {
        const { Failed = [] } = await send(url, batch);
        return Failed.filter(isSerious);
      }),
    );

  return {
    acknowledge: (queue, receipts) =>
      sendReceipts(queue, receipts, (QueueUrl, Entries) => client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))),

    release: (queue, receipts, afterMs) => {
      const VisibilityTimeout = secondsOf(afterMs, visibilityMaxSeconds);
      return sendReceipts(queue, receipts, (QueueUrl, batch) => {
        const Entries = batch.map((entry) => ({ ...entry, VisibilityTimeout }));
        return client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
      });
    },
  };
}

interface Receipt {
  readonly Id: string;
  readonly ReceiptHandle: string;
}

const isReceipt = (receipt: string): boolean => receipt !== '';
const receiptEntry = (ReceiptHandle: string, index: number): Receipt => ({ Id: String(index), ReceiptHandle });
/** Whether a failed acknowledgment or release matters. A void receipt (`SenderFault`) does not: its message was redelivered or deleted. */
const isSerious = ({ SenderFault }: Failure): boolean => !SenderFault;

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

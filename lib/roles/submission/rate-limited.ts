import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { deliveryOf } from '#ports/delivery';
import { delayMaxMs, type Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { ClientRate } from './client-rate.ts';
import type { SubmissionConsumer } from './queue-consumer.ts';

interface Ports {
  readonly queues: Pick<Queues, 'release'>;
  readonly telemetry: Telemetry;
  readonly clientRate: ClientRate;
  readonly config: { readonly clientOrdersPerSecond: number | undefined };
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** A batch of submissions, divided by the rates of their clients. */
interface Divided {
  readonly event: SQSEvent;
  /** Ids of messages that their queue delivers again later. */
  readonly later: readonly string[];
}

/**
 * Creates the function that leaves messages in their queue while their client is above its rate. Only a registered sender uses up the rate
 * of a client. A message that waits has not failed, so nothing is written for it, and no failure is counted.
 */
export function createRateLimit({ clientOf }: Pick<SubmissionConsumer, 'clientOf'>, ports: Ports) {
  const { queues, telemetry, clientRate, config, random = Math.random } = ports;
  const isLimited = config.clientOrdersPerSecond !== undefined;

  async function isLater(record: SQSRecord): Promise<boolean> {
    const client = await clientOf(record.body, record.attributes.SenderId);
    const waitMs = client === undefined ? 0 : clientRate(client);
    if (waitMs === 0) return false;
    const { queue, receipt, receiveCount } = deliveryOf(record);
    telemetry.count('submissionRateLimited');
    await queues.release(queue, [receipt], pauseMs(waitMs, receiveCount, random()));
    return true;
  }

  return async (given: SQSEvent): Promise<Divided> => {
    // Without a limit, no message costs another read of its client.
    if (!isLimited) return { event: given, later: [] };
    const { Records } = given;
    const settled = await Promise.allSettled(Records.map(isLater));
    // If the client of a message cannot be read, the consumer meets the same failure, and the failure policy decides about the message.
    const later = Records.filter((_, index) => {
      const result = settled[index];
      return result?.status === 'fulfilled' && result.value;
    });
    return { event: { Records: Records.filter((record) => !later.includes(record)) }, later: later.map(({ messageId }) => messageId) };
  };
}

/**
 * Returns how long a message stays hidden. The time grows with its deliveries, because a large backlog would otherwise be delivered
 * again and again, and a queue redrives a message after a thousand deliveries.
 */
const pauseMs = (waitMs: number, receiveCount: number, random: number): number =>
  Math.round(Math.max(waitMs, Math.min(delayMaxMs, receiveCount * 1_000) * (0.5 + random)));

import type { Delivery } from '#ports/delivery';
import type { Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import { backoffMs } from '#ports/util/backoff';
import type { Failure } from './classify.ts';

interface RedeliveryPorts {
  readonly queues: Pick<Queues, 'release'>;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

const firstMs = 1_000;
const soonMaxMs = 10_000;
const laterMaxMs = 60_000;
/** An immediate retry would not help code that fails on the content of a message. */
const contentMs = 30_000;

/**
 * Returns the delay before a failed message is redelivered. The first delays are short, because a step waits for the message. They
 * grow with the deliveries, because a long outage would otherwise redeliver all waiting messages together.
 */
export function pauseMs({ receiveCount }: Pick<Delivery, 'receiveCount'>, failure: Failure, random: number): number {
  if (failure === 'content') return contentMs;
  const longest = Math.min(Math.max(soonMaxMs, receiveCount * 1_000), laterMaxMs);
  return Math.round(backoffMs({ first: firstMs, longest, jitter: [0.5, 1.5] }, receiveCount - 1, random));
}

/** Makes a message visible after its delay. If the queue fails, the message is redelivered after its visibility timeout. */
export async function redeliverSoon(delivery: Delivery, failure: Failure, ports: RedeliveryPorts): Promise<void> {
  const { queues, telemetry, random } = ports;
  try {
    await queues.release(delivery.queue, [delivery.receipt], pauseMs(delivery, failure, random()));
  } catch (error) {
    telemetry.log('warn', 'failed to shorten visibility timeout', { error, messageId: delivery.messageId });
  }
}

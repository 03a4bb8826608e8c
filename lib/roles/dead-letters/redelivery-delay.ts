import type { Delivery } from '#ports/delivery';
import type { Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { Failure } from './classify.ts';

interface RedeliveryPorts {
  readonly queues: Pick<Queues, 'release'>;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

const firstMs = 1_000;
const soonMaxMs = 10_000;
const laterMaxMs = 60_000;
/** Code that cannot handle what a message says handles it no better at once. */
const contentMs = 30_000;

/**
 * When a message comes again that was not processed. An outage is over soon, or lasts: the first pauses are short, since a step
 * waits for the message, and they grow with the deliveries, since all that waits would come again at once.
 */
export function pauseMs({ receiveCount }: Pick<Delivery, 'receiveCount'>, failure: Failure, random: number): number {
  if (failure === 'content') return contentMs;
  const slowly = Math.min(Math.max(soonMaxMs, receiveCount * 1_000), laterMaxMs);
  return Math.round(Math.min(firstMs * 2 ** Math.min(receiveCount - 1, 20), slowly) * (0.5 + random));
}

/** Shows a message again after its pause. Where the queue does not hear of that, the message comes when its visibility is over. */
export async function redeliverSoon(delivery: Delivery, failure: Failure, ports: RedeliveryPorts): Promise<void> {
  const { queues, telemetry, random } = ports;
  try {
    await queues.release(delivery.queue, [delivery.receipt], pauseMs(delivery, failure, random()));
  } catch (error) {
    telemetry.log('warn', 'message stays hidden until its visibility is over', { error, messageId: delivery.messageId });
  }
}

import type { Delivery } from '#ports/delivery';
import type { Channel } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { Failure } from './classify.ts';

interface ComingAgainPorts {
  readonly channel: Pick<Channel, 'release'>;
  readonly telemetry: Telemetry;
  readonly chance: () => number;
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
export function pauseMs({ receiveCount }: Pick<Delivery, 'receiveCount'>, failure: Failure, chance: number): number {
  if (failure === 'content') return contentMs;
  const slowly = Math.min(Math.max(soonMaxMs, receiveCount * 1_000), laterMaxMs);
  return Math.round(Math.min(firstMs * 2 ** Math.min(receiveCount - 1, 20), slowly) * (0.5 + chance));
}

/** Shows a message again after its pause. Where the queue does not hear of that, the message comes when its visibility is over. */
export async function comesAgainSoon(delivery: Delivery, failure: Failure, ports: ComingAgainPorts): Promise<void> {
  const { channel, telemetry, chance } = ports;
  try {
    await channel.release(delivery.queue, [delivery.receipt], pauseMs(delivery, failure, chance()));
  } catch (error) {
    telemetry.log('warn', 'message stays hidden until its visibility is over', { error, messageId: delivery.messageId });
  }
}

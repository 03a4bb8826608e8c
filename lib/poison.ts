import type { Channel } from './channel.ts';
import type { Clock } from './clock.ts';
import { isObject, type JsonObject } from './core/json.ts';
import { queues, timeText } from './messages.ts';
import type { Publisher } from './publisher.ts';

interface Poisoned {
  readonly queue: string;
  readonly body: string;
  readonly messageId: string;
  readonly reason: string;
}

/**
 * Tells a person of a message that can't be processed, and keeps it, whole. Told first, under an id of its own: while nobody
 * can be told it stays where it is and is tried again, and must not be put aside once more each time.
 */
export async function setAside(
  { queue, body, messageId, reason }: Poisoned,
  { channel, publisher, clock }: { channel: Channel; publisher: Publisher; clock: Clock },
): Promise<void> {
  const at = timeText(clock.now());
  const id = `${queue}/${messageId}`;
  const orderId = orderIdIn(body);
  const detail: JsonObject = {
    id,
    ...(orderId ? { orderId } : {}),
    at,
    class: 'application-failure',
    type: 'PoisonMessage',
    source: queue,
    before: 'queued',
    after: 'set aside',
    failureCount: 0,
    message: reason,
  };
  const { failed } = await publisher.publish([{ id, detailType: 'Poison Message Set Aside', detail }]);
  if (failed.length > 0) throw new Error('The announcement was not taken.');
  await channel.send([{ queue: queues.setAside, body: JSON.stringify({ queue, messageId, reason, at, body }) }]);
}

const orderIdIn = (body: string): string | undefined => {
  try {
    const message: unknown = JSON.parse(body);
    return isObject(message) && typeof message['orderId'] === 'string' ? message['orderId'] : undefined;
  } catch {
    return undefined;
  }
};

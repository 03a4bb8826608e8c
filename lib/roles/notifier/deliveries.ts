import { type Destination, destinationText, nextTryAt } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import type { Sender } from '#ports/sender';
import type { Telemetry } from '#ports/telemetry';
import type { Agenda, AgendaEntry } from './agenda.ts';

/** A message on its way to one destination. */
export interface Delivery {
  readonly message: PeopleMessage;
  readonly destination: Destination;
  /** The group of people for whom the message is. */
  readonly group: string;
  readonly tries: number;
  /** The time at which the next try begins, unless the try that is under way delivers the message: milliseconds since 1970. */
  readonly tryAt: number;
}

/** A message that no try has delivered. */
export interface DeadDelivery extends Omit<Delivery, 'tryAt'> {
  readonly id: string;
  readonly reason: string;
}

/** Returns the document of a message to one of the destinations of its group. */
export const deliveryDocument = (delivery: Omit<Delivery, 'tries' | 'tryAt'>, index: number, now: number): Document => ({
  collection: collections.deliveries,
  id: `${delivery.message.id}_${index}`,
  rev: 1,
  content: { ...delivery, tries: 0, tryAt: now } as unknown as Document['content'],
});

export interface DeliveryOptions {
  readonly store: Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;
  readonly agenda: Agenda;
  readonly clock: Pick<Clock, 'now'>;
  readonly sender: Sender;
  readonly telemetry: Telemetry;
  /** The destinations that cannot be reached, and their tasks for admins. */
  readonly destinations: {
    open(dead: DeadDelivery): Promise<void>;
    arrived(destination: Destination): Promise<void>;
  };
}

/** The time after which a message is tried once more if the process crashed in its last try. */
const lastTryMs = 60_000;

/**
 * Tries to deliver the message of an agenda entry. The try is written first: of several processes one sends, and a process that crashes
 * leaves the message to the next try. So a receiver may get a message twice, under the same id.
 */
export async function deliver(entry: AgendaEntry, id: string, options: DeliveryOptions): Promise<void> {
  const { store, agenda, clock, sender, telemetry } = options;
  const now = clock.now();
  const document = await store.document(collections.deliveries, id);
  if (!document) return agenda.remove(entry);
  const delivery = document.content as unknown as Delivery;
  if (delivery.tryAt > now) return agenda.move(entry, delivery.tryAt);
  const tries = delivery.tries + 1;
  const followingAt = nextTryAt(tries, now);
  const tryAt = followingAt ?? now + lastTryMs;
  const subject = { what: 'delivery', id } as const;
  await agenda.put(tryAt, subject);
  const begun = { ...document, rev: document.rev + 1, content: { ...document.content, tries, tryAt } };
  if ((await store.putDocument(begun, document.rev)).outcome === 'refused') return agenda.remove(entry);
  const result = await sender.send(delivery.message, delivery.destination);
  if (result.outcome === 'delivered') {
    telemetry.count('notificationDelivered');
    await options.destinations.arrived(delivery.destination);
  } else {
    const fields = { message: delivery.message.id, to: destinationText(delivery.destination), tries, reason: result.reason };
    telemetry.count('notificationFailed');
    telemetry.log('warn', 'cannot deliver notification', fields);
    if (followingAt !== undefined) return agenda.remove(entry);
    await options.destinations.open({ ...delivery, tries, id, reason: result.reason });
  }
  await store.removeDocument(begun.collection, begun.id, begun.rev);
  await agenda.remove(entry);
}

import type { JsonObject } from '#core/data/json';
import { fingerprint } from '#core/definition/fingerprint';
import { type Destination, destinationText } from '#core/notifications/delivery';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import type { TaskRecord } from '#ports/tasks';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs } from '#ports/util/days';
import { taskIdOf } from '#roles/exceptions/ids';
import { taskDocument, taskIn, taskKey } from '#roles/exceptions/records';
import { newTaskEntry } from './agenda.ts';
import type { DeadDelivery } from './deliveries.ts';

export interface DeadDestinationOptions {
  readonly store: Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly dueMs: number;
}

/** The destinations that could not be reached for a day: each has a task for admins, which ends with the next message that arrives. */
export interface DeadDestinations {
  /** Opens the task of a destination. A further message of the same day adds none. */
  open(dead: DeadDelivery): Promise<void>;
  /** Resolves the task of a destination that has got a message. */
  arrived(destination: Destination): Promise<void>;
}

/** The group of people who can mend a destination. */
const adminGroup = 'admins';

export function createDeadDestinations({ store, clock, dueMs }: DeadDestinationOptions): DeadDestinations {
  const placeOf = (destination: Destination) => ({
    collection: collections.deliveries,
    id: `dead#${fingerprint([destination as unknown as JsonObject])}`,
  });

  async function resolve(place: Pick<TaskRecord, 'orderId' | 'seq'>): Promise<void> {
    const { collection, id } = taskKey(place.orderId, place.seq);
    await compareAndSet(async () => {
      const document = await store.document(collection, id);
      const task = document && taskIn(document);
      if (!task || task.resolution) return 'over';
      const resolution = { by: 'notifier', at: clock.now(), reason: 'A later message has arrived.' };
      const write = await store.putDocument(taskDocument({ ...task, rev: task.rev + 1, state: 'resolved', resolution }), task.rev);
      return write.outcome === 'written' ? 'over' : 'lost';
    });
  }

  return {
    async open(dead) {
      const task = taskOf(dead, clock.now(), dueMs);
      const place = placeOf(dead.destination);
      await store.putDocument(newTaskEntry(task, taskKey(task.orderId, task.seq)), 0);
      await store.putDocument(taskDocument(task), 0);
      const known = await store.document(place.collection, place.id);
      const content = { orderId: task.orderId, seq: task.seq };
      await store.putDocument({ ...place, rev: (known?.rev ?? 0) + 1, content }, known?.rev ?? 0);
    },
    async arrived(destination) {
      const place = placeOf(destination);
      const known = await store.document(place.collection, place.id);
      if (!known) return;
      await resolve(known.content as unknown as Pick<TaskRecord, 'orderId' | 'seq'>);
      await store.removeDocument(place.collection, place.id, known.rev);
    },
  };
}

/** Returns the task of a destination and a day. It has no order: its place is that of an order which does not exist. */
function taskOf({ destination, message, group, tries, reason }: DeadDelivery, now: number, dueMs: number): TaskRecord {
  const orderId = `ord_notifications${fingerprint([destination as unknown as JsonObject])}`;
  const seq = Math.floor(now / dayMs);
  const text =
    `Messages for the group ${group} do not reach ${destinationText(destination)}: ${reason} ` +
    `The message ${message.id} was tried ${tries} times and is given up. Mend the receiver, or change the destination: PUT /groups/${group}.`;
  return {
    id: taskIdOf(orderId, seq),
    rev: 1,
    orderId,
    submittedAt: 0,
    seq,
    workflow: { name: 'notifications', version: 1 },
    kind: 'dead-letter',
    state: 'open',
    openedAt: now,
    dueAt: now + dueMs,
    group: adminGroup,
    text,
  };
}

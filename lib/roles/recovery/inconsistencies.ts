import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Documents } from '#ports/documents';
import { queueNames, timeText } from '#ports/messages';
import type { Outgoing, Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { decodeInstance } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { causeOfRecovery } from './cause.ts';
import { type Consumer, consumersOf } from './consumers.ts';
import { writesOf } from './writes-of.ts';

interface Ports {
  readonly store: Pick<Store, 'load' | 'pages'> & Pick<Documents, 'documents'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly definitions: Pick<Definitions, 'programOf'>;
}

/** What the order of a consumer hears: which write was undone, and which steps of its own have read it. */
export interface Inconsistency {
  /** Names the undo, so that an order takes it once. */
  readonly id: string;
  /** The step whose write was undone. */
  readonly cause: { readonly orderId: string; readonly path: string };
  /** The id of the exception, or else of the order, that led to the recovery. An older process does not name it. */
  readonly causedBy?: string | undefined;
  readonly uses: readonly { readonly path: string; readonly object: string }[];
  /** The order of the cause hears that there were more consumers than one undo tells. */
  readonly isTooMany?: true | undefined;
}

/**
 * Tells each order that has read what a step wrote that the write is undone: one message for each order (F-152). A repetition sends the
 * same messages again. Source: people.md §12.
 */
export async function tellConsumers(orderId: string, path: string, { store, queues, clock, definitions }: Ports): Promise<void> {
  const found = await store.load(orderId);
  const program = found && definitions.programOf(found.state);
  if (!found || !program) return;
  const journal = wholeJournal(await store.pages(orderId), decodeInstance(found.state).tail);
  const writes = writesOf(program, orderId, journal, path).filter(({ undoneAt }) => undoneAt !== undefined);
  const { items, more } = await consumersOf(writes, store);
  const undoneAt = Math.max(...writes.map((write) => write.undoneAt ?? 0));
  const id = `${orderId}/${path}/${undoneAt}`;
  const causedBy = causeOfRecovery(orderId, journal, undoneAt);
  const told = (order: string, about: Pick<Inconsistency, 'uses' | 'isTooMany'>): Outgoing => ({
    queue: queueNames.wakeUps,
    body: JSON.stringify({
      v: 1,
      type: 'wake-up',
      orderId: order,
      sentAt: timeText(clock.now()),
      inconsistency: { id, cause: { orderId, path }, causedBy, ...about },
    }),
  });
  const messages = [...Map.groupBy(items, (each) => each.orderId)].map(([order, uses]) => told(order, { uses: uses.map(useOf) }));
  await queues.send([...messages, ...(more ? [told(orderId, { uses: [], isTooMany: true })] : [])]);
}

const useOf = ({ path, object }: Consumer) => ({ path, object });

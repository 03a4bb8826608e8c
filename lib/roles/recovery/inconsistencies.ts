import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Documents } from '#ports/documents';
import { UnreadableRecordError } from '#ports/errors';
import { queueNames, timeText, type Undone } from '#ports/messages';
import type { Outgoing, Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { unnotedUses } from '#roles/scheduler/inconsistency-report';
import { decodeInstance, type JournalEntry } from '#roles/scheduler/instance';
import { readableTail } from '#roles/scheduler/readable-tail';
import { wholeJournal } from '#roles/scheduler/step-report';
import { causeOfRecovery } from './cause.ts';
import { consumerLimits, consumersOf, type Reader } from './consumers.ts';
import { writesOf } from './writes-of.ts';

interface Ports {
  readonly store: Pick<Store, 'load' | 'pages'> & Pick<Documents, 'documents'>;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly definitions: Pick<Definitions, 'programOf'>;
}

/** The message to the order of a consumer: which write was undone, and which steps of its own have read it. */
export interface Inconsistency {
  /** Names the undo, so that an order takes it once. */
  readonly id: string;
  /** The step whose write was undone. */
  readonly cause: { readonly orderId: string; readonly path: string };
  /** The id of the exception, or else of the order, that led to the recovery. An older release does not name it. */
  readonly causedBy?: string | undefined;
  /** `at`: when the step closed, in milliseconds since 1970. An older release does not say it. */
  readonly uses: readonly { readonly path: string; readonly object: string; readonly at?: number | undefined }[];
  /** Set in the message to the order whose write was undone: there were more consumers than one undo notifies. */
  readonly isTooMany?: true | undefined;
}

/** Interval between two looks for consumers of one undo, and the largest number of looks. Together they cover a day. */
const nextLookMs = 900_000;
const looksMax = 96;

/**
 * Tells each order that has read what a step wrote that the write is undone: one message for each order (F-152). Looks again later until
 * each of them has noted the undo and no further use can appear. A message may be lost, and the record of a use may come later: a step that
 * reads the object before the undo may close after the undo.
 */
export async function tellConsumers({ orderId, path, undoneAt: given, looks = 0 }: Undone, ports: Ports): Promise<void> {
  const { store, queues, clock, definitions } = ports;
  const found = await store.load(orderId);
  const program = found && definitions.programOf(found.state);
  const tail = found && readableTail(found.state);
  // An order with a damaged history does not tell what it has written. A person decides about it.
  if (!found || !program || !tail) return;
  const journal = wholeJournal(await store.pages(orderId), tail);
  const undone = writesOf(program, orderId, journal, path).filter((write) => write.undoneAt !== undefined);
  const undoneAt = given ?? Math.max(...undone.map((write) => write.undoneAt ?? 0));
  const { items, more } = await consumersOf(
    undone.filter((write) => write.undoneAt === undoneAt),
    store,
  );
  const id = `${orderId}/${path}/${undoneAt}`;
  const causedBy = causeOfRecovery(orderId, journal, undoneAt);
  const messageTo = (order: string, about: Pick<Inconsistency, 'uses' | 'isTooMany'>): Outgoing => ({
    queue: queueNames.wakeUps,
    body: JSON.stringify({
      v: 1,
      type: 'wake-up',
      orderId: order,
      sentAt: timeText(clock.now()),
      inconsistency: { id, cause: { orderId, path }, causedBy, ...about },
    }),
  });
  const consumers = [...Map.groupBy(items, (each) => each.orderId)].map(([order, uses]) => ({ order, about: { uses: uses.map(useOf) } }));
  const all = more ? [...consumers, { order: orderId, about: { uses: [], isTooMany: true as const } }] : consumers;
  const open = looks === 0 ? all : await without(all, ({ order, about: { uses } }) => hasNoted(order, { id, uses }, store));
  const mayClose = clock.now() <= undoneAt + consumerLimits.openMaxMs;
  const isLast = looks >= looksMax || (looks > 0 && open.length === 0 && !mayClose);
  const again = { v: 1, type: 'undone', orderId, path, undoneAt, looks: looks + 1 } satisfies Undone;
  await queues.send([
    ...open.map(({ order, about }) => messageTo(order, about)),
    ...(isLast || undone.length === 0 ? [] : [{ queue: queueNames.submissions, body: JSON.stringify(again), delayMs: nextLookMs }]),
  ]);
}

async function without<T>(all: readonly T[], isDone: (each: T) => Promise<boolean>): Promise<readonly T[]> {
  const open: T[] = [];
  for (const each of all) if (!(await isDone(each))) open.push(each);
  return open;
}

/** Whether an order has noted these uses of an undone write. True also for an order that is gone or damaged: it needs no further message. */
async function hasNoted(orderId: string, about: Pick<Inconsistency, 'id' | 'uses'>, store: Ports['store']): Promise<boolean> {
  try {
    const found = await store.load(orderId);
    if (!found) return true;
    const { tail } = decodeInstance(found.state);
    const isIn = (journal: readonly JournalEntry[]): boolean => unnotedUses(about, journal) === 'all are noted';
    // The pages are read only if the lines in the instance do not tell that all uses are noted.
    return isIn(wholeJournal([], tail)) || isIn(wholeJournal(await store.pages(orderId), tail));
  } catch (error) {
    if (error instanceof UnreadableRecordError) return error.newerUntil === undefined;
    throw error;
  }
}

const useOf = ({ path, object, at }: Reader) => ({ path, object, at });

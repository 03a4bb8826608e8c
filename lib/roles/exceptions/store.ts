import type { ExceptionRecord } from '#core/exceptions/exception';
import { countsMessage } from '#core/exceptions/fingerprint';
import { collections, type Document, type Documents } from '#ports/documents';
import type { OutboxEntry } from '#ports/records';
import type { RecordWrite, Tallies, TallyAdd } from '#ports/tallies';
import type { TaskRecord } from '#ports/tasks';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs, dayOf } from '#ports/util/days';
import { exceptionDocument, exceptionIn, exceptionKey, groupAdd, taskDocument, taskIn, taskKey } from './records.ts';

type Store = Documents & Tallies;
export type CauseEntry = Extract<OutboxEntry, { kind: 'opened' | 'closed' }>;

export const isCauseEntry = (entry: OutboxEntry): entry is CauseEntry => entry.kind === 'opened' || entry.kind === 'closed';

/** Most fingerprints of a workflow and day that count messages. Clients choose texts that messages quote, and could make a million groups. */
export const fingerprintsMax = 500;
/** The fingerprint of all exceptions beyond the limit. */
export const otherFingerprint = 'other';

/**
 * Stores what an outbox entry says about a cause. A repetition changes nothing.
 *
 * @throws Error if the entry must be stored again later.
 */
export async function storeCause(entry: CauseEntry, store: Store): Promise<void> {
  const result = await compareAndSet(async () => {
    for (const { document, loadedRev, add } of await causeWrites([entry], store)) {
      const put = add ? store.putCounted(document, loadedRev, add) : store.putDocument(document, loadedRev);
      if ((await put).outcome === 'refused') return 'lost';
    }
    return 'over';
  });
  if (result === 'lost') throw new Error(`The records of the cause ${entry.id} change too often.`);
}

/** Returns the writes that store what entries say about causes, in order; none for what is stored already. */
export async function causeWrites(entries: readonly CauseEntry[], store: Store): Promise<readonly RecordWrite[]> {
  /** Records as they are after the writes so far. */
  const written = new Map<string, Document>();
  const read = async ({ collection, id }: Place): Promise<Document | undefined> => written.get(id) ?? store.document(collection, id);
  const writes: RecordWrite[] = [];
  for (const entry of entries) {
    const more = entry.kind === 'opened' ? await openingOf(entry, store, read) : await closingOf(entry, read);
    for (const { document } of more) written.set(document.id, document);
    writes.push(...more);
  }
  return writes;
}

type Place = Pick<Document, 'collection' | 'id'>;
type Read = (place: Place) => Promise<Document | undefined>;

async function openingOf(
  { exception: given, task: opened }: Extract<CauseEntry, { kind: 'opened' }>,
  store: Store,
  read: Read,
): Promise<readonly RecordWrite[]> {
  const exception = given && (await limited(given, store));
  const task: TaskRecord | undefined = opened && { ...opened, rev: 1, ...(exception ? { fingerprint: exception.fingerprint } : {}) };
  const counts = exception?.handling ? 'handled at once' : 'total';
  return [
    ...(exception ? await firstOf(exceptionDocument(exception, 1), read, groupAdd(exception, counts)) : []),
    ...(task ? await firstOf(taskDocument(task), read) : []),
  ];
}

/** Returns the write of a record's first version. A record of a forgotten order of the same id is replaced. */
async function firstOf(document: Document, read: Read, add?: TallyAdd): Promise<readonly RecordWrite[]> {
  const current = await read(document);
  if (current && current.content['submittedAt'] === document.content['submittedAt']) return [];
  const rev = current?.rev ?? 0;
  return [{ document: { ...document, rev: rev + 1 }, loadedRev: rev, ...(add ? { add } : {}) }];
}

async function closingOf(
  { orderId, seq, hasException, hasNoTask, handling, reason }: Extract<CauseEntry, { kind: 'closed' }>,
  read: Read,
): Promise<readonly RecordWrite[]> {
  const writes: RecordWrite[] = [];
  const document = hasException ? await existing(exceptionKey(orderId, seq), read) : undefined;
  if (document && !exceptionIn(document).handling) {
    const exception = { ...exceptionIn(document), handling };
    writes.push({ document: exceptionDocument(exception, document.rev + 1), loadedRev: document.rev, add: groupAdd(exception, 'handled') });
  }
  if (hasNoTask) return writes;
  const task = taskIn(await existing(taskKey(orderId, seq), read));
  const resolution = { by: handling.id ?? handling.by, at: handling.at, reason };
  if (!task.resolution)
    writes.push({ document: taskDocument({ ...task, rev: task.rev + 1, state: 'resolved', resolution }), loadedRev: task.rev });
  return writes;
}

async function existing(place: Place, read: Read): Promise<Document> {
  const document = await read(place);
  if (!document) throw new Error(`The record ${place.id} of ${place.collection} is closed before it is opened.`);
  return document;
}

/** Fingerprints that this process has seen below the limit, with their collection: each costs one read and one write a day. */
const seen = new WeakMap<Store, Set<string>>();
const seenMax = 5000;

/** Gives an exception the common fingerprint if its workflow has too many of them today. */
async function limited(exception: ExceptionRecord, store: Store): Promise<ExceptionRecord> {
  const { workflow, fingerprint, at } = exception;
  if (!countsMessage(exception)) return exception;
  const collection = collections.fingerprints(`${workflow.name}#${dayOf(at)}`);
  const known = seen.get(store) ?? new Set();
  seen.set(store, known);
  const name = `${collection}#${fingerprint}`;
  if (known.has(name)) return exception;
  const allowed = await counted(collection, exception, store);
  if (!allowed) return { ...exception, fingerprint: otherFingerprint };
  if (known.size >= seenMax) known.clear();
  known.add(name);
  return exception;
}

/** Counts a fingerprint of a workflow and day; false if the limit is reached without it. */
async function counted(collection: string, { fingerprint, at, workflow }: ExceptionRecord, store: Store): Promise<boolean> {
  const result = await compareAndSet(async () => {
    const document = await store.document(collection, 'ALL');
    const known = (document?.content['known'] as readonly string[] | undefined) ?? [];
    if (known.includes(fingerprint)) return true;
    if (known.length >= fingerprintsMax) return false;
    const next = {
      collection,
      id: 'ALL',
      rev: (document?.rev ?? 0) + 1,
      content: { known: [...known, fingerprint] },
      expiresAt: at + 2 * dayMs,
    };
    return (await store.putDocument(next, document?.rev ?? 0)).outcome === 'written' ? true : 'lost';
  });
  if (result === 'lost') throw new Error(`The fingerprints of ${workflow.name} change too often.`);
  return result;
}

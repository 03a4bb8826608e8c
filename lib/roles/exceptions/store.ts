import type { JsonObject } from '#core/data/json';
import type { ExceptionRecord } from '#core/exceptions/exception';
import { countsMessage } from '#core/exceptions/fingerprint';
import { collections, type Document, type Documents } from '#ports/documents';
import type { OutboxEntry } from '#ports/records';
import type { RecordWrite, Tallies } from '#ports/tallies';
import type { TaskRecord, TaskResolution } from '#ports/tasks';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs, dayOf } from '#ports/util/days';
import { newTaskEntry } from '#roles/notifier/agenda';
import { type CountedUse, figuresAdd } from '#roles/solutions/figures';
import { handingOf } from './handed.ts';
import {
  closedBeforeOpened,
  earlyClosing,
  exceptionDocument,
  exceptionIn,
  exceptionKey,
  groupAdd,
  isEarlyClosing,
  taskDocument,
  taskIn,
  taskKey,
} from './records.ts';

type Store = Documents & Tallies;
export type CauseEntry = Extract<OutboxEntry, { kind: 'opened' | 'closed' | 'handed' | 'verified' }>;

const causeKinds: ReadonlySet<OutboxEntry['kind']> = new Set(['opened', 'closed', 'handed', 'verified']);
export const isCauseEntry = (entry: OutboxEntry): entry is CauseEntry => causeKinds.has(entry.kind);

/** Limit, for each workflow and day, of fingerprints that depend on the message. Clients choose texts that messages quote: millions of them. */
export const fingerprintsMax = 500;
/** The fingerprint of all exceptions beyond the limit. */
export const otherFingerprint = 'other';

/**
 * Stores what an outbox entry says about a cause. A repetition changes nothing. `reference`: the client's reference of the order, for
 * lists. The entry does not contain it, because every write of the order carries its outbox entries.
 *
 * @throws Error if the entry must be stored again later.
 */
export async function storeCause(entry: CauseEntry, store: Store, reference?: string): Promise<void> {
  const result = await compareAndSet(async () => {
    for (const { document, loadedRev, add } of await causeWrites([entry], store, reference)) {
      const put = add ? store.putCounted(document, loadedRev, add) : store.putDocument(document, loadedRev);
      if ((await put).outcome === 'refused') return 'lost';
    }
    return 'over';
  });
  if (result === 'lost')
    throw new Error(
      `The records of the cause ${entry.id} were not written: other writes came first at every try. They are written again later.`,
    );
}

/** Returns the writes that store what entries say about causes, in order; none for what is stored already. */
export async function causeWrites(entries: readonly CauseEntry[], store: Store, reference?: string): Promise<readonly RecordWrite[]> {
  /** Records as they are after the writes so far. */
  const written = new Map<string, Document>();
  const read = async ({ collection, id }: Place): Promise<Document | undefined> =>
    written.get(keyText({ collection, id })) ?? store.document(collection, id);
  const writes: RecordWrite[] = [];
  for (const entry of entries) {
    const more = await writesOf(withReference(entry, reference), store, read);
    for (const { document } of more) written.set(keyText(document), document);
    writes.push(...more);
  }
  return writes;
}

function withReference(entry: CauseEntry, reference: string | undefined): CauseEntry {
  if (entry.kind !== 'opened' || reference === undefined) return entry;
  const { exception, task } = entry;
  return { ...entry, ...(exception ? { exception: { ...exception, reference } } : {}), ...(task ? { task: { ...task, reference } } : {}) };
}

/** Names a document in full: an entry of one order may be about the task of another order. */
const keyText = ({ collection, id }: Place): string => `${collection} ${id}`;

function writesOf(entry: CauseEntry, store: Store, read: Read): Promise<readonly RecordWrite[]> {
  if (entry.kind === 'opened') return openingOf(entry, store, read);
  if (entry.kind === 'handed') return handingOf(entry, read);
  return entry.kind === 'closed' ? closingOf(entry, read) : verdictOf(entry, read);
}

type Place = Pick<Document, 'collection' | 'id'>;
export type Read = (place: Place) => Promise<Document | undefined>;

async function openingOf(
  { exception: given, task: opened }: Extract<CauseEntry, { kind: 'opened' }>,
  store: Store,
  read: Read,
): Promise<readonly RecordWrite[]> {
  const exception = given && (await withLimitedFingerprint(given, store));
  const task: TaskRecord | undefined = opened && { ...opened, rev: 1, ...(exception ? { fingerprint: exception.fingerprint } : {}) };
  return [
    ...(exception ? await firstVersionOf(exception, exceptionKey(exception.orderId, exception.seq), read, exceptionWrite) : []),
    ...(task ? await withEntry(await firstVersionOf(task, taskKey(task.orderId, task.seq), read, taskWrite), task, read) : []),
  ];
}

/** Puts the notifier's entry of a new task before the task: a crash between the two leaves no task of which nobody hears. */
async function withEntry(opening: readonly RecordWrite[], task: TaskRecord, read: Read): Promise<readonly RecordWrite[]> {
  const entry = newTaskEntry(task, taskKey(task.orderId, task.seq));
  return opening.length === 0 || (await read(entry)) ? opening : [{ document: entry, loadedRev: 0 }, ...opening];
}

type Write = Pick<RecordWrite, 'document' | 'add'>;

const exceptionWrite = (exception: ExceptionRecord, rev: number): Write => ({
  document: exceptionDocument(exception, rev),
  add: groupAdd(exception, exception.handling ? 'handled at once' : 'total'),
});
/** A task may be resolved before it is stored. */
const taskWrite = (task: TaskRecord, rev: number): Write => countedTask({ ...task, rev }, 'used', task.resolution?.at ?? task.openedAt);

/** Returns the write of a task, with what it adds to the figures of the solution that has resolved it. */
function countedTask(task: TaskRecord, counted: CountedUse, at: number): Write {
  const add = figuresAdd(task, counted, at);
  return { document: taskDocument(task), ...(add ? { add } : {}) };
}

/**
 * Returns the write of a record's first version. It takes over what an early closing says, if there is one. A record of a
 * forgotten order of the same id is replaced.
 */
async function firstVersionOf<R extends ExceptionRecord | TaskRecord>(
  record: R,
  key: Place,
  read: Read,
  write: (record: R, rev: number) => Write,
): Promise<readonly RecordWrite[]> {
  const current = await read(key);
  const isSame = current?.content['submittedAt'] === record.submittedAt;
  if (current && isSame && !isEarlyClosing(current)) return [];
  const rev = current?.rev ?? 0;
  const closing = current && isSame ? closedBeforeOpened(current) : {};
  return [{ ...write({ ...record, ...closing }, rev + 1), loadedRev: rev }];
}

type Closing = Extract<CauseEntry, { kind: 'closed' }>;

/** Returns the writes that close a cause. A record that is not stored yet gets an early closing, which its opening takes over. */
async function closingOf(entry: Closing, read: Read): Promise<readonly RecordWrite[]> {
  const { orderId, seq, hasException, hasNoTask, handling } = entry;
  const writes: RecordWrite[] = [];
  if (hasException) {
    const { current, isOpened } = await openedRecord(exceptionKey(orderId, seq), entry, read);
    if (!isOpened) writes.push(...earlyClosingFor(exceptionKey(orderId, seq), entry, { handling: { ...handling } }, current));
    else if (!exceptionIn(current).handling) {
      const exception = { ...exceptionIn(current), handling };
      writes.push({ document: exceptionDocument(exception, current.rev + 1), loadedRev: current.rev, add: groupAdd(exception, 'handled') });
    }
  }
  if (hasNoTask) return writes;
  const { current, isOpened } = await openedRecord(taskKey(orderId, seq), entry, read);
  const resolved = resolvedBy(entry);
  if (!isOpened) writes.push(...earlyClosingFor(taskKey(orderId, seq), entry, resolved as unknown as JsonObject, current));
  else if (!taskIn(current).resolution)
    writes.push({
      ...countedTask({ ...taskIn(current), ...resolved, rev: current.rev + 1 }, 'used', handling.at),
      loadedRev: current.rev,
    });
  return writes;
}

/** Returns the write of a verdict. A later verdict about the same task changes nothing. */
async function verdictOf(
  { orderId, submittedAt, seq, at, verdict, nextTaskId }: Extract<CauseEntry, { kind: 'verified' }>,
  read: Read,
): Promise<readonly RecordWrite[]> {
  const current = await read(taskKey(orderId, seq));
  if (!current || isEarlyClosing(current) || current.content['submittedAt'] !== submittedAt) return [];
  const task = taskIn(current);
  if (task.verified !== undefined && task.verified !== 'running') return [];
  const verified = { ...task, verified: verdict, ...(nextTaskId === undefined ? {} : { nextTaskId }), rev: current.rev + 1 };
  return [{ ...countedTask(verified, verdict, at), loadedRev: current.rev }];
}

/** Returns what the closing of a cause says about its task. */
export const resolvedBy = (entry: Closing): Pick<TaskRecord, 'state' | 'resolution' | 'verified'> => ({
  state: 'resolved',
  resolution: resolutionOf(entry),
  ...(entry.isVerified ? { verified: 'running' as const } : {}),
});

const resolutionOf = ({ handling: { id, by, at }, reason, instruction, solution }: Closing): TaskResolution => ({
  by: id ?? by,
  at,
  reason,
  ...(instruction === undefined ? {} : { instruction }),
  ...(solution ? { solution } : {}),
});

type OpenedRecord =
  | { readonly isOpened: true; readonly current: Document }
  | { readonly isOpened: false; readonly current: Document | undefined };

/** Finds the record of a cause. An early closing does not count, nor does a record of a forgotten order with the same id. */
async function openedRecord(place: Place, { submittedAt }: Closing, read: Read): Promise<OpenedRecord> {
  const current = await read(place);
  const isSame = submittedAt === undefined || current?.content['submittedAt'] === submittedAt;
  return current && isSame && !isEarlyClosing(current) ? { isOpened: true, current } : { isOpened: false, current };
}

function earlyClosingFor(
  place: Place,
  { submittedAt }: Closing,
  closing: JsonObject,
  current: Document | undefined,
): readonly RecordWrite[] {
  if (submittedAt === undefined || (current && isEarlyClosing(current) && current.content['submittedAt'] === submittedAt)) return [];
  const rev = current?.rev ?? 0;
  return [{ document: earlyClosing(place, rev + 1, submittedAt, closing), loadedRev: rev }];
}

/**
 * Fingerprints that this process knows to be below the limit, with their collection. So each needs one read, and at most one write, a day.
 */
const seen = new WeakMap<Store, Set<string>>();
const seenMax = 5000;

/** Gives an exception the common fingerprint if its workflow has too many fingerprints today. */
async function withLimitedFingerprint(exception: ExceptionRecord, store: Store): Promise<ExceptionRecord> {
  const { workflow, fingerprint, at } = exception;
  if (!countsMessage(exception)) return exception;
  const collection = collections.fingerprints(`${workflow.name}#${dayOf(at)}`);
  const known = seen.get(store) ?? new Set();
  seen.set(store, known);
  const name = `${collection}#${fingerprint}`;
  if (known.has(name)) return exception;
  const allowed = await countFingerprint(collection, exception, store);
  if (!allowed) return { ...exception, fingerprint: otherFingerprint };
  if (known.size >= seenMax) known.clear();
  known.add(name);
  return exception;
}

/** Counts a fingerprint of a workflow and day; false if the limit is reached without it. */
async function countFingerprint(collection: string, { fingerprint, at, workflow }: ExceptionRecord, store: Store): Promise<boolean> {
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
  if (result === 'lost')
    throw new Error(
      `A fingerprint of the workflow ${workflow.name} was not counted: other writes came first at every try. It is counted later.`,
    );
  return result;
}

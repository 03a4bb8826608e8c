import type { Fault } from '#core/data/fault';
import { shortType } from '#core/data/fault';
import { requestIdFrom } from '#core/data/ids';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { timeText } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { salvagedJournal } from '#roles/repair/rebuild';
import { type Instance, type JournalEntry, readableInstance } from '#roles/scheduler/instance';
import { shownLine } from '#roles/scheduler/recorded-events';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Caller } from './authentication.ts';
import { seesAll } from './views.ts';

/** Returns an order's journal and instance. If the instance is damaged, the journal comes from pages and the readable part of the tail. */
export async function readJournal(
  store: Store,
  state: StateRecord,
): Promise<{ readonly journal: readonly JournalEntry[]; readonly instance: Instance | undefined }> {
  const instance = readableInstance(state);
  // The tail still holds every entry since the first one, so there are no pages to read.
  if (instance && instance.tail.length === instance.seq) return { journal: withNotes(wholeJournal([], instance.tail), state), instance };
  const pages = await store.pages(state.orderId);
  const journal = instance
    ? wholeJournal(pages, instance.tail)
    : (salvagedJournal(state, pages).entries.map(shownLine) as readonly JournalEntry[]);
  return { journal: withNotes(journal, state), instance };
}

/**
 * Appends the notes of the record: facts from roles that do not read the instance, such as an expired deadline. The scheduler moves them
 * into the journal with its next write; until then they are shown under the numbers that they will get there.
 */
const withNotes = (journal: readonly JournalEntry[], { notes }: StateRecord): readonly JournalEntry[] =>
  notes.length === 0 ? journal : [...journal, ...notes.map((note, index) => ({ seq: (journal.at(-1)?.seq ?? 0) + index + 1, ...note }))];

/** Returns one history entry with the fields that the caller's role may see. The entry's request id also occurs in messages and logs. */
export function entryView(orderId: string, entry: JournalEntry, caller: Caller): { readonly [field: string]: unknown } {
  const fields = Object.entries(withRequestId(orderId, entry)).filter(([field]) => seesAll(caller) || forClients.has(field));
  return Object.fromEntries(
    fields.map(([field, value]) => [field, field === 'fault' ? faultView(value as Fault, caller) : withTimes(field, value as Json)]),
  );
}

function withRequestId(orderId: string, entry: JournalEntry): object {
  if (!('attemptId' in entry) || entry.attemptId === undefined) return entry;
  const { attemptId, ...rest } = entry;
  return { ...rest, requestId: requestIdFrom(orderId, entry.path, attemptId) };
}

const times = new Set(['at', 'completeBy', 'wakeAt', 'requestedAt']);

/** Returns a value with its times as text, also the times of the uses of objects that it lists. */
function withTimes(field: string, value: Json): Json {
  if (times.has(field) && typeof value === 'number') return timeText(value);
  if (field === 'masked' && isObject(value)) return mapped(value as JsonObject, (each, name) => withTimes(name, each));
  if (field !== 'undone' && field !== 'uses') return value;
  return Array.isArray(value)
    ? value.map((use) => (isObject(use) ? mapped(use as JsonObject, (each, name) => withTimes(name, each)) : use))
    : value;
}

const mapped = (value: JsonObject, change: (each: Json, name: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, name)]));

/** Fields for clients. All others are internals, or reasons that operators give for each other. */
const forClients = new Set([
  'seq',
  'at',
  'type',
  'path',
  'child',
  'attempt',
  'completeBy',
  'wakeAt',
  'result',
  'status',
  'fault',
  'workflow',
  'outcome',
  'failureCount',
  'kind',
]);

/** A client sees the type of a fault alone. */
const faultView = ({ type, class: faultClass, permanent, message, outcomeUnknown, data }: Fault, caller: Caller) => ({
  type: shortType(type),
  ...(seesAll(caller)
    ? { class: faultClass, permanent, message, ...(outcomeUnknown ? { outcomeUnknown } : {}), ...(data === undefined ? {} : { data }) }
    : {}),
});

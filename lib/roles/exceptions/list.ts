import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Documents } from '#ports/documents';
import { type List, lists, timeStart } from '#ports/lists';
import type { Tallies } from '#ports/tallies';
import { dayMs, dayOf } from '#ports/util/days';
import { emptyPage, fillPage, type MergedRead } from '#ports/util/merged-lists';
import { type ExceptionGroup, exceptionGroups } from './groups.ts';
import { exceptionIn, groupDays, stateOfException } from './records.ts';

export interface ExceptionFilter {
  readonly fingerprint?: string;
  readonly class?: string;
  readonly type?: string;
  readonly workflow?: string;
  readonly step?: string;
  readonly state?: 'open' | 'handled';
  readonly tag?: string;
  /** Milliseconds since 1970: from `since` on, before `until`. */
  readonly since?: number;
  readonly until?: number;
}

export interface ExceptionPage {
  readonly items: readonly ExceptionRecord[];
  /** The sort key after which the next page begins; absent at the end. */
  readonly next?: string;
}

interface Extent {
  readonly after: string | undefined;
  readonly limit: number;
  readonly now: number;
}

/** The exceptions of at most this many groups are read side by side. With more, the list walks the days instead. */
const groupsMax = 20;

/**
 * Lists exceptions, newest first. A fingerprint has an index. Class, type, workflow, step and the state `open` lead to fingerprints through
 * the groups. Without any of these filters, or with too many groups, the list walks the days and looks at `lookedMax` records for a page.
 */
export async function listExceptions(store: Documents & Tallies, filter: ExceptionFilter, extent: Extent): Promise<ExceptionPage> {
  const fingerprints = await fingerprintsOf(store, filter, extent.now);
  if (fingerprints === undefined) return walk(filter, extent, store);
  const states = filter.state ? [filter.state] : (['open', 'handled'] as const);
  return listAlike(
    fingerprints.flatMap((each) => states.map((state) => lists.exceptionsAlike(each, state))),
    filter,
    extent,
    store,
  );
}

/** Returns the fingerprints that a filter means; undefined if it means too many, or all. */
async function fingerprintsOf(store: Tallies, filter: ExceptionFilter, now: number): Promise<readonly string[] | undefined> {
  if (filter.fingerprint !== undefined) return [filter.fingerprint];
  const named = (['class', 'type', 'workflow', 'step'] as const).filter((name) => filter[name] !== undefined);
  if (named.length === 0 && filter.state !== 'open') return undefined;
  const isMeant = (group: ExceptionGroup): boolean =>
    named.every((name) => group[name] === filter[name]) && (filter.state !== 'open' || group.open > 0);
  const groups = (await exceptionGroups(store, now)).filter(isMeant);
  return groups.length <= groupsMax ? groups.map(({ fingerprint }) => fingerprint) : undefined;
}

/** Reads lists side by side, newest first, and stops at a full page or after enough records. */
async function listAlike(
  from: readonly List[],
  filter: ExceptionFilter,
  { after, limit }: Extent,
  store: Documents,
): Promise<ExceptionPage> {
  const page = emptyPage<ExceptionRecord>(limit, after);
  const end = await fillPage(store, readOf(from, filter), page);
  return { items: page.items, ...(end === 'full' && page.last !== undefined ? { next: page.last } : {}) };
}

/** Walks the days back from the newest one, until a page is full, enough records were examined, or the oldest day is done. */
async function walk(filter: ExceptionFilter, { after, limit, now }: Extent, store: Documents): Promise<ExceptionPage> {
  const page = emptyPage<ExceptionRecord>(limit, after);
  const oldest = dayOf(filter.since ?? now - groupDays * dayMs);
  // The clock of another process may be ahead by a few seconds, so that its exceptions are on the next day.
  const start = after === undefined ? Math.min(filter.until ?? Number.POSITIVE_INFINITY, now + dayMs) : Number(after.slice(0, 13));
  for (let at = start; dayOf(at) >= oldest; at -= dayMs) {
    if ((await fillPage(store, readOf([lists.exceptions(dayOf(at))], filter), page)) === 'full')
      return { items: page.items, ...(page.last === undefined ? {} : { next: page.last }) };
  }
  return { items: page.items };
}

const readOf = (from: readonly List[], filter: ExceptionFilter): MergedRead<ExceptionRecord> => ({
  lists: from,
  order: 'descending',
  ...(filter.since === undefined ? {} : { from: timeStart(filter.since) }),
  ...(filter.until === undefined ? {} : { to: timeStart(filter.until) }),
  pick: (document) => (fits(exceptionIn(document), filter) ? exceptionIn(document) : undefined),
});

const fits = (exception: ExceptionRecord, filter: ExceptionFilter): boolean =>
  isSame(filter.fingerprint, exception.fingerprint) &&
  isSame(filter.class, exception.class) &&
  isSame(filter.type, exception.type) &&
  isSame(filter.workflow, exception.workflow.name) &&
  isSame(filter.step, exception.step) &&
  isSame(filter.state, stateOfException(exception)) &&
  (filter.tag === undefined || exception.tags.some((tag) => tag === filter.tag)) &&
  exception.at >= (filter.since ?? 0) &&
  exception.at < (filter.until ?? Number.POSITIVE_INFINITY);

const isSame = (wanted: string | undefined, value: string | null): boolean => wanted === undefined || wanted === value;

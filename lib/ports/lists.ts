import { hashOf } from './records.ts';

/** An index of lists. Each document has at most one entry in a list of each index. */
export type ListIndex = 'A' | 'B' | 'C';

/** A list of documents in the order of their sort keys. */
export interface List<I extends ListIndex = ListIndex> {
  readonly index: I;
  readonly name: string;
  /** Whether many writers may write to it at the same time, so that the store spreads it over its shards. Each reader merges them. */
  readonly isSharded: boolean;
}

/** The documents of a collection, in the order of their ids. */
export interface CollectionList {
  readonly index: 'collection';
  readonly name: string;
}

export interface ListEntry<I extends ListIndex> {
  readonly list: List<I>;
  /** Sort key: at most 1,024 ASCII characters, unique in the list. `sortKey` makes one of a time and an id. */
  readonly sort: string;
}

export interface ListRead {
  readonly list: List | CollectionList;
  readonly order: 'ascending' | 'descending';
  /**
   * Sort keys, both inclusive; absent: from the beginning, to the end. A prefix of a key sorts before the key, so a bound may be a prefix.
   */
  readonly from?: string;
  readonly to?: string;
  /** The sort key of the last entry of the page before. */
  readonly after?: string;
  /** The largest number of results, at most 100. */
  readonly limit: number;
}

/** Shards of a list that many writers write to at the same time. */
const shards = 8;

/** The lists, by what they hold. Days are in UTC: `2026-01-31`. A `sortKey` gives the order within each, unless it says something else. */
export const lists = {
  exceptionsAlike: (fingerprint: string, state: string): List<'A'> => ({ index: 'A', name: `X#${state}#${fingerprint}`, isSharded: true }),
  exceptions: (day: string): List<'B'> => ({ index: 'B', name: `XD#${day}`, isSharded: true }),
  /** Sorted by their due times, as are the open tasks of a person and of a group. */
  openTasks: { index: 'A', name: 'T#open', isSharded: true },
  claimedTasks: { index: 'A', name: 'T#claimed', isSharded: true },
  /** Sorted by the times of their resolutions, as are the resolved tasks of a person and of a group. */
  doneTasks: (day: string): List<'A'> => ({ index: 'A', name: `T#done#${day}`, isSharded: true }),
  tasksOfPerson: (sub: string): List<'B'> => ({ index: 'B', name: `TA#${sub}`, isSharded: false }),
  doneTasksOfPerson: (sub: string): List<'B'> => ({ index: 'B', name: `TD#${sub}`, isSharded: false }),
  tasksOfGroup: (group: string, state: string): List<'C'> => ({ index: 'C', name: `TG#${state}#${group}`, isSharded: true }),
  /** Sorted by fingerprint. */
  exceptionGroups: { index: 'A', name: 'GROUPS', isSharded: false },
  bulkRuns: { index: 'A', name: 'BULKS', isSharded: false },
  /** The runs that a process must work on, now or later. */
  unfinishedBulkRuns: { index: 'B', name: 'BULKS#at-work', isSharded: false },
  auditOf: (sub: string): List<'A'> => ({ index: 'A', name: `AB#${sub}`, isSharded: false }),
  auditOfKind: (kind: string, day: string): List<'B'> => ({ index: 'B', name: `AK#${kind}#${day}`, isSharded: false }),
} as const satisfies { readonly [name: string]: List | ((...of: string[]) => List) };

/** Returns the names of all shards of a list. */
export const shardsOf = (list: ListRead['list']): readonly string[] =>
  list.index !== 'collection' && list.isSharded ? Array.from({ length: shards }, (_, shard) => `${list.name}#${shard}`) : [list.name];

/** Returns the name of the shard for an id. The multiplication spreads ids that differ in a few digits only. */
export const shardFor = ({ name, isSharded }: List, id: string): string =>
  isSharded ? `${name}#${Math.imul(hashOf(id), 0x9e37_79b1) >>> 29}` : name;

/** Returns the sort key of a time, in milliseconds since 1970, and an id that is unique in the list. */
export const sortKey = (at: number, id: string): string => `${timeStart(at)}#${id}`;

/** Returns the start of all sort keys of a time, as a bound of a read: as `from` it includes that time, as `to` it does not. */
export const timeStart = (at: number): string => String(at).padStart(13, '0');

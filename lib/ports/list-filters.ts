/** An index of a list, and the filters that it serves. `state=Error`: the index serves only this value of the filter `state`. */
export interface ListIndexFilters<Index extends string = string> {
  readonly index: Index;
  readonly serves: readonly string[];
}

/** The filters of a list, and the index that serves each of them. `docs/reference/lists.md` shows these tables. */
export interface ListFilters<Index extends string = string> {
  readonly call: string;
  /** All filters of the list. A filter that the chosen index does not serve is checked on each record. */
  readonly filters: readonly string[];
  /** The list uses the first index whose filters are all given. The last one serves a list without filters. */
  readonly indexes: readonly ListIndexFilters<Index>[];
  /** Filters that limit the range of every index. */
  readonly ranges: readonly string[];
  /** The filters that need another filter, each with the name of the other one. A call with only the former is refused. */
  readonly needs: { readonly [filter: string]: string };
}

/** The most records that a list examines for one page. Then the page ends, and the next one continues there. */
export const lookedMax = 1000;

type OrderIndex = 'byReference' | 'inError' | 'byClient' | 'byDay';

export const orderList: ListFilters<OrderIndex> = {
  call: 'GET /orders',
  // For a caller that is a client, its token sets the filter `client`.
  filters: ['client', 'reference', 'state', 'outcome', 'workflow', 'fault', 'submittedAfter', 'submittedBefore'],
  // The index with the fewest orders comes first: a reference names a few orders of one client, few orders are in Error, and a client's
  // own index holds all its orders.
  indexes: [
    { index: 'byReference', serves: ['client', 'reference'] },
    { index: 'inError', serves: ['state=Error'] },
    { index: 'byClient', serves: ['client'] },
    { index: 'byDay', serves: [] },
  ],
  ranges: ['submittedAfter', 'submittedBefore'],
  needs: {},
};

type AuditIndex = 'byPerson' | 'byKind' | 'byDay';

export const auditList: ListFilters<AuditIndex> = {
  call: 'GET /audit',
  filters: ['by', 'kind', 'target', 'since'],
  indexes: [
    { index: 'byPerson', serves: ['by'] },
    { index: 'byKind', serves: ['kind'] },
    { index: 'byDay', serves: [] },
  ],
  ranges: ['since'],
  needs: {},
};

type ExceptionIndex = 'alike' | 'byDay';

export const exceptionList: ListFilters<ExceptionIndex> = {
  call: 'GET /exceptions',
  filters: ['fingerprint', 'class', 'type', 'workflow', 'step', 'state', 'tag', 'since', 'until'],
  // For a class, a type, or a workflow with or without a step, the groups of exceptions give the fingerprints to read, up to twenty.
  indexes: [
    { index: 'alike', serves: ['fingerprint', 'state'] },
    { index: 'alike', serves: ['fingerprint'] },
    { index: 'alike', serves: ['class', 'state'] },
    { index: 'alike', serves: ['class'] },
    { index: 'alike', serves: ['type', 'state'] },
    { index: 'alike', serves: ['type'] },
    { index: 'alike', serves: ['workflow', 'step', 'state'] },
    { index: 'alike', serves: ['workflow', 'step'] },
    { index: 'alike', serves: ['workflow'] },
    { index: 'alike', serves: ['state=open'] },
    { index: 'byDay', serves: [] },
  ],
  ranges: ['since', 'until'],
  needs: { step: 'workflow' },
};

type TaskIndex = 'ofOrder' | 'alike' | 'ofPerson' | 'ofGroup' | 'byState';

export const taskList: ListFilters<TaskIndex> = {
  call: 'GET /tasks',
  filters: ['state', 'assignee', 'group', 'workflow', 'kind', 'fingerprint', 'orderId', 'overdue'],
  indexes: [
    { index: 'ofOrder', serves: ['orderId', 'state'] },
    { index: 'ofOrder', serves: ['orderId'] },
    { index: 'alike', serves: ['fingerprint', 'state'] },
    { index: 'alike', serves: ['fingerprint'] },
    { index: 'ofPerson', serves: ['assignee', 'state'] },
    { index: 'ofPerson', serves: ['assignee'] },
    { index: 'ofGroup', serves: ['group', 'state'] },
    { index: 'ofGroup', serves: ['group'] },
    { index: 'byState', serves: ['state'] },
    { index: 'byState', serves: [] },
  ],
  ranges: ['overdue'],
  needs: {},
};

type Given = { readonly [filter: string]: unknown };

/** Returns the index that serves these filters, and the filters that are checked on each record: without any, pages are full. */
export function servedBy<Index extends string>(
  { filters, indexes, ranges }: ListFilters<Index>,
  given: Given,
): { readonly index: Index; readonly checks: readonly string[] } {
  const isGiven = (served: string): boolean => {
    const [filter = '', value] = served.split('=');
    return value === undefined ? given[filter] !== undefined : given[filter] === value;
  };
  const { index, serves } = indexes.find(({ serves }) => serves.every(isGiven)) ?? (indexes.at(-1) as ListIndexFilters<Index>);
  const served = new Set([...ranges, ...serves.map((each) => each.split('=')[0])]);
  return { index, checks: filters.filter((filter) => given[filter] !== undefined && !served.has(filter)) };
}

/** Returns each given filter that needs another filter which is not given. */
export const unservedIn = ({ needs }: ListFilters, given: Given): readonly { readonly filter: string; readonly needs: string }[] =>
  Object.entries(needs).flatMap(([filter, other]) =>
    given[filter] !== undefined && given[other] === undefined ? [{ filter, needs: other }] : [],
  );

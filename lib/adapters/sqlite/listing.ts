import { setTimeout as sleep } from 'node:timers/promises';
import { UnreadableRecordError } from '#ports/errors';
import { type ListFilters, lookedMax, orderList, servedBy } from '#ports/list-filters';
import type { ListPosition, OrderFilter, OrderPage, Store } from '#ports/store';
import type { Database, Statement } from './database.ts';
import { unfinishedCounter } from './order-figures.ts';
import { headOf, orderOf } from './rows.ts';

interface Place extends ListPosition {
  readonly id: number;
  readonly matches: number;
}

/**
 * Lists orders. SQLite blocks the only thread, so a page ends after it has examined `most` orders, even if its filter keeps few of them.
 * It examines them in portions.
 */
export function sqliteListing(database: Database, most = lookedMax): Pick<Store, 'list'> {
  const selectListed = database.prepare('SELECT o.record, s.head FROM orders o JOIN states s ON s.id = o.id WHERE o.id = ?');
  const countUnfinished = unfinishedCounter(database);
  const later = atHalfSpeed();

  /** Whether the filter names an unfinished state, and a page can examine all orders in that state. */
  const hasFewCandidates = ({ state }: OrderFilter): boolean =>
    (state === 'Pending' || state === 'Processing') && countUnfinished(state, most + 1) <= most;

  /** Returns one order, or nothing if it is damaged, so that a list shows the others. */
  function listed({ id, orderId }: Place): OrderPage['items'] {
    const row = selectListed.get(id) as { record: string; head: string } | undefined;
    if (!row) return [];
    try {
      return [{ order: orderOf(orderId, row), state: headOf(orderId, row.head) }];
    } catch (error) {
      if (error instanceof UnreadableRecordError) return [];
      throw error;
    }
  }

  /** Examines the next orders of a page, at most `examineMax`. */
  function portion(filter: OrderFilter, { list, after, room, examineMax }: Rest): Portion {
    const { statement, values } = placesFor(database, list, { filter, after });
    const items: OrderPage['items'][number][] = [];
    let examined = 0;
    let next = after;
    for (const row of statement.iterate(...values, examineMax)) {
      if (items.length >= room) return { items, next, ends: 'full' };
      const place = row as unknown as Place;
      next = positionOf(place);
      examined++;
      if (place.matches === 1) items.push(...listed(place));
    }
    return { items, next, ends: examined === examineMax ? 'limit' : 'over' };
  }

  return {
    async list(filter, after, limit) {
      const items: OrderPage['items'][number][] = [];
      const list = hasFewCandidates(filter) ? unfinishedList : orderList;
      let next = after;
      for (let left = most; left > 0; left -= portionMax) {
        const rest = { list, after: next, room: limit - items.length, examineMax: Math.min(left, portionMax) };
        const found = left === most ? portion(filter, rest) : await later(() => portion(filter, rest));
        items.push(...found.items);
        if (found.ends === 'over') return { items };
        next = found.next;
        if (found.ends === 'full') break;
      }
      return { items, ...(next ? { next } : {}) };
    },
  };
}

/** Orders that are examined in one portion, before other work of the process continues: a page of 100 orders, and the order after it. */
const portionMax = 101;

/**
 * Runs calls one after the other, each followed by a pause that is as long as the call. So all long pages together use at most half of
 * the thread: clients that read list after list must not hold up the orders of others.
 */
function atHalfSpeed() {
  let free: Promise<unknown> = Promise.resolve();
  return async <T>(call: () => T): Promise<T> => {
    const before = free;
    const { promise, resolve } = Promise.withResolvers<number>();
    free = promise.then((ms) => sleep(ms));
    await before;
    const startedAt = performance.now();
    try {
      return call();
    } finally {
      resolve(performance.now() - startedAt);
    }
  };
}

interface Rest {
  /** The list, with the index that serves this page. */
  readonly list: ListFilters<Index>;
  readonly after: ListPosition | undefined;
  /** Items for which the page still has room. */
  readonly room: number;
  readonly examineMax: number;
}

interface Portion {
  readonly items: OrderPage['items'];
  readonly next: ListPosition | undefined;
  /**
   * `full`: the page is full, and another order follows. `limit`: its limit of examined orders is used up, and there may be
   * more orders. `over`: there are no more orders.
   */
  readonly ends: 'full' | 'limit' | 'over';
}

const positionOf = ({ submittedAt, orderId }: Place): ListPosition => ({ submittedAt, orderId });

type Condition = readonly [sql: string, ...values: (string | number)[]];

/**
 * The tables of a list in the order in which SQLite reads them, and its index. `CROSS JOIN` keeps that order, and `INDEXED BY` the index,
 * so that each page begins at its position and sorts nothing but orders of the same millisecond.
 */
const sources = {
  byReference: { from: 'orders o INDEXED BY orders_by_reference CROSS JOIN states s ON s.id = o.id', at: 'o.submittedAt' },
  byClient: { from: 'orders o INDEXED BY orders_by_client CROSS JOIN states s ON s.id = o.id', at: 'o.submittedAt' },
  byDay: { from: 'orders o INDEXED BY orders_by_time CROSS JOIN states s ON s.id = o.id', at: 'o.submittedAt' },
  inError: { from: 'states s INDEXED BY states_in_error CROSS JOIN orders o ON o.id = s.id', at: 's.errorListedAt' },
  unfinished: { from: 'states s INDEXED BY states_unfinished CROSS JOIN orders o ON o.id = s.id', at: 'o.submittedAt' },
} as const;

type Index = keyof typeof sources;

/** The list of unfinished orders alone. */
const unfinishedList: ListFilters<Index> = { ...orderList, indexes: [{ index: 'unfinished', serves: ['state'] }] };

/**
 * Returns the query for the places of a list, newest first. Each row says whether its order meets the conditions that the index does not
 * serve.
 */
function placesFor(
  database: Database,
  list: ListFilters<Index>,
  { filter, after }: Pick<Rest, 'after'> & { readonly filter: OrderFilter },
) {
  const { index, checks } = servedBy(list, { ...filter });
  const { from, at } = sources[index];
  const { state = '', client = '', reference = '', submittedAfter = -1, submittedBefore = Number.MAX_SAFE_INTEGER } = filter;
  const within: readonly Condition[] = [
    ...(index === 'byReference' || index === 'byClient' ? [['o.client = ?', client] as const] : []),
    ...(index === 'byReference' ? [['o.reference = ?', reference] as const] : []),
    ...(index === 'unfinished' ? [['s.processState = ? AND s.finishedAt IS NULL', state] as const] : []),
    [`${at} > ?`, submittedAfter],
    [`${at} < ?`, submittedBefore],
    ...(after
      ? [[`${at} <= ?`, after.submittedAt] as const, [`(${at} < ? OR o.orderId < ?)`, after.submittedAt, after.orderId] as const]
      : []),
  ];
  const matching: readonly Condition[] = checks.map((check) => [
    checked[check as keyof typeof checked],
    filter[check as keyof OrderFilter] ?? '',
  ]);
  const all = (conditions: readonly Condition[]): string => conditions.map(([sql]) => sql).join(' AND ');
  const statement: Statement = database.prepare(
    `SELECT o.id, o.orderId, o.submittedAt, ${matching.length === 0 ? '1' : all(matching)} AS matches
     FROM ${from} WHERE ${all(within)} ORDER BY ${at} DESC, o.orderId DESC LIMIT ?`,
  );
  return { statement, values: [...matching, ...within].flatMap(([, ...values]) => values) };
}

/** Returns the SQL for a value of the head. It is NULL for an unreadable head, whose content must not be evaluated. */
const inHead = (path: string): string => `CASE WHEN json_valid(s.head) THEN json_extract(s.head, '$.${path}') END`;

/** Conditions on one order, for the filters that the index of a list does not serve. */
const checked = {
  client: 'o.client = ?',
  reference: 'o.reference IS ?',
  state: 's.processState = ?',
  outcome: `${inHead('outcome')} IS ?`,
  workflow: `${inHead('workflow.name')} IS ?`,
  fault: `${inHead('fault.type')} IS ?`,
} as const;

import { UnreadableRecordError } from '#ports/errors';
import type { ListPosition, OrderFilter, OrderPage, Store } from '#ports/store';
import type { Database } from './database.ts';
import { headOf, orderOf } from './rows.ts';

/** Orders examined for one page of a filter without an index. SQLite blocks the only thread, so this is limited. */
const lookedMaxDefault = 1000;

interface Place extends ListPosition {
  readonly id: number;
  readonly isMeant: number;
}

/** Lists orders. */
export function sqliteListing(database: Database, lookedMax = lookedMaxDefault): Pick<Store, 'list'> {
  const selectListed = database.prepare('SELECT o.record, s.head FROM orders o JOIN states s ON s.id = o.id WHERE o.id = ?');

  const listed = ({ id, orderId }: Place): OrderPage['items'] => {
    const row = selectListed.get(id) as { record: string; head: string } | undefined;
    return row ? readable(() => ({ order: orderOf(orderId, row), state: headOf(orderId, row.head) })) : [];
  };

  return {
    async list(filter, after, limit) {
      const { from, where, meant, values } = conditionsOf(filter, after);
      // One order more than the page shows whether another page follows.
      const looked = meant === undefined ? limit + 1 : Math.max(lookedMax, limit + 1);
      const places = database
        .prepare(
          `SELECT o.id, o.orderId, o.submittedAt, ${meant ?? '1'} AS isMeant FROM ${from} ON s.id = o.id ${where} ORDER BY o.submittedAt DESC, o.orderId DESC LIMIT ?`,
        )
        .all(...values, looked) as unknown as readonly Place[];
      const found = places.filter(({ isMeant }) => isMeant === 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : places.length === looked ? places.at(-1) : undefined;
      const next = last && { submittedAt: last.submittedAt, orderId: last.orderId };
      return { items: page.flatMap(listed), ...(next ? { next } : {}) };
    },
  };
}

/** Reads one record, or nothing if it is damaged, so that a list shows the others. */
function readable<T>(read: () => T): readonly T[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof UnreadableRecordError) return [];
    throw error;
  }
}

/** Returns the SQL conditions of a filter. `meant` holds those that no index serves. */
function conditionsOf(filter: OrderFilter, after: ListPosition | undefined) {
  // An unreadable record must not stop the list, and its content must not be evaluated.
  const isReadable = "json_valid(o.record) AND CASE WHEN json_valid(s.head) THEN json_extract(s.head, '$.schemaVersion') IS 1 ELSE 0 END";
  const parts: [string, ...(string | number)[]][] = [[isReadable]];
  const { client, reference } = filter;
  if (client !== undefined) parts.push(['o.client = ?', client]);
  if (client !== undefined && reference !== undefined) parts.push(['o.reference = ?', reference]);
  if (filter.submittedAfter !== undefined) parts.push(['o.submittedAt > ?', filter.submittedAfter]);
  if (filter.submittedBefore !== undefined) parts.push(['o.submittedAt < ?', filter.submittedBefore]);
  // Only a literal makes SQLite use the partial index of orders in Error. Only CROSS JOIN makes it start there, not at all orders of a
  // client.
  const inError = filter.state === 'Error';
  const from = inError ? 'states s CROSS JOIN orders o' : 'orders o JOIN states s';
  if (inError) parts.push(["s.processState = 'Error'"]);
  if (after) parts.push(['(o.submittedAt, o.orderId) < (?, ?)', after.submittedAt, after.orderId]);

  const seen: [string, ...string[]][] = [];
  if (client === undefined && reference !== undefined) seen.push(['o.reference IS ?', reference]);
  if (!inError && filter.state !== undefined) seen.push(['s.processState = ?', filter.state]);
  const inHead = { outcome: filter.outcome, 'workflow.name': filter.workflow, 'fault.type': filter.fault };
  for (const [path, value] of Object.entries(inHead)) if (value !== undefined) seen.push([`json_extract(s.head, '$.${path}') IS ?`, value]);
  return {
    from,
    where: `WHERE ${parts.map(([text]) => text).join(' AND ')}`,
    meant: seen.length === 0 ? undefined : `(${seen.map(([text]) => text).join(' AND ')})`,
    // In the statement, the conditions on an order precede those on the index.
    values: [...seen.flatMap(([, ...values]) => values), ...parts.flatMap(([, ...values]) => values)],
  };
}

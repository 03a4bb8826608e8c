import { UnreadableRecordError } from '#ports/errors';
import { lookedMax } from '#ports/list-filters';
import type { OrderRecord, StateHead } from '#ports/records';
import type { ListPosition, OrderFilter, OrderPage, Store } from '#ports/store';
import { candidates } from './candidates.ts';
import type { StoreContext } from './context.ts';
import { headOf, orderOf } from './items.ts';
import { type Key, keys } from './keys.ts';
import { getAll } from './reads.ts';

type Listed = OrderPage['items'][number];

/** Orders that one batch reads for a list: two items each, within the 100 items of a batch. */
const listChunk = 50;

/** Lists orders: an index proposes candidates, and their items decide. */
export function dynamoDbListing(context: StoreContext, most = lookedMax): Pick<Store, 'list'> {
  async function list(filter: OrderFilter, after: ListPosition | undefined, limit: number): Promise<OrderPage> {
    const found: Listed[] = [];
    const stream = candidates(context.table, filter, after);
    let last: ListPosition | undefined;
    // A filter without an index discards most orders, so later reads are larger.
    for (
      let looked = 0, wanted = Math.min(listChunk, limit);
      found.length < limit && looked < most;
      wanted = Math.min(listChunk, most - looked)
    ) {
      const positions = await nextOf(stream, wanted);
      const ids = positions.flatMap(({ orderId }) => (orderId === '' ? [] : [orderId]));
      found.push(...(await matching(context, ids, filter)));
      looked += positions.length;
      last = positions.length < wanted ? undefined : positions.at(-1);
      if (!last) break;
    }
    return pageOf(found, limit, last);
  }
  return { list: (filter, after, limit) => context.withRetries(() => list(filter, after, limit)) };
}

/** Returns the orders that match a filter. An unreadable order is left out. */
async function matching(
  { table, retryOptions, isPresent }: StoreContext,
  ids: readonly string[],
  filter: OrderFilter,
): Promise<readonly Listed[]> {
  const wanted = ids.map((id) => [keys.order(id), keys.state(id)] as const);
  const items = await getAll(table, wanted.flat(), { ...retryOptions, consistent: false });
  const found = new Map(items.map((item) => [textOf(item as unknown as Key), item]));
  return wanted.flatMap(([orderKey, stateKey]) => {
    const [order, state] = [found.get(textOf(orderKey)), found.get(textOf(stateKey))];
    const listed = order && isPresent(state) ? unlessUnreadable(() => ({ order: orderOf(order), state: headOf(state) })) : undefined;
    return listed && matches(filter, listed.order, listed.state) ? [listed] : [];
  });
}

/** Whether an order matches the filter by its items. The index only proposes it. */
const matches = (filter: OrderFilter, order: OrderRecord, state: StateHead): boolean =>
  (filter.client === undefined || order.client === filter.client) &&
  (filter.reference === undefined || order.reference === filter.reference) &&
  (filter.state === undefined || state.processState === filter.state) &&
  (filter.outcome === undefined || state.outcome === filter.outcome) &&
  (filter.workflow === undefined || state.workflow.name === filter.workflow) &&
  (filter.fault === undefined || state.fault?.type === filter.fault) &&
  (filter.submittedAfter === undefined || order.submittedAt > filter.submittedAfter) &&
  (filter.submittedBefore === undefined || order.submittedAt < filter.submittedBefore);

const textOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

/** Returns a page of a list. Orders read beyond the limit are read again for the next page. */
function pageOf(found: readonly Listed[], limit: number, last: ListPosition | undefined): OrderPage {
  const items = found.slice(0, limit);
  const end = found.length > limit ? items.at(-1)?.order : undefined;
  const next = end ? { submittedAt: end.submittedAt, orderId: end.orderId } : last;
  return { items, ...(next ? { next } : {}) };
}

/** Returns the next items of a stream, which remains open. */
async function nextOf<T>(stream: AsyncIterator<T>, count: number): Promise<readonly T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await stream.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

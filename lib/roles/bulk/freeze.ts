import { shortType } from '#core/data/fault';
import type { StateHead } from '#ports/records';
import type { ListPosition, OrderFilter, Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { exceptionGroups } from '#roles/exceptions/groups';
import { listExceptions } from '#roles/exceptions/list';
import { readableHead, referenceOf } from '#roles/scheduler/load';
import { type OrderOfSet, ordersMax } from './documents.ts';
import type { BulkFilter } from './run.ts';

type FreezeStore = Pick<Store, 'list' | 'head' | 'load' | 'listed' | 'tallies'> & Parameters<typeof listExceptions>[0];

interface Ports {
  readonly store: FreezeStore;
  readonly now: number;
}

/** Heads that are read at a time. */
const readAtOnce = 50;
const pageSize = 100;

/** Returns the `seq` of the error of an order, or else of its newest open cause, such as a failing undo; 0 if no cause is open. */
export function openCauseOf({ open = [] }: Pick<StateHead, 'open'>): number {
  const error = open.findLast(({ cause }) => cause.startsWith('error/'));
  return (error ?? open.at(-1))?.seq ?? 0;
}

/** Calls `take` with the orders of a filter, page by page, until `take` returns false. An order may come twice. */
export async function eachMatch(filter: BulkFilter, ports: Ports, take: (orders: readonly OrderOfSet[]) => Promise<boolean> | boolean) {
  if (filter.ids) return eachOf(filter.ids, filter, ports, take);
  if (filter.fingerprint !== undefined) return eachAlike(filter.fingerprint, filter, ports, take);
  let after: ListPosition | undefined;
  do {
    const page = await ports.store.list(orderFilter(filter), after, pageSize);
    if (!(await take(page.items.map(({ order, state }) => orderOfSet(state, order.reference))))) return;
    after = page.next;
  } while (after);
}

type Take = Parameters<typeof eachMatch>[2];

const orderOfSet = (head: StateHead, reference?: string): OrderOfSet => ({
  orderId: head.orderId,
  seq: openCauseOf(head),
  rev: head.rev,
  ...(reference === undefined ? {} : { reference }),
});

const orderFilter = ({ ids: _, fingerprint: __, ...filter }: BulkFilter): OrderFilter => filter;

/** Calls `take` with the orders that a person names. An id without an order stays in the set, so that its check refuses it. */
async function eachOf(ids: readonly string[], filter: BulkFilter, { store }: Ports, take: Take): Promise<void> {
  for (let from = 0; from < ids.length; from += readAtOnce) {
    const some = ids.slice(from, from + readAtOnce);
    const heads = await allSettledOrThrow(some.map((id) => readableHead(id, store)));
    const found = some.flatMap((orderId, index) => {
      const head = heads[index];
      if (!head) return [{ orderId, seq: 0, rev: 0 }];
      return fits(head, filter) ? [orderOfSet(head)] : [];
    });
    if (!(await take(found))) return;
  }
}

/** Calls `take` with the orders whose open exception has the fingerprint. */
async function eachAlike(fingerprint: string, filter: BulkFilter, { store, now }: Ports, take: Take): Promise<void> {
  let after: string | undefined;
  do {
    const page = await listExceptions(store, { fingerprint, state: 'open' }, { after, limit: pageSize, now });
    const heads = await allSettledOrThrow(page.items.map(({ orderId }) => readableHead(orderId, store)));
    const found = page.items.flatMap(({ seq, reference }, index) => {
      const head = heads[index];
      return head?.open?.some((cause) => cause.seq === seq) && fits(head, filter) ? [{ ...orderOfSet(head, reference), seq }] : [];
    });
    if (!(await take(found))) return;
    after = page.next;
  } while (after !== undefined);
}

function fits(head: StateHead, { state, workflow, fault, submittedAfter, submittedBefore }: BulkFilter): boolean {
  return (
    (state === undefined || head.processState === state) &&
    (workflow === undefined || head.workflow.name === workflow) &&
    (fault === undefined || (head.fault !== null && shortType(head.fault.type) === fault)) &&
    (submittedAfter === undefined || head.submittedAt > submittedAfter) &&
    (submittedBefore === undefined || head.submittedAt < submittedBefore)
  );
}

/** Returns the orders of a filter, sorted by id; undefined if there are more than a run may have. `beat`: called between the reads. */
export async function matchesOf(
  filter: BulkFilter,
  ports: Ports,
  beat: () => Promise<unknown>,
): Promise<readonly OrderOfSet[] | undefined> {
  const found = new Map<string, OrderOfSet>();
  await eachMatch(filter, ports, async (matching) => {
    // The orders that a person names are found by their heads, which have no reference.
    const orders = filter.ids ? await withReferences(matching, ports) : matching;
    // The newest exception of an order comes first, and is the one that counts.
    for (const order of orders) if (!found.has(order.orderId)) found.set(order.orderId, order);
    await beat();
    return found.size <= ordersMax;
  });
  if (found.size > ordersMax) return undefined;
  return [...found.values()].sort((one, other) => (one.orderId < other.orderId ? -1 : 1));
}

const withReferences = (orders: readonly OrderOfSet[], { store }: Ports): Promise<readonly OrderOfSet[]> =>
  allSettledOrThrow(orders.map(async (order) => ({ ...order, reference: await referenceOf(order.orderId, store) })));

/**
 * Whether a filter means more orders than a run may have. False also means "not known": the time of the API call was over, or the filter
 * takes only a part of the exceptions of a fingerprint, which are counted together. The run itself counts again when it freezes its set.
 */
export async function meansTooMany(filter: BulkFilter, { store, now }: Ports, isTimeOver: () => boolean): Promise<boolean> {
  const { ids, fingerprint, ...others } = filter;
  if (ids) return ids.length > ordersMax;
  if (fingerprint !== undefined) {
    if (Object.values(others).some((value) => value !== undefined)) return false;
    return (await exceptionGroups(store, now)).some((group) => group.fingerprint === fingerprint && group.open > ordersMax);
  }
  let count = 0;
  await eachMatch(filter, { store, now }, (orders) => {
    count += orders.length;
    return count <= ordersMax && !isTimeOver();
  });
  return count > ordersMax;
}

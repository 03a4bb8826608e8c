import type { StateRecord } from '#ports/records';
import type { OrderFilter, Store } from '#ports/store';
import type { History } from '#testing/world/history';

const pageSize = 2;

/** Returns the violations after the end of a world. The store lists all orders page by page, and forgets only finished ones. */
export async function wrongInArchive(store: Store, history: History): Promise<readonly string[]> {
  const all = [...history.orders.values()].map(({ state }) => state);
  return [...(await wrongInLists(store, all)), ...(await wrongInForgetting(store, history, all))];
}

async function wrongInLists(store: Store, all: readonly StateRecord[]): Promise<readonly string[]> {
  const [one] = all;
  if (!one) return [];
  const filters: readonly OrderFilter[] = [
    {},
    { client: one.client },
    { state: 'Processed' },
    { outcome: 'completed', workflow: one.workflow.name },
    ...(one.fault ? [{ fault: one.fault.type }] : []),
    { submittedAfter: one.submittedAt },
    { submittedBefore: one.submittedAt },
    { submittedAfter: one.submittedAt - 1, submittedBefore: one.submittedAt + 1 },
  ];
  const wrong: string[] = [];
  for (const filter of filters) {
    const found = await listed(store, filter, all.length);
    const wanted = all.filter((state) => isMeant(state, filter)).toSorted(byTime);
    const [got, want] = [found, wanted.map(({ orderId, rev }) => `${orderId} ${rev}`)].map((each) => each.join(', '));
    if (got !== want) wrong.push(`lists: of ${JSON.stringify(filter)} there is ${got} instead of ${want}`);
  }
  return wrong;
}

async function listed(store: Store, filter: OrderFilter, most: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let page = await store.list(filter, undefined, pageSize); ; page = await store.list(filter, page.next, pageSize)) {
    found.push(...page.items.map(({ order, state }) => `${order.orderId} ${state.rev}`));
    if (page.items.length > pageSize || page.next === undefined || found.length > most) return found;
  }
}

const byTime = (one: StateRecord, other: StateRecord): number =>
  other.submittedAt - one.submittedAt || (other.orderId > one.orderId ? 1 : -1);

const isMeant = (state: StateRecord, { client, state: processState, outcome, workflow, fault, ...times }: OrderFilter): boolean =>
  (client === undefined || state.client === client) &&
  (processState === undefined || state.processState === processState) &&
  (outcome === undefined || state.outcome === outcome) &&
  (workflow === undefined || state.workflow.name === workflow) &&
  (fault === undefined || state.fault?.type === fault) &&
  state.submittedAt > (times.submittedAfter ?? 0) &&
  state.submittedAt < (times.submittedBefore ?? Number.POSITIVE_INFINITY);

/** Forgets the orders that ended before the middle one, one by one, and returns the violations. */
async function wrongInForgetting(store: Store, { orders }: History, all: readonly StateRecord[]): Promise<readonly string[]> {
  const times = all.flatMap(({ processState, updatedAt }) => (processState === 'Processed' ? [updatedAt] : [])).toSorted((a, b) => a - b);
  const before = times[Math.floor(times.length / 2)] ?? 0;
  const over = all.filter((state) => state.processState === 'Processed' && state.updatedAt < before && state.worklist === null);
  const due = new Set(over.filter(({ orderId }) => isForgotten(orderId)));
  /** Whether the store may forget the order: not before the order that called it, if there is one. */
  function isForgotten(orderId: string): boolean {
    const { state, caller } = orders.get(orderId) ?? {};
    return state !== undefined && over.includes(state) && (caller === undefined || isForgotten(caller));
  }
  let forgotten = 0;
  for (let count = 1; count > 0 && forgotten <= all.length; forgotten += count) count = await store.forget(before, 1);
  const heads = await Promise.all(all.map(({ orderId }) => store.head(orderId).catch(() => 'unreadable')));
  const left = new Set(all.flatMap(({ orderId }, index) => (heads[index] === undefined ? [] : [orderId])));
  const wrong = all.filter((state) => left.has(state.orderId) === due.has(state));
  return [
    ...wrong.map(({ orderId, processState }) => `forgetting: ${orderId}, ${processState}, is ${left.has(orderId) ? 'left' : 'gone'}`),
    ...(forgotten === due.size ? [] : [`forgetting: ${forgotten} orders are said to be forgotten instead of ${due.size}`]),
    ...(await wrongInRest(store, [...due])),
  ];
}

async function wrongInRest(store: Store, gone: readonly StateRecord[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { orderId } of gone) {
    if ((await store.load(orderId)) !== undefined || (await store.pages(orderId)).length > 0)
      wrong.push(`forgetting: something is left of ${orderId}`);
  }
  return wrong;
}

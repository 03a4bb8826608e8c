import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { orderList, servedBy } from '#ports/list-filters';
import type { StateHead } from '#ports/records';
import type { ListPosition, OrderFilter, OrderPage, Patched, Store, Write } from '#ports/store';
import { alone, headOf, idsOf, next, noon, orderRecord, put, stateRecord } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';
import { oneOfEach } from './list-filters.ts';

/** The number of orders that the store `few` examines for one page. */
export const fewLooked = 5;

interface Opened {
  readonly store: Store;
  /** The same orders in a store that examines only `fewLooked` orders for one page. */
  readonly few: Store;
  close(): Promise<void>;
}

async function pagesOf(store: Store, filter: OrderFilter, limit: number): Promise<readonly OrderPage[]> {
  const pages: OrderPage[] = [];
  let after: ListPosition | undefined;
  do {
    assert.ok(pages.length <= 100, 'the list has no end');
    const page = await store.list(filter, after, limit);
    assert.ok(page.items.length <= limit);
    pages.push(page);
    after = page.next;
  } while (after);
  return pages;
}

const idsInPages = async (store: Store, filter: OrderFilter, limit: number): Promise<readonly string[]> =>
  (await pagesOf(store, filter, limit)).flatMap(idsOf);

/** The two ways to write a state: with its instance, as the scheduler does, and without, as the supervisor does. */
const ways = ['update', 'patch'] as const;
type Way = (typeof ways)[number];

/** Each writer knows only the state that it has just read. */
async function change(store: Store, orderId: string, way: Way, more: Partial<StateHead>): Promise<void> {
  const update = async (): Promise<Write> => {
    const { state } = (await store.load(orderId)) ?? assert.fail();
    return store.update(next(state, more), state, alone);
  };
  const patch = async (): Promise<Patched> => {
    const head = (await store.head(orderId)) ?? assert.fail();
    return store.patch(next(head, more), head);
  };
  assert.deepEqual(await (way === 'update' ? update() : patch()), { outcome: 'written' });
}

const errorState = { processState: 'Error', worklist: 'error' } as const;
const released = { processState: 'Processing', worklist: 'due' } as const;
const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
const dayMs = 86_400_000;

/** Filters that an index serves alone, and filters that are checked on each order. */
const indexed = [[], ['client'], ['client', 'reference'], ['state'], ['client', 'submittedAfter', 'submittedBefore']];
const checked = [
  ['reference'],
  ['outcome'],
  ['client', 'workflow'],
  ['state', 'client'],
  ['state', 'fault'],
  ['client', 'reference', 'outcome'],
];

/** Orders that match one of each filter, and three times as many that match all but one. */
function ordersForFilters() {
  const lacking = ['client', 'reference', 'state', 'outcome', 'workflow', 'fault'];
  return listOf(24, (index) => {
    const lacks = index % 4 === 0 ? '' : String(lacking[index % lacking.length]);
    const given = <T>(name: keyof typeof oneOfEach, other: T) => (lacks === name ? other : (oneOfEach[name] as T));
    const workflow = { name: given<string>('workflow', 'fulfil-order'), version: 1 };
    const type = given<string>('fault', 'OutOfStock');
    return {
      orderId: `o${String(index).padStart(2, '0')}`,
      lacks,
      order: { submittedAt: noon + index, client: given<string>('client', 'mail'), reference: given<string>('reference', 'r2'), workflow },
      state: {
        ...errorState,
        processState: given<StateHead['processState']>('state', 'Pending'),
        outcome: given<StateHead['outcome']>('outcome', 'completed'),
        workflow,
        fault: { type, class: 'expected' as const, message: 'm', permanent: true },
      },
    };
  });
}

/** The promises of every store about its lists; part of the store's contract. */
export function listContract(name: string, open: () => Opened | Promise<Opened>): void {
  const it = contractTest(name, open);

  it('a list obeys every filter, alone and combined, and is newest first', async ({ store }) => {
    await put(
      store,
      'a',
      { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null },
      { submittedAt: noon, reference: 'r1' },
    );
    await put(
      store,
      'b',
      { processState: 'Error', fault: { type: 'CardDeclined', class: 'expected', message: 'm', permanent: true } },
      { submittedAt: noon + 1, client: 'mail', reference: 'r1' },
    );
    await put(
      store,
      'c',
      { workflow: { name: 'return', version: 2 } },
      { submittedAt: noon + 2, workflow: { name: 'return', version: 2 } },
    );
    await put(store, 'd', { processState: 'Pending' }, { submittedAt: noon + 3 });
    const table: readonly (readonly [OrderFilter, string])[] = [
      [{}, 'd c b a'],
      [{ client: 'shop' }, 'd c a'],
      [{ client: 'nobody' }, ''],
      [{ state: 'Processed' }, 'a'],
      [{ state: 'Pending' }, 'd'],
      [{ outcome: 'completed' }, 'a'],
      [{ outcome: 'canceled' }, ''],
      [{ workflow: 'return' }, 'c'],
      [{ workflow: 'fulfil-order' }, 'd b a'],
      [{ fault: 'CardDeclined' }, 'b'],
      [{ reference: 'r1' }, 'b a'],
      [{ reference: 'r1', client: 'mail' }, 'b'],
      [{ submittedAfter: noon }, 'd c b'],
      [{ submittedBefore: noon + 3 }, 'c b a'],
      [{ submittedAfter: noon, submittedBefore: noon + 2 }, 'b'],
      [
        {
          state: 'Error',
          fault: 'CardDeclined',
          client: 'mail',
          workflow: 'fulfil-order',
          reference: 'r1',
          submittedAfter: noon,
          submittedBefore: noon + 2,
        },
        'b',
      ],
      [{ client: "shop' OR '1'='1" }, ''],
    ];
    for (const [filter, expected] of table)
      assert.equal(idsOf(await store.list(filter, undefined, 10)).join(' '), expected, JSON.stringify(filter));
    const [newest] = (await store.list({}, undefined, 1)).items;
    assert.deepEqual(newest, {
      order: orderRecord('d', { submittedAt: noon + 3 }),
      state: headOf(stateRecord('d', { submittedAt: noon + 3, processState: 'Pending' })),
    });
  });

  it('a list in pages shows every order once, even if many arrived at the same time', async ({ store }) => {
    const times = listOf(40, (index) => noon + (index % 3));
    for (const [index, submittedAt] of times.entries()) await put(store, `o${index}`, {}, { submittedAt });
    const all = idsOf(await store.list({}, undefined, 100));
    assert.equal(new Set(all).size, 40);
    for (const limit of [1, 7, 40]) {
      assert.deepEqual(await idsInPages(store, { client: 'shop' }, limit), all);
    }
    assert.deepEqual(
      all,
      idsOf(await store.list({}, { submittedAt: noon + 3, orderId: '' }, 100)),
      'from a position after the latest order',
    );
    assert.deepEqual(await store.list({}, { submittedAt: noon - 1, orderId: 'z' }, 100), { items: [] });
  });

  it('a list whose filter has no index returns its page in time, with the position to continue at', async ({ store, few }) => {
    for (let index = 0; index < 40; index++) {
      const own = index % 20 === 3 ? { outcome: 'canceled' as const, workflow: { name: 'return', version: 1 } } : {};
      await put(store, `o${index}`, { processState: index % 20 === 3 ? 'Processed' : 'Processing', ...own }, { submittedAt: noon + index });
    }
    for (const filter of [{ outcome: 'canceled' }, { state: 'Processed' }, { workflow: 'return', client: 'shop' }] as const) {
      const pages = await pagesOf(few, filter, 3);
      assert.deepEqual(pages.flatMap(idsOf), ['o23', 'o3'], JSON.stringify(filter));
      assert.ok(pages.length >= 6, `${pages.length} pages for ${JSON.stringify(filter)}`);
      assert.ok(
        pages.every(({ items }, index) => items.length <= 3 && (index === pages.length - 1) === (pages[index]?.next === undefined)),
      );
    }
    assert.deepEqual((await pagesOf(few, { fault: 'NoSuchFault' }, 3)).flatMap(idsOf), []);
  });

  it('a filter with an index fills its pages, however many other orders there are', async ({ store, few }) => {
    for (let index = 0; index < 40; index++) {
      const rare = index % 10 === 3;
      const [state, order] = [rare ? errorState : {}, rare ? { client: 'mail', reference: 'r1' } : {}];
      await put(store, `o${index}`, state, { submittedAt: noon + index, ...order });
    }
    const served: readonly OrderFilter[] = [
      { client: 'mail' },
      { client: 'mail', reference: 'r1' },
      { state: 'Error' },
      { state: 'Error', client: 'mail' },
      { submittedAfter: noon + 2, submittedBefore: noon + 34, client: 'mail' },
    ];
    for (const filter of served)
      assert.deepEqual(idsOf(await few.list(filter, undefined, 4)), ['o33', 'o23', 'o13', 'o3'], JSON.stringify(filter));
  });

  it('A3: a filter that an index serves fills its pages, and the pages of any other filter have all its orders', async ({ store, few }) => {
    const orders = ordersForFilters();
    for (const { orderId, order, state } of orders) await put(store, orderId, state, order);
    for (const names of [...indexed, ...[...checked, Object.keys(oneOfEach)]]) {
      const filter: OrderFilter = Object.fromEntries(names.map((name) => [name, oneOfEach[name as keyof typeof oneOfEach]]));
      const pages = await pagesOf(few, filter, 3);
      const expected = orders.filter(({ lacks }) => !names.includes(lacks)).map(({ orderId }) => orderId);
      assert.deepEqual(pages.flatMap(idsOf), expected.toReversed(), names.join());
      if (servedBy(orderList, { ...filter }).checks.length === 0)
        assert.ok(
          pages.slice(0, Math.floor(expected.length / 3)).every(({ items }) => items.length === 3),
          names.join(),
        );
    }
  });

  it('orders in Error are listed newest first and in pages, over all days and from every writer', async ({ store }) => {
    const expected: { readonly orderId: string; readonly submittedAt: number }[] = [];
    for (let index = 0; index < 32; index++) {
      // Four orders of each day arrived at the same time.
      const [orderId, submittedAt] = [`o${index}`, noon - Math.floor(index / 8) * 40 * dayMs + (index % 8 < 4 ? 0 : index)];
      await put(store, orderId, index % 4 === 0 ? errorState : {}, { submittedAt });
      if (index % 4 === 1) await change(store, orderId, 'update', errorState);
      if (index % 4 === 2) await change(store, orderId, 'patch', errorState);
      if (index % 4 !== 3) expected.push({ orderId, submittedAt });
    }
    expected.sort((a, b) => b.submittedAt - a.submittedAt || (a.orderId < b.orderId ? 1 : -1));
    for (const limit of [1, 5, 24, 50])
      assert.deepEqual(
        await idsInPages(store, { state: 'Error' }, limit),
        expected.map(({ orderId }) => orderId),
        `${limit} a page`,
      );
  });

  it('an order is in the Error list from the write that adds it to the write that removes it', async ({ store }) => {
    const inError = async (): Promise<readonly string[]> => idsOf(await store.list({ state: 'Error' }, undefined, 10));
    for (const into of ways) {
      for (const out of ways) {
        const orderId = `${into}-${out}`;
        await put(store, orderId);
        assert.deepEqual(await inError(), [], 'the order is running');
        await change(store, orderId, into, { ...errorState, worklist: 'due' });
        assert.deepEqual(await inError(), [orderId], 'the alert must be sent first');
        for (const way of ways) {
          await change(store, orderId, way, { ...errorState, worklistAt: noon + 5, outbox: [] });
          assert.deepEqual(await inError(), [orderId], 'it waits for a person');
        }
        await change(store, orderId, out, released);
        assert.deepEqual(await inError(), [], 'it was resubmitted');
        await change(store, orderId, into, errorState);
        assert.deepEqual(await inError(), [orderId], 'it failed again');
        await change(store, orderId, out, finished);
        assert.deepEqual(await inError(), [], 'it is finished');
      }
    }
  });

  it('the list of orders in Error obeys every other filter, and has no order in another state', async ({ store }) => {
    const fault = (type: string) => ({ type, class: 'expected' as const, message: 'm', permanent: true });
    const theirs = { client: 'mail', reference: 'r1' };
    await put(store, 'a', { ...errorState, fault: fault('CardDeclined') }, { submittedAt: noon - 2 * dayMs, reference: 'r1' });
    await put(store, 'b', { ...errorState, fault: fault('CardDeclined') }, { submittedAt: noon - dayMs, ...theirs });
    await put(
      store,
      'c',
      { ...errorState, fault: fault('OutOfStock'), workflow: { name: 'return', version: 2 } },
      { submittedAt: noon - 1 },
    );
    await put(store, 'd', {}, { submittedAt: noon, ...theirs });
    await put(store, 'e', finished, { submittedAt: noon + 1, reference: 'r1' });
    const table: readonly (readonly [OrderFilter, string])[] = [
      [{}, 'c b a'],
      [{ client: 'shop' }, 'c a'],
      [{ client: 'nobody' }, ''],
      [{ reference: 'r1' }, 'b a'],
      [theirs, 'b'],
      [{ client: 'shop', reference: 'r1' }, 'a'],
      [{ fault: 'CardDeclined' }, 'b a'],
      [{ fault: 'CardDeclined', client: 'shop' }, 'a'],
      [{ workflow: 'return' }, 'c'],
      [{ outcome: 'completed' }, ''],
      [{ submittedAfter: noon - dayMs }, 'c'],
      [{ submittedBefore: noon - dayMs }, 'a'],
      [{ submittedAfter: noon - 2 * dayMs, submittedBefore: noon - 1 }, 'b'],
      [{ submittedAfter: noon }, ''],
    ];
    for (const [filter, expected] of table)
      assert.equal((await idsInPages(store, { state: 'Error', ...filter }, 2)).join(' '), expected, JSON.stringify(filter));
  });

  test(`${name}: a list has the orders that a plain filter over all stored orders keeps, newest first`, async () => {
    const client = fc.constantFrom('a', 'b');
    const orders = fc.array(
      fc.record({
        client,
        submittedAt: fc.integer({ min: noon, max: noon + 3 }),
        processState: fc.constantFrom('Pending' as const, 'Error' as const),
      }),
      { maxLength: 12 },
    );
    const filters = fc.record(
      {
        client,
        state: fc.constantFrom('Pending' as const, 'Error' as const),
        submittedAfter: fc.integer({ min: noon - 1, max: noon + 3 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(orders, filters, fc.nat(13), async (all, filter, limit) => {
        const { store, close } = await open();
        for (const [index, { processState, ...order }] of all.entries()) await put(store, `o${index}`, { processState }, order);
        const expected = all
          .map((order, index) => ({ ...order, orderId: `o${index}` }))
          .filter((order) => filter.client === undefined || order.client === filter.client)
          .filter((order) => filter.state === undefined || order.processState === filter.state)
          .filter((order) => filter.submittedAfter === undefined || order.submittedAt > filter.submittedAfter)
          .toSorted((a, b) => b.submittedAt - a.submittedAt || (a.orderId < b.orderId ? 1 : -1));
        assert.deepEqual(
          idsOf(await store.list(filter, undefined, limit)),
          expected.slice(0, limit).map(({ orderId }) => orderId),
        );
        await close();
      }),
      { numRuns: 30 },
    );
  });
}

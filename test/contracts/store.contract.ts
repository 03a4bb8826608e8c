import assert from 'node:assert/strict';
import type { UndoPage } from '#core/data/state';
import type { Breaker } from '#ports/circuit-breaker';
import type { ClientRecord } from '#ports/clients';
import { collections } from '#ports/documents';
import { UnreadableRecordError } from '#ports/errors';
import { tableFigures } from '#ports/limits';
import type { Queues } from '#ports/queues';
import { shardCount, shardOf } from '#ports/records';
import type { Intent, SentWithWrite, Store } from '#ports/store';
import { alone, headOf, idsOf, next, noon, orderRecord, put, stateRecord } from '../support/records.ts';
import { listOf } from '../support/workflows.ts';
import { contractTest } from './contract-test.ts';
import { documentsContract } from './documents.contract.ts';
import { listContract } from './list.contract.ts';
import { listsContract } from './lists.contract.ts';
import { orderFiguresContract } from './order-figures.contract.ts';
import { solutionsContract } from './solutions.contract.ts';
import { talliesContract } from './tallies.contract.ts';

/** A store under test, the same data as another process sees it, and its messages and announcements. */
export interface OpenStore {
  readonly store: Store;
  readonly other: Store;
  /** The same store with a small limit of orders that it examines for one page. */
  readonly few: Store;
  readonly queues: Queues;
  /** Ids of the announcements. */
  announced(): readonly string[];
  /** Replaces a stored text, as a broken disk or a newer program would. */
  damage(orderId: string, part: 'order' | 'head', text: string): Promise<void>;
  /** Deletes the state of an order. */
  loseState(orderId: string): Promise<void>;
  close(): Promise<void>;
}

const withOne = (id: string): SentWithWrite => ({
  messages: [{ queue: 'q', body: id }],
  announcements: [{ id, detailType: 'Order Processed', detail: { id } }],
});

/** The promises of every store; each implementation calls it once. */
export function storeContract(name: string, open: () => OpenStore | Promise<OpenStore>): void {
  const it = contractTest(name, open);

  // ---- submission

  it('S9: an order and its state are stored together, and both are read as they were written', async ({ store, other }) => {
    const order = orderRecord('o1', {
      reference: 'r1',
      responseChannel: 'shop-replies',
      body: { text: 'Größe 😀 "quoted" \\ \u2028', list: [1.5, null, true, {}] },
    });
    const state = stateRecord('o1', {
      outbox: [{ id: 'a', kind: 'announcement', detailType: 'Order Processed', detail: {} }],
      fault: { type: 'X', class: 'expected', message: 'm', permanent: true },
      suspended: true,
      remainingMs: 90_000,
      longWaitMs: 120_000,
      undoing: true,
    });
    assert.deepEqual(await store.create(order, state, alone), { outcome: 'written' });
    for (const each of [store, other]) {
      assert.deepEqual(await each.load('o1'), { order, state });
      assert.deepEqual(await each.head('o1'), headOf(state));
    }
  });

  it('a missing order is not an error', async ({ store }) => {
    assert.equal(await store.load('o1'), undefined);
    assert.equal(await store.head('o1'), undefined);
    assert.deepEqual(await store.pages('o1'), []);
    assert.equal(await store.client('c1'), undefined);
  });

  it('S10, F-10: a repeated submission returns the first order, and changes nothing', async ({ store, other }) => {
    await store.create(orderRecord('o1'), stateRecord('o1'), alone);
    const again = await other.create(
      orderRecord('o1', { body: 'another', hash: 'other' }),
      stateRecord('o1', { rev: 7 }),
      withOne('second'),
    );
    assert.deepEqual(again, { outcome: 'exists', order: orderRecord('o1') });
    assert.deepEqual(await store.load('o1'), { order: orderRecord('o1'), state: stateRecord('o1') });
  });

  it('S23: an item that is too large is refused by name, and no part of the write is stored', async ({ store }) => {
    const isRefused = { name: 'StoreRefusesError' };
    const text = 'x'.repeat(tableFigures.itemBytesMax);
    await assert.rejects(store.create(orderRecord('o1', { body: text }), stateRecord('o1'), withOne('a')), isRefused);
    await assert.rejects(store.create(orderRecord('o1'), stateRecord('o1', { blob: text }), withOne('a')), isRefused);
    assert.equal(await store.load('o1'), undefined);

    const state = await put(store, 'o1');
    await assert.rejects(store.update(next(state, { blob: text }), state, withOne('a')), isRefused);
    await assert.rejects(store.putPage('o1', 1, [{ seq: 1, text }]), isRefused);
    assert.deepEqual([(await store.load('o1'))?.state, await store.pages('o1')], [state, []]);
  });

  it('S10: one of fifty concurrent submissions of an order is written', async ({ store, other }) => {
    const orders = listOf(50, (index) => orderRecord('o1', { hash: `h${index}` }));
    const answers = await Promise.all(orders.map((order, index) => (index % 2 ? store : other).create(order, stateRecord('o1'), alone)));
    const winner = (await store.load('o1'))?.order;
    assert.equal(answers.filter(({ outcome }) => outcome === 'written').length, 1);
    for (const answer of answers) if (answer.outcome === 'exists') assert.deepEqual(answer.order, winner);
  });

  it('F-02: an order whose state cannot be written is not stored either, and no message is sent', async ({ store, queues, announced }) => {
    const impossible = stateRecord('o1', { notes: [{ at: 1n as unknown as number, type: 'RecordUnreadable', reason: 'no JSON' }] });
    await assert.rejects(store.create(orderRecord('o1'), impossible, withOne('a')));
    assert.equal(await store.load('o1'), undefined);
    assert.deepEqual((await store.sweep(undefined, 10)).ids, []);
    assert.deepEqual([(await queues.depth('q')).visible, announced().length], [0, 0]);
    assert.deepEqual(await store.create(orderRecord('o1'), stateRecord('o1'), alone), { outcome: 'written' });
  });

  // ---- conditional writes

  it('a write with the fence that it loaded replaces the whole state', async ({ store, other }) => {
    const state = await put(store, 'o1');
    const changed = next(state, { epoch: 2, processState: 'Error', blob: '{"another":"instance"}', worklist: 'error' });
    assert.deepEqual(await other.update(changed, state, alone), { outcome: 'written' });
    assert.deepEqual((await store.load('o1'))?.state, changed);
    assert.deepEqual(await store.head('o1'), headOf(changed));
  });

  it('S2, S3: a write with an old epoch or rev changes nothing, and returns the winning state', async ({ store }) => {
    const state = await put(store, 'o1', { rev: 5, epoch: 3 });
    for (const fence of [
      { rev: 4, epoch: 3 },
      { rev: 6, epoch: 3 },
      { rev: 5, epoch: 2 },
      { rev: 5, epoch: 4 },
    ]) {
      assert.deepEqual(
        await store.update(next(state, { blob: 'lost' }), fence, alone),
        { outcome: 'refused', current: state },
        JSON.stringify(fence),
      );
      const patched = await store.patch(headOf(next(state, { failureCount: 9 })), fence);
      assert.deepEqual(patched, { outcome: 'refused', current: headOf(state) });
    }
    assert.deepEqual((await store.load('o1'))?.state, state);
  });

  it('a write to a missing order is refused without a current state', async ({ store }) => {
    assert.deepEqual(await store.update(stateRecord('o1'), { epoch: 1, rev: 0 }, alone), { outcome: 'refused', current: null });
    assert.deepEqual(await store.patch(headOf(stateRecord('o1')), { epoch: 1, rev: 0 }), { outcome: 'refused', current: null });
    assert.equal(await store.load('o1'), undefined);
  });

  it('F-54: a patch changes the head of the state and leaves the instance as it is', async ({ store, other }) => {
    const state = await put(store, 'o1');
    const patched = next(state, { failureCount: 1, processState: 'Error', worklist: 'error', worklistAt: noon });
    assert.deepEqual(await other.patch(headOf(patched), state), { outcome: 'written' });
    assert.deepEqual((await store.load('o1'))?.state, patched);

    const smuggled = next(patched, { blob: 'smuggled' });
    assert.deepEqual(await store.patch(smuggled, patched), { outcome: 'written' });
    assert.equal((await store.load('o1'))?.state.blob, state.blob);
  });

  it('S1: one of fifty concurrent writes based on the same state wins, and the others get the winning state', async ({ store, other }) => {
    const state = await put(store, 'o1');
    const attempts = listOf(50, (index) => next(state, { writeIds: [{ id: `w${index}`, rev: 2 }], blob: `by ${index}` }));
    const answers = await Promise.all(
      attempts.map((each, index) => (index % 2 ? store.update(each, state, alone) : other.patch(headOf(each), state))),
    );
    const winner = (await store.load('o1'))?.state ?? assert.fail();
    assert.equal(answers.filter(({ outcome }) => outcome === 'written').length, 1);
    for (const [index, answer] of answers.entries())
      if (answer.outcome === 'refused') assert.deepEqual(answer.current, index % 2 ? winner : headOf(winner));
  });

  it('S2: fifty writers that retry until they succeed make fifty revisions, one after the other', async ({ store, other }) => {
    await put(store, 'o1');
    const revs: number[] = [];
    const writer = async (own: Store): Promise<void> => {
      for (;;) {
        const loaded = (await own.load('o1'))?.state ?? assert.fail();
        const write = await own.update(next(loaded, { failureCount: loaded.failureCount + 1 }), loaded, alone);
        if (write.outcome === 'written') return void revs.push(loaded.rev + 1);
      }
    };
    await Promise.all(listOf(50, (index) => writer(index % 2 ? store : other)));
    assert.deepEqual(
      revs.toSorted((a, b) => a - b),
      listOf(50, (index) => index + 2),
    );
    assert.deepEqual([(await store.head('o1'))?.rev, (await other.head('o1'))?.failureCount], [51, 50]);
  });

  // ---- messages sent with a write

  it('S26: messages of a write are sent with it if the store promises so, and never if it is refused', async ({
    store,
    queues,
    announced,
  }) => {
    const state = stateRecord('o1');
    await store.create(orderRecord('o1'), state, withOne('created'));
    await store.create(orderRecord('o1'), state, withOne('created twice'));
    await store.update(next(state), state, withOne('updated'));
    await store.update(next(state), state, withOne('refused'));
    const sent = (await queues.receive('q', { max: 10, visibilityMs: 1000, waitMs: 0 })).map(({ body }) => body).toSorted();
    const expected = store.writesAndSendsAtomically ? ['created', 'updated'] : [];
    assert.deepEqual(sent, expected);
    assert.deepEqual(announced(), expected);
  });

  it('S26: a waiting receiver gets a message that was sent with a write', async ({ store, queues }) => {
    if (!store.writesAndSendsAtomically) return;
    const received = queues.receive('q', { max: 10, visibilityMs: 1000, waitMs: 1000 });
    const state = stateRecord('o1');
    await Promise.all([store.create(orderRecord('o1'), state, withOne('created')), store.update(next(state), state, withOne('updated'))]);
    assert.deepEqual(
      (await received).map(({ body }) => body),
      ['created', 'updated'],
    );
  });

  // ---- worklist

  it('F-48: the worklist returns due orders by shard and time, oldest first, and no more than requested', async ({ store }) => {
    const orders = listOf(60, (index) => `order-${index}`);
    for (const [index, orderId] of orders.entries())
      await put(store, orderId, { worklistAt: noon + ((index * 37) % 60) * 1000, worklist: index % 5 === 0 ? 'error' : 'due' });
    const at = (orderId: string) => ((orders.indexOf(orderId) * 37) % 60) * 1000;
    for (let shard = 0; shard < shardCount; shard++) {
      for (const worklist of ['due', 'error'] as const) {
        const mine = orders.filter(
          (orderId, index) => shardOf(orderId) === shard && (worklist === 'error') === (index % 5 === 0) && at(orderId) <= 30_000,
        );
        const expected = mine.toSorted((a, b) => at(a) - at(b));
        assert.deepEqual(await store.due(worklist, shard, noon + 30_000, 100), expected);
        assert.deepEqual(await store.due(worklist, shard, noon + 30_000, 1), expected.slice(0, 1));
        assert.deepEqual(await store.due(worklist, shard, noon - 1, 100), []);
      }
    }
  });

  it('an order keeps its worklist entry, even with another deadline, until a write moves or removes the entry', async ({ store }) => {
    const shard = shardOf('o1');
    const early = await put(store, 'o1', { worklistAt: noon, nextDueAt: noon + 60_000 });
    assert.deepEqual(await store.due('due', shard, noon, 10), ['o1']);

    const moved = next(early, { worklistAt: noon + 60_000 });
    await store.patch(headOf(moved), early);
    assert.deepEqual(await store.due('due', shard, noon + 59_999, 10), []);
    assert.deepEqual(await store.due('due', shard, noon + 60_000, 10), ['o1']);

    const inError = next(moved, { worklist: 'error' });
    await store.update(inError, moved, alone);
    assert.deepEqual([await store.due('due', shard, noon + 60_000, 10), await store.due('error', shard, noon + 60_000, 10)], [[], ['o1']]);

    await store.update(next(inError, { worklist: null, worklistAt: null }), inError, alone);
    assert.deepEqual(await store.due('error', shard, noon + 60_000, 10), []);
  });

  it('F-57: a sweep finds every order, in pages that neither overlap nor leave one out', async ({ store }) => {
    const orders = listOf(25, (index) => `order-${index}`);
    for (const orderId of orders) await put(store, orderId, { worklist: null, worklistAt: null });
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.sweep(after, 3);
      assert.ok(page.ids.length <= 12);
      found.push(...page.ids);
      after = page.next;
    } while (after !== undefined);
    assert.deepEqual(found.toSorted(), orders.toSorted());
    assert.equal(new Set(found).size, orders.length);
  });

  it('a sweep finds an order that waits without a deadline: rules may be about its age', async ({ store }) => {
    await put(store, 'waiting', { nextDueAt: null, nextDueFor: null, worklist: null, worklistAt: null, processState: 'Processing' });
    assert.deepEqual((await store.sweep(undefined, 100)).ids, ['waiting']);
  });

  // ---- journal pages

  it('F-159: pages of the journal are kept under their rev, once each, and read in order', async ({ store, other }) => {
    const page = (...seqs: number[]) => seqs.map((seq) => ({ seq, type: 'StepRequested', at: noon }));
    await store.putPage('o1', 7, page(4, 5, 6));
    await store.putPage('o1', 10, page(7));
    await other.putPage('o1', 3, page(1, 2, 3));
    await other.putPage('o1', 7, page(99));
    await store.putPage('o2', 1, page(1));
    assert.deepEqual(await store.pages('o1'), [page(1, 2, 3), page(4, 5, 6), page(7)]);
    assert.deepEqual(await store.pages('o2'), [page(1)]);
  });

  it('a page that is stored with a write exists exactly when the write does', async ({ store }) => {
    const state = await put(store, 'o1');
    const page = [{ seq: 1, type: 'StepRequested' }];
    if (!store.writesAndSendsAtomically) return;
    await store.update(next(state), state, { ...alone, page });
    assert.deepEqual(await store.pages('o1'), [page]);
  });

  it("S23, F-159: journal entries beyond the state's size are stored with the write, and never without it", async ({ store, other }) => {
    const page = (seq: number) => [{ seq, text: 'x'.repeat(300_000) }];
    const created = stateRecord('o1');
    await store.create(orderRecord('o1'), created, { ...alone, overflow: [page(1), page(2)] });
    await other.create(orderRecord('o1'), created, { ...alone, overflow: [page(90)] });
    await store.putPage('o1', created.rev, page(3));
    const state = next(created);
    assert.equal(
      (await store.update(state, created, { ...alone, overflow: Array.from({ length: 9 }, (_, n) => page(4 + n)) })).outcome,
      'written',
    );
    assert.equal((await other.update(state, created, { ...alone, overflow: [page(91)] })).outcome, 'refused');
    await store.putPage('o1', state.rev, page(13));
    assert.deepEqual(
      (await other.pages('o1')).flat().map(({ seq }) => seq),
      Array.from({ length: 13 }, (_, n) => n + 1),
    );
    assert.deepEqual((await store.load('o1'))?.state, state);
  });

  // ---- intents of at-most-once steps

  const intentOf = (requestId: string, more: Partial<Intent> = {}): Intent => ({
    orderId: 'o1',
    idempotencyKey: 'o1/order/pay/1',
    requestId,
    ...more,
  });

  it('X-20: the intent of a request is recorded once per key, and later requests learn which request recorded it', async ({
    store,
    other,
  }) => {
    assert.equal((await store.recordIntent(intentOf('r1'))).outcome, 'recorded');
    for (const each of [store, other])
      for (const requestId of ['r1', 'r2'])
        assert.deepEqual(await each.recordIntent(intentOf(requestId)), { outcome: 'refused', requestId: 'r1' });
    assert.equal((await other.recordIntent(intentOf('r2', { idempotencyKey: 'o1/order/pay/2' }))).outcome, 'recorded');
    assert.equal((await other.recordIntent(intentOf('r2', { orderId: 'o2' }))).outcome, 'recorded');
  });

  it('X-20: one of fifty concurrent recordings of one key succeeds, even if they are of the same request', async ({ store, other }) => {
    const notes = await Promise.all(listOf(50, (index) => (index % 2 ? store : other).recordIntent(intentOf(`r${index % 5}`))));
    assert.equal(notes.filter(({ outcome }) => outcome === 'recorded').length, 1);
  });

  it('X-20: two keys that are too long for a sort key, and differ only at their ends, stay distinct', async ({ store }) => {
    const long = (end: string) => intentOf(end, { idempotencyKey: `o1/${'order/'.repeat(300)}${end}` });
    assert.equal((await store.recordIntent(long('1'))).outcome, 'recorded');
    assert.equal((await store.recordIntent(long('2'))).outcome, 'recorded');
    assert.deepEqual(await store.recordIntent({ ...long('1'), requestId: 'r9' }), { outcome: 'refused', requestId: '1' });
  });

  it('X-20: a withdrawn intent is gone, and no other intent is withdrawn with it', async ({ store, other }) => {
    const note = await store.recordIntent(intentOf('r1'));
    await store.recordIntent(intentOf('r1', { idempotencyKey: 'o1/order/pay/2' }));
    assert.ok(note.outcome === 'recorded');
    await note.withdraw();
    assert.equal((await other.recordIntent(intentOf('r2'))).outcome, 'recorded');
    assert.equal((await other.recordIntent(intentOf('r2', { idempotencyKey: 'o1/order/pay/2' }))).outcome, 'refused');
  });

  it('S22, X-20: intents are removed with their order, and with no other', async ({ store, other }) => {
    const state = await put(store, 'o1');
    await put(store, 'o2');
    for (const orderId of ['o1', 'o2']) await store.recordIntent(intentOf('r1', { orderId }));
    await store.update(next(state, { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null }), state, alone);
    assert.equal((await store.recordIntent(intentOf('r2'))).outcome, 'refused', 'finished, but not forgotten');
    assert.equal(await store.forget(noon + 1000, 10), 1);
    assert.equal((await other.recordIntent(intentOf('r2'))).outcome, 'recorded');
    assert.equal((await other.recordIntent(intentOf('r2', { orderId: 'o2' }))).outcome, 'refused');
  });

  // ---- circuit breakers

  const away = (rev: number, change: Partial<Breaker> = {}): Breaker => ({
    agent: 'bank',
    rev,
    openedAt: noon,
    probeAt: noon + 5000,
    failedProbes: rev,
    closedAt: null,
    ...change,
  });

  it('X-45: an outage of a service is recorded once, by the first writer; the others get the current record', async ({ store, other }) => {
    assert.equal(await store.breaker('bank'), undefined);
    assert.deepEqual(await store.putBreaker(away(1), 0), { outcome: 'written' });
    assert.deepEqual(await other.putBreaker(away(1, { openedAt: noon + 9 }), 0), { outcome: 'refused', current: away(1) });
    assert.deepEqual([await other.breaker('bank'), await store.breaker('mail')], [away(1), undefined]);
  });

  it('X-45: one of fifty requests for the probe permit succeeds; each write requires the rev that was read', async ({ store, other }) => {
    await store.putBreaker(away(1), 0);
    const answers = await Promise.all(listOf(50, (index) => (index % 2 ? store : other).putBreaker(away(2, { probeAt: noon + index }), 1)));
    assert.equal(answers.filter(({ outcome }) => outcome === 'written').length, 1);
    assert.deepEqual(await other.putBreaker(away(3, { closedAt: noon + 60_000 }), 2), { outcome: 'written' });
    assert.deepEqual(await store.breaker('bank'), away(3, { closedAt: noon + 60_000 }));
    assert.equal((await store.putBreaker(away(3), 2)).outcome, 'refused');
  });

  // ---- pages of the undo list

  it('F-101: a page of the undo list is kept under its rev, once, and is read on its own', async ({ store, other }) => {
    const page = (path: string, below?: number): UndoPage => ({
      entries: [{ path, generation: 1, input: { text: 'Größe 😀 "quoted"' } }],
      ...(below === undefined ? {} : { below }),
    });
    await store.putUndoPage('o1', 7, page('order/a'));
    await store.putUndoPage('o1', 12, page('order/b', 7));
    await other.putUndoPage('o1', 7, page('order/c'));
    await store.putUndoPage('o2', 7, page('order/d'));
    await store.putPage('o1', 7, [{ seq: 1 }]);
    assert.deepEqual([await other.undoPage('o1', 7), await store.undoPage('o1', 12)], [page('order/a'), page('order/b', 7)]);
    assert.deepEqual([await store.undoPage('o1', 8), await store.undoPage('o3', 7)], [undefined, undefined]);
    assert.deepEqual(await store.pages('o1'), [[{ seq: 1 }]]);
  });

  it('a page of the undo list that is stored with a write exists exactly when the write does', async ({ store }) => {
    const state = await put(store, 'o1');
    const undoPage = { entries: [{ path: 'order/a', generation: 1, input: {} }] };
    if (!store.writesAndSendsAtomically) return;
    await store.update(next(state), state, { ...alone, undoPage });
    assert.deepEqual(await store.undoPage('o1', state.rev), undoPage);
  });

  listContract(name, open);
  documentsContract(name, open);
  listsContract(name, open);
  talliesContract(name, open);
  solutionsContract(name, open);
  orderFiguresContract(name, open);

  // ---- clients

  const registration = (id: string, rev: number, more: Partial<ClientRecord> = {}): ClientRecord => ({
    ...{ id, rev, responseChannels: [], senders: [], appClients: [], by: 'ada', at: 1, reason: 'new' },
    ...more,
  });
  const written = { outcome: 'written' };

  it('F-06: a client is kept with its settings, and replaced as a whole', async ({ store, other }) => {
    const first = registration('b', 1, { responseChannels: ['q1'], appClients: ['p1'] });
    const second = registration('b', 2, { responseChannels: ['q2', 'q3'], senders: ['s2'] });
    assert.deepEqual(await store.putClient(first, 0), written);
    assert.deepEqual(await store.putClient(registration('a', 1, { senders: ['s1'] }), 0), written);
    assert.deepEqual(await other.client('b'), first);
    assert.deepEqual(await other.putClient(second, 1), written);
    assert.deepEqual(await store.client('b'), second);
    assert.deepEqual((await other.clients()).map(({ id }) => id).toSorted(), ['a', 'b']);
  });

  it('F-06: a registration that has changed since it was read is not replaced, and the winner is returned', async ({ store, other }) => {
    const [first, second] = [registration('a', 1), registration('a', 2, { by: 'bob' })];
    assert.deepEqual(await store.putClient(registration('a', 2), 1), { outcome: 'refused', current: null });
    await store.putClient(first, 0);
    assert.deepEqual(await other.putClient(registration('a', 1, { by: 'eve' }), 0), { outcome: 'refused', current: first });
    await other.putClient(second, 1);
    assert.deepEqual(await store.putClient(registration('a', 2, { by: 'eve' }), 1), { outcome: 'refused', current: second });
    const raced = await Promise.all([store, other].map((each, index) => each.putClient(registration('a', 3, { by: `admin ${index}` }), 2)));
    assert.deepEqual(raced.map(({ outcome }) => outcome).toSorted(), ['refused', 'written']);
  });

  it('A5: an entry of the audit is written with the registration or the state that it records, or neither is', async ({ store, other }) => {
    const entry = (id: string) => ({ collection: collections.audit('2026-01-01'), id, rev: 1, content: { id } });
    const entries = async () => (await other.documents(entry('').collection, undefined, 10)).map(({ id }) => id);
    assert.deepEqual(await store.putClient(registration('a', 1, { appClients: ['p1'] }), 0, [entry('a')]), written);
    assert.equal((await store.putClient(registration('a', 1), 0, [entry('b')])).outcome, 'refused');
    assert.equal((await store.putClient(registration('b', 1, { appClients: ['p1'] }), 0, [entry('b')])).outcome, 'taken');
    await assert.rejects(store.putClient(registration('a', 2), 1, [entry('a')]), 'an entry is never replaced');
    assert.deepEqual([await entries(), (await other.client('a'))?.rev], [['a'], 1]);

    const state = stateRecord('o1');
    await store.create(orderRecord('o1'), state, alone);
    // @ts-expect-error A new order takes no documents, so none can be lost with it.
    const _ofNewOrder: Parameters<Store['create']>[2] = { ...alone, documents: [entry('c')] };
    assert.deepEqual(await store.update(next(state), state, { ...alone, documents: [entry('c')] }), written);
    assert.equal((await store.update(next(state), state, { ...alone, documents: [entry('d')] })).outcome, 'refused');
    await assert.rejects(store.update(next(next(state)), next(state), { ...alone, documents: [entry('c')] }), 'an entry is never replaced');
    assert.deepEqual([await entries(), (await other.head('o1'))?.rev], [['a', 'c'], state.rev + 1]);
  });

  it('F-06: a program acts for one client only, until that client gives it up', async ({ store, other }) => {
    await store.putClient(registration('a', 1, { appClients: ['p1', 'p2'] }), 0);
    assert.deepEqual([await other.clientOfApp('p2'), await other.clientOfApp('p3')], ['a', undefined]);
    const wish = registration('b', 1, { appClients: ['p3', 'p2'] });
    assert.deepEqual(await other.putClient(wish, 0), { outcome: 'taken', appClient: 'p2', client: 'a' });
    assert.deepEqual([await store.client('b'), await store.clientOfApp('p3')], [undefined, undefined]);
    assert.deepEqual(await store.putClient(registration('a', 2, { appClients: ['p1'] }), 1), written);
    assert.equal(await store.clientOfApp('p2'), undefined);
    assert.deepEqual(await other.putClient(wish, 0), written);
    assert.deepEqual([await store.clientOfApp('p1'), await store.clientOfApp('p2'), await store.clientOfApp('p3')], ['a', 'b', 'b']);
    assert.deepEqual((await store.clients()).map(({ id }) => id).toSorted(), ['a', 'b']);

    const raced = await Promise.all(
      ['c', 'd'].map((id, index) => [store, other][index]?.putClient(registration(id, 1, { appClients: ['p4'] }), 0)),
    );
    assert.deepEqual(raced.map((each) => each?.outcome).toSorted(), ['taken', 'written']);
  });

  // ---- retention

  it('S22: only orders that finished before the given time are removed, with all their items', async ({ store }) => {
    const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
    const old = await put(store, 'old');
    await put(store, 'young', { ...finished, updatedAt: noon + 1000 });
    await put(store, 'telling', { ...finished, worklist: 'due', worklistAt: noon, updatedAt: noon });
    await put(store, 'running', { updatedAt: noon });
    await put(store, 'blocked', { processState: 'Error', updatedAt: noon });
    await store.putPage('old', 1, [{ seq: 1 }]);
    await store.update(old, { epoch: old.epoch, rev: old.rev }, { ...alone, overflow: [[{ seq: 2 }]] });
    await store.putUndoPage('old', 1, { entries: [{ path: 'order/a', generation: 1 }] });
    await store.update(next(old, { ...finished, updatedAt: noon }), old, alone);
    assert.equal(await store.forget(noon + 1000, 10), 1);
    assert.deepEqual(idsOf(await store.list({}, undefined, 10)).toSorted(), ['blocked', 'running', 'telling', 'young']);
    assert.deepEqual([await store.load('old'), await store.head('old'), await store.pages('old')], [undefined, undefined, []]);
    assert.equal(await store.undoPage('old', 1), undefined);
  });

  it('S22: a finished order that continues is kept with all its items, however long it takes, until it has finished again', async ({
    store,
    other,
  }) => {
    const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
    const note = { orderId: 'o1', idempotencyKey: 'o1/order/pay/1', requestId: 'r1' };
    const undoPage = { entries: [{ path: 'order/a', generation: 1 }] };
    const first = await put(store, 'o1');
    await store.putPage('o1', 1, [{ seq: 1 }]);
    await store.putUndoPage('o1', 1, undoPage);
    await store.recordIntent(note);
    const over = next(first, finished);
    await store.update(over, first, alone);

    const undoing = next(over, { processState: 'Processing', outcome: null, worklist: 'due', worklistAt: noon });
    assert.deepEqual(await other.update(undoing, over, alone), { outcome: 'written' });
    assert.equal(await store.forget(noon + 1000, 10), 0);
    assert.deepEqual(await store.load('o1'), { order: orderRecord('o1'), state: undoing });
    assert.deepEqual(idsOf(await store.list({}, undefined, 10)), ['o1']);
    assert.deepEqual([await store.pages('o1'), await store.undoPage('o1', 1)], [[[{ seq: 1 }]], undoPage]);
    assert.equal((await other.recordIntent({ ...note, requestId: 'r2' })).outcome, 'refused');

    await store.update(next(undoing, { ...finished, outcome: 'compensated', updatedAt: noon + 5000 }), undoing, alone);
    assert.equal(await store.forget(noon + 4000, 10), 0);
    assert.equal((await store.load('o1'))?.state.outcome, 'compensated');
    assert.equal(await store.forget(noon + 6000, 10), 1);
    assert.deepEqual([await store.load('o1'), await store.pages('o1'), await store.undoPage('o1', 1)], [undefined, [], undefined]);
    assert.equal((await other.recordIntent({ ...note, requestId: 'r2' })).outcome, 'recorded');
  });

  it('S22: a called order is removed with its caller, whichever of them finishes first', async ({ store, other }) => {
    const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null } as const;
    const caller = (orderId: string) => ({ caller: { orderId, path: 'order/call', requestId: 'r', attempt: 1, epoch: 1 } });
    const top = await put(store, 'top');
    const middle = await put(store, 'middle', {}, caller('top'));
    const early = await put(store, 'early', {}, caller('middle'));
    const late = await put(store, 'late', {}, caller('top'));
    await store.putPage('early', 1, [{ seq: 1 }]);
    await store.update(next(early, { ...finished, updatedAt: noon }), early, alone);
    await other.update(next(middle, { ...finished, updatedAt: noon + 1000 }), middle, alone);
    assert.equal(await store.forget(noon + 60_000, 10), 0, 'the outermost order is still running');

    await store.update(next(top, { ...finished, updatedAt: noon + 70_000 }), top, alone);
    await store.update(next(late, { ...finished, updatedAt: noon + 90_000 }), late, alone);
    assert.equal(await store.forget(noon + 80_000, 10), 3);
    assert.deepEqual(await Promise.all(['top', 'middle', 'early'].map((id) => other.head(id))), [undefined, undefined, undefined]);
    assert.deepEqual(await store.pages('early'), []);
    assert.equal((await store.head('late'))?.outcome, 'completed', 'it was finished later than its caller');
    assert.equal(await store.forget(noon + 100_000, 10), 1);
  });

  it('a removal works in portions, and returns the size of each', async ({ store }) => {
    for (const orderId of listOf(5, (index) => `o${index}`))
      await put(store, orderId, { processState: 'Processed', worklist: null, worklistAt: null });
    assert.deepEqual(
      [await store.forget(noon + 1, 2), await store.forget(noon + 1, 2), await store.forget(noon + 1, 2), await store.forget(noon + 1, 2)],
      [2, 2, 1, 0],
    );
  });

  it('a removed order may be submitted again, and every process sees the new one', async ({ store, other }) => {
    await put(store, 'o1', { processState: 'Processed', worklist: null, worklistAt: null });
    await other.load('o1');
    await store.forget(noon + 1, 10);
    assert.equal(await other.load('o1'), undefined);
    const submittedAgain = orderRecord('o1', { body: 'another body', submittedAt: noon + 86_400_000 });
    await store.create(submittedAgain, stateRecord('o1'), alone);
    assert.deepEqual([(await store.load('o1'))?.order, (await other.load('o1'))?.order], [submittedAgain, submittedAgain]);
  });

  // ---- damage

  for (const [what, text] of [
    ['cut off', '{"schemaVersion":1,'],
    ['empty', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['of a newer version', JSON.stringify({ ...headOf(stateRecord('o1')), schemaVersion: 2 })],
  ] as const) {
    it(`X-48: a state that is ${what} is unreadable, and affects its order alone`, async ({ store, damage }) => {
      await put(store, 'o1');
      await put(store, 'o2');
      await damage('o1', 'head', text);
      for (const read of [() => store.load('o1'), () => store.head('o1')]) {
        await assert.rejects(read, (error: unknown) => error instanceof UnreadableRecordError && error.orderId === 'o1');
      }
      assert.equal((await store.load('o2'))?.state.rev, 1);
      assert.deepEqual(idsOf(await store.list({}, undefined, 10)), ['o2']);
      assert.deepEqual(idsOf(await store.list({ outcome: 'completed' }, undefined, 10)), []);
      assert.deepEqual(
        await store.due('due', shardOf('o1'), noon + 30_000, 10),
        shardOf('o1') === shardOf('o2') ? ['o1', 'o2'] : ['o1'],
        'it is still found',
      );
    });
  }

  it('X-48: a damaged order is unreadable, and affects no other order', async ({ store, other, damage }) => {
    await put(store, 'o1');
    await put(store, 'o2');
    await damage('o1', 'order', '{"orderId":');
    await assert.rejects(other.load('o1'), UnreadableRecordError);
    assert.equal((await other.load('o2'))?.order.orderId, 'o2');
    assert.deepEqual(idsOf(await other.list({}, undefined, 10)), ['o2']);
  });

  it('F-160: a missing state is found and replaced once; an order with a state, and an unknown order, have nothing to replace', async ({
    store,
    other,
    loseState,
  }) => {
    await put(store, 'o1');
    await put(store, 'o2');
    await loseState('o1');
    assert.deepEqual([await other.load('o1'), await other.head('o1')], [undefined, undefined]);
    assert.deepEqual(await other.orderWithoutState('o1'), orderRecord('o1'));
    assert.deepEqual([await other.orderWithoutState('o2'), await other.orderWithoutState('o3')], [undefined, undefined]);
    const found = stateRecord('o1', { rev: 7 });
    await other.putMissingState(found);
    for (const id of ['o1', 'o2', 'o3']) await store.putMissingState(stateRecord(id, { rev: 8 }));
    assert.deepEqual((await store.load('o1'))?.state, found);
    assert.equal((await store.load('o2'))?.state.rev, 1);
    assert.equal(await store.load('o3'), undefined);
    assert.deepEqual(await store.update(next(found), found, alone), { outcome: 'written' });
  });
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operator, startBulk } from './support.ts';

/** A started run of two orders whose agent has an open circuit breaker. The next probe is due in five seconds. */
async function pausedByBreaker() {
  const { created, run, work, ordersInError, store, clock } = startBulk();
  await ordersInError(2);
  const id = await created({ start: true });
  const breaker = { agent: 'payment', rev: 1, openedAt: clock.now(), probeAt: clock.now() + 5000, failedProbes: 0, closedAt: null };
  await store.putBreaker(breaker, 0);
  await work(40);
  assert.partialDeepStrictEqual(await run(id), { state: 'paused', paused: { by: 'breaker', agent: 'payment' }, applied: 0, left: 2 });
  return { id, run, work, store, clock, breaker };
}

describe('a bulk run', () => {
  test('freezes and checks its set, is started, and applies the instruction to each order of that set once', async () => {
    const { created, run, work, act, items, ordersInError, ask, store } = startBulk();
    const ids = await ordersInError(3);
    const id = await created({});
    assert.equal((await run(id)).state, 'preparing');
    await work();
    const later = await ordersInError(1, 'later');
    assert.partialDeepStrictEqual(await run(id), { state: 'ready', count: 3, feasible: 3, infeasible: 0, left: 3, sinceFrozen: 1 });
    assert.equal((await act(id, 'start')).status, 200);
    await work();
    assert.partialDeepStrictEqual(await run(id), {
      state: 'done',
      applied: 3,
      left: 0,
      verified: { running: 3, passed: 0, failedAgain: 0, failedOtherwise: 0 },
    });
    assert.deepEqual(
      (await items(id)).map(({ orderId, outcome }) => [orderId, outcome]),
      ids.toSorted().map((orderId) => [orderId, 'applied']),
    );
    assert.equal((await store.head(later[0] ?? ''))?.processState, 'Error', 'the set never grows');
    for (const orderId of ids) {
      const { json } = await ask('GET', `/orders/${orderId}/history`, operator);
      const given = json.items.filter(({ type }: { type: string }) => type === 'InstructionGiven');
      assert.partialDeepStrictEqual(given, [{ kind: 'resubmit', by: 'olga', reason: 'the bank is back' }]);
      assert.equal(given.length, 1);
    }
    const audit = (await ask('GET', '/audit?kind=bulk', operator)).json.items;
    assert.partialDeepStrictEqual(audit, [{ target: id, by: 'olga', action: 'resubmit', reason: 'the bank is back' }]);
    assert.equal(audit.length, 1);
  });

  test('leaves out an order that has changed since its check and one for which the instruction is infeasible, with the reasons', async () => {
    const { created, run, work, act, items, ordersInError, ask, submitOrder, answer } = startBulk();
    const [moved = '', ...others] = await ordersInError(2);
    const running = await submitOrder('running');
    const id = await created({ filter: { ids: [moved, ...others, running, 'ord_nobody'] } });
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'ready', count: 4, feasible: 2, infeasible: 2 });
    const rev = (await ask('GET', `/orders/${moved}`, operator)).headers.get('etag') as string;
    const body = { kind: 'resubmit', reason: 'by hand' };
    await ask('POST', `/orders/${moved}/instructions`, { ...operator, headers: { 'if-match': rev }, body });
    await answer('payment', { status: 'failed', fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } });
    await act(id, 'start');
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'done', feasible: 2, applied: 1, movedOn: 1, left: 0 });
    const outcomes = new Map((await items(id)).map((item) => [item.orderId, item]));
    assert.equal(outcomes.get(moved)?.outcome, 'moved-on', 'its error is another one by now');
    assert.partialDeepStrictEqual(outcomes.get('ord_nobody'), { outcome: 'infeasible', refusals: [{ code: 'no-such-order' }] });
    assert.deepEqual(
      (await items(id, '&outcome=infeasible')).map(({ orderId }) => orderId),
      ['ord_nobody', running].toSorted(),
    );
  });

  test('W-07: refuses an order that another person has locked meanwhile, and changes nothing of it', async () => {
    const { created, run, work, act, items, ordersInError, ask, store } = startBulk();
    const [locked = '', other = ''] = await ordersInError(2);
    const id = await created({});
    await work();
    const body = { seconds: 3600, reason: 'I look into it' };
    assert.equal((await ask('POST', `/orders/${locked}/lock`, { as: 'admin', body })).status, 200);
    const before = await store.head(locked);
    await act(id, 'start');
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'done', feasible: 2, applied: 1, refused: 1, left: 0 });
    const outcomes = new Map((await items(id)).map((item) => [item.orderId, item]));
    assert.partialDeepStrictEqual(outcomes.get(locked), { outcome: 'refused', refusals: [{ code: 'locked' }] });
    assert.equal(outcomes.get(other)?.outcome, 'applied');
    assert.deepEqual(await store.head(locked), before);
  });

  test('pauses after its canary until a person resumes it', async () => {
    const { created, run, work, act, ordersInError } = startBulk();
    await ordersInError(4);
    const id = await created({ canary: 1, start: true });
    await work(60);
    assert.partialDeepStrictEqual(await run(id), { state: 'paused', paused: { by: 'canary' }, applied: 1, left: 3 });
    await work(60);
    assert.equal((await run(id)).applied, 1, 'it does not go on by itself');
    assert.equal((await act(id, 'resume')).status, 200);
    assert.equal((await run(id)).state, 'running');
  });

  test('W-07: may have more orders without a verdict than its canary has, after a person has resumed it', async () => {
    const { created, run, work, act, ordersInError } = startBulk();
    await ordersInError(8);
    const id = await created({ canary: 2, start: true });
    await work(60);
    assert.partialDeepStrictEqual(await run(id), { state: 'paused', applied: 2, verified: { running: 2 } });
    await act(id, 'resume');
    await work(60);
    assert.partialDeepStrictEqual(await run(id), { state: 'done', applied: 8, left: 0, verified: { running: 8 } });
  });

  test('W-07: has at most stopAfterFailures orders without a verdict, also after its canary', async () => {
    const { created, run, work, act, ordersInError } = startBulk();
    await ordersInError(12);
    const id = await created({ canary: 2, stopAfterFailures: 3, start: true, ratePerSecond: 4 });
    await work(60, { verify: async () => 'running' });
    await act(id, 'resume');
    const unverified: number[] = [];
    await work(10_000, {
      verify: async () => {
        unverified.push((await run(id)).verified.running);
        return 'failed-again';
      },
    });
    assert.partialDeepStrictEqual(await run(id), { state: 'stopped', stopped: { code: 'too-many-failures' } });
    assert.equal(Math.max(...unverified), 3);
  });

  test('stops when stopAfterFailures orders have failed again, and never has more orders than that without a verdict', async () => {
    const { created, run, work, ordersInError } = startBulk();
    await ordersInError(6);
    const unverified: number[] = [];
    const id = await created({ stopAfterFailures: 2, start: true });
    await work(10_000, {
      verify: async () => {
        const { verified } = await run(id);
        unverified.push(verified.running);
        return 'failed-again';
      },
    });
    assert.partialDeepStrictEqual(await run(id), {
      state: 'stopped',
      stopped: { code: 'too-many-failures' },
      applied: 2,
      left: 4,
      verified: { failedAgain: 2, running: 0 },
    });
    assert.ok(Math.max(...unverified) <= 2);
  });

  test('counts the orders that have passed, failed again or failed otherwise', async () => {
    const { created, run, work, ordersInError, answer } = startBulk();
    await ordersInError(3);
    const id = await created({ start: true });
    await work();
    const declined = { class: 'unexpected', permanent: true, message: 'no' } as const;
    await answer('payment', { status: 'failed', fault: { type: 'CardDeclined', ...declined } });
    await answer('payment', { status: 'failed', fault: { type: 'BankClosed', ...declined } });
    await answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 't' } });
    const { running } = startBulk();
    await running.sleep(0);
    await work(10_000);
    for (let look = 0; look < 3 && (await run(id)).verified.running > 0; look++) await work();
    assert.deepEqual((await run(id)).verified, { running: 0, passed: 1, failedAgain: 1, failedOtherwise: 1 });
  });

  test('waits while the circuit breaker of an agent that it needs is open, and goes on when it closes', async () => {
    const { id, run, work, store, clock, breaker } = await pausedByBreaker();
    await store.putBreaker({ ...breaker, rev: 2, closedAt: clock.now() }, 1);
    await clock.jump(60_000);
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'done', applied: 2 });
  });

  test('goes on although the circuit breaker of an agent is open, if its probe has long been due and no other request can be the probe', async () => {
    const { id, run, work, clock } = await pausedByBreaker();
    await clock.jump(36_000);
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'done', applied: 2 });
  });

  test('is paused, resumed and stopped by any operator, and gives no instruction after a stop', async () => {
    const { created, run, work, act, ordersInError, ask } = startBulk();
    await ordersInError(3);
    const id = await created({});
    assert.equal((await act(id, 'start')).status, 409, 'it is still prepared');
    await work();
    assert.equal((await act(id, 'start', { 'idempotency-key': 'a' })).json.state, 'running');
    assert.equal((await act(id, 'start', { 'idempotency-key': 'a' })).headers.get('idempotent-replayed'), 'true');
    assert.equal((await act(id, 'start')).status, 409);
    assert.equal((await act(id, 'pause')).json.state, 'paused');
    await work();
    assert.equal((await run(id)).applied, 0);
    assert.equal((await act(id, 'resume')).json.state, 'running');
    assert.equal((await act(id, 'stop')).json.state, 'stopped');
    await work();
    assert.partialDeepStrictEqual(await run(id), { state: 'stopped', applied: 0, left: 3 });
    for (const action of ['start', 'pause', 'resume', 'stop']) assert.equal((await act(id, action)).status, 409, action);
    const { changes } = await run(id);
    assert.deepEqual(
      changes.map(({ action }: { action: string }) => action),
      ['create', 'start', 'pause', 'resume', 'stop'],
    );
    assert.equal((await ask('POST', '/bulk/blk_nobody/stop', { ...operator, body: { reason: 'x' } })).status, 404);
  });
});

describe('a process that works on a bulk run', () => {
  test('F-158: is replaced by another process if it crashes between any two calls, and no order gets the instruction twice', async () => {
    for (let calls = 1; calls < 60; calls += 3) {
      const { created, run, work, ordersInError, store, running, ask } = startBulk();
      const ids = await ordersInError(2);
      const id = await created({ start: true });
      let left = calls;
      const dying = Object.fromEntries(
        Object.entries(store).map(([name, value]) => [
          name,
          typeof value !== 'function'
            ? value
            : (...given: unknown[]) => {
                if (left-- <= 0) throw new Error('killed');
                return (value as (...all: unknown[]) => unknown).apply(store, given);
              },
        ]),
      ) as typeof store;
      await work(10_000, { store: dying, hostId: 'host-dying' }).catch(() => undefined);
      await running.sleep(20_000);
      await work();
      const found = await run(id);
      assert.partialDeepStrictEqual(found, { state: 'done', count: 2, left: 0 }, `killed after ${calls} calls`);
      for (const orderId of ids) {
        const { json } = await ask('GET', `/orders/${orderId}/history`, operator);
        const given = json.items.filter(({ type }: { type: string }) => type === 'InstructionGiven');
        assert.ok(given.length <= 1, `killed after ${calls} calls`);
      }
    }
  });
});

describe('a call that creates a bulk run', () => {
  test('returns the same run for the same key, and is refused with the key of another call', async () => {
    const { post } = startBulk();
    const first = await post({}, 'k');
    const again = await post({}, 'k');
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(again.text, first.text);
    assert.equal((await post({ ratePerSecond: 1 }, 'k')).json.code, 'idempotency-key-reused');
  });

  test('is refused with an empty filter, a rate beyond 100, a literal for many orders, or an expression that does not parse', async () => {
    const { post, ask } = startBulk();
    const answer = (value: unknown, more = {}) => post({ instruction: { kind: 'resubmit', answer: value }, ...more });
    for (const body of [{ filter: {} }, { ratePerSecond: 101 }, { ratePerSecond: 0 }, { canary: 0 }, { instruction: { kind: 'odd' } }])
      assert.equal((await post(body)).json.code, 'invalid', JSON.stringify(body));
    assert.equal((await answer({ retry: true })).json.errors[0].pointer, '/instruction/answer');
    assert.equal((await answer({ retry: true }, { sameForAll: true })).status, 202);
    assert.equal((await answer({ retry: true }, { filter: { ids: ['ord_one'] } })).status, 202);
    assert.equal((await answer({ sku: { $cel: 'order.sku' } })).status, 202);
    assert.equal((await answer({ sku: { $cel: 'order.' } })).json.errors[0].pointer, '/instruction/answer/sku');
    const body = { filter: { state: 'Error' }, instruction: { kind: 'resubmit' }, reason: 'x', ratePerSecond: 1 };
    assert.equal((await ask('POST', '/bulk', { ...operator, body })).json.code, 'bad-parameter', 'it needs a key');
    assert.equal((await ask('POST', '/bulk', { as: 'viewer', headers: { 'idempotency-key': 'v' }, body })).status, 403);
    assert.equal((await ask('GET', '/bulk', { as: 'viewer' })).json.items.length, 3);
  });
});

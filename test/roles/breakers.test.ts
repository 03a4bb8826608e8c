import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type App, defineAgent, defineApp, defineWorkflow, operation, sequence, TransientFailure } from 'redress';
import { startSystem } from 'redress/testing';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { closed, coversLateStep, opened, phaseOf, probing, releaseTimeOf } from '#ports/circuit-breaker';
import { manualClock } from '#ports/clock';
import type { Request } from '#ports/messages';
import { createTelemetry } from '#ports/telemetry';
import { createAgent } from '#roles/agent/agent';
import { CircuitGuard } from '#roles/agent/circuit-guard';
import { startDeadline } from '#roles/agent/deadline';
import { lineOf, openDesk, submitted, timePasses } from './support.ts';

/** A bank whose service may be away, and the number of calls to it. */
function banked(): { readonly app: App; readonly bank: { isAway: boolean; calls: number } } {
  const bank = { isAway: false, calls: 0 };
  const Nothing = z.object({});
  const charge = operation({
    input: Nothing,
    output: Nothing,
    run: () => {
      bank.calls += 1;
      if (bank.isAway) throw new TransientFailure('Nobody is there.');
      return {};
    },
  });
  const agent = defineAgent('bank', { charge });
  const workflow = defineWorkflow('sale', { version: 1, order: Nothing }, () => sequence(agent.charge({}).noUndo()));
  return { app: defineApp({ workflows: [workflow], agents: [agent] }), bank };
}

async function started(context: TestContext) {
  const { app, bank } = banked();
  const system = await startSystem(app);
  context.after(() => system.stop());
  const submit = async (): Promise<string> => {
    const answer = await system.submit({});
    return answer.outcome === 'accepted' ? answer.order.orderId : assert.fail();
  };
  return { system, bank, submit };
}

describe('when a service is unavailable', () => {
  test('X-45: after some failures in a row the agents stop calling it, except for occasional probes', async (context) => {
    const { system, bank, submit } = await started(context);
    bank.isAway = true;
    for (let order = 0; order < 10; order++) await submit();
    await system.clock.advance(3_000);
    assert.equal((await system.store.breaker('bank'))?.closedAt, null);
    const found = bank.calls;
    await system.clock.advance(300_000);
    const { failedProbes } = (await system.store.breaker('bank')) ?? assert.fail();
    assert.ok(failedProbes >= 5 && failedProbes <= 12, `${failedProbes} probes`);
    assert.equal(bank.calls, found + failedProbes);
  });

  test('X-45: no expiry of the waiting orders counts, and each completes with one call when the service is back', async (context) => {
    const { system, bank, submit } = await started(context);
    bank.isAway = true;
    const orders: string[] = [];
    for (let order = 0; order < 10; order++) {
      orders.push(await submit());
      await system.clock.advance(4_000);
    }
    await system.clock.advance(60_000);
    const calls = bank.calls;
    bank.isAway = false;
    await system.clock.advance(180_000);
    const states = await Promise.all(orders.map((id) => system.state(id)));
    assert.deepEqual([...new Set(states.map(({ outcome, failureCount }) => `${outcome} ${failureCount}`))], ['completed 0']);
    assert.equal(bank.calls, calls + orders.length);
  });

  test('X-13, X-45: one order that the service can never answer does not stop the other orders', async (context) => {
    const { system, bank, submit } = await started(context);
    bank.isAway = true;
    await submit();
    await system.clock.advance(120_000);
    assert.ok(bank.calls > 8);
    assert.equal(await system.store.breaker('bank'), undefined);
  });
});

// A1 in docs/internals/findings.md.
test('X-45, F-59: if a service fails for the content of one client, the orders of that client are blocked, and the orders of others complete', async (context) => {
  const Sale = z.object({ note: z.string() });
  const charge = operation({
    input: Sale,
    output: Sale,
    run: (sale) => {
      if (sale.note === 'bad') throw new TransientFailure('HTTP 500');
      return sale;
    },
  });
  const bank = defineAgent('bank', { charge });
  const workflow = defineWorkflow('sale', { version: 1, order: Sale }, ({ order }) => sequence(bank.charge({ note: order.note }).noUndo()));
  const system = await startSystem(defineApp({ workflows: [workflow], agents: [bank] }));
  context.after(() => system.stop());
  const orders: { readonly id: string; readonly note: string }[] = [];
  const submit = async (client: string, note: string): Promise<void> => {
    const answer = await system.submit({ note }, { client });
    orders.push({ id: answer.outcome === 'accepted' ? answer.order.orderId : assert.fail(), note });
  };

  for (let second = 0; second < 60; second++) {
    await submit('victim', 'good');
    for (let bad = 0; bad < 3; bad++) await submit('attacker', 'bad');
    await system.clock.advance(1_000);
  }
  assert.equal(await system.store.breaker('bank'), undefined);
  const good = await Promise.all(orders.filter(({ note }) => note === 'good').map(({ id }) => system.state(id)));
  assert.deepEqual([...new Set(good.map(({ outcome }) => outcome))], ['completed']);

  await system.clock.advance(900_000);
  const bad = await Promise.all(orders.filter(({ note }) => note === 'bad').map(({ id }) => system.state(id)));
  assert.deepEqual([...new Set(bad.map(({ processState }) => processState))], ['Error']);
});

describe('the circuit guard of a service', () => {
  function guards(context: TestContext) {
    const steady = manualClock();
    const clock = { ...steady, now: () => steady.now() - clock.behindMs, behindMs: 0 };
    const { store, database } = openEmbedded(':memory:', { clock });
    context.after(() => database.close());
    const reads: string[] = [];
    /** Functions that run between the answers of the store and the moments at which the process continues, one for each access. */
    const stillness: (() => Promise<void>)[] = [];
    const breakers = {
      ...store,
      breaker: async (agent: string) => {
        reads.push(agent);
        const answer = await store.breaker(agent);
        await stillness.shift()?.();
        return answer;
      },
      putBreaker: async (...written: Parameters<typeof store.putBreaker>) => {
        const answer = await store.putBreaker(...written);
        await stillness.shift()?.();
        return answer;
      },
    };
    const guard = () => new CircuitGuard('bank', { breakers, clock, telemetry: createTelemetry({ level: 'off' }), random: () => 0.5 });
    return { clock, store, reads, stillness, guard };
  }
  const call = (orderId: string, client = 'acme') => ({ orderId, client });
  const anyCall = call('any');
  /** Calls fail, one after the other, for orders of one client: `a`, or of a named one: `globex/a`. */
  async function fails(guard: CircuitGuard, ...orders: string[]): Promise<void> {
    for (const order of orders) {
      const [client, orderId] = order.includes('/') ? order.split('/') : ['acme', order];
      await (await guard.acquirePermit(call(orderId ?? '', client), { repeated: false }))?.failed();
    }
  }
  const answers = async (guard: CircuitGuard, client: string): Promise<void> =>
    (await guard.acquirePermit(call('good', client), { repeated: false }))?.answered();

  test('X-45: when the service is healthy, each process reads the store once, and again after an idle period', async (context) => {
    const { guard, reads, clock } = guards(context);
    const one = guard();
    for (let call = 0; call < 100; call++) await (await one.acquirePermit(anyCall, { repeated: false }))?.answered();
    assert.deepEqual(reads, ['bank']);
    await clock.advance(9_999);
    await (await one.acquirePermit(anyCall, { repeated: false }))?.answered();
    assert.deepEqual(reads, ['bank']);
    await clock.advance(10_000);
    await (await one.acquirePermit(anyCall, { repeated: false }))?.answered();
    assert.deepEqual(reads, ['bank', 'bank']);
  });

  test('X-45, F-108: a process that pauses while it reads the circuit breaker reads it again, so that only one of its calls goes first', async (context) => {
    const { guard, store, reads, stillness, clock } = guards(context);
    const one = guard();
    const permit = () => one.acquirePermit(anyCall, { repeated: false });
    one.arrived();
    stillness.push(async () => {
      await store.putBreaker(opened('bank', undefined, clock.now(), 0.5), 0);
      await clock.advance(30_000);
    });
    const permits = await Promise.all([permit(), permit(), permit()]);
    assert.deepEqual(
      permits.map((each) => each?.isProbe),
      [true, undefined, undefined],
    );
    assert.deepEqual(reads, ['bank', 'bank']);
  });

  test('X-45, F-108: requests that arrive after an idle period, while the circuit breaker is read for an earlier one, wait for a later read', async (context) => {
    const { guard, store, reads, stillness, clock } = guards(context);
    const one = guard();
    const permit = () => one.acquirePermit(anyCall, { repeated: false });
    one.arrived();
    const later: ReturnType<typeof permit>[] = [];
    stillness.push(async () => {
      await store.putBreaker(opened('bank', undefined, clock.now(), 0.5), 0);
      await clock.advance(10_000);
      one.arrived();
      later.push(permit(), permit());
    });
    const first = await permit();
    const permits = [first, ...(await Promise.all(later))];
    assert.deepEqual([permits.length, permits.filter((each) => each?.isProbe).length], [3, 1]);
    assert.equal(permits.filter(Boolean).length, 1);
    assert.deepEqual(reads, ['bank', 'bank']);
  });

  test('X-45, F-108: a process that won the right to probe and then stood still sends no probe after another process has won that right', async (context) => {
    const { guard, store, stillness, clock } = guards(context);
    await store.putBreaker(opened('bank', undefined, clock.now() - 60_000, 0.5), 0);
    const [still, other] = [guard(), guard()];
    const probe = (one: CircuitGuard) => one.acquirePermit(anyCall, { repeated: false });
    const probes: Awaited<ReturnType<typeof probe>>[] = [];
    const goesOn = async () => {};
    const standsStill = async () => {
      await clock.advance(30_000);
      probes.push(await probe(other));
    };
    stillness.push(goesOn, standsStill);
    probes.unshift(await probe(still));
    assert.deepEqual(
      probes.map((each) => each?.isProbe),
      [undefined, true],
    );
  });

  test('X-45: when every read of the store is slow, calls of a healthy service go through after three reads', async (context) => {
    const { guard, reads, stillness, clock } = guards(context);
    const slow = () => clock.advance(12_000);
    stillness.push(slow, slow, slow, slow);
    assert.ok(await guard().acquirePermit(anyCall, { repeated: false }));
    assert.equal(reads.length, 3);
  });

  test('X-45: when one process opens the circuit, the others follow after two failures of their own', async (context) => {
    const { guard, clock } = guards(context);
    const [one, other] = [guard(), guard()];
    await fails(one, 'a', 'b', 'a', 'b', 'a');
    assert.equal(await one.acquirePermit(anyCall, { repeated: false }), undefined);
    await fails(other, 'c', 'c');
    assert.equal(await other.acquirePermit(anyCall, { repeated: false }), undefined);

    await clock.advance(6_000);
    const probes = [await one.acquirePermit(anyCall, { repeated: false }), await other.acquirePermit(anyCall, { repeated: false })].filter(
      Boolean,
    );
    assert.equal(probes.length, 1, 'one of them probes the service');
    await probes[0]?.answered();
    await clock.advance(2_000);
    for (const each of [one, other]) assert.ok(await each.acquirePermit(anyCall, { repeated: false }));
  });

  test('X-45: when the service is back, the guard permits few calls at first and more with each reply', async (context) => {
    const { guard, clock } = guards(context);
    const one = guard();
    await fails(one, 'a', 'b', 'a', 'b', 'a');
    await clock.advance(6_000);
    await (await one.acquirePermit(anyCall, { repeated: false }))?.answered();
    const first = await one.acquirePermit(anyCall, { repeated: false });
    assert.ok(first);
    assert.equal(await one.acquirePermit(anyCall, { repeated: false }), undefined);
    await first.answered();
    assert.deepEqual(
      [!!(await one.acquirePermit(anyCall, { repeated: false })), !!(await one.acquirePermit(anyCall, { repeated: false }))],
      [true, true],
    );
    assert.equal(await one.acquirePermit(anyCall, { repeated: false }), undefined);
  });

  test('X-45: the retry budget is ten retries, plus one for every ten replies', async (context) => {
    const { guard } = guards(context);
    const one = guard();
    const repeated = async (): Promise<boolean> => (await one.acquirePermit(anyCall, { repeated: true })) !== undefined;
    for (let time = 1; time <= 10; time++) assert.ok(await repeated());
    assert.equal(await repeated(), false);
    for (let time = 1; time <= 11; time++) await one.enter(anyCall).answered();
    assert.deepEqual([await repeated(), await repeated()], [true, false]);
  });

  test('X-12, X-45: a clock that is set back does not reduce the retry budget', async (context) => {
    const { guard, clock } = guards(context);
    const one = guard();
    const repeated = async (): Promise<boolean> => (await one.acquirePermit(anyCall, { repeated: true })) !== undefined;
    clock.behindMs = 300_000;
    for (let time = 1; time <= 10; time++) assert.ok(await repeated());
    assert.equal(await repeated(), false);
  });

  // A1 in docs/internals/findings.md.
  test('X-45: one client whose orders always fail does not open the circuit while the service answers another client', async (context) => {
    const { guard, clock, store } = guards(context);
    const one = guard();
    for (let second = 0; second < 60; second++) {
      if (second % 10 === 0) await answers(one, 'globex');
      await fails(one, 'a', 'b', 'c', 'a', 'b', 'c');
      await clock.advance(1_000);
    }
    assert.equal(await store.breaker('bank'), undefined);
    // A single failure of another client does not make it an outage, because every service fails at times.
    await fails(one, 'a', 'b', 'globex/d', 'a', 'b');
    assert.equal(await store.breaker('bank'), undefined);
  });

  test('X-45: failures of several clients open the circuit, even if the service has just answered one of them', async (context) => {
    const { guard, store } = guards(context);
    const one = guard();
    await answers(one, 'globex');
    await fails(one, 'a', 'globex/b', 'c', 'globex/d', 'e');
    const { closedAt, onlyClient } = (await store.breaker('bank')) ?? assert.fail();
    assert.deepEqual([closedAt, onlyClient], [null, undefined]);
  });

  test('X-45: if the calls of one client alone opened the circuit, an order of another client probes at once', async (context) => {
    const { guard, clock, store } = guards(context);
    const [one, other] = [guard(), guard()];
    await fails(one, 'a', 'b', 'a', 'b', 'a');
    assert.equal((await store.breaker('bank'))?.onlyClient, 'acme');
    assert.equal(await one.acquirePermit(call('c', 'acme'), { repeated: false }), undefined);

    const probe = await other.acquirePermit(call('d', 'globex'), { repeated: false });
    assert.ok(probe);
    await probe.answered();
    const { closedAt, onlyClient } = (await store.breaker('bank')) ?? assert.fail();
    assert.deepEqual([closedAt, onlyClient], [clock.now(), undefined]);
  });

  test('X-45: if the probe of another client fails, too, the outage concerns all clients, and the next probe waits', async (context) => {
    const { guard, clock, store } = guards(context);
    const one = guard();
    await fails(one, 'a', 'b', 'a', 'b', 'a');
    await fails(one, 'globex/c');
    assert.equal((await store.breaker('bank'))?.onlyClient, undefined);
    assert.equal(await one.acquirePermit(call('d', 'initech'), { repeated: false }), undefined);
    await clock.advance(20_000);
    assert.ok(await one.acquirePermit(call('d', 'initech'), { repeated: false }));
  });

  test('X-45: when the store is unavailable, calls to a healthy service go through', async () => {
    const away = () => Promise.reject(new Error('throttled'));
    const options = { clock: manualClock(), telemetry: createTelemetry({ level: 'off' }), random: () => 0.5 };
    const one = new CircuitGuard('bank', { breakers: { breaker: away, putBreaker: away }, ...options });
    await fails(one, 'a', 'b', 'a', 'b', 'a', 'b');
    assert.ok(await one.acquirePermit(anyCall, { repeated: false }));
  });
});

test('X-45, F-170: when a probe is canceled, it proves nothing: the circuit breaker stays open', async (context) => {
  const begun = Promise.withResolvers<void>();
  const pick = () => begun.resolve(undefined) ?? new Promise(() => {});
  const desk = openDesk(context, lineOf({ pick }, { operation: { atMostOnce: true } }));
  await submitted(desk);
  const worker = desk.system.definitions.agents[0] ?? assert.fail();
  await desk.store.putBreaker(opened(worker.name, undefined, desk.clock.now() - 60_000, 0.5), 0);
  const agent = createAgent(worker, desk.system);
  const request = await desk.request();
  const served = agent(request);
  await begun.promise;
  await agent.cancel({ ...request, type: 'cancel' });
  await timePasses(desk.clock, served);
  assert.partialDeepStrictEqual(await desk.store.breaker(worker.name), { closedAt: null, failedProbes: 1 });
});

describe('when the deadline of a request passes', () => {
  test('F-39, X-45: while the agent records the request as the probe, its operation does not begin', async (context) => {
    const clock = manualClock();
    let calls = 0;
    const pick = () => {
      calls += 1;
      return {};
    };
    const desk = openDesk(context, lineOf({ pick }), { clock });
    await submitted(desk);
    const { store } = desk.system;
    const slow: typeof store.putBreaker = async (...written) => {
      if (calls === 0) await clock.sleep(15_000);
      return store.putBreaker(...written);
    };
    const worker = desk.system.definitions.agents[0] ?? assert.fail();
    await store.putBreaker(opened(worker.name, undefined, clock.now() - 60_000, 0.5), 0);
    const agent = createAgent(worker, { ...desk.system, store: { ...store, putBreaker: slow } });
    const served = agent(await desk.request());
    await clock.advance(20_000);
    await served;
    assert.deepEqual([calls, desk.telemetry.counts()['expired']], [0, 1]);
  });

  test('F-39, X-12: setting the clock back afterwards does not extend the deadline', async () => {
    const clock = manualClock();
    let behindMs = 0;
    const skewed = { ...clock, now: () => clock.now() - behindMs };
    const times = { completeBy: new Date(clock.now() + 10_000).toISOString(), remainingMs: 10_000 };
    const deadline = startDeadline(times as Request, skewed, undefined, new AbortController().signal);
    await clock.advance(10_000);
    behindMs = 300_000;
    assert.deepEqual([deadline.signal.aborted, deadline.isOver()], [true, true]);
  });
});

describe('the circuit breaker of a service after an outage', () => {
  const away = opened('bank', undefined, 1_000_000, 0.5);
  const back = closed(away, 1_600_000);

  test('X-45: releases the waiting requests in order, within three quarters of the duration of the outage', () => {
    const turns = [1_000_000, 1_300_000, 1_599_999].map((since) => releaseTimeOf(back, since));
    assert.deepEqual(turns, [1_600_000, 1_825_000, 2_049_999]);
    assert.equal(releaseTimeOf(back, 900_000), 1_600_000, 'earlier orders do not wait any more');
    assert.deepEqual([phaseOf(back, 2_049_999), phaseOf(back, 2_050_000)], ['half-open', 'closed']);
  });

  test('X-45: does not count the time in which no order needed the service, so an order that was suspended during that time does not wait for days', () => {
    const [hourMs, probeAt] = [3_600_000, away.probeAt];
    const found = closed(probing(away, undefined, probeAt + 96 * hourMs, 0.5), probeAt + 96 * hourMs + 100);
    assert.deepEqual([found.openedAt, found.idleMs], [away.openedAt, 96 * hourMs]);
    const turn = releaseTimeOf(found, probeAt + 96 * hourMs - 2_000);
    assert.ok(turn - (found.closedAt ?? 0) < 10_000, 'the outage had lasted five seconds until then');
    const again = probing(away, undefined, probeAt + hourMs, 0.5);
    assert.equal(again.idleMs, undefined, 'a probe may be late');
  });

  test('X-45: continues the same outage for the requests that still wait if the service fails again', () => {
    const again = opened('bank', back, 1_825_000, 0.5);
    assert.partialDeepStrictEqual(again, { rev: 3, openedAt: 1_300_000, closedAt: null });
    assert.partialDeepStrictEqual(opened('bank', back, 9_000_000, 0.5), { rev: 3, openedAt: 9_000_000, failedProbes: 0 });
  });

  test('X-12, X-45: keeps the beginning of the outage if a host whose clock is behind reports the next one', () => {
    const again = opened('bank', back, 1_480_000, 0.5);
    assert.equal(again.openedAt, 1_000_000);
    assert.equal(coversLateStep(again, 900_000, 60_000, 1_500_000), true, 'no step is late during the outage');
    assert.equal(
      coversLateStep(closed(again, 1_700_000), 900_000, 60_000, 9_000_000),
      false,
      'a step that was late before the outage stays late',
    );
  });
});

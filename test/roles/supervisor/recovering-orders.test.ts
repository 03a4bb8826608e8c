import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parallel, sequence } from 'redress';
import { registerClient } from '#testing/world/register-client';
import {
  accept,
  alter,
  appOf,
  journalOf,
  replyTo,
  requestedSteps,
  requests,
  silence,
  start,
  startStill,
  stepMs,
  stepOf,
  submitted,
  supervisorOf,
  takeWakeUps,
  wake,
} from './support.ts';

const wholeOrder = appOf((step) => sequence(step('one'), step('two')), { recover: 'order' });

test('F-50: an expired order is reset in one write: Pending, unclaimed, with a new completeBy and the next epoch', async (t) => {
  const system = await startStill(t, wholeOrder);
  const orderId = await submitted(system);
  const before = await system.state(orderId);
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();

  const { processState, lockedBy, epoch, rev, completeBy, failureCount } = await system.state(orderId);
  const expected = {
    processState: 'Pending',
    lockedBy: null,
    epoch: before.epoch + 1,
    rev: before.rev + 1,
    completeBy: system.clock.now() + stepMs,
    failureCount: 1,
  };
  assert.deepEqual({ processState, lockedBy, epoch, rev, completeBy, failureCount }, expected);
  assert.deepEqual(await takeWakeUps(system), [orderId]);
});

test('F-50: another scheduler claims a reset order again, and its open step runs under the same idempotency key', async (t) => {
  const keys: string[] = [];
  const served: string[] = [];
  const serve = (step: string, call: { attempt: number; idempotencyKey: string; signal: AbortSignal }) => {
    served.push(`${step}#${call.attempt}`);
    keys.push(call.idempotencyKey);
    return step === 'two' && call.attempt === 1 ? silence(call) : {};
  };
  const system = await start(
    t,
    appOf((step) => sequence(step('one'), step('two')), { recover: 'order', serve }),
    { hostId: 'other-host' },
  );
  const orderId = await submitted(system);
  await alter(system, orderId, { lockedBy: 'host-that-died' });
  await system.clock.advance(stepMs + 5000);

  assert.deepEqual(served, ['one#1', 'two#1', 'two#2']);
  assert.equal(new Set(keys).size, 2);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processed', lockedBy: null, failureCount: 0, epoch: 3 });
  const claims = (await journalOf(system, orderId)).filter(({ type }) => type === 'OrderClaimed' || type === 'OrderReset');
  assert.deepEqual(
    claims.map(({ type }) => type),
    ['OrderClaimed', 'OrderReset', 'OrderClaimed'],
  );
});

test('F-42, F-50: a reply to a request from before the reset changes nothing', async (t) => {
  const system = await startStill(t, wholeOrder);
  const orderId = await submitted(system);
  const reply = replyTo(requests(system)[0], system.clock.now());
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  await accept(system, orderId, reply);
  assert.deepEqual(requestedSteps(system), ['one#1', 'one#2']);
  assert.equal((await stepOf(system, orderId, 'one')).status, 'Executing');
});

test('F-49, F-50: an old reply between reset and claim does not make the expiry count again', async (t) => {
  const system = await startStill(t, wholeOrder);
  const orderId = await submitted(system);
  const reply = replyTo(requests(system)[0], system.clock.now());
  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs);
  await supervisor.pass();
  const { completeBy } = await system.state(orderId);
  await accept(system, orderId, reply);
  await supervisor.pass();
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Pending',
    failureCount: 1,
    epoch: 2,
    completeBy,
    nextDueFor: { kind: 'unclaimed' },
  });
});

test('F-49, F-50, S26: an unsent status message at the reset does not make the expiry count again', async (t) => {
  const system = await startStill(t, wholeOrder, { writesAndSendsAtomically: false });
  const { send } = system.queues;
  await registerClient(system.store, { id: 'test', responseChannels: ['gone'], senders: [] });
  system.queues.send = (messages) => (messages.some(({ queue }) => queue === 'gone') ? Promise.reject(new Error('gone')) : send(messages));
  const inTime = <T>(work: Promise<T>) => system.clock.advance(1000).then(() => work);
  const answer = await inTime(system.submit({}, { responseChannel: 'gone' }));
  const orderId = answer.outcome === 'accepted' ? answer.order.orderId : '';
  const reply = replyTo(requests(system)[0], system.clock.now());

  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs);
  await supervisor.pass();
  await inTime(accept(system, orderId, reply));
  await supervisor.pass();
  const { processState, failureCount, epoch, outbox } = await system.state(orderId);
  assert.deepEqual(
    { processState, failureCount, epoch, unsent: outbox.length },
    { processState: 'Pending', failureCount: 1, epoch: 2, unsent: 1 },
  );
});

test('F-50: no failure counts before the last open step has passed its deadline', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('one'), sequence(step('two'), step('three'))), { recover: 'order' }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(4000);
  await accept(
    system,
    orderId,
    replyTo(
      requests(system).find(({ path }) => path.endsWith('two')),
      system.clock.now(),
    ),
  );
  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs - 1);
  assert.equal((await supervisor.pass()).counted, 0);
  await system.clock.advance(1);
  assert.equal((await supervisor.pass()).counted, 1);
  await wake(system, orderId);
  assert.deepEqual(requestedSteps(system), ['one#1', 'two#1', 'three#1', 'one#2', 'three#2']);
});

test('F-51: with `recover: order`, too, a threshold of 3 resets three times and puts the order in Error at the fourth expiry', async (t) => {
  const system = await startStill(t, wholeOrder, { variables: { MAX_FAILURES: '3' } });
  const orderId = await submitted(system);
  for (const failureCount of [1, 2, 3, 4]) {
    await system.clock.advance(stepMs);
    await supervisorOf(system).pass();
    assert.partialDeepStrictEqual(await system.state(orderId), { failureCount, processState: failureCount > 3 ? 'Error' : 'Pending' });
    await wake(system, orderId);
  }
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Error',
    errorGen: 1,
    fault: { type: 'DeadlineExceeded', source: 'order/one' },
  });
});

test('F-51: with `recover: order`, too, the definition overrides MAX_FAILURES', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { recover: 'order', maxFailures: 0 }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  assert.equal((await supervisorOf(system).pass()).intoError, 1);
  assert.equal((await system.state(orderId)).processState, 'Error');
});

test('F-53: with onExhausted "wait" an order above the threshold keeps its claim, and its step is requested again an hour later', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { recover: 'order', maxFailures: 0, onExhausted: 'wait' }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs);
  await supervisor.pass();
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Processing',
    failureCount: 1,
    nextDueAt: system.clock.now() + 3_600_000,
  });
  await system.clock.advance(3_600_000);
  await supervisor.pass();
  for (const woken of await takeWakeUps(system)) await wake(system, woken);
  assert.deepEqual(requestedSteps(system), ['one#1', 'one#2']);
});

test('F-53, F-106: with onExhausted "undo" an order above the threshold is compensated, newest effect first', async (t) => {
  const served: string[] = [];
  const serve = (_: string, call: { path: string; attempt: number; signal: AbortSignal }) => {
    served.push(`${call.path.slice('order/'.length)}#${call.attempt}`);
    return call.path === 'order/two' && call.attempt <= 2 ? silence(call) : {};
  };
  const undone: Parameters<typeof appOf>[0] = (step) =>
    sequence(
      step('one').undo(() => step('back')),
      step('two').undo(() => step('back')),
    );
  const system = await start(t, appOf(undone, { recover: 'order', maxFailures: 1, onExhausted: 'undo', serve }));
  const orderId = await submitted(system);
  await system.clock.advance(4 * stepMs);

  // The third attempt of the second step confirms its outcome.
  assert.deepEqual(served, ['one#1', 'two#1', 'two#2', 'two#3', 'two/undo#1', 'one/undo#1']);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processed', outcome: 'compensated', failureCount: 0 });
});

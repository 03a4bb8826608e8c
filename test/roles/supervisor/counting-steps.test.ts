import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delay, parallel, sequence } from 'redress';
import {
  accept,
  appOf,
  nameOf,
  replyTo,
  requestedSteps,
  requests,
  silence,
  start,
  startStill,
  stepMs,
  submitted,
  supervisorOf,
  takeWakeUps,
  wake,
} from './support.ts';

type System = Awaited<ReturnType<typeof startStill>>;

/** Answers the newest request of a step. */
const answer = (system: System, orderId: string, name: string): Promise<void> =>
  accept(
    system,
    orderId,
    replyTo(
      requests(system).findLast(({ path }) => nameOf(path) === name),
      system.clock.now(),
    ),
  );

const lateOnce = (_: string, call: { attempt: number; signal: AbortSignal }) => (call.attempt === 1 ? silence(call) : {});

for (const recover of ['step', 'order'] as const) {
  test(`F-53, F-176: four steps that are each late once complete with a threshold of 3, with recovery by ${recover}`, async (t) => {
    const build: Parameters<typeof appOf>[0] = (step) => sequence(step('a'), step('b'), step('c'), step('d'));
    const system = await start(t, appOf(build, { recover, maxFailures: 3, serve: lateOnce }));
    const orderId = await submitted(system);
    await system.clock.advance(4 * stepMs + 15_000);
    assert.partialDeepStrictEqual(await system.state(orderId), { outcome: 'completed', failureCount: 0 });
  });

  test(`F-51, F-176: a step without replies reaches its threshold beside steps that succeed, with recovery by ${recover}`, async (t) => {
    const serve = (step: string, call: { attempt: number; signal: AbortSignal }) =>
      step === 'stuck' || call.attempt === 1 ? silence(call) : {};
    const build: Parameters<typeof appOf>[0] = (step) =>
      parallel(step('stuck'), sequence(step('a'), step('b'), step('c'), step('d'), step('e')));
    const system = await start(t, appOf(build, { recover, maxFailures: 2, serve }));
    const orderId = await submitted(system);
    await system.clock.advance(10 * stepMs);
    assert.partialDeepStrictEqual(await system.state(orderId), {
      processState: 'Error',
      failureCount: 3,
      fault: { type: 'DeadlineExceeded', source: 'order/stuck' },
    });
  });
}

test('F-49, F-176: failureCount is the count of the step that was late most often, and falls when that step succeeds', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('often'), sequence(delay({ seconds: 15 }), step('once')))),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  const counts: number[] = [];
  const noted: number[] = [];
  const look = async () => {
    await supervisor.pass();
    noted.push((await system.state(orderId)).failureCount);
    await wake(system, orderId);
    counts.push((await system.state(orderId)).failureCount);
  };
  for (const seconds of [10, 5, 5, 5]) {
    await system.clock.advance(seconds * 1000);
    await look();
  }
  await answer(system, orderId, 'often');
  counts.push((await system.state(orderId)).failureCount);
  await answer(system, orderId, 'once');
  counts.push((await system.state(orderId)).failureCount);
  assert.deepEqual(counts, [1, 1, 2, 2, 1, 0]);
  assert.deepEqual(noted, [1, 1, 2, 2], 'also before a scheduler has loaded it');
});

test('F-53: a sibling that succeeds meanwhile does not reset the count of a late step', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('late'), step('well')), { maxFailures: 1 }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  await system.clock.advance(stepMs);
  await supervisor.pass();
  await wake(system, orderId);
  await answer(system, orderId, 'well');
  await system.clock.advance(stepMs);
  assert.equal((await supervisor.pass()).intoError, 1);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Error', failureCount: 2 });
});

test('F-53: the long wait of one step is not shortened by another late step', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('late'), sequence(delay({ seconds: 60 }), step('other'))), { maxFailures: 1, onExhausted: 'wait' }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  const goOn = async (seconds: number) => {
    await system.clock.advance(seconds * 1000);
    await supervisor.pass();
    for (const woken of await takeWakeUps(system)) await wake(system, woken);
  };
  for (const seconds of [10, 10, 40, 10]) await goOn(seconds);
  assert.deepEqual(requestedSteps(system), ['late#1', 'late#2', 'other#1', 'other#2']);
  await answer(system, orderId, 'other');
  await goOn(3600 - 51);
  assert.deepEqual(requestedSteps(system), ['late#1', 'late#2', 'other#1', 'other#2']);
  await goOn(1);
  assert.deepEqual(requestedSteps(system), ['late#1', 'late#2', 'other#1', 'other#2', 'late#3']);
});

for (const [said, options, variables, seconds] of [
  ['its workflow', { longWaitSeconds: 90 }, {}, 90],
  ['LONG_WAIT_SECONDS', {}, { LONG_WAIT_SECONDS: '120' }, 120],
  ['its workflow before LONG_WAIT_SECONDS', { longWaitSeconds: 90 }, { LONG_WAIT_SECONDS: '120' }, 90],
  ['default', {}, {}, 3600],
] as const) {
  test(`F-53, F-175: the long wait above the threshold is set by ${said}: ${seconds} s`, async (t) => {
    const app = appOf((step) => step('one'), { maxFailures: 0, onExhausted: 'wait', ...options });
    const system = await startStill(t, app, { variables });
    const orderId = await submitted(system);
    const supervisor = supervisorOf(system);
    for (const later of [stepMs, seconds * 1000 - 1]) {
      await system.clock.advance(later);
      await supervisor.pass();
      await wake(system, orderId);
    }
    assert.deepEqual(requestedSteps(system), ['one#1']);
    await system.clock.advance(1);
    await supervisor.pass();
    await wake(system, orderId);
    assert.deepEqual(requestedSteps(system), ['one#1', 'one#2']);
  });
}

test('F-53, F-175: the request after the long wait of onExhausted "wait" has a full step timeout: until then no failure counts, and its reply is applied', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { maxFailures: 0, onExhausted: 'wait', longWaitSeconds: 90 }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  for (const later of [stepMs, 90_000]) {
    await system.clock.advance(later);
    await supervisor.pass();
    await wake(system, orderId);
  }
  await system.clock.advance(stepMs - 1);
  assert.equal((await supervisor.pass()).counted, 0);
  await answer(system, orderId, 'one');
  assert.partialDeepStrictEqual(await system.state(orderId), { outcome: 'completed', failureCount: 0 });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delay, parallel, sequence } from 'redress';
import { announcedAs } from '#ports/records';
import type { Incoming } from '#roles/scheduler/types';
import {
  accept,
  alertsOf,
  appOf,
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
  wake,
} from './support.ts';

const oneStep = appOf((step) => step('one'));

const hourMs = 3_600_000;

test('F-52: only the late step is requested again, under the same key; earlier steps and siblings are not', async (t) => {
  const seen: string[] = [];
  const keys = new Set<string>();
  const serve = (step: string, call: { attempt: number; idempotencyKey: string; signal: AbortSignal }) => {
    seen.push(`${step}#${call.attempt}`);
    if (step === 'late') keys.add(call.idempotencyKey);
    return step === 'late' && call.attempt === 1 ? silence(call) : {};
  };
  const system = await start(
    t,
    appOf((step) => sequence(step('early'), parallel(step('late'), step('beside')), step('after')), { serve }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(stepMs + 5000);

  assert.deepEqual(seen.toSorted(), ['after#1', 'beside#1', 'early#1', 'late#1', 'late#2']);
  assert.equal(keys.size, 1);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processed', outcome: 'completed', failureCount: 0 });
  assert.equal((await stepOf(system, orderId, 'late')).attempts, 2);
});

test('F-52: the write that counts an expiry also sets a new deadline, and the scheduler sends the next request with that deadline', async (t) => {
  const system = await startStill(t, oneStep);
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  assert.partialDeepStrictEqual(await system.state(orderId), {
    nextDueAt: system.clock.now() + stepMs,
    nextDueFor: { kind: 'request', path: 'order/one' },
    epoch: 1,
    processState: 'Processing',
  });

  await wake(system, orderId);
  const [first, second] = requests(system);
  assert.equal(second?.idempotencyKey, first?.idempotencyKey);
  assert.notEqual(second?.requestId, first?.requestId);
  assert.equal(second?.completeBy, new Date(system.clock.now() + stepMs).toISOString());
  assert.partialDeepStrictEqual(await system.state(orderId), { completeBy: system.clock.now() + stepMs, nextDueFor: { kind: 'step' } });
});

test('F-52: two steps that are late together are requested again together, and count as one expiry', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('one'), step('two'))),
  );
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  await wake(system, orderId);
  assert.deepEqual(requestedSteps(system), ['one#1', 'two#1', 'one#2', 'two#2']);
  assert.equal((await system.state(orderId)).failureCount, 1);
});

test('F-51, S15: with a threshold of 3 the first three expiries request the step again, and the fourth puts the order in Error in the same write', async (t) => {
  const system = await startStill(t, oneStep, { variables: { MAX_FAILURES: '3' } });
  const orderId = await submitted(system);
  for (const failureCount of [1, 2, 3, 4]) {
    await system.clock.advance(stepMs);
    await supervisorOf(system).pass();
    assert.partialDeepStrictEqual(await system.state(orderId), { failureCount, processState: failureCount > 3 ? 'Error' : 'Processing' });
    await wake(system, orderId);
    assert.equal(requestedSteps(system).length, Math.min(failureCount, 3) + 1);
  }
  assert.partialDeepStrictEqual(await system.state(orderId), {
    processState: 'Error',
    errorGen: 1,
    fault: { type: 'DeadlineExceeded', source: 'order/one' },
  });
});

for (const [maxFailures, expiries] of [
  [0, 1],
  [1, 2],
  [5, 6],
] as const) {
  test(`F-51: maxFailures ${maxFailures} of the definition overrides MAX_FAILURES: Error at expiry ${expiries}`, async (t) => {
    const system = await startStill(
      t,
      appOf((step) => step('one'), { maxFailures }),
      { variables: { MAX_FAILURES: '3' } },
    );
    const orderId = await submitted(system);
    for (let expiry = 1; expiry <= expiries; expiry++) {
      assert.equal((await system.state(orderId)).processState, 'Processing');
      await system.clock.advance(stepMs);
      await supervisorOf(system).pass();
      await wake(system, orderId);
    }
    assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Error', failureCount: expiries });
  });
}

test('F-51, F-59, S17: when a step exceeds the failure threshold, the order goes into Error and is announced once; the alert is part of that write', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { maxFailures: 0 }),
  );
  const orderId = await submitted(system);
  await system.clock.advance(stepMs);
  await supervisorOf(system).pass();
  const { outbox, ...state } = await system.state(orderId);
  assert.deepEqual(
    outbox.map(({ id }) => id),
    [`${announcedAs(state)}#1`, `${announcedAs(state)}/cause/1`],
  );
  assert.partialDeepStrictEqual(outbox[0], {
    kind: 'announcement',
    detailType: 'Order In Error',
    detail: { orderId, source: 'order/one', failureCount: 1, before: 'Processing', after: 'Error' },
  });

  await wake(system, orderId);
  await wake(system, orderId);
  assert.deepEqual((await system.state(orderId)).outbox, []);
  assert.deepEqual(
    alertsOf(system, orderId).filter((alert) => alert === 'Order In Error'),
    ['Order In Error'],
  );
});

test('F-51, F-62, F-74: when the threshold ends an order, its host emits workflowTerminated, and the order is announced', async (t) => {
  const announced: string[] = [];
  const system = await start(
    t,
    appOf((step) => step('one'), { maxFailures: 0, serve: (_, call) => silence(call) }),
  );
  system.host.on('workflowTerminated', ({ orderId }) => void announced.push(orderId));
  const orderId = await submitted(system);
  await system.clock.advance(stepMs + 5000);
  assert.deepEqual(announced, [orderId]);
  assert.deepEqual(alertsOf(system, orderId), ['Order In Error', 'Exception Raised', 'Task Opened', 'Workflow Terminated']);
});

test('F-53: with onExhausted "wait" a step above the threshold waits for an hour, then is requested again', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { maxFailures: 1, onExhausted: 'wait' }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  for (const attempts of [2, 2]) {
    await system.clock.advance(stepMs);
    await supervisor.pass();
    await wake(system, orderId);
    assert.equal(requestedSteps(system).length, attempts);
  }
  await system.clock.advance(hourMs - 1);
  await supervisor.pass();
  await wake(system, orderId);
  assert.equal(requestedSteps(system).length, 2);

  await system.clock.advance(1);
  await supervisor.pass();
  await wake(system, orderId);
  assert.equal(requestedSteps(system).length, 3);
  assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 2 });
});

test('F-53, S15: with onExhausted "fault" a step that is always answered "not now" faults like one that gets no reply', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { maxFailures: 1, onExhausted: 'fault' }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  const fault = { type: 'ServiceUnavailable', class: 'unexpected', permanent: false, message: 'later' } as const;
  for (const processState of ['Processing', 'Error']) {
    const reply = replyTo(requests(system).at(-1), system.clock.now());
    await accept(system, orderId, { ...reply, reply: { status: 'failed', fault } } as Incoming);
    await system.clock.advance(stepMs);
    await supervisor.pass();
    await wake(system, orderId);
    assert.equal((await system.state(orderId)).processState, processState);
  }
  assert.equal((await system.state(orderId)).fault?.type, 'DeadlineExceeded');
  assert.equal(requestedSteps(system).length, 2);
});

test('F-53: a reply of a sibling during the long wait neither shortens it nor makes the expiry count again', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('late'), sequence(step('slow'), step('last'))), { maxFailures: 0, onExhausted: 'wait' }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  const reply = replyTo(
    requests(system).find(({ path }) => path.endsWith('slow')),
    system.clock.now(),
  );
  await system.clock.advance(stepMs);
  await supervisor.pass();
  await accept(system, orderId, reply);
  await system.clock.advance(1000);
  await supervisor.pass();
  assert.deepEqual(requestedSteps(system), ['late#1', 'slow#1', 'last#1']);
  assert.equal((await system.state(orderId)).failureCount, 1);
});

test('F-53, S15: a timer does not end the long wait of a late step for its next request, and the expiry is not counted twice', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => parallel(step('late'), sequence(step('slow'), delay({ seconds: 60 }), step('last'))), {
      maxFailures: 0,
      onExhausted: 'wait',
    }),
  );
  const orderId = await submitted(system);
  const supervisor = supervisorOf(system);
  const slow = requests(system).find(({ path }) => path.endsWith('slow'));
  await system.clock.advance(stepMs - 1);
  const reply = replyTo(slow, system.clock.now());
  await system.clock.advance(1);
  await supervisor.pass();
  await accept(system, orderId, reply);
  assert.equal((await system.state(orderId)).nextDueFor?.kind, 'timer');

  await system.clock.advance(60_000);
  await wake(system, orderId);
  await supervisor.pass();
  assert.deepEqual(requestedSteps(system), ['late#1', 'slow#1', 'last#1']);
  assert.equal((await system.state(orderId)).failureCount, 1);

  await accept(
    system,
    orderId,
    replyTo(
      requests(system).find(({ path }) => path.endsWith('last')),
      system.clock.now(),
    ),
  );
  await system.clock.advance(hourMs);
  await supervisor.pass();
  await wake(system, orderId);
  assert.deepEqual(requestedSteps(system), ['late#1', 'slow#1', 'last#1', 'late#2']);
});

test('F-42, F-52: a reply that was sent in time is accepted until the next attempt is requested, even after the expiry was counted', async (t) => {
  for (const [first, then] of [
    ['answer', 'wake'],
    ['wake', 'answer'],
  ] as const) {
    const system = await startStill(
      t,
      appOf((step) => sequence(step('one'), step('two'))),
    );
    const orderId = await submitted(system);
    const reply = replyTo(requests(system)[0], system.clock.now());
    await system.clock.advance(stepMs);
    await supervisorOf(system).pass();
    for (const what of [first, then]) await (what === 'wake' ? wake(system, orderId) : accept(system, orderId, reply));
    assert.deepEqual(requestedSteps(system), first === 'answer' ? ['one#1', 'two#1'] : ['one#1', 'one#2']);
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Activity,
  askOperator,
  call,
  defineAgent,
  defineApp,
  defineWorkflow,
  delay,
  operation,
  parallel,
  sequence,
  waitFor,
} from 'redress';
import * as z from 'zod';
import { createTelemetry } from '#ports/telemetry';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { acquireLease } from '#roles/scheduler/lease';
import { createSupervisor } from '#roles/supervisor/supervisor';
import { startApi } from './support.ts';

const Nothing = z.object({});
const desk = defineAgent('desk', { book: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });
const part = defineWorkflow('part', { version: 1, order: Nothing }, () => desk.book({}).noUndo());

interface Step {
  readonly [field: string]: unknown;
}

/** An order whose workflow is this activity, with a time limit of an hour. */
async function orderOf(root: Activity<never>, limit: { completeWithinSeconds?: number } = { completeWithinSeconds: 3600 }) {
  const workflow = defineWorkflow('fulfil-order', { version: 1, order: Nothing, ...limit }, () => root);
  const system = startApi({ app: defineApp({ workflows: [workflow, part], agents: [desk] }) });
  const begunAt = system.clock.now();
  const orderId = await system.submitOrder('k', { body: { workflow: 'fulfil-order', order: {} } });
  const show = async (as: 'operator' | 'acme' = 'operator') => (await system.ask('GET', `/orders/${orderId}`, { as })).json;
  const inList = async (as: 'operator' | 'acme' = 'operator') =>
    (await system.ask('GET', '/orders', { as })).json.items.find((each: { orderId: string }) => each.orderId === orderId);
  const signal = (name: string) => system.ask('POST', `/orders/${orderId}/signals/${name}`, { as: 'acme', body: { granted: true } });
  const supervise = () => createSupervisor({ ...system, telemetry: createTelemetry({ level: 'off' }) }).pass();
  return { ...system, orderId, show, inList, signal, supervise, after: (seconds: number) => timeText(begunAt + seconds * 1000) };
}
const timeText = (at: number): string => new Date(at).toISOString();

const stepOf = ({ steps }: { steps: readonly Step[] }, name: string): Step | undefined => steps.find((step) => step['name'] === name);

describe('the waits of an order', () => {
  test('a wait for a signal is shown to operators among the steps, and in a list as what the order waits for', async () => {
    const { show, inList, signal, answer, after } = await orderOf(
      sequence(waitFor('approval', z.unknown(), { withinSeconds: 60 }), desk.book({})),
    );
    const waitsFor = { kind: 'signal', name: 'approval' };
    const waiting = await show();
    assert.partialDeepStrictEqual(stepOf(waiting, 'approval'), {
      activity: 'waitFor',
      agent: null,
      operation: null,
      waitsFor,
      status: 'Executing',
      attempts: 0,
      completeBy: after(60),
    });
    const ofOrder = { ...waitsFor, path: 'order/approval', until: after(60) };
    assert.deepEqual([waiting.waitsFor, (await inList()).waitsFor], [ofOrder, ofOrder]);

    assert.equal((await signal('approval')).status, 202);
    const working = await show();
    assert.partialDeepStrictEqual(stepOf(working, 'approval'), { status: 'Closed', result: 'Succeeded', output: { granted: true } });
    assert.deepEqual([working.waitsFor, (await inList()).waitsFor], [null, null]);
    await answer('desk', { status: 'succeeded', output: {} });
    assert.equal((await show()).waitsFor, null);
  });

  test('a wait without a time limit is shown without an end, and the list names its signal if the workflow has only one', async () => {
    const one = await orderOf(sequence(waitFor('approval', z.unknown())));
    const approval = { kind: 'signal', name: 'approval', path: 'order/approval', until: null };
    assert.deepEqual([(await one.show()).waitsFor, (await one.inList()).waitsFor], [approval, approval]);
    const two = await orderOf(sequence(waitFor('approval', z.unknown()), waitFor('papers', z.unknown())));
    assert.deepEqual((await two.show()).waitsFor, approval);
    assert.deepEqual((await two.inList()).waitsFor, { kind: 'signal', name: null, path: null, until: null });
  });

  test('a pause, a question and a called order are shown as waits, each with its kind', async () => {
    const pause = await orderOf(sequence(delay({ seconds: 90 }).named('pause')));
    const time = { kind: 'time', path: 'order/pause', until: pause.after(90) };
    assert.deepEqual([(await pause.show()).waitsFor, (await pause.inList()).waitsFor], [time, time]);

    const asking = await orderOf(sequence(askOperator('price', { question: 'What is the price?', answer: z.unknown() })));
    const question = { kind: 'answer', question: 'What is the price?' };
    const asked = await asking.show();
    assert.deepEqual(stepOf(asked, 'price')?.['waitsFor'], question);
    const ofOrder = { ...question, path: 'order/price', until: null };
    assert.deepEqual([asked.waitsFor, (await asking.inList()).waitsFor], [ofOrder, ofOrder]);

    const calling = await orderOf(sequence(call(part, {})));
    const called = await calling.show();
    const wait = stepOf(called, 'part')?.['waitsFor'] as { orderId: string };
    assert.partialDeepStrictEqual(wait, { kind: 'order', workflow: 'part@1' });
    assert.match(wait.orderId, /^ord_[a-z2-7]{52}$/);
    assert.deepEqual(called.waitsFor, { ...wait, path: 'order/part', until: null });
    assert.deepEqual((await calling.inList()).waitsFor, { ...wait, orderId: null, path: 'order/part', until: null });
    assert.match(called.explanation, new RegExp(`the order ${wait.orderId} of part@1 at order/part`));
  });

  test('an order is not shown as waiting if a step is at work at the same time', async () => {
    const { show, inList } = await orderOf(parallel(waitFor('approval', z.unknown()), desk.book({})));
    assert.deepEqual([(await show()).waitsFor, (await inList()).waitsFor], [null, null]);
  });

  test('a client sees no waits, and no internals of steps', async () => {
    const { show, inList } = await orderOf(sequence(waitFor('approval', z.unknown()), desk.book({})));
    const order = await show('acme');
    assert.deepEqual(order.steps, [{ name: 'book', status: 'Initialized', result: null }]);
    assert.ok(!('waitsFor' in order) && !('waitsFor' in (await inList('acme'))));
  });
});

describe('an order whose agent cannot work', () => {
  test('names the open circuit breaker, the time since which the service is away, and the next probe', async () => {
    const { show, inList, store, clock, supervise } = await orderOf(sequence(desk.book({})));
    const openedAt = clock.now();
    await store.putBreaker({ agent: 'desk', rev: 1, openedAt, probeAt: openedAt + 5000, failedProbes: 0, closedAt: null }, 0);
    const { waitsFor, steps, explanation } = await show();
    const outage = { kind: 'outage', agent: 'desk', since: timeText(openedAt) };
    assert.deepEqual(steps[0].waitsFor, outage);
    assert.deepEqual(waitsFor, { ...outage, path: 'order/book', until: null });
    assert.match(
      explanation,
      /, but the service of desk has been unavailable since 2026-01-01T00:00:00Z \(its circuit breaker is open\): requests continue when a probe succeeds; the next probe is at 2026-01-01T00:00:05Z\.$/,
    );

    // A list reads no circuit breaker: it tells the outage once the step is late.
    assert.equal((await inList()).waitsFor, null);
    await clock.advance(12_000);
    await supervise();
    assert.deepEqual((await inList()).waitsFor, { ...outage, path: 'order/book', until: null });

    await store.putBreaker({ agent: 'desk', rev: 2, openedAt, probeAt: openedAt, failedProbes: 1, closedAt: clock.now() }, 1);
    assert.match(
      (await show()).explanation,
      /the service of desk has answered again since .*: the waiting requests are released one after another\.$/,
    );
  });

  test('names the person who closed the channel, the time and the reason', async () => {
    const { show, store, clock } = await orderOf(sequence(desk.book({})));
    const change = { by: 'olga', reason: 'the desk moves', now: clock.now() };
    await closeChannel('desk', 'desk-requests', change, store);
    const { waitsFor, explanation } = await show();
    assert.deepEqual(waitsFor, { kind: 'outage', agent: 'desk', since: timeText(clock.now()), path: 'order/book', until: null });
    assert.match(
      explanation,
      /, but olga closed the channel desk at .* \(the desk moves\): requests continue when an operator opens it\.$/,
    );
    await openChannel('desk', { ...change, canary: false }, store);
    assert.deepEqual([(await show()).waitsFor, /channel/.test((await show()).explanation)], [null, false]);
  });

  test('names the host that holds the lease of an order, until the lease ends', async () => {
    const { show, store, clock, orderId } = await orderOf(sequence(desk.book({})));
    await acquireLease(store, orderId, { holder: 'host-7', leaseMs: 5000, clock });
    assert.match((await show()).explanation, /\. host-7 has locked it until 2026-01-01T00:00:0\dZ\.$/);
    await clock.advance(60_000);
    assert.doesNotMatch((await show()).explanation, /locked/);
  });

  test('names the last answer of the agent for the step at work', async () => {
    const { show, answer } = await orderOf(sequence(desk.book({}), waitFor('approval', z.unknown())));
    const busy = { type: 'ServiceUnavailable', class: 'unexpected', permanent: false, message: 'The desk answers 503.' } as const;
    await answer('desk', { status: 'failed', fault: busy });
    assert.match(
      (await show()).explanation,
      /^Desk could not do order\/book for now, .* \(last answer: ServiceUnavailable: The desk answers 503\)\.$/,
    );
  });
});

describe('the time limit of a whole order', () => {
  test('is shown to clients and operators as endBy, the time by which the whole order must have ended', async () => {
    const { show, after } = await orderOf(sequence(desk.book({})));
    for (const as of ['acme', 'operator'] as const) assert.equal((await show(as)).endBy, after(3600), as);
  });

  test('is null if the workflow has none, and while the order is suspended', async () => {
    const free = await orderOf(sequence(desk.book({})), {});
    assert.equal((await free.show()).endBy, null);
    const { show, ask, orderId } = await orderOf(sequence(desk.book({})));
    const headers = { 'if-match': `"${(await show()).rev}"` };
    await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers, body: { kind: 'suspend', reason: 'a count' } });
    assert.deepEqual([(await show()).endBy, (await show()).suspended], [null, true]);
  });
});

describe('the duration of a step', () => {
  test('ends with its answer, also if the answer came while the order was blocked', async () => {
    const { show, answer, ask, clock, orderId, after } = await orderOf(
      parallel(desk.book({}).named('first'), desk.book({}).named('second')),
      {},
    );
    await answer('desk', { status: 'failed', fault: { type: 'NoRoom', class: 'unexpected', permanent: true, message: 'full' } });
    await clock.advance(1000);
    await answer('desk', { status: 'succeeded', output: {} });
    await clock.advance(59_000);
    const headers = { 'if-match': `"${(await show()).rev}"` };
    await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers, body: { kind: 'resubmit', reason: 'there is room' } });
    const order = await show();
    assert.partialDeepStrictEqual(stepOf(order, 'second'), { startedAt: after(0), answeredAt: after(1), closedAt: after(60) });
    assert.partialDeepStrictEqual(stepOf(order, 'first'), { startedAt: after(0), requestedAt: after(60), closedAt: null });
  });
});

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  assign,
  call,
  defineAgent,
  defineApp,
  defineWorkflow,
  type JsonObject,
  operation,
  StateTooLarge,
  sequence,
  variable,
  waitFor,
} from 'redress';
import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { tableFigures } from '#ports/limits';
import {
  type Desk,
  type DeskOptions,
  failed,
  journalOf,
  lineOf,
  ok,
  openDesk,
  stepsNamed,
  submitted,
  timePasses,
  typesOf,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];
/** A text whose JSON has `bytes` bytes, two for each letter. */
const textOf = (bytes: number) => 'ä'.repeat((bytes - 2) / 2);

describe('an output that is too large', () => {
  const answered = async (context: TestContext, bytes: number, run?: () => unknown) => {
    const desk = openDesk(context, run ? lineOf({ pick: run, pack: () => ({}) }) : line);
    const orderId = await submitted(desk);
    const { idempotencyKey, ...request } = await desk.request();
    if (run) await desk.send('worker-requests', { ...request, idempotencyKey });
    if (run) await desk.deliver('worker-requests').then(() => desk.deliver('worker-replies'));
    else await desk.answer({ ...request, idempotencyKey }, ok(textOf(bytes)));
    return { desk, orderId, idempotencyKey };
  };

  for (const who of ['the agent', 'the scheduler if the agent did not'] as const) {
    const run = who === 'the agent' ? () => textOf(limits.outputBytesMax + 2) : undefined;
    test(`S23: is detected by ${who}: the order is in Error, and the message says what to do`, async (context) => {
      const { desk, orderId, idempotencyKey } = await answered(context, limits.outputBytesMax + 2, run);
      const { processState, fault } = await desk.state(orderId);
      assert.deepEqual(
        [processState, fault?.type, fault?.class, fault?.source],
        ['Error', 'OutputTooLarge', 'application-failure', 'order/pick'],
      );
      assert.equal(fault?.message, 'The output has 262146 bytes; the maximum is 262144. Return a reference to the data instead.');
      assert.deepEqual(await desk.requests(), []);

      await timePasses(
        desk.clock,
        desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: 'i' }),
      );
      assert.equal((await desk.request()).idempotencyKey, idempotencyKey, 'the effect may exist, so it keeps its key');
    });
  }

  test('S23: is larger than the limit: an output of exactly the limit is accepted', async (context) => {
    const { desk } = await answered(context, limits.outputBytesMax);
    assert.equal((await desk.request()).path, 'order/pack');
  });
});

describe('a state that would be too large', () => {
  /** Each of its steps returns 120 KB that the last one reads. */
  const step = operation({ input: z.object({}), output: z.string(), run: () => '' });
  const worker = defineAgent('worker', {
    a: step,
    b: step,
    c: step,
    forget: operation({ input: z.object({ text: z.string() }), output: z.object({}), run: () => ({}) }),
    read: operation({ input: z.array(z.string()), output: z.object({}), run: () => ({}) }),
  });
  const Item = z.object({ item: z.string() });
  const hoarding = defineApp({
    workflows: [
      defineWorkflow('hoard', { version: 1, order: Item }, () => {
        const [a, b, c] = [worker.a({}), worker.b({}), worker.c({})];
        return sequence(a, b, c, worker.read([a.output, b.output, c.output]));
      }),
      defineWorkflow('hoard-with-care', { version: 1, order: Item }, () => {
        const [a, b, c] = [worker.a({}), worker.b({}), worker.c({})].map((step) => step.undo(() => worker.forget({ text: '' })));
        if (!a || !b || !c) throw new Error('There are three.');
        return sequence(a, b, c, worker.read([a.output, b.output, c.output])).on(StateTooLarge, ({ compensate }) => compensate());
      }),
      defineWorkflow('read-and-undone', { version: 1, order: Item }, () => {
        const a = worker.a({});
        return sequence(
          a.undo((text) => worker.forget({ text })),
          worker.read([a.output]),
        );
      }),
      // Each composite keeps the whole order for its undo when it closes.
      defineWorkflow('undone-as-a-whole', { version: 1, order: Item }, ({ order }) => {
        const noting = (name: string) =>
          sequence(assign(variable<number>(name), 1))
            .named(name)
            .undo(worker.forget({ text: order.item }));
        return sequence(worker.a({}), noting('one'), noting('two'), noting('three'), worker.b({}));
      }),
      ...line.workflows,
    ],
    agents: [worker],
  });
  const both = defineApp({
    workflows: hoarding.workflows,
    agents: [defineAgent('worker', { ...hoarding.agents[0]?.operations, ...line.agents[0]?.operations })],
  });

  const large = ok('x'.repeat(120_000));
  /** The third reply exceeds the limit. */
  const hoarded = async (desk: Desk, workflow: string) => {
    const orderId = await submitted(desk, { item: 'tea' }, { workflow });
    for (let step = 0; step < 3; step++) await desk.answer(await desk.request(), large);
    return orderId;
  };

  for (const { writesAndSendsAtomically, how } of modes) {
    test(`S23, F-63: is not stored: the step faults, the message says what to do, and other orders continue (${how})`, async (context) => {
      const desk = openDesk(context, both, { writesAndSendsAtomically });
      const orderId = await hoarded(desk, 'hoard');
      const { processState, fault, blob } = await desk.state(orderId);
      assert.deepEqual([processState, fault?.type, fault?.source], ['Error', 'StateTooLarge', 'order/c']);
      assert.match(
        fault?.message ?? '',
        /^The reply at order\/c has 120002 bytes; with it, the state of the order would have 36\d{4} bytes \(maximum 358400\)\. Store a reference to the data instead, or move a part of the work into a called order\.$/,
      );
      assert.ok(blob.length < limits.stateBytesMax);
      assert.deepEqual(typesOf(desk.announced()), ['Order In Error', 'Workflow Terminated']);

      const other = await submitted(desk, { item: 'tea' }, { workflow: 'line' });
      await desk.answer(await desk.request());
      await desk.answer(await desk.request());
      assert.equal((await desk.state(other)).processState, 'Processed');
    });
  }

  test('S23: raises a fault for a handler: effects are undone, and unknown outcomes are confirmed first', async (context) => {
    const desk = openDesk(context, both);
    const orderId = await hoarded(desk, 'hoard-with-care');
    const confirming = await desk.request();
    assert.deepEqual([confirming.path, confirming.attempt], ['order/c', 2]);
    await desk.answer(confirming, large);
    for (const path of ['order/c/undo', 'order/b/undo', 'order/a/undo']) {
      const undo = await desk.request();
      assert.equal(undo.path, path);
      await desk.answer(undo);
    }
    const { processState, outcome } = await desk.state(orderId);
    assert.deepEqual([processState, outcome], ['Processed', 'compensated']);
  });

  for (const { writesAndSendsAtomically, how } of modes)
    test(`S23: is not caused by one output within the limit, because its journal line is paged out (${how})`, async (context) => {
      const desk = openDesk(context, both, { writesAndSendsAtomically });
      const orderId = await submitted(desk, { item: 'tea' }, { workflow: 'hoard' });
      const output = 'x'.repeat(limits.outputBytesMax - 2);
      await desk.answer(await desk.request(), ok(output));
      assert.deepEqual([(await desk.state(orderId)).fault, (await desk.request()).path], [null, 'order/b']);
      assert.ok((await journalOf(desk, orderId)).some((entry) => entry.type === 'ActivityClosed' && entry.output === output));
    });

  test('S23: counts an output twice that is read and also passed to an undo: 170 KiB fit, 180 KiB do not', async (context) => {
    for (const [kib, type] of [
      [170, undefined],
      [180, 'StateTooLarge'],
    ] as const) {
      const desk = openDesk(context, both);
      const orderId = await submitted(desk, { item: 'tea' }, { workflow: 'read-and-undone' });
      await desk.answer(await desk.request(), ok('x'.repeat(kib * 1024)));
      assert.equal((await desk.state(orderId)).fault?.type, type);
    }
  });

  test('S23: without a responsible activity is left to a person, and not stored', async (context) => {
    const desk = openDesk(context, both);
    const orderId = await submitted(desk, { item: 'x'.repeat(150_000) }, { workflow: 'undone-as-a-whole' });
    const { blob } = await desk.state(orderId);
    await desk.answer(await desk.request(), ok(''));
    const after = await desk.state(orderId);
    assert.deepEqual([after.processState, after.fault?.type, after.blob === blob], ['Error', 'StateTooLarge', true]);
    assert.match(after.fault?.message ?? '', /^The state of order ord_\w+ would exceed 358400 bytes\./);
  });
});

describe('a call whose body is too large for an item', () => {
  const step = operation({ input: z.object({}), output: z.object({ text: z.string() }), run: () => ({ text: '' }) });
  const worker = defineAgent('worker', { fetch: step, print: step });
  const Body = z.object({ a: z.string(), b: z.string() });
  const print = defineWorkflow('print', { version: 1, order: Body }, () => worker.print({}));
  const report = defineWorkflow('report', { version: 1, order: z.object({}) }, () => {
    const fetch = worker.fetch({});
    return sequence(fetch, call(print, { a: fetch.output.text, b: fetch.output.text }));
  });
  const app = defineApp({ workflows: [report, print], agents: [worker] });
  const text = 'x'.repeat(limits.inputBytesMax / 2);

  test('S23: is not requested: the order is in Error with the cause and what to do', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, {});
    await desk.answer(await desk.request(), ok({ text }));
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.source], ['Error', 'InputTooLarge', 'order/print']);
    assert.match(fault?.message ?? '', /^The input has 26\d{4} bytes; the maximum is 262144\. Pass a reference to the data instead\.$/);
    assert.deepEqual(desk.messages('workflows-requests'), []);
  });

  test('S23: is dead-lettered once if it was requested all the same, and puts the order in Error without endless retries', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, {});
    await desk.answer(await desk.request(), ok({ text: 'x' }));
    const [request] = (await desk.take('workflows-requests')) as [JsonObject];
    await desk.send('workflows-requests', { ...request, input: { a: text.repeat(2), b: text.repeat(2) } });
    for (let failures = 0; desk.messages('workflows-requests').length > 0; failures++) {
      assert.ok(failures < 10);
      await desk.deliver('workflows-requests');
    }
    assert.equal((await desk.deadLetter()).length, 1);
    await desk.deliver('workflows-replies');
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.source], ['Error', 'RequestRejected', 'order/print']);
    await desk.clock.advance(24 * 3_600_000);
    await desk.supervisor.pass();
    assert.deepEqual([desk.messages('workflows-requests'), (await desk.deadLetter()).length], [[], 1]);
  });
});

describe('a signal that no activity waits for', () => {
  const worker = defineAgent('worker', { pick: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
  const workflow = defineWorkflow('line', { version: 1, order: z.object({}), recover: 'order', onExhausted: 'wait' }, () =>
    sequence(worker.pick({}), waitFor('list', z.string()), waitFor('photo', z.string())),
  );
  const app = defineApp({ workflows: [workflow], agents: [worker] });

  const send = (desk: Desk, orderId: string, name: string, bytes: number) =>
    desk.system.scheduler.instruct(orderId, { kind: 'signal', name, payload: textOf(bytes) }, { id: name });

  test('S23: is refused if the state has no room for it', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, {});
    assert.equal((await send(desk, orderId, 'list', 200_000)).outcome, 'done');
    const refused = JSON.stringify(await send(desk, orderId, 'photo', 200_000));
    assert.match(refused, /"infeasible".*"too-large".*would exceed 358400 bytes/);
  });

  test('S23: is refused if the state has no room for it, and the order has to be claimed again', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, {});
    assert.equal((await send(desk, orderId, 'list', 200_000)).outcome, 'done');
    for (let passes = 0; (await desk.state(orderId)).processState !== 'Pending'; passes++) {
      assert.ok(passes < 10);
      await desk.clock.advance(60_000);
      await timePasses(desk.clock, desk.supervisor.pass());
    }
    const refused = JSON.stringify(await send(desk, orderId, 'photo', 200_000));
    assert.match(refused, /"infeasible".*"too-large".*would exceed 358400 bytes/);
  });
});

describe('a service that returns too much', () => {
  const refused = async (context: TestContext, message: string, data?: Record<string, string>) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Broken', message, data ? { data } : {}));
    return { desk, state: await desk.state(orderId) };
  };

  test('S23: in an error message has it truncated: the order is in Error with its fault, and the record stays small', async (context) => {
    const { desk, state } = await refused(context, '<html>'.repeat(50_000));
    assert.equal(state.fault?.type, 'Broken');
    assert.ok(
      state.fault?.message.endsWith('…') &&
        JSON.stringify(state).length < 20_000 &&
        desk.announced().every(({ detail }) => JSON.stringify(detail).length < 5_000),
    );
  });

  test('S23: in the data of a fault has the data left out, and the message says so', async (context) => {
    const { state } = await refused(context, 'no', { page: 'x'.repeat(100_000) });
    assert.deepEqual([state.fault?.message, state.fault?.data], ['no (data of 100011 bytes omitted)', undefined]);
    assert.deepEqual((await refused(context, 'no', { sku: 'tea' })).state.fault?.data, { sku: 'tea' });
  });
});

describe('a long order', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`S23, F-159: keeps its state as small as at the start, and its journal complete (${how})`, async (context) => {
      const options: DeskOptions = { writesAndSendsAtomically };
      const names = Array.from({ length: 100 }, (_, index) => `step${index}`);
      const desk = openDesk(context, lineOf(stepsNamed(...names)), options);
      const orderId = await submitted(desk);
      let largest = 0;
      for (let step = 0; step < names.length; step++) {
        await desk.answer(await desk.request(), ok({ step, text: 'x'.repeat(50) }));
        largest = Math.max(largest, JSON.stringify(await desk.state(orderId)).length);
      }
      assert.equal((await desk.state(orderId)).processState, 'Processed');
      assert.ok(largest < 4_096, `${largest} characters`);
      const journal = await journalOf(desk, orderId);
      assert.deepEqual(
        journal.map(({ seq }) => seq),
        journal.map((_, index) => index + 1),
      );
      assert.deepEqual(
        journal.flatMap((entry) => (entry.type === 'ActivityClosed' && entry.path !== 'order' ? [[entry.path, entry.output]] : [])),
        names.map((name, step) => [`order/${name}`, { step, text: 'x'.repeat(50) }]),
        'with the output of each step',
      );
      assert.deepEqual(
        journal.flatMap((entry) => (entry.type === 'ActivityStarted' || entry.type === 'StepRequested' ? [entry.path] : [])),
        ['order', ...names.map((name) => `order/${name}`)],
      );
    });
  }
});

test('S23: the largest state fits an item of the table', () => {
  assert.ok(limits.stateBytesMax + tableFigures.stateReserveBytes < tableFigures.itemBytesMax);
});

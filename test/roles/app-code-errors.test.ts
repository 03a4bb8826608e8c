import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  close,
  compute,
  defineAgent,
  defineApp,
  defineLeafActivity,
  defineWorkflow,
  fault,
  operation,
  PermanentFailure,
  sequence,
  succeeded,
} from 'redress';
import * as z from 'zod';
import { onFunctionError } from '#authoring/function-errors';
import { manualClock } from '#ports/clock';
import type { Reply } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import type { ReportTrouble } from '#roles/agent/trouble';
import { createTroublePrinter, functionErrorPrinter } from '#runtime/host/trouble-printer';
import { lineOf, nothing, openDesk, reaches, started, submitted, timePasses } from './support.ts';

const Nothing = z.object({});
const Refused = fault('Refused');

/** A slip of the kind that everybody makes. */
const slip = (): never => (undefined as unknown as { readonly id: never }).id;
const slipText = "TypeError: Cannot read properties of undefined (reading 'id')";

type Options = NonNullable<NonNullable<Parameters<typeof lineOf>[1]>['operation']>;
type Run = Parameters<typeof lineOf>[0][string];

/** An agent that serves the first request of an order, and the texts that its developer sees. */
async function serving(context: TestContext, run: Run, options: Options) {
  const desk = openDesk(context, lineOf({ pick: run }, { operation: options }));
  await submitted(desk);
  const request = await desk.request();
  const printed: string[] = [];
  const shown: Promise<void>[] = [];
  const print = createTroublePrinter({ ...desk.system, print: (text) => printed.push(text) });
  const report: ReportTrouble = (trouble) => shown.push(print(trouble));
  const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), { ...desk.system, report });
  const ended = async (work: Promise<unknown>) => {
    await timePasses(desk.clock, work);
    await Promise.all(shown);
  };
  const replies = () => desk.messages('worker-replies') as unknown as readonly Reply[];
  return { request, printed, agent, ended, replies };
}

test('X-51: an error of a lookup is shown as an error of the lookup, and proves nothing about the effect', async (context) => {
  const { request, printed, agent, ended, replies } = await serving(context, nothing, { lookup: slip });
  await ended(agent({ ...request, confirming: true }));
  assert.match(`${printed[0]}`, /^warn {2}the lookup of worker\.pick threw TypeError/);
  assert.match(`${printed.at(-1)}`, /The confirmation is requested again after a pause, until it succeeds\.$/);
  const type = 'ProgrammingError';
  assert.deepEqual(replies()[0]?.result, { status: 'failed', fault: { type, message: slipText, permanent: true, outcomeUnknown: true } });
});

test('X-51: an error of a cancel function is shown, and the operation goes on', async (context) => {
  const begun = Promise.withResolvers<void>();
  const dig: Run = async (_, { signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return {};
  };
  const { request, printed, agent, ended, replies } = await serving(context, dig, { cancel: slip });
  const served = agent(request);
  await begun.promise;
  const { requestId, orderId, path, idempotencyKey } = request;
  await ended(Promise.all([served, agent.cancel({ v: 1, type: 'cancel', requestId, orderId, path, idempotencyKey })]));
  assert.equal(printed.length, 1);
  assert.match(`${printed}`, /^warn {2}the cancel of worker\.pick threw TypeError.*\n +at /);
  assert.equal(replies()[0]?.result.status, 'succeeded');
});

test('X-51: a fault that an operation declares is not shown as an error, but an undeclared one is', async (context) => {
  for (const [type, texts] of [
    ['Refused', 0],
    ['Overslept', 1],
  ] as const) {
    const run = () => {
      throw new PermanentFailure(type, 'not today');
    };
    const { request, printed, agent, ended } = await serving(context, run, { faults: [Refused] });
    await ended(agent(request));
    assert.equal(printed.length, texts, type);
  }
});

test('X-42, X-51: an undo with a programming error alerts a person at once, and succeeds within a minute after the code is corrected', async (context) => {
  let isCorrected = false;
  const agent = defineAgent('worker', {
    pick: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
    unpick: operation({ input: Nothing, output: Nothing, run: () => (isCorrected ? {} : slip()) }),
    ship: operation({ input: Nothing, output: Nothing, faults: [Refused], run: (_, call) => call.failed(Refused, 'no') }),
  });
  const workflow = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
    sequence(
      agent.pick({}).undo(() => agent.unpick({})),
      agent.ship({}).noUndo(),
    ).on(Refused, ({ compensate }) => compensate()),
  );
  const system = await started(context, defineApp({ workflows: [workflow], agents: [agent] }), { clock: manualClock() });
  const orderId = await submitted(system);
  await system.clock.advance(4_000);
  const stuck = system.publisher.published(0, 100).find(({ detailType }) => detailType === 'Compensation Stuck');
  assert.deepEqual([stuck?.detail['type'], stuck?.detail['message']], ['ProgrammingError', slipText]);
  isCorrected = true;
  await reaches(system, orderId, 'Processed', { withinMs: 60_000 });
});

let isBrittle = true;
const brittle = defineLeafActivity<object, never>('test:brittle', { execute: () => (isBrittle ? slip() : close(succeeded())) });

test('X-51: an activity of the app that throws blocks its order, which continues when the code is correct', async (context) => {
  const workflow = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => sequence(brittle({})));
  const system = await started(context, defineApp({ workflows: [workflow], agents: [] }), { clock: manualClock() });
  const printed: string[] = [];
  context.after(onFunctionError(functionErrorPrinter((text) => printed.push(text))));
  const orderId = await submitted(system);
  const { fault } = await system.state(orderId);
  assert.deepEqual(
    [fault?.type, fault?.class, fault?.source, fault?.message],
    ['ProgrammingError', 'application-failure', 'order/brittle', `test:brittle: ${slipText}`],
  );
  assert.equal(printed.length, 1);
  assert.match(`${printed}`, /^warn {2}test:brittle, execute threw TypeError\..*\n +at .*app-code-errors\.test\.ts:\d+:\d+/);

  isBrittle = false;
  await system.instruct(orderId, { kind: 'resubmit' });
  await reaches(system, orderId, 'Processed');
});

const quote = compute('test-quote', { version: 1, input: z.object({ card: z.string() }), output: Nothing }, ({ card }) => {
  throw new Error(`No price for ${card}.`);
});

test('X-51, S24: an error of a compute function is shown with its place and without its message, which may be secret', async (context) => {
  const workflow = defineWorkflow('line', { version: 1, order: z.object({ card: z.string() }) }, ({ order }) =>
    sequence(quote({ card: order.card })),
  );
  const system = await started(context, defineApp({ workflows: [workflow], agents: [] }), { clock: manualClock() });
  const printed: string[] = [];
  context.after(onFunctionError(functionErrorPrinter((text) => printed.push(text))));
  for (let order = 0; order < 2; order++) {
    const orderId = await submitted(system, { card: 'tok_canary_4711' });
    assert.equal((await system.state(orderId)).fault?.message, 'test-quote@1: No price for tok_canary_4711.');
    assert.doesNotMatch(`${printed}`, /_canary_/);
  }
  assert.equal(printed.length, 1);
  assert.match(`${printed}`, /^warn {2}the function test-quote@1 threw Error\..*\n +at .*app-code-errors\.test\.ts:\d+:\d+/);
});

const endless = compute('test-endless', { version: 1, input: z.object({ card: z.string() }), output: Nothing }, () => {
  for (;;);
});

test('X-51: a compute function that never returns is named on the terminal, with what to look for', async (context) => {
  const workflow = defineWorkflow('line', { version: 1, order: z.object({ card: z.string() }) }, ({ order }) =>
    sequence(endless({ card: order.card })),
  );
  const system = await started(context, defineApp({ workflows: [workflow], agents: [] }), { clock: manualClock() });
  const printed: string[] = [];
  context.after(onFunctionError(functionErrorPrinter((text) => printed.push(text))));
  await submitted(system, { card: 'tok' });
  assert.match(
    `${printed}`,
    /^warn {2}the function test-endless@1 was stopped\. .* more than 1,000 ms .*Look for an endless loop in test-endless@1/,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { rule } from '../support/rules.ts';
import { failed, journalOf, ok, openDesk, submitted } from './support.ts';

const Item = z.object({ item: z.string() });
const nothing = z.object({});
const Broken = fault('Broken');
const worker = defineAgent('worker', {
  reserve: operation({ input: Item, output: z.object({ lot: z.number() }), run: () => ({ lot: 7 }) }),
  release: operation({ input: z.object({ lot: z.number() }), output: nothing, run: () => ({}) }),
  charge: operation({ input: Item, output: nothing, faults: [Broken], run: () => ({}) }),
  pack: operation({ input: Item, output: nothing, run: () => ({}) }),
  rescue: operation({ input: nothing, output: nothing, run: () => ({}) }),
});
/** Its scope undoes itself, and then raises the fault again. */
const buy = defineWorkflow('buy', { version: 1, order: Item, toOperator: [Broken] }, ({ order }) =>
  sequence(
    sequence(
      worker.reserve(order).undo(({ lot }) => worker.release({ lot })),
      parallel(worker.charge(order).noUndo(), worker.pack(order).noUndo()),
    ).on(Broken, ({ compensate, rethrow }) => sequence(compensate(), rethrow())),
  ),
);
const rescue = defineWorkflow('rescue', { version: 1, order: z.looseObject({}) }, () => worker.rescue({}).noUndo());
const app = defineApp({ workflows: [buy, rescue], agents: [worker] });

test('F-166, F-165: a scope is canceled and undone, without suspension, before the exception manager has another order handle its exception', async (context) => {
  const desk = openDesk(context, app);
  const action = { kind: 'handle', workflow: 'rescue', control: 'none' } as const;
  const event = { kind: 'exception', type: 'Broken' } as const;
  const change = { by: 'ada', reason: 'a test', expected: undefined };
  await desk.system.rules.put(rule({ id: 'rescue', event, object: { workflow: 'buy' }, action }), change);
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), ok({ lot: 7 }));
  const [charge, pack] = await desk.requests();
  assert.ok(charge && pack);
  await desk.answer(charge, failed('Broken'));
  assert.equal((await desk.state(orderId)).suspended, false);
  await desk.answer(pack, failed('Canceled'));
  const undo = (await desk.requests()).find(({ path }) => path.endsWith('/undo'));
  assert.ok(undo);
  await desk.answer(undo);

  const types = (await journalOf(desk, orderId)).map((entry) =>
    'path' in entry ? `${entry.type} ${entry.path?.split('/').at(-1)}` : entry.type,
  );
  const order = ['CancelRequested pack', 'FaultHandled', 'ActivityClosed undo', 'OrderBlocked', 'ExceptionDetected', 'HandlerStarted'];
  const places = order.map((type) => types.findIndex((each) => each.startsWith(type)));
  assert.deepEqual(
    places,
    places.filter((place) => place >= 0).toSorted((a, b) => a - b),
    JSON.stringify(types),
  );
});

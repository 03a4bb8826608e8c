import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import type { Instruction } from '#roles/operator/instruction';
import { failed, ok, openDesk, submitted, timePasses } from './support.ts';

const nothing = z.object({});
const operations = ['reserve', 'release', 'charge', 'refund'] as const;
const shop = defineAgent(
  'worker',
  Object.fromEntries(operations.map((name) => [name, operation({ input: nothing, output: nothing, run: () => ({}) })])) as {
    [name in (typeof operations)[number]]: ReturnType<typeof operation<typeof nothing, typeof nothing>>;
  },
);
const line = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
  parallel(
    shop.reserve({}).undo(() => shop.release({})),
    shop.charge({}).undo(() => shop.refund({})),
  ),
);

test('F-103: when several undos keep failing, the operator must name the undo that was done by hand; the others continue', async (context) => {
  const desk = openDesk(context, defineApp({ workflows: [line], agents: [shop] }));
  const orderId = await submitted(desk);
  const instruct = (instruction: { kind: 'cancel' } | { kind: 'mark-compensated'; path?: string }) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { ...instruction, by: 'olga', reason: 'by hand' }, { id: `i-${desk.clock.now()}` }),
    );
  const requests = await desk.requests();
  await instruct({ kind: 'cancel' });
  await desk.take('worker-requests');
  for (const request of requests) await desk.answer(request, ok());
  for (const request of await desk.requests()) await desk.answer(request, failed('Closed'));

  const detail = 'Several undos have failed: choose one with "path". Failed undos: order/reserve, order/charge.';
  const refusals = [{ code: 'no-such-step', pointer: '/path', detail }];
  assert.deepEqual(await instruct({ kind: 'mark-compensated' }), { outcome: 'infeasible', refusals });
  assert.equal((await instruct({ kind: 'mark-compensated', path: 'order/charge' })).outcome, 'done');
  assert.equal((await desk.state(orderId)).processState, 'Processing');
  assert.equal((await instruct({ kind: 'mark-compensated' })).outcome, 'done', 'there is one left');
  const { processState, outcome } = await desk.state(orderId);
  assert.deepEqual([processState, outcome], ['Processed', 'canceled']);
});

test('F-60, F-103: an undo that a person marks as done while its order is suspended is not requested after the order is resumed', async (context) => {
  const desk = openDesk(context, defineApp({ workflows: [line], agents: [shop] }));
  const orderId = await submitted(desk);
  const instruct = (kind: 'cancel' | 'mark-compensated' | 'suspend' | 'resume' | 'retry-undo', path?: string) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(
        orderId,
        { kind, by: 'olga', reason: 'by hand', ...(path === undefined ? {} : { path }) } as Instruction,
        { id: `i-${desk.clock.now()}` },
      ),
    );
  const requests = await desk.requests();
  await instruct('cancel');
  await desk.take('worker-requests');
  for (const request of requests) await desk.answer(request, ok());
  for (const request of await desk.requests()) await desk.answer(request, failed('Closed'));
  assert.equal((await instruct('suspend')).outcome, 'done');
  const retried = await instruct('retry-undo');
  assert.deepEqual(retried.outcome === 'infeasible' && retried.refusals.map(({ code }) => code), ['suspended']);
  for (const path of ['order/charge', 'order/reserve']) assert.equal((await instruct('mark-compensated', path)).outcome, 'done', path);
  assert.partialDeepStrictEqual(await desk.state(orderId), { processState: 'Processing', suspended: true });
  const again = await instruct('mark-compensated');
  assert.deepEqual(again.outcome === 'infeasible' && again.refusals.map(({ code }) => code), ['nothing-to-do']);
  assert.equal((await instruct('resume')).outcome, 'done');
  assert.partialDeepStrictEqual(await desk.state(orderId), { processState: 'Processed', outcome: 'canceled' });
  assert.deepEqual(await desk.take('worker-requests'), []);
});

const inTurn = defineWorkflow('in-turn', { version: 1, order: z.object({ item: z.string() }) }, () =>
  sequence(
    shop.reserve({}).undo(() => shop.release({})),
    shop.charge({}).undo(() => shop.refund({})),
  ),
);

test('F-103, F-157: the check of a mark names the marked step and the undos after it, also those that wait until the order is resumed', async (context) => {
  const desk = openDesk(context, defineApp({ workflows: [inTurn], agents: [shop] }));
  const orderId = await submitted(desk);
  const instruct = (kind: 'compensate' | 'mark-compensated' | 'suspend' | 'cancel' | 'resume', dryRun = false) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'by hand' }, { id: `i-${desk.clock.now()}`, dryRun }),
    );
  const checkOfMark = async () => {
    const planned = await instruct('mark-compensated', true);
    assert.ok(planned.outcome === 'planned' && planned.check.feasible, JSON.stringify(planned));
    return planned.check;
  };
  for (const request of await desk.requests()) await desk.answer(request, ok());
  const [charge] = await desk.requests();
  await instruct('cancel');
  await desk.take('worker-requests');
  if (charge) await desk.answer(charge, ok());
  for (const request of await desk.requests()) await desk.answer(request, failed('Closed'));

  const release = { path: 'order/reserve', operation: 'release' };
  const graph = [
    { path: 'order/reserve', changes: ['undone'] },
    { path: 'order/charge', changes: ['marked'] },
  ];
  assert.partialDeepStrictEqual(await checkOfMark(), {
    effects: { requests: [{ path: 'order/reserve/undo', operation: 'release' }], undoes: [release], skips: [], marks: ['order/charge'] },
    whenResumed: [],
    graph,
  });
  assert.equal((await instruct('suspend')).outcome, 'done');
  const suspended = await checkOfMark();
  assert.deepEqual(suspended.effects, { requests: [], undoes: [], skips: [], marks: ['order/charge'] });
  assert.deepEqual(suspended.whenResumed, [release]);
  assert.deepEqual(suspended.graph.at(-1), graph.at(-1));

  assert.equal((await instruct('mark-compensated')).outcome, 'done');
  const resumed = await instruct('resume', true);
  assert.deepEqual(resumed.outcome === 'planned' && resumed.check.effects.undoes, [release], 'the resume undoes what was foreseen');
  await instruct('resume');
  assert.deepEqual(
    (await desk.requests()).map(({ operation: name }) => name),
    ['release'],
  );
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, secret, sequence } from 'redress';
import * as z from 'zod';
import type { OrderInstruction } from '#core/instructions/index';
import { restartIdOf } from '#roles/submission/submission';
import { failed, ok, openDesk, submitted, timePasses } from './support.ts';

const Charge = z.object({ chargeId: z.string() });
const shop = defineAgent('worker', {
  charge: operation({ input: z.object({ card: secret(z.string()), item: z.string() }), output: Charge, run: () => ({ chargeId: 'c' }) }),
  refund: operation({ input: Charge, output: z.object({}), run: () => ({}) }),
  pack: operation({ input: Charge, output: z.object({}), run: () => ({}) }),
});
const Order = z.object({ card: secret(z.string()), item: z.string().max(20) });
const lineOf = (version: number) =>
  defineWorkflow('line', { version, order: Order }, ({ order }) => {
    const charge = shop.charge({ card: order.card, item: order.item }).undo(({ chargeId }) => shop.refund({ chargeId }));
    return sequence(charge, shop.pack({ chargeId: charge.output.chargeId }).noUndo());
  });
const app = defineApp({ workflows: [lineOf(1), lineOf(2)], agents: [shop] });

/** An order that is charged, and whose goods could not be packed. */
async function charged(context: TestContext) {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk, { card: 'tok_4711', item: 'tea' });
  await desk.answer(await desk.request(), ok({ chargeId: 'c-1' }));
  await desk.answer(await desk.request(), failed('Broken'));
  let calls = 0;
  const instruct = (instruction: OrderInstruction, dryRun = false) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'r', ...instruction }, { id: `call-${++calls}`, dryRun }),
    );
  return { desk, orderId, instruct };
}

const codesOf = (answer: Awaited<ReturnType<Awaited<ReturnType<typeof charged>>['instruct']>>) =>
  answer.outcome === 'infeasible' ? answer.refusals.map(({ code, path, pointer }) => [code, path ?? pointer]) : answer.outcome;

test('F-60: a restart without an undo is refused while effects stand, unless they may stay', async (context) => {
  const { desk, orderId, instruct } = await charged(context);
  const restart = { kind: 'restart', undoFirst: false } as const;
  assert.deepEqual(codesOf(await instruct(restart)), [['effects-stand', 'order/charge']]);
  const planned = await instruct({ ...restart, keepEffects: true }, true);
  assert.deepEqual(planned.outcome === 'planned' && planned.check.warnings.map(({ code, path }) => [code, path]), [
    ['effects-stand', 'order/charge'],
  ]);
  const { rev } = await desk.state(orderId);
  assert.equal((await instruct({ ...restart, keepEffects: true })).outcome, 'done');
  const old = await desk.state(orderId);
  assert.deepEqual([old.outcome, old.restartedAs], ['terminated', restartIdOf(orderId, rev)]);
  await desk.deliver('submissions');
  const next = await desk.store.load(old.restartedAs ?? '');
  assert.deepEqual([next?.order.restartedFrom, next?.order.client, next?.state.processState], [orderId, 'test', 'Processing']);
});

test('F-60: a restart with an undo first begins the new order after the last undo, with its own body and version', async (context) => {
  const { desk, orderId, instruct } = await charged(context);
  const order = { card: '[secret]', item: 'coffee' };
  assert.deepEqual(codesOf(await instruct({ kind: 'restart', undoFirst: true, version: 3 })), [['version-differs', '/version']]);
  assert.deepEqual(codesOf(await instruct({ kind: 'restart', undoFirst: true, order: { ...order, item: 'x'.repeat(30) } })), [
    ['input-invalid', '/order/item'],
  ]);
  assert.equal((await instruct({ kind: 'restart', undoFirst: true, order, version: 2 })).outcome, 'done');
  const { restartedAs = '' } = await desk.state(orderId);
  assert.equal(await desk.store.load(restartedAs), undefined, 'it begins later');
  const refund = await desk.request();
  assert.deepEqual(refund.input, { chargeId: 'c-1' });
  await desk.answer(refund, ok({}));
  assert.equal((await desk.state(orderId)).outcome, 'compensated');
  await desk.deliver('submissions');
  const charge = await desk.request();
  assert.deepEqual([charge.orderId, (await desk.state(restartedAs)).workflow.version], [restartedAs, 2]);
  const { card, item } = charge.input as { card: string; item: string };
  const before = (await desk.store.load(orderId))?.order.body as { card: string };
  assert.deepEqual([card === before.card, item], [true, 'coffee'], 'the secret is passed on as it is');
  await desk.send('submissions', JSON.stringify({ v: 1, type: 'restart', orderId }));
  await desk.deliver('submissions');
  assert.deepEqual(await desk.requests(), [], 'a repetition begins no other order');
});

test('F-60: an order that is terminated while it is undone for its restart has no successor', async (context) => {
  const { desk, orderId, instruct } = await charged(context);
  await instruct({ kind: 'restart', undoFirst: true });
  assert.equal((await instruct({ kind: 'terminate' })).outcome, 'done');
  assert.equal((await desk.state(orderId)).restartedAs, undefined);
  assert.equal(await desk.deliver('submissions'), 0);
});

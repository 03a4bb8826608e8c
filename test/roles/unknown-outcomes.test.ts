import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AnyFault, defineAgent, defineApp, defineWorkflow, operation, scope, sequence } from 'redress';
import * as z from 'zod';
import type { OrderInstruction } from '#core/instructions/index';
import { failed, ok, openDesk, submitted, timePasses } from './support.ts';

const step = operation({ input: z.object({}), output: z.object({}), run: () => ({}) });
const shop = defineAgent('worker', { charge: step, refund: step, apologize: step, pack: step });
const lineOf = (version: number, charge: Parameters<typeof scope>[1]) =>
  defineWorkflow('line', { version, order: z.object({}) }, () =>
    sequence(
      scope('payment', charge).on(AnyFault, () => shop.apologize({}).noUndo()),
      shop.pack({}).noUndo(),
    ),
  );
const withoutUndo = lineOf(1, shop.charge({}));
const withUndo = lineOf(
  2,
  shop.charge({}).undo(() => shop.refund({})),
);

/** An order whose charge failed with this fault, which a handler took, and whose goods could not be packed. */
async function apologized(context: TestContext, workflow: typeof withoutUndo, fault: ReturnType<typeof failed>) {
  const desk = openDesk(context, defineApp({ workflows: [workflow], agents: [shop] }));
  const orderId = await submitted(desk, {});
  await desk.answer(await desk.request(), fault);
  await desk.answer(await desk.request(), ok());
  await desk.answer(await desk.request(), failed('Broken'));
  assert.equal((await desk.state(orderId)).processState, 'Error');
  const instruct = (instruction: OrderInstruction, dryRun = false) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'r', ...instruction }, { id: `call-${dryRun}`, dryRun }),
    );
  return { desk, instruct };
}

const lost = failed('Broken', 'the connection broke', { outcomeUnknown: true });
const back = { kind: 'resume-at', path: 'order/payment', undoBetween: false } as const;

test('F-60: a step that failed with an unknown outcome is requested again under the same key when an order goes back to it', async (context) => {
  for (const workflow of [withoutUndo, withUndo]) {
    const { desk, instruct } = await apologized(context, workflow, lost);
    assert.equal((await instruct(back)).outcome, 'done');
    assert.match((await desk.request()).idempotencyKey, /\/order\/payment\/charge\/1$/);
  }
});

test('F-60: a step that was definitely refused is requested under a new key when an order goes back to it', async (context) => {
  const { desk, instruct } = await apologized(context, withoutUndo, failed('Broken'));
  assert.equal((await instruct(back)).outcome, 'done');
  assert.match((await desk.request()).idempotencyKey, /\/order\/payment\/charge\/2$/);
});

test('F-60: a restart is refused while a step that failed may have had its effect', async (context) => {
  const restart = { kind: 'restart', undoFirst: false } as const;
  const { instruct } = await apologized(context, withoutUndo, lost);
  const refused = await instruct(restart, true);
  assert.deepEqual(refused.outcome === 'planned' && refused.check.refusals.map(({ code, path }) => [code, path]), [
    ['effects-stand', 'order/payment/charge'],
  ]);
});

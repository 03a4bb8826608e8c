import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, retry, sequence } from 'redress';
import * as z from 'zod';
import type { OrderInstruction } from '#core/instructions/index';
import type { Request } from '#ports/messages';
import { failed, ok, openDesk, submitted, timePasses } from './support.ts';

const Id = z.object({ id: z.string() });
const shop = defineAgent(
  'worker',
  Object.fromEntries(
    ['reserve', 'release', 'charge', 'refund', 'pack', 'unpack', 'ship', 'tell'].map((name) => [
      name,
      operation({ input: z.object({ id: z.string().optional() }), output: Id, run: () => ({ id: name }) }),
    ]),
  ) as { [name: string]: ReturnType<typeof operation<z.ZodObject<{ id: z.ZodOptional<z.ZodString> }>, typeof Id>> },
);
const call = (name: string, id?: unknown) =>
  (shop[name] as unknown as (input: object) => ReturnType<NonNullable<(typeof shop)[string]>>)(id === undefined ? {} : { id });

const line = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => {
  const reserve = call('reserve').undo(({ id }) => call('release', id) as never);
  const charge = call('charge', reserve.output.id).undo(({ id }) => call('refund', id) as never);
  const pack = call('pack', charge.output.id).undo(({ id }) => call('unpack', id) as never);
  return sequence(
    reserve,
    retry(charge, { retries: 1, intervalSeconds: 1 }),
    pack,
    call('ship', charge.output.id).noUndo(),
    parallel(call('tell').noUndo()),
  );
});
const app = defineApp({ workflows: [line], agents: [shop as never] });

/** An order whose goods could not be shipped. */
async function packed(context: TestContext) {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk);
  for (const _ of ['reserve', 'charge', 'pack']) {
    const request = await desk.request();
    await desk.answer(request, ok({ id: `${request.operation}-1` }));
  }
  await desk.answer(await desk.request(), failed('Broken'));
  let calls = 0;
  const instruct = (instruction: OrderInstruction, dryRun = false) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'r', ...instruction }, { id: `call-${++calls}`, dryRun }),
    );
  const playOut = async (): Promise<readonly Request[]> => {
    const asked: Request[] = [];
    for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
      for (const request of requests) {
        asked.push(request);
        await desk.answer(request, ok({ id: `${request.operation}-2` }));
      }
    return asked;
  };
  return { desk, orderId, instruct, playOut };
}

const keyed = (requests: readonly Request[]) =>
  requests.map(({ operation: name, idempotencyKey, input }) => [name, idempotencyKey.slice(-1), (input as { id?: string }).id]);

test('F-60: an order goes on at an earlier step: what was done since is undone, newest first, and runs again under new keys', async (context) => {
  const { desk, orderId, instruct, playOut } = await packed(context);
  const resume = { kind: 'resume-at', path: 'order/retry/charge', undoBetween: true } as const;
  const planned = await instruct(resume, true);
  assert.ok(planned.outcome === 'planned');
  assert.deepEqual(
    planned.check.effects.undoes.map(({ operation: name }) => name),
    ['unpack', 'refund'],
  );
  assert.equal((await instruct(resume)).outcome, 'done');
  assert.deepEqual(keyed(await playOut()), [
    ['unpack', '1', 'pack-1'],
    ['refund', '1', 'charge-1'],
    ['charge', '2', 'reserve-1'],
    ['pack', '2', 'charge-2'],
    ['ship', '2', 'charge-2'],
    ['tell', '1', undefined],
  ]);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

test('F-60: an order goes back without an undo: finished steps stay done, and only unfinished steps are requested', async (context) => {
  const { desk, orderId, instruct, playOut } = await packed(context);
  await instruct({ kind: 'resume-at', path: 'order/retry', undoBetween: false });
  assert.deepEqual(keyed(await playOut()), [
    ['ship', '2', 'charge-1'],
    ['tell', '1', undefined],
  ]);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

test('F-60: an order goes on after a blocked step, but not inside a branch of a parallel', async (context) => {
  const { desk, orderId, instruct, playOut } = await packed(context);
  const branch = await instruct({ kind: 'resume-at', path: 'order/parallel/tell', undoBetween: false });
  assert.deepEqual(branch.outcome === 'infeasible' && branch.refusals.map(({ code }) => code), ['other-branch']);
  const planned = await instruct({ kind: 'resume-at', path: 'order/parallel', undoBetween: true }, true);
  assert.deepEqual(planned.outcome === 'planned' && planned.check.effects.skips, ['order/ship']);
  await instruct({ kind: 'resume-at', path: 'order/parallel', undoBetween: true });
  assert.deepEqual(keyed(await playOut()), [['tell', '1', undefined]]);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { OrderInstruction } from '#core/instructions/index';
import { queueNames } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { handlerIdOf, restartIdOf } from '#roles/submission/submission';
import { failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';
import { tellUndone } from './warehouse.ts';

const Lot = z.object({ lot: z.string() });
const none = z.object({});
const worker = defineAgent('worker', {
  reserve: operation({ input: Lot, output: none, reads: ['lot/{lot}'], run: () => ({}) }),
  release: operation({ input: Lot, output: none, run: () => ({}) }),
  send: operation({ input: Lot, output: none, run: () => ({}) }),
});
const saleOf = (version: number) =>
  defineWorkflow('sell', { version, order: Lot }, ({ order }) =>
    sequence(
      worker.reserve({ lot: order.lot }).undo(() => worker.release({ lot: order.lot })),
      worker.send({ lot: order.lot }).noUndo(),
    ),
  );
const Handled = z.object({
  exception: z.looseObject({ id: z.string(), type: z.string() }),
  orderId: z.string(),
  order: Lot,
  outputs: z.looseObject({}),
});
/** Takes goods back that were sold from a lot which went back. */
const fetchBack = defineWorkflow('fetch-back', { version: 1, order: Handled }, ({ order }) =>
  sequence(worker.release({ lot: order.order.lot }).noUndo()),
);
const other = defineWorkflow('other', { version: 1, order: z.strictObject({ nothing: z.string() }) }, () => sequence());
const app = defineApp({ workflows: [saleOf(1), saleOf(2), fetchBack, other], agents: [worker] });

/** A sale that is finished, and has read what another order undoes now. */
async function finished(context: TestContext, { writesAndSendsAtomically = true, ends = 'completed' } = {}) {
  const desk = openDesk(context, app, { writesAndSendsAtomically });
  const orderId = await submitted(desk, { lot: '4711' }, { workflow: 'sell' });
  let calls = 0;
  const instruct = (instruction: OrderInstruction, dryRun = false, of = orderId) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(of, { by: 'olga', reason: 'r', ...instruction }, { id: `call-${++calls}`, dryRun }),
    );
  /** Has another order tell that a write is undone that this one has read. */
  const tell = (id: string, of = orderId) =>
    tellUndone(desk, of, {
      id,
      cause: { orderId: 'ord_receipt', path: 'order/book' },
      uses: [{ path: 'order/reserve', object: 'lot/4711' }],
    });
  await desk.answer(await desk.request(), ok({}));
  if (ends === 'completed') await desk.answer(await desk.request(), ok({}));
  else await instruct({ kind: 'terminate' });
  const codes = async (instruction: OrderInstruction) => {
    const answer = await instruct(instruction);
    return answer.outcome === 'infeasible' ? answer.refusals.map(({ code, path }) => [code, path]) : answer.outcome;
  };
  const task = async (seq = 1) => taskOf(taskIdOf(orderId, seq), desk.store);
  return { desk, orderId, instruct, tell, codes, task };
}

const restart = { kind: 'restart', undoFirst: false, keepEffects: true } as const;

for (const writesAndSendsAtomically of [true, false])
  test(`F-152: a finished order that has read an undone write is restarted as another one (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
    const { desk, orderId, instruct, tell, codes, task } = await finished(context, { writesAndSendsAtomically });
    assert.deepEqual(await codes(restart), [['finished', undefined]], 'nothing is wrong with it yet');
    await tell('undo-1');
    const before = await desk.state(orderId);
    const order = { lot: '4712' };
    const planned = await instruct({ ...restart, order, version: 1 }, true);
    assert.deepEqual(
      planned.outcome === 'planned' && [planned.check.feasible, planned.check.warnings.map(({ code, path }) => [code, path])],
      [true, [['effects-stand', 'order/reserve']]],
    );
    assert.deepEqual(await desk.state(orderId), before, 'a dry run changes nothing');
    assert.equal((await instruct({ ...restart, order, version: 1 })).outcome, 'done');

    const after = await desk.state(orderId);
    const next = restartIdOf(orderId, before.rev);
    assert.deepEqual([after.processState, after.outcome, after.open, after.restartedAs], ['Processed', 'completed', [], next]);
    assert.partialDeepStrictEqual(await task(), {
      state: 'resolved',
      verified: 'running',
      resolution: { instruction: { kind: 'restart' } },
    });
    await desk.deliver('submissions');
    const request = await desk.request();
    assert.deepEqual([request.orderId, request.path, request.input], [next, 'order/reserve', order]);
    assert.partialDeepStrictEqual((await desk.store.load(next))?.order, {
      restartedFrom: orderId,
      client: 'test',
      workflow: { version: 1 },
    });
    await desk.answer(request, ok({}));
    assert.equal((await task())?.verified, 'passed', 'the new order passes the same step');
    await desk.send('submissions', { v: 1, type: 'restart', orderId });
    await desk.deliver('submissions');
    assert.deepEqual(
      (await desk.requests()).map(({ path }) => path),
      ['order/send'],
      'a repetition begins no other order',
    );
  });

test('F-152: the restart of a finished order is refused while its effects stand, and never undoes them', async (context) => {
  const { desk, orderId, instruct, tell, codes } = await finished(context);
  await tell('undo-1');
  const stands = [['effects-stand', 'order/reserve']];
  assert.deepEqual(await codes({ kind: 'restart', undoFirst: false }), stands);
  assert.deepEqual(await codes({ kind: 'restart', undoFirst: true }), stands);
  assert.deepEqual(await codes({ kind: 'restart', undoFirst: true, keepEffects: true }), stands);
  const checked = await instruct({ kind: 'restart', undoFirst: true }, true);
  assert.deepEqual(checked.outcome === 'planned' && checked.check.refusals.map(({ code }) => code), ['effects-stand']);
  assert.equal((await desk.state(orderId)).restartedAs, undefined);
  assert.equal((await instruct({ kind: 'acknowledge' })).outcome, 'done');
  assert.deepEqual(await codes(restart), [['finished', undefined]]);
});

test('F-152: a finished order is restarted once, whatever else it has read', async (context) => {
  const { desk, orderId, instruct, tell, codes, task } = await finished(context);
  await tell('undo-1');
  assert.equal((await instruct(restart)).outcome, 'done');
  const { restartedAs } = await desk.state(orderId);
  await tell('undo-2');
  assert.deepEqual(await codes(restart), [['finished', undefined]]);
  assert.equal((await instruct({ kind: 'acknowledge' })).outcome, 'done');
  assert.equal((await desk.state(orderId)).restartedAs, restartedAs);
  await desk.deliver('submissions');
  await desk.answer(await desk.request(), failed('OutOfStock'));
  assert.equal((await task())?.verified, 'failed-otherwise');
  assert.deepEqual((await journalOf(desk, orderId)).filter(({ type }) => type === 'OrderProcessed').length, 1);
});

test('F-152: a restart has failed again if its new order reads an undone write again', async (context) => {
  const { desk, orderId, instruct, tell, task } = await finished(context);
  await tell('undo-1');
  assert.equal((await instruct(restart)).outcome, 'done');
  await desk.deliver('submissions');
  await desk.request();
  const { restartedAs = '' } = await desk.state(orderId);
  await tell('undo-2', restartedAs);
  assert.partialDeepStrictEqual(await task(), { verified: 'failed-again', nextTaskId: taskIdOf(restartedAs, 1) });
});

test('F-152: a step that was at work when its order was terminated may be done, so a restart needs the permission to let its effect stand', async (context) => {
  const { tell, codes, instruct } = await finished(context, { ends: 'terminated' });
  await tell('undo-1');
  assert.deepEqual(
    await codes({ kind: 'restart', undoFirst: false }),
    [['effects-stand', 'order/reserve']],
    'the step at work needs no undo',
  );
  assert.equal((await instruct(restart)).outcome, 'done');
});

const fetched = { kind: 'handle', workflow: 'fetch-back' } as const;

for (const writesAndSendsAtomically of [true, false])
  test(`F-128, F-152: a workflow handles the exception of a finished order (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
    const { desk, orderId, instruct, tell, codes, task } = await finished(context, { writesAndSendsAtomically });
    assert.deepEqual(await codes(fetched), [['finished', undefined]], 'nothing is wrong with it yet');
    await tell('undo-1');
    const before = await desk.state(orderId);
    const planned = await instruct(fetched, true);
    assert.equal(planned.outcome === 'planned' && planned.check.feasible, true);
    assert.deepEqual(await desk.state(orderId), before, 'a dry run changes nothing');
    assert.equal((await instruct(fetched)).outcome, 'done');
    assert.partialDeepStrictEqual(await task(), {
      state: 'resolved',
      verified: 'running',
      resolution: { instruction: { kind: 'handle' } },
    });

    const handler = handlerIdOf(orderId, 1);
    for (let count = 0; count < 2; count++) {
      await desk.deliver('submissions');
      await desk.send('submissions', { v: 1, type: 'handle', orderId, seq: 1 });
    }
    const request = await desk.request();
    assert.deepEqual([request.orderId, request.operation, request.input], [handler, 'release', { lot: '4711' }]);
    const begun = await desk.store.load(handler);
    assert.deepEqual(begun?.order.handles, { orderId, seq: 1 });
    assert.partialDeepStrictEqual(begun?.order.body, { exception: { id: exceptionIdOf(orderId, 1), type: 'Inconsistent' }, orderId });
    await desk.answer(request, ok({}));
    await desk.deliver(queueNames.wakeUps);
    await desk.deliver(queueNames.wakeUps);
    assert.equal((await task())?.verified, 'passed');
    const { processState, outcome, open, causes } = await desk.state(orderId);
    assert.deepEqual([processState, outcome, open, causes], ['Processed', 'completed', [], 1]);
    const facts = (await journalOf(desk, orderId)).filter(({ type }) => type === 'HandlerStarted' || type === 'HandlerEnded');
    assert.deepEqual(
      facts.map(({ type }) => type),
      ['HandlerStarted', 'HandlerEnded'],
    );
    assert.deepEqual(await codes(fetched), [['finished', undefined]], 'the exception is handled');
  });

for (const [workflow, how] of [
  ['fetch-back', 'is terminated'],
  ['other', 'cannot take the exception'],
] as const)
  test(`F-128, F-152: if the handler of a finished order ${how}, a person gets another task`, async (context) => {
    const { desk, orderId, instruct, tell, task } = await finished(context);
    await tell('undo-1');
    assert.equal((await instruct({ kind: 'handle', workflow })).outcome, 'done');
    await desk.deliver('submissions');
    if (workflow === 'fetch-back') await instruct({ kind: 'terminate' }, false, handlerIdOf(orderId, 1));
    await desk.deliver(queueNames.wakeUps);
    assert.equal((await task())?.verified, 'failed-otherwise');
    assert.partialDeepStrictEqual(await task(2), { state: 'open', fault: { type: 'ChildNotCompleted', source: 'order/reserve' } });
    assert.equal((await exceptionOf(exceptionIdOf(orderId, 2), desk.store))?.causedBy, exceptionIdOf(orderId, 1));
    assert.deepEqual((await desk.state(orderId)).outcome, 'completed');
    assert.equal((await instruct(restart)).outcome, 'done', 'the person decides otherwise');
    assert.equal((await task())?.verified, 'failed-otherwise');
  });

test('F-128: a handler is refused if the order is not finished, if the workflow is unknown, and if the order has too many handlers at once', async (context) => {
  const { desk, orderId, instruct, tell, codes } = await finished(context);
  const live = await submitted(desk, { lot: '1' }, { workflow: 'sell' });
  const refused = await instruct(fetched, false, live);
  assert.deepEqual(refused.outcome === 'infeasible' && refused.refusals.map(({ code }) => code), ['nothing-to-do']);
  await tell('undo-1');
  assert.deepEqual(await codes({ ...fetched, workflow: 'nobody' }), [['input-invalid', undefined]]);
  assert.deepEqual(await codes({ ...fetched, version: 7 }), [['version-differs', undefined]]);
  for (const id of ['undo-2', 'undo-3', 'undo-4']) await tell(id);
  assert.equal((await instruct(fetched)).outcome, 'done');
  await tell('undo-5');
  assert.deepEqual(await codes(fetched), [['too-large', undefined]]);
  assert.equal((await desk.state(orderId)).open?.length, 1);
});

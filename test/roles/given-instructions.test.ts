import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { programOf } from '#core/definition/program';
import type { OrderInstruction } from '#core/instructions/index';
import { undoProgress } from '#core/views/undo-progress';
import type { Request } from '#ports/messages';
import { decodeInstance } from '#roles/scheduler/instance';
import { type Desk, failed, journalOf, ok, openDesk, stepsIn, submitted, timePasses } from './support.ts';

const Charge = z.object({ chargeId: z.string() });
const shop = defineAgent('worker', {
  reserve: operation({ input: z.object({ item: z.string() }), output: z.object({ shelf: z.number() }), run: () => ({ shelf: 1 }) }),
  release: operation({ input: z.object({ shelf: z.number() }), output: z.object({}), run: () => ({}) }),
  charge: operation({ input: z.object({ item: z.string().max(20) }), output: Charge, run: () => ({ chargeId: 'c' }) }),
  refund: operation({ input: Charge, output: z.object({}), run: () => ({}) }),
  ship: operation({ input: Charge, output: z.object({}), run: () => ({}) }),
  tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
});

const line = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) => {
  const reserve = shop.reserve({ item: order.item }).undo(({ shelf }) => shop.release({ shelf }));
  const charge = shop.charge({ item: order.item }).undo(({ chargeId }) => shop.refund({ chargeId }));
  const { chargeId } = charge.output;
  return sequence(reserve, charge, parallel(shop.ship({ chargeId }).noUndo(), shop.tell({}).noUndo()));
});
const app = defineApp({ workflows: [line], agents: [shop] });

let calls = 0;

/** An order whose charge is requested. */
async function opened(context: TestContext) {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), ok({ shelf: 7 }));
  const instruct = (instruction: OrderInstruction, dryRun = false) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'r', ...instruction }, { id: `call-${++calls}`, dryRun }),
    );
  return { desk, orderId, instruct, charge: await desk.request() };
}

const codesOf = (answer: Awaited<ReturnType<Awaited<ReturnType<typeof opened>>['instruct']>>) =>
  answer.outcome === 'infeasible' ? answer.refusals.map(({ code }) => code) : answer.outcome;

/** Answers every request until the order rests, and returns what was asked. */
async function playOut({ desk }: { readonly desk: Desk }): Promise<readonly Request[]> {
  const asked: Request[] = [];
  for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
    for (const request of requests) {
      asked.push(request);
      await desk.answer(request, ok(request.operation === 'charge' ? { chargeId: 'c-9' } : {}));
    }
  return asked;
}

const operations = (requests: readonly Request[]): readonly string[] => requests.map(({ operation }) => operation);

describe('a person skips a step', () => {
  for (const effect of ['none', 'done'] as const)
    test(`F-155: the order shows that ${effect === 'none' ? 'nobody' : 'a person'} did the step`, async (context) => {
      const { desk, orderId, instruct, charge } = await opened(context);
      await desk.answer(charge, failed('CardDeclined'));
      assert.equal((await instruct({ kind: 'skip', effect, output: { chargeId: 'by-hand' } })).outcome, 'done');
      const steps = await stepsIn(desk, orderId);
      assert.deepEqual(
        steps.slice(0, 2).map(({ path, result, skipped }) => [path, result, skipped]),
        [
          ['order/reserve', 'Succeeded', undefined],
          ['order/charge', 'Succeeded', effect],
        ],
      );
    });

  test('F-103: the order shows that a person has undone a step', async (context) => {
    const { desk, orderId, instruct, charge } = await opened(context);
    await desk.answer(charge, failed('CardDeclined'));
    await instruct({ kind: 'compensate' });
    await desk.answer(await desk.request(), failed('Locked'));
    assert.equal((await instruct({ kind: 'mark-compensated' })).outcome, 'done');
    const undo = (await stepsIn(desk, orderId)).find(({ path }) => path === 'order/reserve/undo');
    assert.partialDeepStrictEqual(undo, { status: 'Closed', skipped: 'done' });
  });

  test('F-60: that is blocked and was done by hand: later steps read its output, and its undo is requested once with it', async (context) => {
    const { desk, orderId, instruct, charge } = await opened(context);
    await desk.answer(charge, failed('Broken'));
    const skip = { kind: 'skip', effect: 'done', output: { chargeId: 'by-hand' } } as const;
    const planned = await instruct(skip, true);
    assert.ok(planned.outcome === 'planned');
    assert.deepEqual(planned.check.effects, {
      requests: [
        { path: 'order/parallel/ship', operation: 'ship' },
        { path: 'order/parallel/tell', operation: 'tell' },
      ],
      undoes: [],
      skips: ['order/charge'],
      marks: [],
    });
    assert.equal((await instruct(skip)).outcome, 'done');
    const [ship, tell] = await desk.requests();
    assert.deepEqual([ship?.input, tell?.operation], [{ chargeId: 'by-hand' }, 'tell']);
    await instruct({ kind: 'cancel' });
    await desk.take('worker-requests');
    for (const each of [ship, tell]) if (each) await desk.answer(each, failed('Broken'));
    const undone = await playOut({ desk });
    assert.deepEqual(
      undone.map(({ operation: name, input }) => [name, input]),
      [
        ['refund', { chargeId: 'by-hand' }],
        ['release', { shelf: 7 }],
      ],
    );
    assert.equal((await desk.state(orderId)).outcome, 'canceled');
  });

  test('F-60: with an unknown outcome: the skip is refused if it says that nothing was done, and accepted if it says that a person did it', async (context) => {
    const { desk, instruct, charge } = await opened(context);
    await desk.answer(charge, failed('Odd', 'odd', { outcomeUnknown: true }));
    assert.deepEqual(codesOf(await instruct({ kind: 'skip', effect: 'none', output: { chargeId: 'c' } })), ['outcome-unknown']);
    assert.equal((await instruct({ kind: 'skip', effect: 'done', output: { chargeId: 'c' } })).outcome, 'done');
  });

  test('F-60: with an output: if a step reads the output, the skip is refused without it; a wrong output is refused with its field', async (context) => {
    const { desk, instruct, charge } = await opened(context);
    await desk.answer(charge, failed('Broken'));
    assert.deepEqual(codesOf(await instruct({ kind: 'skip', effect: 'none' })), ['output-missing']);
    const wrong = await instruct({ kind: 'skip', effect: 'none', output: { chargeId: 7 } });
    assert.deepEqual(wrong.outcome === 'infeasible' && wrong.refusals.map(({ code, pointer }) => [code, pointer]), [
      ['output-invalid', '/output/chargeId'],
    ]);
    assert.deepEqual(codesOf(await instruct({ kind: 'skip', path: 'order/reserve', effect: 'none' })), ['moved-on']);
    assert.deepEqual(codesOf(await instruct({ kind: 'skip', path: 'order/nothing', effect: 'none' })), ['no-such-step']);
  });

  test('F-60: at work: it is canceled, its effect is undone, and the order goes on with the given output', async (context) => {
    const { desk, orderId, instruct, charge } = await opened(context);
    const skip = { kind: 'skip', path: 'order/charge', effect: 'done', output: { chargeId: 'by-hand' } } as const;
    const planned = await instruct(skip, true);
    assert.ok(planned.outcome === 'planned');
    assert.deepEqual(planned.check.effects.undoes, [{ path: 'order/charge', operation: 'refund' }]);
    assert.deepEqual(
      planned.check.warnings.map(({ code, path }) => [code, path]),
      [['outcome-unknown', 'order/charge']],
    );
    await instruct(skip);
    await desk.take('worker-requests');
    await desk.answer(charge, ok({ chargeId: 'late' }));
    const refund = await desk.request();
    assert.deepEqual([refund.operation, refund.input], ['refund', { chargeId: 'late' }]);
    await desk.answer(refund, ok({}));
    const [ship, tell] = await desk.requests();
    assert.deepEqual(ship?.input, { chargeId: 'by-hand' });
    for (const each of [ship, tell]) if (each) await desk.answer(each, ok({}));
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('F-60: that has not begun: it is closed when its turn comes, and never requested', async (context) => {
    const { desk, orderId, instruct, charge } = await opened(context);
    assert.equal((await instruct({ kind: 'skip', path: 'order/parallel/tell', effect: 'none' })).outcome, 'done');
    await desk.answer(charge, ok({ chargeId: 'c' }));
    assert.deepEqual(operations(await playOut({ desk })), ['ship']);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
    assert.ok((await journalOf(desk, orderId)).some((fact) => fact.type === 'ActivitySkipped' && fact.path === 'order/parallel/tell'));
  });
});

describe('a person replaces an input', () => {
  test('F-60: after a refusal: the step is requested with the new input under a new key, also by a later resubmission', async (context) => {
    const { desk, instruct, charge } = await opened(context);
    await desk.answer(charge, failed('Broken'));
    const wrong = await instruct({ kind: 'replace-input', input: { item: 'x'.repeat(21) } });
    assert.deepEqual(wrong.outcome === 'infeasible' && wrong.refusals.map(({ code, pointer }) => [code, pointer]), [
      ['input-invalid', '/input/item'],
    ]);
    await instruct({ kind: 'replace-input', input: { item: 'coffee' } });
    const again = await desk.request();
    assert.deepEqual([again.input, again.idempotencyKey.endsWith('/2')], [{ item: 'coffee' }, true]);
    await desk.answer(again, failed('Broken'));
    await instruct({ kind: 'resubmit' });
    assert.deepEqual((await desk.request()).input, { item: 'coffee' });
  });

  test('F-60: while the outcome of the step is unknown, or after it has closed: the instruction is refused', async (context) => {
    const { desk, instruct, charge } = await opened(context);
    const replace = (path: string) => instruct({ kind: 'replace-input', path, input: { item: 'coffee' } });
    assert.deepEqual(codesOf(await replace('order/charge')), ['outcome-unknown']);
    assert.deepEqual(codesOf(await replace('order/reserve')), ['moved-on']);
    await desk.answer(charge, failed('Odd', 'odd', { outcomeUnknown: true }));
    assert.deepEqual(codesOf(await replace('order/charge')), ['outcome-unknown']);
  });
});

test('F-103: the progress of an undo gives the numbers of undos that are done and left, and names the one that fails', async (context) => {
  const { desk, orderId, instruct, charge } = await opened(context);
  const progress = async () => {
    const loaded = await desk.store.load(orderId);
    return loaded && undoProgress(programOf(line), decodeInstance(loaded.state).state, await journalOf(desk, orderId));
  };
  assert.equal(await progress(), undefined);
  await instruct({ kind: 'cancel' });
  await desk.take('worker-requests');
  await desk.answer(charge, ok({ chargeId: 'c' }));
  await desk.answer(await desk.request(), failed('Closed'));
  const { stuck: [stuck] = [], ...undo } = (await progress()) ?? {};
  assert.deepEqual(undo, { scope: 'order', done: 0, left: 2, now: 'order/charge' });
  assert.deepEqual([stuck?.path, stuck?.attempts, stuck?.lastFault?.type], ['order/charge', 1, 'Closed']);
  assert.ok((stuck?.nextAt ?? 0) > desk.clock.now());
});

test('F-103: a person has a failing undo requested again now, without its pause', async (context) => {
  const { desk, orderId, instruct, charge } = await opened(context);
  await instruct({ kind: 'cancel' });
  await desk.take('worker-requests');
  await desk.answer(charge, ok({ chargeId: 'c' }));
  await desk.answer(await desk.request(), failed('Closed'));
  assert.deepEqual(codesOf(await instruct({ kind: 'retry-undo', path: 'order/reserve' })), ['no-such-step']);
  assert.equal((await instruct({ kind: 'retry-undo' })).outcome, 'done');
  assert.deepEqual(operations(await playOut({ desk })), ['refund', 'release']);
  assert.equal((await desk.state(orderId)).outcome, 'canceled');
});

test('F-60: an acknowledgement adds a line to the history, and changes nothing else', async (context) => {
  const { desk, orderId, instruct, charge } = await opened(context);
  assert.deepEqual(codesOf(await instruct({ kind: 'acknowledge' })), ['nothing-to-do']);
  await desk.answer(charge, failed('Broken'));
  const before = await desk.state(orderId);
  assert.equal((await instruct({ kind: 'acknowledge' })).outcome, 'done');
  const { processState, fault, open } = await desk.state(orderId);
  assert.deepEqual([processState, fault, open], [before.processState, before.fault, before.open]);
  assert.equal((await journalOf(desk, orderId)).filter(({ type }) => type === 'InstructionGiven').length, 1);
});

test('an instruction with a wrong path is refused with a proposal of the right one', async (context) => {
  const { instruct } = await opened(context);
  const wrong = [
    { kind: 'replace-input', path: 'ship', input: {} },
    { kind: 'skip', path: 'order/ship', effect: 'none', output: {} },
    { kind: 'resume-at', path: 'ship', undoBetween: true },
  ] as const;
  for (const instruction of wrong) {
    const answer = await instruct(instruction);
    assert.ok(answer.outcome === 'infeasible');
    assert.match(answer.refusals[0]?.detail ?? '', /Did you mean order\/parallel\/ship\?$/);
  }
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { failed, ok, openDesk, submitted, timePasses } from '../support.ts';
import { foundIn, told, warehouseApp } from './warehouse.ts';

/** Order A has booked lot 4711 and is at work. B reserves from it and is at work, C is finished, D reserves from lot 4712. */
async function warehouse(context: TestContext, writesAndSendsAtomically: boolean) {
  const desk = openDesk(context, warehouseApp, { writesAndSendsAtomically });
  const open = new Map<string, Request>();
  const begun = async (workflow: string, lot: string, answers: number): Promise<string> => {
    const orderId = await submitted(desk, { lot }, { workflow });
    for (let count = 0; count < answers; count++) await desk.answer(await desk.request(), ok({}));
    for (const request of await desk.requests()) open.set(orderId, request);
    await desk.clock.advance(10);
    return orderId;
  };
  const a = await begun('receive', '4711', 1);
  const orders = { a, b: await begun('take', '4711', 1), c: await begun('take', '4711', 2), d: await begun('take', '4712', 1) };
  const instruct = (orderId: string, instruction: { kind: 'recover' | 'cancel' | 'acknowledge' }) =>
    timePasses(
      desk.clock,
      desk.system.scheduler.instruct(
        orderId,
        { by: 'olga', reason: 'wrong papers', ...instruction },
        { id: `${orderId}/${instruction.kind}` },
      ),
    );
  /** Undoes an order, and has its service answer what is still at work. */
  const recovered = async (kind: 'recover' | 'cancel') => {
    assert.equal((await instruct(a, { kind })).outcome, 'done');
    await desk.answer(open.get(a) as Request, failed('Stopped'));
    const undo = (await desk.requests()).find(({ operation: name }) => name === 'unbook');
    await desk.answer(undo as Request, ok({}));
    assert.ok((await desk.state(a)).outcome);
  };
  return { desk, instruct, recovered, ...orders };
}

for (const atomically of [true, false])
  test(`F-152: orders that have read an undone write get one exception each with its cause, ${atomically ? 'with the write' : 'after it'}`, async (context) => {
    const { desk, recovered, a, b, c, d } = await warehouse(context, atomically);
    await recovered('recover');
    await told(desk);
    assert.deepEqual(await Promise.all([a, b, c, d].map((orderId) => foundIn(desk, orderId))), [0, 1, 1, 0]);
    const working = await desk.state(b);
    assert.deepEqual([working.processState, working.fault?.type], ['Error', 'Inconsistent']);
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(b, 1), desk.store), {
      type: 'Inconsistent',
      path: 'order/reserve',
      causedBy: a,
      data: { cause: { orderId: a, path: 'order/book' }, uses: [{ path: 'order/reserve', object: 'lot/4711' }] },
    });
    const finished = await desk.state(c);
    assert.deepEqual([finished.processState, finished.outcome, finished.open?.length], ['Processed', 'completed', 1]);
    assert.equal((await exceptionOf(exceptionIdOf(c, 1), desk.store))?.causedBy, a);
    const task = await taskOf(taskIdOf(c, 1), desk.store);
    assert.deepEqual([task?.kind, task?.state], ['inconsistency', 'open']);
  });

test('F-152: a message that comes twice changes nothing, and an order that is canceled tells nobody', async (context) => {
  const { desk, recovered, a, b } = await warehouse(context, true);
  await recovered('recover');
  for (let count = 0; count < 2; count++) {
    await desk.queues.send([
      { queue: queueNames.submissions, body: JSON.stringify({ v: 1, type: 'undone', orderId: a, path: 'order/book' }) },
    ]);
    await told(desk);
  }
  assert.deepEqual([await foundIn(desk, b), (await desk.state(b)).causes], [1, 1]);

  const other = await warehouse(context, true);
  await other.recovered('cancel');
  await told(other.desk);
  assert.deepEqual([await foundIn(other.desk, other.b), (await other.desk.state(other.b)).processState], [0, 'Processing']);
});

test('F-152: the exception of a finished order stays open until a person acknowledges it', async (context) => {
  const { desk, recovered, instruct, c } = await warehouse(context, true);
  await recovered('recover');
  await told(desk);
  assert.equal((await instruct(c, { kind: 'acknowledge' })).outcome, 'done');
  const { processState, outcome, open } = await desk.state(c);
  assert.deepEqual([processState, outcome, open], ['Processed', 'completed', []]);
  assert.equal((await taskOf(taskIdOf(c, 1), desk.store))?.state, 'resolved');
});

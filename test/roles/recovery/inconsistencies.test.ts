import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { storeObjects } from '#roles/recovery/objects';
import { listOf } from '../../support/workflows.ts';
import { failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';
import { foundIn, tellUndone, told, warehouseApp } from './warehouse.ts';

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
  test(`F-152: orders that have read an undone write get one exception each, which names its cause (${atomically ? 'one transaction' : 'write, then send'})`, async (context) => {
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

test('F-152: a message about an undone write that comes twice changes nothing, and no order learns of an undo that follows a cancellation', async (context) => {
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

for (const isTooMany of [false, true])
  test(`F-152: 1,000 orders learn of an undone write${isTooMany ? ', and the order that wrote it learns that there are more' : ''}`, async (context) => {
    const { desk, recovered, a, b, c } = await warehouse(context, true);
    const { at: closedAt } = (await journalOf(desk, a)).find(({ type }) => type === 'ObjectsUsed') ?? { at: 0 };
    const use = { path: 'order/reserve', closedAt, seq: 1, reads: ['lot/4711'], writes: [] };
    // B and C have read the lot, too.
    for (const orderId of listOf(isTooMany ? 999 : 998, (index) => `ord_reader${index}`))
      await storeObjects({ id: orderId, kind: 'objects', orderId, ...use }, desk.store);
    await recovered('recover');
    await desk.deliver(queueNames.submissions);
    const heard = desk.messages(queueNames.wakeUps).flatMap(({ orderId, inconsistency }) => (inconsistency ? [orderId] : []));
    const consumers = heard.filter((orderId) => orderId !== a);
    assert.deepEqual([new Set(consumers).size, consumers.length, heard.length], [1000, 1000, isTooMany ? 1001 : 1000]);
    for (let count = 0; count < 2; count++) await desk.deliver(queueNames.wakeUps);
    const [known] = [b, c].filter((orderId) => consumers.includes(orderId));
    assert.equal(await foundIn(desk, known as string), 1);
    const said = await exceptionOf(exceptionIdOf(a, 1), desk.store);
    assert.deepEqual(
      said && [said.type, /^Too many orders have read what order\/book wrote/.test(said.message)],
      isTooMany ? ['Inconsistent', true] : undefined,
    );
  });

test('F-149, F-152: an order that has undone the step which read an undone write notes the undo, and has no exception', async (context) => {
  const desk = openDesk(context, warehouseApp);
  const orderId = await submitted(desk, { lot: '4711' }, { workflow: 'hold' });
  await desk.answer(await desk.request(), ok({}));
  const pack = await desk.request();
  const at = desk.clock.now();
  await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'olga', reason: 'r' }, { id: 'i' }));
  await desk.answer(pack, failed('Stopped'));
  const undo = (await desk.requests()).find(({ operation }) => operation === 'release');
  await desk.answer(undo as Request, ok({}));
  assert.equal((await desk.state(orderId)).outcome, 'canceled');
  const cause = { orderId: 'ord_other', path: 'order/book' };
  await tellUndone(desk, orderId, { id: 'undo-1', cause, uses: [{ path: 'order/reserve', object: 'lot/4711', at }] });
  const found = (await journalOf(desk, orderId)).filter(({ type }) => type === 'InconsistencyFound');
  assert.partialDeepStrictEqual(found, [{ id: 'undo-1', undone: [{ path: 'order/reserve' }] }]);
  assert.equal((await desk.state(orderId)).causes ?? 0, 0);
});

test('F-151: a canceled step that was done after all has its objects recorded, and the readers learn of its undo', async (context) => {
  const desk = openDesk(context, warehouseApp);
  const receipt = await submitted(desk, { lot: '4711' }, { workflow: 'receive' });
  const book = await desk.request();
  await desk.clock.advance(10);
  const sale = await submitted(desk, { lot: '4711' }, { workflow: 'take' });
  await desk.answer(await desk.request(), ok({}));
  const recover = { kind: 'recover', by: 'olga', reason: 'wrong papers' } as const;
  await timePasses(desk.clock, desk.system.scheduler.instruct(receipt, recover, { id: 'i' }));
  await desk.answer(book, ok({}));
  const undo = (await desk.requests()).find(({ operation }) => operation === 'unbook');
  await desk.answer(undo as Request, ok({}));
  const used = (await journalOf(desk, receipt)).filter(({ type }) => type === 'ObjectsUsed');
  assert.partialDeepStrictEqual(used, [{ path: 'order/book', writes: ['lot/4711'] }]);
  await told(desk);
  assert.equal(await foundIn(desk, sale), 1);
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { unnotedUses } from '#roles/scheduler/inconsistency-report';
import { failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';
import { tellUndone, warehouseApp } from './warehouse.ts';

/** A receipt has booked its lot, or a sale has reserved it, and packs it. A person recovers the order. */
async function recovering(context: TestContext, path?: string, workflow = 'receive') {
  const desk = openDesk(context, warehouseApp);
  const orderId = await submitted(desk, { lot: '4711' }, { workflow });
  await desk.answer(await desk.request(), ok({}));
  const pack: Request = await desk.request();
  const instruction = { kind: 'recover', by: 'olga', reason: 'wrong papers', ...(path === undefined ? {} : { path }) } as const;
  const { outcome } = await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, instruction, { id: 'i' }));
  assert.equal(outcome, 'done');
  const masked = async () => (await journalOf(desk, orderId)).filter((entry) => 'maskedBy' in entry);
  let calls = 0;
  const instruct = (given: { readonly kind: 'terminate' | 'recover' | 'cancel' }) =>
    timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { by: 'olga', reason: 'r', ...given }, { id: `call-${++calls}` }));
  /** Has another order tell that a write is undone that this one has read. */
  const tell = (about: object) => tellUndone(desk, orderId, about);
  return { desk, orderId, pack, masked, instruct, tell };
}

const undoneWrite = {
  id: 'undo-1',
  cause: { orderId: 'ord_other', path: 'order/book' },
  uses: [{ path: 'order/pack', object: 'lot/4710' }],
};

test('F-149: a step that fails after a recovery has canceled it makes no exception; the history has its fault', async (context) => {
  const { desk, orderId, pack, masked } = await recovering(context, 'order/book');
  await desk.answer(pack, failed('PalletFell', 'everything is broken'));
  assert.partialDeepStrictEqual(await masked(), [
    { type: 'FaultMasked', path: 'order/pack', fault: { type: 'PalletFell', message: 'everything is broken' }, maskedBy: 'order/book' },
  ]);
  const { processState, causes = 0 } = await desk.state(orderId);
  assert.deepEqual([processState, causes], ['Processing', 0]);
});

test('F-149: a fault that occurs again after the recovery is an exception', async (context) => {
  const { desk, orderId, pack, masked } = await recovering(context, 'order/book');
  await desk.answer(pack, failed('PalletFell'));
  const steps: string[] = [];
  for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
    for (const request of requests.filter(({ type }) => type === 'request')) {
      steps.push(request.path);
      await desk.answer(request, request.path === 'order/pack' ? failed('PalletFell') : ok({}));
    }
  assert.deepEqual(steps, ['order/book/undo', 'order/book', 'order/pack']);
  const { processState, fault, causes } = await desk.state(orderId);
  assert.deepEqual([processState, fault?.type, causes, (await masked()).length], ['Error', 'PalletFell', 1, 1]);
});

for (const path of ['order/pack', undefined])
  test(`F-149: an undone write that ${path ?? 'the whole order'} had read makes no exception during the recovery of ${path ?? 'the whole order'}`, async (context) => {
    const { desk, orderId, masked, tell } = await recovering(context, path);
    for (let count = 0; count < 2; count++) await tell(undoneWrite);
    assert.partialDeepStrictEqual(await masked(), [{ type: 'InconsistencyFound', id: 'undo-1', maskedBy: path ?? 'order' }]);
    assert.equal((await masked()).length, 1);
    assert.equal((await desk.state(orderId)).causes ?? 0, 0);
    if (path === undefined) return;
    await tell({ ...undoneWrite, id: 'undo-2', uses: [{ path: 'order/book', object: 'lot/4710' }] });
    assert.equal((await desk.state(orderId)).causes, 1, 'the step is not in the affected scope');
  });

for (const end of ['recover', 'terminate'] as const)
  test(`F-149: a masked undone write is an exception at the end of an order whose step is not undone, after ${end}`, async (context) => {
    const { desk, orderId, pack, tell, instruct } = await recovering(context, undefined, end === 'recover' ? 'take' : 'receive');
    const path = end === 'recover' ? 'order/reserve' : 'order/book';
    await tell({ ...undoneWrite, causedBy: 'exc_other', uses: [{ path, object: 'lot/4710' }, ...undoneWrite.uses] });
    // The step at work fails. The step before it needs no undo, or a person ends the order before it is undone.
    if (end === 'recover') await desk.answer(pack, failed('PalletFell'));
    else assert.equal((await instruct({ kind: 'terminate' })).outcome, 'done');
    const { processState, outcome, causes, open = [] } = await desk.state(orderId);
    const ended = end === 'recover' ? 'compensated' : 'terminated';
    assert.deepEqual([processState, outcome, causes, open.length], ['Processed', ended, 1, 1]);
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), desk.store), {
      type: 'Inconsistent',
      path,
      causedBy: 'exc_other',
      after: { processState: 'Processed' },
      data: { cause: undoneWrite.cause, uses: [{ path, object: 'lot/4710' }] },
      handling: null,
    });
    assert.equal((await taskOf(taskIdOf(orderId, 1), desk.store))?.kind, 'inconsistency');
    await desk.deliver(queueNames.wakeUps);
    assert.equal((await desk.state(orderId)).causes, 1);
  });

test('F-149: a masked undone write is no exception if its step is undone', async (context) => {
  const { desk, orderId, pack, tell } = await recovering(context);
  await tell({ ...undoneWrite, uses: [{ path: 'order/book', object: 'lot/4710' }] });
  await desk.answer(pack, failed('PalletFell'));
  const undo = (await desk.requests()).find(({ operation }) => operation === 'unbook');
  await desk.answer(undo as Request, ok({}));
  const { outcome, causes = 0 } = await desk.state(orderId);
  assert.deepEqual([outcome, causes], ['compensated', 0]);
});

test('F-149: a masked undone write is no exception if its step has run again, also when the order is recovered later', async (context) => {
  const { desk, orderId, pack, tell, instruct } = await recovering(context, 'order/reserve', 'take');
  await tell({ ...undoneWrite, uses: [{ path: 'order/reserve', object: 'lot/4710' }] });
  await desk.answer(pack, failed('PalletFell'));
  for (const step of ['order/reserve', 'order/pack']) {
    const request = (await desk.requests()).find(({ path }) => path === step);
    if (step === 'order/reserve') await desk.answer(request as Request, ok({}));
    else {
      assert.equal((await instruct({ kind: 'recover' })).outcome, 'done');
      await desk.answer(request as Request, failed('PalletFell'));
    }
  }
  const { outcome, causes = 0 } = await desk.state(orderId);
  assert.deepEqual([outcome, causes], ['compensated', 0]);
});

test('F-149: a masked undone write is an exception at the end if a second run of its step was canceled, and the first one is not undone', async (context) => {
  const { desk, orderId, pack, masked, tell, instruct } = await recovering(context, 'order/reserve', 'take');
  await desk.answer(pack, failed('PalletFell'));
  const second = (await desk.requests()).find(({ path }) => path === 'order/reserve');
  assert.equal((await instruct({ kind: 'recover' })).outcome, 'done');
  await tell({ ...undoneWrite, uses: [{ path: 'order/reserve', object: 'lot/4710' }] });
  assert.partialDeepStrictEqual((await masked()).at(-1) ?? {}, { type: 'InconsistencyFound', maskedBy: 'order' });
  await desk.answer(second as Request, failed('PalletFell'));
  const { outcome, causes = 0 } = await desk.state(orderId);
  assert.deepEqual([outcome, causes], ['compensated', 1]);
});

for (const end of ['recover', 'cancel'] as const)
  test(`F-149: an undone write that a recovery has masked is an exception if the order ends by ${end} before its step has run again`, async (context) => {
    const { desk, orderId, pack, tell, instruct } = await recovering(context, 'order/reserve', 'take');
    await tell({ ...undoneWrite, uses: [{ path: 'order/reserve', object: 'lot/4710' }] });
    await desk.answer(pack, failed('PalletFell'));
    const second = (await desk.requests()).find(({ path }) => path === 'order/reserve');
    assert.equal((await instruct({ kind: end })).outcome, 'done');
    assert.equal((await desk.state(orderId)).causes ?? 0, 0);
    await desk.answer(second as Request, failed('PalletFell'));
    const { processState, causes, open = [] } = await desk.state(orderId);
    assert.deepEqual([processState, causes, open.length], ['Processed', 1, 1]);
    assert.partialDeepStrictEqual(await exceptionOf(exceptionIdOf(orderId, 1), desk.store), {
      type: 'Inconsistent',
      path: 'order/reserve',
    });
  });

test('F-149, F-152: a repeated message about an undone write is news only for the uses that no line of the history has noted', () => {
  const cause = { orderId: 'ord_other', path: 'order/book' };
  const found = (more: object) => ({ type: 'InconsistencyFound' as const, id: 'u', cause, at: 2, seq: 2, ...more });
  const use = (at: number) => ({ path: 'order/pack', object: 'lot/1', at });
  const news = (...lines: Parameters<typeof unnotedUses>[1]) => unnotedUses({ id: 'u', uses: [use(1), use(3)] }, lines);
  assert.deepEqual(news(), [use(1), use(3)]);
  assert.deepEqual(news(found({ maskedBy: 'order', masked: { uses: [use(1)] } })), [use(3)]);
  assert.deepEqual(news(found({ undone: [use(1)] })), [use(3)]);
  assert.equal(news(found({})), 'all are noted');
  assert.equal(news(found({ undone: [use(1)] }), found({ maskedBy: 'order', masked: { uses: [use(3)] } })), 'all are noted');
});

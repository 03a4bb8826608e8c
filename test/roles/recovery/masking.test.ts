import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { failed, journalOf, ok, openDesk, submitted, timePasses } from '../support.ts';
import { warehouseApp } from './warehouse.ts';

/** A receipt has booked its lot, and packs it. A person recovers it. */
async function recovering(context: TestContext, path?: string) {
  const desk = openDesk(context, warehouseApp);
  const orderId = await submitted(desk, { lot: '4711' }, { workflow: 'receive' });
  await desk.answer(await desk.request(), ok({}));
  const pack: Request = await desk.request();
  const instruction = { kind: 'recover', by: 'olga', reason: 'wrong papers', ...(path === undefined ? {} : { path }) } as const;
  const { outcome } = await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, instruction, { id: 'i' }));
  assert.equal(outcome, 'done');
  const masked = async () => (await journalOf(desk, orderId)).filter((entry) => 'maskedBy' in entry);
  return { desk, orderId, pack, masked };
}

test('F-149: a step that fails after a recovery has canceled it makes no exception; the history has its fault', async (context) => {
  const { desk, orderId, pack, masked } = await recovering(context, 'order/book');
  await desk.answer(pack, failed('PalletFell', 'everything is broken'));
  assert.partialDeepStrictEqual(await masked(), [
    { type: 'FaultMasked', path: 'order/pack', fault: { type: 'PalletFell', message: 'everything is broken' }, maskedBy: 'order/book' },
  ]);
  const { processState, causes = 0 } = await desk.state(orderId);
  assert.deepEqual([processState, causes], ['Processing', 0]);
});

test('F-149: a fault that is still true after the recovery is an exception', async (context) => {
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
  test(`F-149: an undone write that ${path ?? 'the whole order'} had read makes no exception while that is recovered`, async (context) => {
    const { desk, orderId, masked } = await recovering(context, path);
    const inconsistency = {
      id: 'undo-1',
      cause: { orderId: 'ord_other', path: 'order/book' },
      uses: [{ path: 'order/pack', object: 'lot/4710' }],
    };
    const tell = async (about: object) => {
      const body = { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString(), inconsistency: about };
      await desk.queues.send([{ queue: queueNames.wakeUps, body: JSON.stringify(body) }]);
      await desk.deliver(queueNames.wakeUps);
    };
    for (let count = 0; count < 2; count++) await tell(inconsistency);
    assert.partialDeepStrictEqual(await masked(), [{ type: 'InconsistencyFound', id: 'undo-1', maskedBy: path ?? 'order' }]);
    assert.equal((await masked()).length, 1);
    assert.equal((await desk.state(orderId)).causes ?? 0, 0);
    if (path === undefined) return;
    await tell({ ...inconsistency, id: 'undo-2', uses: [{ path: 'order/book', object: 'lot/4710' }] });
    assert.equal((await desk.state(orderId)).causes, 1, 'the step is not in the affected scope');
  });

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type App, defineAgent, defineApp, defineWorkflow, fault, operation, parallel, retry, sequence } from 'redress';
import * as z from 'zod';
import { type Desk, failed, journalOf, ok, openDesk, stepsIn, submitted } from './support.ts';

const Refused = fault('Refused');
const Id = z.object({ id: z.string() });
const anything = { input: z.record(z.string(), z.unknown()), output: Id, run: () => ({ id: 'x' }) };

const worker = defineAgent('worker', {
  reserve: operation(anything),
  release: operation(anything),
  charge: operation({ ...anything, faults: [Refused] }),
  refund: operation(anything),
  ship: operation(anything),
  tell: operation(anything),
});

const app = (onExhausted?: 'fault' | 'undo'): App =>
  defineApp({
    agents: [worker],
    workflows: [
      defineWorkflow('sale', { version: 1, order: z.object({ item: z.string() }), ...(onExhausted ? { onExhausted } : {}) }, ({ order }) =>
        sequence(
          worker.reserve({ item: order.item }).undo(({ id }) => worker.release({ id })),
          retry(
            worker.charge({}).undo(({ id }) => worker.refund({ id })),
            { retries: 1, intervalSeconds: 20 },
          ),
          parallel(worker.ship({}), worker.tell({})),
        ).on(Refused, ({ compensate }) => sequence(compensate(), worker.tell({ kind: 'refused' }).named('apologise'))),
      ),
    ],
  });

const answered = async (desk: Desk, operation: string, result = ok({ id: `${operation}-1` })): Promise<void> => {
  const request = await desk.request();
  assert.equal(request.operation, operation);
  await desk.answer(request, result);
};
const inputOfNext = async (desk: Desk) => (await desk.messages('worker-requests')).map(({ input }) => input);
const ended = async (desk: Desk, orderId: string) => {
  const { processState, outcome, fault: why, failureCount } = await desk.state(orderId);
  return { processState, outcome, fault: why?.type ?? null, failureCount };
};

for (const writesAndSendsAtomically of [true, false]) {
  describe(`a faulted order is compensated (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, () => {
    test('F-67, F-100, F-105, F-165: after a refusal each undo gets the output of its step, and the order ends as compensated without having been suspended', async (context) => {
      const desk = openDesk(context, app(), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await answered(desk, 'reserve');
      await answered(desk, 'charge', failed('Refused'));
      assert.deepEqual(await inputOfNext(desk), [{ id: 'reserve-1' }]);
      await answered(desk, 'release');
      await answered(desk, 'tell');
      assert.deepEqual(await ended(desk, orderId), {
        processState: 'Processed',
        outcome: 'compensated',
        fault: 'Refused',
        failureCount: 0,
      });
      assert.equal((await desk.state(orderId)).suspended, false);
      assert.equal((await journalOf(desk, orderId)).filter(({ type }) => type === 'OrderBlocked').length, 0);
    });

    test('F-95, F-96: a step that failed transiently is requested again after its pause, and not by the supervisor', async (context) => {
      const desk = openDesk(context, app(), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await answered(desk, 'reserve');
      await answered(desk, 'charge', failed('ServiceUnavailable', 'later', { permanent: false }));
      assert.equal((await desk.requests()).length, 0);
      await desk.clock.advance(20_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      await answered(desk, 'charge');
      assert.deepEqual((await desk.requests()).map(({ operation: name }) => name).toSorted(), ['ship', 'tell']);
      assert.equal((await desk.state(orderId)).failureCount, 0);
    });

    test('F-103: when an undo cannot be requested, a person is notified, and the order waits for them without a deadline', async (context) => {
      const open = { input: z.object({}), output: z.record(z.string(), z.string()), run: () => ({}) };
      const shop = defineAgent('worker', { book: operation(open), give: operation({ ...anything, input: Id }), pay: operation(open) });
      const trip = defineWorkflow('trip', { version: 1, order: z.object({ item: z.string() }) }, () =>
        sequence(
          shop.book({}).undo(({ id = '' }) => shop.give({ id })),
          shop.pay({}),
        ),
      );
      const desk = openDesk(context, defineApp({ agents: [shop], workflows: [trip] }), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await answered(desk, 'book', ok({}));
      const cancel = { kind: 'cancel', by: 'acme', reason: 'changed my mind' } as const;
      await answered(desk, 'pay', failed('Refused'));
      await desk.system.scheduler.instruct(orderId, cancel, { id: 'c1' });
      assert.equal(desk.announced().filter(({ detailType }) => detailType === 'Compensation Stuck').length, 1);
      const { processState, completeBy, nextDueAt } = await desk.state(orderId);
      assert.deepEqual([processState, completeBy, nextDueAt], ['Processing', null, null]);
    });

    test('F-103: a refused undo is retried without counting as late, and a person is notified at once and reminded later', async (context) => {
      const desk = openDesk(context, app(), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      await answered(desk, 'reserve');
      await answered(desk, 'charge', failed('Refused'));
      await answered(desk, 'release', failed('Closed', 'the warehouse is closed'));
      for (let hour = 0; hour < 3; hour++) {
        await desk.clock.advance(3_600_000);
        await desk.supervisor.pass();
        await desk.deliver('wake-ups');
        if (hour < 2) await desk.requests();
      }
      assert.deepEqual(await ended(desk, orderId), { processState: 'Processing', outcome: null, fault: null, failureCount: 0 });
      const alerts = desk.announced().filter(({ detailType }) => detailType === 'Compensation Stuck');
      assert.deepEqual(
        alerts.map(({ detail }) => detail['failureCount']),
        [1, 2],
        'the number of requests for the undo',
      );
    });
  });
}

test('F-80, F-170: when an order is canceled, its agent is notified, and effects that happen all the same are undone', async (context) => {
  const desk = openDesk(context, app());
  const orderId = await submitted(desk);
  await answered(desk, 'reserve');
  const charge = await desk.request();
  const canceled = await desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'acme', reason: 'changed my mind' }, { id: 'c1' });
  assert.equal(canceled.outcome, 'done');
  const [cancellation] = await desk.take('worker-requests');
  assert.partialDeepStrictEqual(cancellation, { type: 'cancel', requestId: charge.requestId, idempotencyKey: charge.idempotencyKey });
  await desk.answer(charge, ok({ id: 'charge-1' }));
  await answered(desk, 'refund');
  await answered(desk, 'release');
  assert.deepEqual(await ended(desk, orderId), { processState: 'Processed', outcome: 'canceled', fault: null, failureCount: 0 });
});

test('F-80, F-159, F-170: effects of a canceled step are undone, even if the handler of its sibling undoes nothing', async (context) => {
  const both = defineWorkflow('both', { version: 1, order: z.object({ item: z.string() }) }, () =>
    sequence(
      parallel(
        worker.charge({}),
        worker.reserve({}).undo(({ id }) => worker.release({ id })),
      ).on(Refused, () => worker.tell({})),
    ),
  );
  const desk = openDesk(context, defineApp({ agents: [worker], workflows: [both] }));
  const orderId = await submitted(desk);
  const [charge, reserve] = await desk.requests();
  assert.ok(charge && reserve);
  await desk.answer(charge, failed('Refused'));
  const [cancel] = await desk.take('worker-requests');
  assert.partialDeepStrictEqual(cancel, { type: 'cancel', requestId: reserve.requestId });
  await desk.answer(reserve, ok({ id: 'reserve-1' }));
  assert.deepEqual(await inputOfNext(desk), [{ id: 'reserve-1' }]);
  await answered(desk, 'release');
  await answered(desk, 'tell');
  assert.deepEqual(await ended(desk, orderId), { processState: 'Processed', outcome: 'completed', fault: null, failureCount: 0 });
  assert.deepEqual(
    (await journalOf(desk, orderId)).flatMap((entry) => (entry.type === 'ActivityClosed' ? [[entry.path, entry.result]] : [])),
    [
      ['order/parallel/charge', 'Faulted'],
      ['order/parallel/reserve/undo', 'Compensated'],
      ['order/parallel/reserve', 'Canceled'],
      ['order/parallel/on-Refused/tell', 'Succeeded'],
      ['order/parallel/on-Refused', 'Succeeded'],
      ['order/parallel', 'Succeeded'],
      ['order', 'Succeeded'],
    ],
  );
});

test('F-53, F-106: above the failure limit the whole order is compensated if its workflow says so', async (context) => {
  const desk = openDesk(context, app('undo'), { variables: { MAX_FAILURES: '0' } });
  const orderId = await submitted(desk);
  await answered(desk, 'reserve');
  const charge = await desk.request();
  await desk.clock.advance(10_000);
  await desk.supervisor.pass();
  await desk.deliver('wake-ups');
  // The charge timed out, so its outcome is unknown. The order confirms it under the same idempotency key.
  const [again] = await desk.requests();
  assert.equal(again?.idempotencyKey, charge.idempotencyKey);
  assert.notEqual(again?.requestId, charge.requestId);
  await desk.answer(again ?? charge, failed('Refused'));
  await answered(desk, 'release');
  assert.deepEqual(await ended(desk, orderId), {
    processState: 'Processed',
    outcome: 'compensated',
    fault: 'DeadlineExceeded',
    failureCount: 0,
  });
});

test('F-81, F-100: the list of steps shows an undo apart from the step that it undid', async (context) => {
  const desk = openDesk(context, app());
  const orderId = await submitted(desk);
  await answered(desk, 'reserve');
  const steps = async () => (await stepsIn(desk, orderId)).slice(0, 3).map(({ name, status, result }) => [name, result ?? status]);
  assert.deepEqual(await steps(), [
    ['reserve', 'Succeeded'],
    ['charge', 'Executing'],
    ['ship', 'Initialized'],
  ]);
  await answered(desk, 'charge', failed('Refused'));
  await answered(desk, 'release');
  assert.deepEqual(await steps(), [
    ['reserve', 'Compensated'],
    ['undo of reserve', 'Compensated'],
    ['charge', 'Faulted'],
  ]);
});

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Call, defineAgent, defineApp, defineWorkflow, fault, type JsonObject, operation, PermanentFailure, sequence } from 'redress';
import * as z from 'zod';
import { decodeInstance } from '#roles/scheduler/instance';
import { type Desk, failed, noting, ok, openDesk, submitted, timePasses, typesOf } from './support.ts';

const Refused = fault('Refused');
const CardDeclined = fault('CardDeclined', Refused);
const Charge = z.object({ chargeId: z.string() });

const till = (run: (call: Call<'Refused/CardDeclined'>) => unknown = () => ({ chargeId: 'c-1' })) => {
  const payment = defineAgent('worker', {
    charge: operation({ input: z.object({}), output: Charge, faults: [CardDeclined], run: (_, call) => run(call) as { chargeId: string } }),
  });
  const receipt = defineAgent('desk', { tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
  return defineApp({
    workflows: [
      defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }), toOperator: [Refused] }, () =>
        sequence(payment.charge({}), receipt.tell({})),
      ),
    ],
    agents: [payment, receipt],
  });
};

/** An order whose charge was requested, run by the operation itself and answered. */
async function charged(context: TestContext, run?: Parameters<typeof till>[0]) {
  const desk = openDesk(context, till(run));
  const orderId = await submitted(desk);
  await desk.deliver('worker-requests');
  await desk.deliver('worker-replies');
  return { desk, orderId };
}
const resubmit = (desk: Desk, orderId: string) =>
  timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: 'i-1' }));

describe('a permanent failure', () => {
  test('F-43: puts the order into Error at once, is announced once, and is never retried', async (context) => {
    let ran = 0;
    const { desk, orderId } = await charged(context, () => {
      ran += 1;
      throw new PermanentFailure('TillBroken', 'the till is broken', { data: { till: 7 } });
    });
    const { processState, fault: summary } = await desk.state(orderId);
    assert.equal(processState, 'Error');
    assert.deepEqual(summary, {
      type: 'TillBroken',
      class: 'unexpected',
      message: 'the till is broken',
      permanent: true,
      source: 'order/charge',
      data: { till: 7 },
    });

    for (let pass = 0; pass < 5; pass++) {
      await desk.clock.advance(600_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
    }
    assert.deepEqual([ran, desk.messages('worker-requests'), desk.messages('desk-requests')], [1, [], []]);
    assert.deepEqual(typesOf(desk.announced()), ['Order In Error', 'Workflow Terminated']);
  });

  test('F-43: in a reply that is delivered twice puts the order into Error once', async (context) => {
    const desk = openDesk(context, till());
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.answer(request, failed('TillBroken'));
    await desk.answer(request, failed('TillBroken'));
    assert.equal((await desk.state(orderId)).errorGen, 1);
    assert.equal(desk.announced().filter(({ detailType }) => detailType === 'Order In Error').length, 1);
  });

  test('F-43: differs from a transient failure, which leaves the order in Processing', async (context) => {
    const desk = openDesk(context, till());
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Busy', 'not now', { permanent: false }));
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.deepEqual(desk.announced(), []);
  });
});

describe('the class of a fault', () => {
  const kinds: readonly (readonly [string, Parameters<typeof till>[0], string, string])[] = [
    ['is expected if the operation declares it', (call) => call.failed(CardDeclined, 'the card was declined'), 'CardDeclined', 'expected'],
    [
      'is expected if the operation throws it under a declared name',
      () => Promise.reject(new PermanentFailure('CardDeclined', 'the card was declined')),
      'CardDeclined',
      'expected',
    ],
    ['is unexpected if it is not declared', () => Promise.reject(new PermanentFailure('TillBroken', 'broken')), 'TillBroken', 'unexpected'],
    ['is an application failure for an invalid output', () => ({ chargeId: 7 }), 'InvalidReply', 'application-failure'],
    ['is an application failure for a missing output, too', () => undefined, 'InvalidReply', 'application-failure'],
    [
      'is unexpected if its name is that of an object property',
      () => Promise.reject(new PermanentFailure('Constructor', 'hm')),
      'Constructor',
      'unexpected',
    ],
  ];
  for (const [what, run, type, faultClass] of kinds) {
    test(`F-123, F-43: ${what}`, async (context) => {
      const { desk, orderId } = await charged(context, run);
      const { fault: summary, processState } = await desk.state(orderId);
      assert.deepEqual([processState, summary?.type, summary?.class, summary?.source], ['Error', type, faultClass, 'order/charge']);
    });
  }

  test('F-123: is basic-failure for a message that could not be processed', async (context) => {
    const desk = openDesk(context, till());
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), { status: 'rejected', code: 500, message: 'Unable to process message.' });
    const { fault: summary } = await desk.state(orderId);
    assert.deepEqual([summary?.type, summary?.class, summary?.message], ['RequestRejected', 'basic-failure', 'Unable to process message.']);
  });

  test('F-123: leaves the name of the fault as it is: a declared name is qualified in the state, and short outside of it', async (context) => {
    const { desk, orderId } = await charged(context, (call) => call.failed(CardDeclined, 'no'));
    assert.equal(decodeInstance(await desk.state(orderId)).state.blocked?.fault.type, 'Refused/CardDeclined');
    assert.equal((await desk.state(orderId)).fault?.type, 'CardDeclined');
    assert.equal(desk.announced()[0]?.detail['type'], 'CardDeclined');
  });

  test('F-123: is not chosen by the agent, and neither is the source', async (context) => {
    const desk = openDesk(context, till());
    const orderId = await submitted(desk);
    const lie = {
      status: 'failed',
      fault: { type: 'TillBroken', message: 'no', permanent: true, class: 'expected', source: 'order/tell' },
    };
    await desk.answer(await desk.request(), lie as never);
    const { fault: summary } = await desk.state(orderId);
    assert.deepEqual([summary?.class, summary?.source], ['unexpected', 'order/charge']);
  });
});

describe('the idempotency key of a resubmitted step', () => {
  const invalid = failed('InvalidReply', 'no chargeId', { outcomeUnknown: true });
  const ways: readonly (readonly [string, ReturnType<typeof failed>, string])[] = [
    ['F-44: stays the same while the outcome is unknown', invalid, '1'],
    ['F-44: changes after a definite refusal, because the next effect is a new one', failed('CardDeclined'), '2'],
    ['F-44: changes if the message was not processed at all', { status: 'rejected', code: 500, message: 'no' }, '2'],
  ];
  for (const [what, answer, generation] of ways) {
    test(what, async (context) => {
      const desk = openDesk(context, till());
      const orderId = await submitted(desk);
      const first = await desk.request();
      await desk.answer(first, answer);
      assert.equal((await resubmit(desk, orderId)).outcome, 'done');
      const second = await desk.request();
      assert.deepEqual(
        [first.idempotencyKey, second.idempotencyKey],
        [`${orderId}/order/charge/1`, `${orderId}/order/charge/${generation}`],
      );
      assert.notEqual(second.requestId, first.requestId);

      await desk.answer(first, ok({ chargeId: 'old' }));
      assert.deepEqual(desk.messages('desk-requests'), [], 'a reply to the first request no longer counts');
      await desk.answer(second, ok({ chargeId: 'c-2' }));
      assert.equal(desk.messages('desk-requests').length, 1);
    });
  }

  test('F-44: stays the same when the step only timed out', async (context) => {
    const desk = openDesk(context, till(), { variables: { MAX_FAILURES: '0' } });
    const orderId = await submitted(desk);
    const first = await desk.request();
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.deepEqual([(await desk.state(orderId)).processState, (await desk.state(orderId)).fault?.type], ['Error', 'DeadlineExceeded']);
    await resubmit(desk, orderId);
    const second = await desk.request();
    assert.deepEqual([second.idempotencyKey, second.attempt], [first.idempotencyKey, 2]);
  });

  test('F-44: stays the same when the output of the operation was invalid', async (context) => {
    const keys: string[] = [];
    const { desk, orderId } = await charged(context, ({ idempotencyKey }) =>
      noting(keys, idempotencyKey, keys.length === 0 ? {} : { chargeId: 'c-1' }),
    );
    assert.equal((await desk.state(orderId)).fault?.type, 'InvalidReply');
    await resubmit(desk, orderId);
    await desk.deliver('worker-requests');
    await desk.deliver('worker-replies');
    assert.equal(new Set(keys).size, 1);
    assert.equal(keys.length, 2);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.equal((desk.messages('desk-requests')[0] as JsonObject)['path'], 'order/tell');
  });
});

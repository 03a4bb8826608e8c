import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type Call,
  defineAgent,
  defineApp,
  defineWorkflow,
  fault,
  OutcomeUnknown,
  operation,
  PermanentFailure,
  sequence,
  TransientFailure,
  TransientFault,
} from 'redress';
import * as z from 'zod';
import type { Reply, Request } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import { countIn, failed, type LineOptions, lineOf, openDesk, reaches, started, submitted } from './support.ts';

type Run = (tried: number, call: Call<string>) => unknown;

/** One order whose only step calls an at-most-once operation. The test delivers each attempt itself. */
async function paying(context: TestContext, run: Run, more: LineOptions['operation'] = {}) {
  let tried = 0;
  const app = lineOf({ pay: (_, call) => run(++tried, call) }, { operation: { atMostOnce: true, ...more } });
  const desk = openDesk(context, app);
  await submitted(desk);
  const first = await desk.request();
  /** Delivers this attempt of the step and returns the replies to it. */
  const ask = async (attempt = 1, change: Partial<Request> = {}) => {
    const completeBy = new Date(desk.clock.now() + first.remainingMs).toISOString();
    const requestId = first.requestId.replace('#1.1', `#1.${attempt}`);
    await desk.send('worker-requests', { ...first, requestId, attempt, completeBy, ...change });
    const before = desk.messages('worker-replies').length;
    assert.equal(await desk.deliver('worker-requests'), 0);
    return (desk.messages('worker-replies').slice(before) as unknown as readonly Reply[]).map(({ result }) => result);
  };
  return { desk, first, ask, tried: () => tried, notes: () => countIn(desk, 'intents') };
}

const faultsIn = (results: readonly Reply['result'][]) =>
  results.map((result) => result.status === 'failed' && [result.fault.type, result.fault.permanent, result.fault.outcomeUnknown ?? false]);
const unknown = [['OutcomeUnknown', true, true]];

describe('an at-most-once operation runs at most once', () => {
  test('X-20: the agent records the intent before the call, and replies with the output', async (context) => {
    const { ask, notes } = await paying(context, () => ({ noted: notes() }));
    assert.deepEqual(await ask(), [{ status: 'succeeded', output: { noted: 1 } }]);
  });

  for (const [what, error] of [
    ['a transient failure', new TransientFailure('busy')],
    ['any other exception', new Error('socket hang up')],
    ['a failure with an unknown outcome', new PermanentFailure('OutcomeUnknown', 'who knows', { outcomeUnknown: true })],
  ] as const)
    test(`X-20: after ${what} the agent replies at once that the outcome is unknown`, async (context) => {
      const { ask, tried } = await paying(context, () => Promise.reject(error));
      assert.deepEqual(faultsIn(await ask()), unknown);
      assert.deepEqual(faultsIn(await ask(2)), unknown);
      assert.equal(tried(), 1);
    });

  test('X-20: when the service refuses definitely, the reply is this refusal, and not that the outcome is unknown', async (context) => {
    const { ask } = await paying(context, () => {
      throw new PermanentFailure('AccountClosed', 'no such account');
    });
    assert.deepEqual(faultsIn(await ask()), [['AccountClosed', true, false]]);
  });

  test('X-20: a second attempt under the same key runs nothing and replies that the outcome is unknown; under a new key the operation runs', async (context) => {
    const { ask, tried } = await paying(context, () => ({}));
    await ask();
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
    assert.equal((await ask(3, { idempotencyKey: 'another' }))[0]?.status, 'succeeded');
  });

  test('F-39, X-20: after the deadline of an attempt the agent sends no reply, and the next attempt runs nothing', async (context) => {
    const { ask, tried } = await paying(context, () => new Promise(() => {}));
    assert.deepEqual(await ask(), []);
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
  });

  test('X-20: an agent whose host stops replies that the outcome is unknown, so that no other host runs the operation', async (context) => {
    const stopping = new AbortController();
    const { desk, first, tried } = await paying(context, () => new Promise(() => stopping.abort()));
    const [definition = assert.fail()] = desk.system.definitions.agents;
    await createAgent(definition, desk.system)(first, { signal: stopping.signal });
    const [reply] = desk.messages('worker-replies') as unknown as readonly Reply[];
    assert.deepEqual([reply && faultsIn([reply.result]), tried()], [unknown, 1]);
  });

  test('F-80, X-20: a stopping host does not report canceled work as given up while the work still runs', async (context) => {
    const begun = Promise.withResolvers<void>();
    const { desk, first } = await paying(context, () => new Promise(() => begun.resolve()));
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
    const stopping = new AbortController();
    const served = agent(first, { signal: stopping.signal });
    await begun.promise;
    await agent.cancel({ ...first, type: 'cancel' });
    stopping.abort();
    await served;
    const [reply] = desk.messages('worker-replies') as unknown as readonly Reply[];
    assert.deepEqual(reply && faultsIn([reply.result]), unknown);
  });

  test('X-20, X-45: a stopping host does not open the circuit breaker of its service', async (context) => {
    const begun = Promise.withResolvers<void>();
    const { desk, first } = await paying(context, (tried) => new Promise(() => tried === 5 && begun.resolve()));
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
    const stopping = new AbortController();
    const others = ['a', 'b', 'c', 'd'].map((of) => ({ ...first, orderId: of, requestId: of, idempotencyKey: of }));
    const served = [first, ...others].map((request) => agent(request, { signal: stopping.signal }));
    await begun.promise;
    stopping.abort();
    await Promise.all(served);
    assert.equal(await desk.system.store.breaker('worker'), undefined);
  });

  test('F-39, X-20: an attempt that arrives too late does not block the next attempt in the same batch', async (context) => {
    const { desk, first, ask, tried } = await paying(context, () => ({}));
    await desk.send('worker-requests', { ...first, remainingMs: 0 });
    assert.deepEqual([await ask(2), tried()], [[{ status: 'succeeded', output: {} }], 1]);
  });

  test('X-20: no intent is recorded when nothing begins: the deadline has passed, the input is refused, or the host stops', async (context) => {
    const { desk, first, ask, tried, notes } = await paying(context, () => ({}));
    assert.deepEqual(await ask(1, { remainingMs: 0 }), []);
    assert.deepEqual(faultsIn(await ask(1, { input: { orderId: 7 } })), [['RequestRefused', true, false]]);
    const [definition = assert.fail()] = desk.system.definitions.agents;
    await assert.rejects(createAgent(definition, desk.system)(first, { signal: AbortSignal.abort() }));
    assert.deepEqual([tried(), notes()], [0, 0]);
  });
});

describe('when a service was not reached, an at-most-once operation may be tried again', () => {
  const refuse = () => {
    throw new TransientFailure('connection refused', { nothingSent: true });
  };

  test('F-37, X-20: within the same attempt', async (context) => {
    const { ask, tried } = await paying(context, (tried) => (tried < 3 ? refuse() : {}));
    assert.equal((await ask())[0]?.status, 'succeeded');
    assert.equal(tried(), 3);
    assert.deepEqual(faultsIn(await ask(2)), unknown);
  });

  test('F-37, X-20: in the next attempt, after each try of the first attempt has failed', async (context) => {
    const { ask, notes } = await paying(context, (tried) => (tried < 3 ? refuse() : {}), { attemptsMax: 2 });
    assert.deepEqual(faultsIn(await ask()), [['ServiceUnavailable', false, false]]);
    assert.equal(notes(), 0);
    assert.equal((await ask(2))[0]?.status, 'succeeded');
  });

  test('F-37, X-20: in the next attempt, if the service answered with a transient fault, because nothing was done', async (context) => {
    const BankBusy = fault('BankBusy', TransientFault);
    const run: Run = (tried, call) => (tried < 2 ? call.failed(BankBusy, 'closed') : {});
    const { ask, notes } = await paying(context, run, { faults: [BankBusy] });
    assert.deepEqual([faultsIn(await ask()), notes()], [[['BankBusy', false, false]], 0]);
    assert.equal((await ask(2))[0]?.status, 'succeeded');
  });

  test('F-39, X-20: in the next attempt, if the deadline of this attempt leaves no time for one more try', async (context) => {
    const { ask, notes } = await paying(context, (tried) => (tried < 20 ? refuse() : {}), { attemptsMax: 1_000 });
    assert.deepEqual([faultsIn(await ask(1, { remainingMs: 50 })), notes()], [[['ServiceUnavailable', false, false]], 0]);
    for (let attempt = 2; attempt < 10; attempt++) {
      const [result] = await ask(attempt);
      if (result?.status === 'succeeded') return;
    }
    assert.fail('it was never tried again');
  });

  test('F-170, X-20: but not after a cancellation: the reply says that nothing was done, and a later delivery of the request runs nothing', async (context) => {
    const pausing = Promise.withResolvers<void>();
    const { desk, first, ask, tried } = await paying(context, () => {
      setImmediate(pausing.resolve);
      throw new TransientFailure('connection refused', { nothingSent: true, retryAfterMs: 5_000 });
    });
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
    const served = agent(first);
    await pausing.promise;
    await Promise.all([served, agent.cancel({ ...first, type: 'cancel' })]);
    const [reply] = desk.messages('worker-replies') as unknown as readonly Reply[];
    assert.deepEqual(reply && faultsIn([reply.result]), [['Canceled', true, false]]);
    assert.deepEqual([await ask(), tried()], [[], 1]);
  });

  test('X-20: but not after a try whose outcome is unknown', async (context) => {
    const { ask, tried, notes } = await paying(context, (tried) => (tried === 1 ? refuse() : Promise.reject(new Error('reset'))));
    assert.deepEqual(faultsIn(await ask()), unknown);
    assert.deepEqual([tried(), notes()], [2, 1]);
  });
});

describe('when an at-most-once request is delivered twice', () => {
  test('X-20: the operation runs in the first delivery, which replies, and the second delivery is ignored', async (context) => {
    const { desk, first, ask, tried } = await paying(context, async () => {
      await desk.clock.sleep(2_000);
      return {};
    });
    await desk.send('worker-requests', first);
    assert.deepEqual(await ask(), [{ status: 'succeeded', output: {} }]);
    assert.deepEqual([tried(), desk.telemetry.counts()['duplicateRequest']], [1, 1]);
    assert.match(desk.log.join(''), /"level":"debug","message":"ignored duplicate delivery/);
  });

  test('X-20: the second delivery sends no reply, even if the service offers a lookup', async (context) => {
    const { ask, tried } = await paying(context, () => ({}), { lookup: () => ({}) });
    await ask();
    assert.deepEqual([await ask(), tried()], [[], 1]);
  });
});

describe('when a service can look up what was done under a key', () => {
  const lost = () => Promise.reject(new Error('socket hang up'));

  test('X-20: a repeated request is answered with the result of the lookup', async (context) => {
    const keys: string[] = [];
    const lookup = (key: string, { idempotencyKey }: Call) => ({ found: keys.push(key, idempotencyKey) });
    const { first, ask, tried } = await paying(context, lost, { lookup });
    assert.deepEqual(faultsIn(await ask()), unknown, 'it does not look up an effect that may still happen');
    assert.deepEqual(await ask(2), [{ status: 'succeeded', output: { found: 2 } }]);
    assert.deepEqual([tried(), keys], [1, [first.idempotencyKey, first.idempotencyKey]]);
  });

  test('X-20: if the lookup finds nothing, the outcome is unknown, because the call may still arrive', async (context) => {
    const { ask, tried } = await paying(context, lost, { lookup: () => undefined });
    await ask();
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
  });
});

describe('an order with an at-most-once step', () => {
  const Empty = z.object({});
  let paid = 0;
  const pay = async ({ signal }: Call) => {
    paid += 1;
    await new Promise((_, reject) => signal.addEventListener('abort', reject));
    return {};
  };
  const bank = defineAgent('bank', { pay: operation({ input: Empty, output: Empty, atMostOnce: true, run: (_, call) => pay(call) }) });
  const desk = defineAgent('desk', { look: operation({ input: Empty, output: Empty, run: () => ({}) }) });
  const blocking = defineWorkflow('blocked', { version: 1, order: Empty }, () => sequence(bank.pay({})));
  const handled = defineWorkflow('handled', { version: 1, order: Empty }, () =>
    sequence(bank.pay({})).on(OutcomeUnknown, () => desk.look({})),
  );
  const app = defineApp({ workflows: [blocking, handled], agents: [bank, desk] });

  test('X-20: is blocked after one call without a reply', async (context) => {
    paid = 0;
    const system = await started(context, app);
    const orderId = await submitted(system, {}, { workflow: 'blocked' });
    await reaches(system, orderId, 'Error');
    assert.deepEqual([(await system.state(orderId)).fault?.type, paid], ['OutcomeUnknown', 1]);
  });

  test('X-20: goes to the handler of its workflow for this fault, if there is one', async (context) => {
    const system = await started(context, app);
    const orderId = await submitted(system, {}, { workflow: 'handled' });
    await reaches(system, orderId, 'Processed');
    assert.equal((await system.state(orderId)).outcome, 'completed');
  });
});

describe('when a reply to an earlier attempt arrives late', () => {
  /** Holds back the reply until the deadline has passed and the supervisor has had the step requested again. */
  async function lateAnswer(context: TestContext, atMostOnce = true) {
    const runs = { pay: () => ({}), ship: () => ({}) };
    const desk = openDesk(context, lineOf(runs, { operation: atMostOnce ? { atMostOnce } : {} }), { variables: { MAX_FAILURES: '3' } });
    const orderId = await submitted(desk);
    await desk.deliver('worker-requests');
    const [late = assert.fail()] = (await desk.take('worker-replies')) as unknown as readonly Reply[];
    await desk.clock.advance(11_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const comes = async () => {
      await desk.send('worker-replies', late);
      await desk.deliver('worker-replies');
    };
    return { desk, orderId, comes };
  }

  test('X-9, X-20: the late reply counts while the next attempt runs, because that attempt can only reply that the outcome is unknown', async (context) => {
    const { desk, orderId, comes } = await lateAnswer(context);
    await comes();
    assert.deepEqual(
      (await desk.requests()).map(({ operation, attempt }) => [operation, attempt]),
      [
        ['pay', 2],
        ['ship', 1],
      ],
    );
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('X-9, X-20: when the order is blocked by then, the reply is kept and a resubmission uses it', async (context) => {
    const { desk, orderId, comes } = await lateAnswer(context);
    await desk.deliver('worker-requests');
    await desk.deliver('worker-replies');
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type], ['Error', 'OutcomeUnknown']);
    for (const _ of ['once', 'twice']) await comes();
    await desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'operator', reason: 'it was done' }, { id: 'i-1' });
    assert.deepEqual(
      (await desk.requests()).map(({ operation, attempt }) => [operation, attempt]),
      [['ship', 1]],
    );
  });

  test('X-9: the late reply does not count after a later attempt was refused, and a resubmission sends a new request', async (context) => {
    const { desk, orderId, comes } = await lateAnswer(context, false);
    await desk.answer(await desk.request(), failed('NoMoney'));
    await comes();
    await desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'operator', reason: 'there is money' }, { id: 'i-1' });
    assert.deepEqual(
      (await desk.requests()).map(({ operation, attempt }) => [operation, attempt]),
      [['pay', 3]],
    );
  });
});

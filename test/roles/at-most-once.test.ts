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

/** One order, whose one step asks for what may be asked for only once; each asking is delivered by the test. */
async function paying(context: TestContext, run: Run, more: LineOptions['operation'] = {}) {
  let tried = 0;
  const app = lineOf({ pay: (_, call) => run(++tried, call) }, { operation: { atMostOnce: true, ...more } });
  const desk = openDesk(context, app);
  await submitted(desk);
  const first = await desk.request();
  /** What is answered to the step's asking of this number, delivered now. */
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

describe('what may be asked for only once is asked for once', () => {
  test('X-20 an answer that comes is an answer as any other, and the asking was noted before', async (context) => {
    const { ask, notes } = await paying(context, () => ({ noted: notes() }));
    assert.deepEqual(await ask(), [{ status: 'succeeded', output: { noted: 1 } }]);
  });

  for (const [what, error] of [
    ['a failure that may pass', new TransientFailure('busy')],
    ['anything else that is thrown', new Error('socket hang up')],
    ['a failure that leaves it open', new PermanentFailure('OutcomeUnknown', 'who knows', { outcomeUnknown: true })],
  ] as const)
    test(`X-20 after ${what} nobody knows, and that is said at once`, async (context) => {
      const { ask, tried } = await paying(context, () => Promise.reject(error));
      assert.deepEqual(faultsIn(await ask()), unknown);
      assert.deepEqual(faultsIn(await ask(2)), unknown);
      assert.equal(tried(), 1);
    });

  test('X-20 a definite refusal is one here, too', async (context) => {
    const { ask } = await paying(context, () => {
      throw new PermanentFailure('AccountClosed', 'no such account');
    });
    assert.deepEqual(faultsIn(await ask()), [['AccountClosed', true, false]]);
  });

  test('X-20 asked again under the same key it says that nobody knows, and does nothing; under a new key it does', async (context) => {
    const { ask, tried } = await paying(context, () => ({}));
    await ask();
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
    assert.equal((await ask(3, { idempotencyKey: 'another' }))[0]?.status, 'succeeded');
  });

  test('F-39, X-20 when its time is over it is silent, and the next asking does nothing', async (context) => {
    const { ask, tried } = await paying(context, () => new Promise(() => {}));
    assert.deepEqual(await ask(), []);
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
  });

  test('X-20 a host that stops does not leave it to another one', async (context) => {
    const stopping = new AbortController();
    const { desk, first, tried } = await paying(context, () => new Promise(() => stopping.abort()));
    const [definition = assert.fail()] = desk.system.definitions.agents;
    await createAgent(definition, desk.system)(first, { signal: stopping.signal });
    const [reply] = desk.messages('worker-replies') as unknown as readonly Reply[];
    assert.deepEqual([reply && faultsIn([reply.result]), tried()], [unknown, 1]);
  });

  test('F-80, X-20 a host that stops does not say that it has given up what was canceled and is still at work', async (context) => {
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

  test('X-20, X-45 a host that stops does not say that its service is away', async (context) => {
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

  test('F-39, X-20 one that comes too late does not keep the next one, which comes with it, from being served', async (context) => {
    const { desk, first, ask, tried } = await paying(context, () => ({}));
    await desk.send('worker-requests', { ...first, remainingMs: 0 });
    assert.deepEqual([await ask(2), tried()], [[{ status: 'succeeded', output: {} }], 1]);
  });

  test('X-20 what never begins is not noted: its time is over, its input is refused, or the host stops', async (context) => {
    const { desk, first, ask, tried, notes } = await paying(context, () => ({}));
    assert.deepEqual(await ask(1, { remainingMs: 0 }), []);
    assert.deepEqual(faultsIn(await ask(1, { input: { orderId: 7 } })), [['RequestRefused', true, false]]);
    const [definition = assert.fail()] = desk.system.definitions.agents;
    await assert.rejects(createAgent(definition, desk.system)(first, { signal: AbortSignal.abort() }));
    assert.deepEqual([tried(), notes()], [0, 0]);
  });
});

describe('a service that was not reached may be tried again', () => {
  const refuse = () => {
    throw new TransientFailure('connection refused', { nothingSent: true });
  };

  test('F-37, X-20 within the same asking', async (context) => {
    const { ask, tried } = await paying(context, (tried) => (tried < 3 ? refuse() : {}));
    assert.equal((await ask())[0]?.status, 'succeeded');
    assert.equal(tried(), 3);
    assert.deepEqual(faultsIn(await ask(2)), unknown);
  });

  test('F-37, X-20 and by the next asking, once the tries of this one are used up', async (context) => {
    const { ask, notes } = await paying(context, (tried) => (tried < 3 ? refuse() : {}), { attemptsMax: 2 });
    assert.deepEqual(faultsIn(await ask()), [['ServiceUnavailable', false, false]]);
    assert.equal(notes(), 0);
    assert.equal((await ask(2))[0]?.status, 'succeeded');
  });

  test('F-37, X-20 or that has answered "not now", by the next asking: nothing was done', async (context) => {
    const BankBusy = fault('BankBusy', TransientFault);
    const run: Run = (tried, call) => (tried < 2 ? call.failed(BankBusy, 'closed') : {});
    const { ask, notes } = await paying(context, run, { faults: [BankBusy] });
    assert.deepEqual([faultsIn(await ask()), notes()], [[['BankBusy', false, false]], 0]);
    assert.equal((await ask(2))[0]?.status, 'succeeded');
  });

  test('F-39, X-20 and by the next asking, once the time of this one is over', async (context) => {
    const { ask } = await paying(context, (tried) => (tried < 20 ? refuse() : {}), { attemptsMax: 1_000 });
    assert.deepEqual(await ask(1, { remainingMs: 50 }), []);
    for (let attempt = 2; attempt < 10; attempt++) {
      const [result] = await ask(attempt);
      if (result) return assert.equal(result.status, 'succeeded');
    }
    assert.fail('it was never tried again');
  });

  test('F-170, X-20 and one that is canceled before it was reached was not done, nor is it by a delivery that comes late', async (context) => {
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

  test('X-20 but not after a try of which that is not known', async (context) => {
    const { ask, tried, notes } = await paying(context, (tried) => (tried === 1 ? refuse() : Promise.reject(new Error('reset'))));
    assert.deepEqual(faultsIn(await ask()), unknown);
    assert.deepEqual([tried(), notes()], [2, 1]);
  });
});

describe('a request that is delivered twice', () => {
  test('X-20 is left to the first delivery, which answers', async (context) => {
    const { desk, first, ask, tried } = await paying(context, async () => {
      await desk.clock.sleep(2_000);
      return {};
    });
    await desk.send('worker-requests', first);
    assert.deepEqual(await ask(), [{ status: 'succeeded', output: {} }]);
    assert.deepEqual([tried(), desk.telemetry.counts()['duplicateRequest']], [1, 1]);
    assert.match(desk.log.join(''), /"level":"debug","message":"delivered twice/);
  });

  test('X-20 gets no second answer, neither from a service that can be asked', async (context) => {
    const { ask, tried } = await paying(context, () => ({}), { lookup: () => ({}) });
    await ask();
    assert.deepEqual([await ask(), tried()], [[], 1]);
  });
});

describe('where the service can tell what was done under a key', () => {
  const lost = () => Promise.reject(new Error('socket hang up'));

  test('X-20 an asking that comes again is answered with what is found', async (context) => {
    const keys: string[] = [];
    const lookup = (key: string, { idempotencyKey }: Call) => ({ found: keys.push(key, idempotencyKey) });
    const { first, ask, tried } = await paying(context, lost, { lookup });
    assert.deepEqual(faultsIn(await ask()), unknown, 'it looks up nothing while it may still come');
    assert.deepEqual(await ask(2), [{ status: 'succeeded', output: { found: 2 } }]);
    assert.deepEqual([tried(), keys], [1, [first.idempotencyKey, first.idempotencyKey]]);
  });

  test('X-20 and where nothing is found it may be on its way: nobody knows', async (context) => {
    const { ask, tried } = await paying(context, lost, { lookup: () => undefined });
    await ask();
    assert.deepEqual(faultsIn(await ask(2)), unknown);
    assert.equal(tried(), 1);
  });
});

describe('an order that asks for what may be asked for only once', () => {
  const Empty = z.object({});
  let paid = 0;
  const pay = async ({ signal }: Call) => {
    paid += 1;
    await new Promise((_, reject) => signal.addEventListener('abort', reject));
    return {};
  };
  const bank = defineAgent('bank', { pay: operation({ input: Empty, output: Empty, atMostOnce: true, run: (_, call) => pay(call) }) });
  const desk = defineAgent('desk', { look: operation({ input: Empty, output: Empty, run: () => ({}) }) });
  const held = defineWorkflow('blocked', { version: 1, order: Empty }, () => sequence(bank.pay({})));
  const handled = defineWorkflow('handled', { version: 1, order: Empty }, () =>
    sequence(bank.pay({})).on(OutcomeUnknown, () => desk.look({})),
  );
  const app = defineApp({ workflows: [held, handled], agents: [bank, desk] });

  test('X-20 is held for a person when no answer came, and has asked once', async (context) => {
    paid = 0;
    const system = await started(context, app);
    const orderId = await submitted(system, {}, { workflow: 'blocked' });
    await reaches(system, orderId, 'Error');
    assert.deepEqual([(await system.state(orderId)).fault?.type, paid], ['OutcomeUnknown', 1]);
  });

  test('X-20 or goes to the handler that the workflow has for it', async (context) => {
    const system = await started(context, app);
    const orderId = await submitted(system, {}, { workflow: 'handled' });
    await reaches(system, orderId, 'Processed');
    assert.equal((await system.state(orderId)).outcome, 'completed');
  });
});

describe('an answer of an earlier asking that comes after all', () => {
  /** Its answer is under way when its time is over; the supervisor has it asked for again. */
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

  test('X-9, X-20: counts while the next one is under way, which could only say that nobody knows', async (context) => {
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

  test('X-9, X-20: is kept where the order is blocked by then, and to resubmit it takes that answer', async (context) => {
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

  test('X-9: does not count where a later asking was refused: to resubmit the order asks anew', async (context) => {
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

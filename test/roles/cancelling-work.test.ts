import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Call, compensate, defineAgent, defineApp, defineWorkflow, fault, operation, PermanentFailure, parallel } from 'redress';
import { manualClock } from 'redress/testing';
import * as z from 'zod';
import type { Cancel, Reply } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import { type LineOptions, lineOf, openDesk, reaches, started, submitted, timePasses } from './support.ts';

type Canceling = NonNullable<NonNullable<LineOptions['operation']>['cancel']>;

interface Canceled {
  readonly cancel?: Canceling;
  readonly change?: Partial<Cancel>;
  /** The reaction of the operation to its aborted signal. */
  readonly andThen?: (call: Call<string>) => unknown;
}

const stops = () => Promise.reject(new Error('stopped'));

/** A step that works until it is canceled: the replies of its agent, and what happened, in that order. */
async function canceled(context: TestContext, { cancel, change = {}, andThen = stops }: Canceled) {
  const happened: string[] = [];
  const begun = Promise.withResolvers<void>();
  const dig = async (call: Call<string>) => {
    begun.resolve();
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
    happened.push('told to stop');
    return andThen(call);
  };
  const desk = openDesk(context, lineOf({ dig: (_, call) => dig(call) }, cancel ? { operation: { cancel } } : {}));
  await submitted(desk);
  const request = await desk.request();
  const { requestId, orderId, path, idempotencyKey } = request;
  const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
  const served = agent(request);
  await begun.promise;
  const cancellations = agent.cancel({ v: 1, type: 'cancel', requestId, orderId, path, idempotencyKey, ...change });
  await timePasses(desk.clock, Promise.all([served, cancellations]));
  const replies = desk.messages('worker-replies') as unknown as readonly Reply[];
  return { replies, happened, desk, seconds: 10 - (Date.parse(request.completeBy) - desk.clock.now()) / 1000 };
}

const faultsOf = (replies: readonly Reply[]) =>
  replies.map(({ result }) => result.status === 'failed' && [result.fault.type, result.fault.outcomeUnknown]);

describe('an agent whose work is canceled', () => {
  test('F-80, F-170: waits for the reply of the aborted operation, which may be done after all', async (context) => {
    const { replies } = await canceled(context, { andThen: () => ({}) });
    assert.deepEqual(
      replies.map(({ result }) => result.status),
      ['succeeded'],
    );
  });

  test('F-80, F-170: passes on a definite fault when the operation knows that nothing was done', async (context) => {
    const { replies } = await canceled(context, { andThen: () => Promise.reject(new PermanentFailure('Stopped', 'in good time')) });
    assert.deepEqual(faultsOf(replies), [['Stopped', undefined]]);
  });

  test('F-80, F-170: sends no reply after the deadline when the operation does not answer', async (context) => {
    const { replies } = await canceled(context, { andThen: () => new Promise(() => {}) });
    assert.deepEqual(replies, []);
  });

  test('F-170: calls the cancel function, then aborts the operation, and replies that the outcome is unknown', async (context) => {
    const cancellations: (string | boolean)[] = [];
    const cancel: Canceling = async ({ path, idempotencyKey, signal }) => {
      cancellations.push(path, idempotencyKey.split('/')[0] ?? '');
      await new Promise(setImmediate);
      cancellations.push(signal.aborted);
    };
    const { replies, happened } = await canceled(context, { cancel });
    assert.deepEqual(cancellations, ['order/dig', replies[0]?.orderId, false], 'it may still call its service');
    assert.deepEqual([happened, faultsOf(replies)], [['told to stop'], [['Canceled', true]]]);
  });

  test('F-170: also aborts an operation without a cancel function', async (context) => {
    const { replies, happened } = await canceled(context, {});
    assert.deepEqual([happened, faultsOf(replies)], [['told to stop'], [['Canceled', true]]]);
  });

  for (const [what, cancel] of [
    ['throws', () => assert.fail('no way to stop')],
    ['rejects', () => Promise.reject(new Error('no way to stop'))],
  ] as const)
    test(`F-170: aborts an operation whose cancel function ${what}, and logs that failure`, async (context) => {
      const { replies, happened, desk } = await canceled(context, { cancel });
      assert.deepEqual([happened, faultsOf(replies)], [['told to stop'], [['Canceled', true]]]);
      assert.match(desk.log.join(''), /"level":"warn","message":"failed to cancel operation"/);
    });

  test('F-170: aborts the running operation, also if its request was delivered twice', async (context) => {
    const begun = Promise.withResolvers<void>();
    const dig = ({ signal }: Call<string>) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', reject));
    };
    const desk = openDesk(context, lineOf({ dig: (_, call) => dig(call) }, { operation: { atMostOnce: true } }));
    await submitted(desk);
    const request = await desk.request();
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
    const first = agent(request);
    await begun.promise;
    await agent(request);
    await agent.cancel({ ...request, type: 'cancel' });
    await timePasses(desk.clock, first);
    assert.deepEqual(faultsOf(desk.messages('worker-replies') as unknown as readonly Reply[]), [['Canceled', true]]);
  });

  test('F-170: waits for the cancel function no longer than for the operation', async (context) => {
    const { replies, seconds } = await canceled(context, { cancel: () => new Promise<void>(() => {}) });
    assert.deepEqual(faultsOf(replies), [['Canceled', true]]);
    assert.ok(seconds >= 10 && seconds < 11);
  });

  test('F-170: ignores a cancellation of an operation that does not run in this process', async (context) => {
    const cancellations: string[] = [];
    const { replies } = await canceled(context, {
      cancel: ({ requestId }) => void cancellations.push(requestId),
      change: { requestId: 'another' },
    });
    assert.deepEqual([cancellations, replies], [[], []]);
  });
});

describe('a request whose cancellation arrives first', () => {
  const canceledFirst = async (context: TestContext, operation: LineOptions['operation'] = {}) => {
    const begun: string[] = [];
    const desk = openDesk(context, lineOf({ dig: (_, call) => ({ begun: begun.push(call.requestId) }) }, { operation }));
    await submitted(desk);
    const request = await desk.request();
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
    await agent.cancel({ ...request, type: 'cancel' });
    await agent(request);
    return { begun, agent, request, faults: () => faultsOf(desk.messages('worker-replies') as unknown as readonly Reply[]) };
  };

  test('F-80, F-170: does not begin; its outcome is unknown, because another delivery may run elsewhere', async (context) => {
    const { begun, faults } = await canceledFirst(context);
    assert.deepEqual([begun, faults()], [[], [['Canceled', true]]]);
  });

  test('F-80, F-170, X-20: was not done if its operation is at-most-once: the intent is recorded, and no other delivery begins it', async (context) => {
    const { begun, agent, request, faults } = await canceledFirst(context, { atMostOnce: true });
    await agent(request);
    assert.deepEqual([begun, faults()], [[], [['Canceled', undefined]]]);
  });

  test('F-80: is remembered by each process among the last thousand cancellations', async (context) => {
    const { begun, agent, request, faults } = await canceledFirst(context);
    for (let other = 0; other < 1_000; other++) await agent.cancel({ ...request, type: 'cancel', requestId: `other ${other}` });
    await agent(request);
    assert.deepEqual([begun.length, faults()], [1, [['Canceled', true], false]]);
  });
});

describe('an order that is compensated while a charge is at work', () => {
  const Any = z.object({});
  const Refused = fault('Refused');

  /** A check refuses after one second; the charge takes three, even when canceled. Returns what the services did at which second. */
  async function checkedAndCharged(context: TestContext, more: { readonly atMostOnce?: true }) {
    const clock = manualClock();
    const begun = clock.now();
    const did: string[] = [];
    const note = (what: string) => {
      did.push(`${Math.round((clock.now() - begun) / 1000)} s ${what}`);
      return {};
    };
    const charge = async (call: Call<string>) => {
      note(`charge ${call.attempt}`);
      await clock.sleep(3_000);
      note('charged');
      return { id: 'c1' };
    };
    const check = async (call: Call<'Refused'>) => {
      await clock.sleep(1_000);
      return call.failed(Refused, 'no');
    };
    const shop = defineAgent('shop', {
      check: operation({ input: Any, output: Any, faults: [Refused], run: (_, call) => check(call) }),
      charge: operation({ input: Any, output: z.object({ id: z.string() }), ...more, run: (_, call) => charge(call) }),
      refund: operation({ input: z.object({ id: z.string() }), output: Any, run: ({ id }) => note(`refund ${id}`) }),
    });
    const checked = defineWorkflow('checked', { version: 1, order: Any }, () =>
      parallel(
        shop.check({}),
        shop.charge({}).undo(({ id }) => shop.refund({ id })),
      ).on(Refused, () => compensate()),
    );
    const system = await started(context, defineApp({ workflows: [checked], agents: [shop] }), { clock });
    const orderId = await submitted(system, {});
    await reaches(system, orderId, 'Processed');
    return { did, outcome: (await system.state(orderId)).outcome, alerts: system.publisher.published(0, 10) };
  }

  for (const [what, more] of [
    ['any operation', {}],
    ['an at-most-once operation', { atMostOnce: true }],
  ] as const)
    test(`F-80, F-170: waits for the reply and refunds the charge instead of charging again (${what})`, async (context) => {
      const { did, outcome, alerts } = await checkedAndCharged(context, more);
      assert.deepEqual(did, ['0 s charge 1', '3 s charged', '3 s refund c1']);
      assert.deepEqual([outcome, alerts], ['compensated', []]);
    });
});

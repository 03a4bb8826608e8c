import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Call } from 'redress';
import { createAgent } from '../../lib/agent.ts';
import type { Cancel, Reply } from '../../lib/messages.ts';
import { type LineOptions, lineOf, openDesk, submitted, timePasses } from './support.ts';

type Cancelling = NonNullable<NonNullable<LineOptions['operation']>['cancel']>;

/** A step that is at work until it is cancelled: its agent's answers, and what happened to it, in that order. */
async function cancelled(context: TestContext, cancel: Cancelling | undefined, change: Partial<Cancel> = {}) {
  const happened: string[] = [];
  const begun = Promise.withResolvers<void>();
  const dig = async ({ signal }: Call<string>) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    happened.push('stopped');
    return {};
  };
  const desk = openDesk(context, lineOf({ dig: (_, call) => dig(call) }, cancel ? { operation: { cancel } } : {}));
  await submitted(desk);
  const request = await desk.request();
  const { requestId, orderId, path, idempotencyKey } = request;
  const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), desk.system);
  const served = agent(request);
  await begun.promise;
  const told = agent.cancel({ v: 1, type: 'cancel', requestId, orderId, path, idempotencyKey, ...change });
  await timePasses(desk.clock, Promise.all([served, told]));
  const replies = desk.messages('worker-replies') as unknown as readonly Reply[];
  return { replies, happened, desk, seconds: 10 - (Date.parse(request.completeBy) - desk.clock.now()) / 1000 };
}

const faultsOf = (replies: readonly Reply[]) =>
  replies.map(({ result }) => result.status === 'failed' && [result.fault.type, result.fault.outcomeUnknown]);

describe('an agent whose work is cancelled', () => {
  test('F-170 tells the operation, then stops it, and answers that it was given up', async (context) => {
    const told: (string | boolean)[] = [];
    const cancel: Cancelling = async ({ path, idempotencyKey, signal }) => {
      told.push(path, idempotencyKey.split('/')[0] ?? '');
      await new Promise(setImmediate);
      told.push(signal.aborted);
    };
    const { replies, happened } = await cancelled(context, cancel);
    assert.deepEqual(told, ['order/dig', replies[0]?.orderId, false], 'it may still call its service');
    assert.deepEqual([happened, faultsOf(replies)], [['stopped'], [['Canceled', true]]]);
  });

  test('F-170 stops an operation that has nothing to be told, too', async (context) => {
    const { replies, happened } = await cancelled(context, undefined);
    assert.deepEqual([happened, faultsOf(replies)], [['stopped'], [['Canceled', true]]]);
  });

  for (const [what, cancel] of [
    ['throws', () => assert.fail('no way to stop')],
    ['rejects', () => Promise.reject(new Error('no way to stop'))],
  ] as const)
    test(`F-170 stops an operation whose cancelling ${what}; that is only logged`, async (context) => {
      const { replies, happened, desk } = await cancelled(context, cancel);
      assert.deepEqual([happened, faultsOf(replies)], [['stopped'], [['Canceled', true]]]);
      assert.match(desk.log.join(''), /"level":"warn","message":"cancelling failed"/);
    });

  test('F-170 stops the delivery that is at work, where there were two of the same request', async (context) => {
    const begun = Promise.withResolvers<void>();
    const dig = () => begun.resolve(undefined) ?? new Promise(() => {});
    const desk = openDesk(context, lineOf({ dig }, { operation: { atMostOnce: true } }));
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

  test('F-170 waits no longer for the cancelling than for the work', async (context) => {
    const { replies, seconds } = await cancelled(context, () => new Promise<void>(() => {}));
    assert.deepEqual(faultsOf(replies), [['Canceled', true]]);
    assert.ok(seconds >= 10 && seconds < 11);
  });

  test('F-170 takes no notice of a cancelling for what is not at work here', async (context) => {
    const told: string[] = [];
    const { replies } = await cancelled(context, ({ requestId }) => void told.push(requestId), { requestId: 'another' });
    assert.deepEqual([told, replies], [[], []]);
  });
});

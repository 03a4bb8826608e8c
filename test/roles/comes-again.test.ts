import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { StoreUnavailableError } from '#ports/errors';
import { hiddenMs, steps } from '#ports/limits';
import { queueNames } from '#ports/messages';
import { pauseMs } from '#roles/dead-letters/redelivery-delay';
import { queueEvent } from '#runtime/host/event-source';
import { topologyOf } from '#runtime/topology';
import { create as schedulerFunction } from '../../functions/scheduler.ts';
import { type DeskOptions, lineOf, noting, ok, openDesk, replyTo, sendingFails, stepsNamed, submitted, timePasses } from './support.ts';

const replies = queueNames.replies('worker');
/** A time longer than any step of these tests takes. */
const hiddenForMs = 180_000;

/** An order whose first step has just been answered. The reply stays invisible for longer than a step may take. */
async function answered(context: TestContext, around: DeskOptions['around'] = () => ({})) {
  const desk = openDesk(context, lineOf(stepsNamed('charge', 'ship')), { writesAndSendsAtomically: false, around });
  const orderId = await submitted(desk);
  await desk.send(replies, replyTo(await desk.request(), ok(), desk.clock.now()));
  /** Delivers one batch as Lambda does: failed messages stay invisible unless the function itself releases them. */
  async function deliver(): Promise<number> {
    const received = await desk.queues.receive(replies, { max: 10, visibilityMs: hiddenForMs, waitMs: 0 });
    const handle = schedulerFunction({ system: desk.system, environment: {}, accepting: () => true });
    const { batchItemFailures } = await timePasses(desk.clock, handle(queueEvent(replies, received)));
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = received.filter(({ messageId }) => !failed.has(messageId));
    await desk.queues.acknowledge(
      replies,
      done.map(({ receipt }) => receipt),
    );
    return done.length;
  }
  return { desk, orderId, deliver };
}

describe('after a transient failure a message is redelivered within seconds, whatever its visibility timeout', () => {
  test('X-9, S15: a reply whose write was throttled still arrives within the time of its step', async (context) => {
    let isThrottled = true;
    const { desk, orderId, deliver } = await answered(context, ({ store }) => ({
      store: {
        ...store,
        update: (...write) =>
          isThrottled ? Promise.reject(new StoreUnavailableError('throttled', { fatal: false })) : store.update(...write),
      },
    }));
    assert.equal(await deliver(), 0);
    isThrottled = false;
    await desk.clock.advance(2_000);
    assert.equal(await deliver(), 1);
    assert.equal((await desk.request()).operation, 'ship');
    assert.equal((await desk.state(orderId)).failureCount, 0);
  });

  test('X-9, S15: when the store is throttled, a reply is tried once and requeued, and no failure is counted', async (context) => {
    const tried: string[] = [];
    let isThrottled = true;
    const { desk, deliver } = await answered(context, ({ store }) => ({
      store: {
        ...store,
        update: (...write) =>
          isThrottled
            ? noting(tried, 'update', Promise.reject(new StoreUnavailableError('throttled', { fatal: false, throttled: true })))
            : store.update(...write),
      },
    }));
    assert.equal(await deliver(), 1, 'the message itself is acknowledged');
    const { postedAnew, recordFailed = 0 } = desk.telemetry.counts();
    assert.deepEqual([tried.length, postedAnew, recordFailed], [1, 1, 0]);
    isThrottled = false;
    await desk.clock.advance(1_000);
    assert.equal(await deliver(), 1);
    assert.equal((await desk.request()).operation, 'ship');
  });

  test('X-9, S15: a request that was stored but not sent is sent before its step expires', async (context) => {
    let isAway = false;
    const { desk, orderId, deliver } = await answered(
      context,
      sendingFails(queueNames.requests('worker'), () => isAway),
    );
    isAway = true;
    assert.equal(await deliver(), 0);
    isAway = false;
    await desk.clock.advance(2_000);
    assert.equal(await deliver(), 1);
    assert.equal((await desk.request()).operation, 'ship');
    assert.equal((await desk.state(orderId)).failureCount, 0);
  });

  test('X-9: when the call that makes a reply visible again fails, the reply is redelivered after its visibility timeout', async (context) => {
    let isAway = true;
    const { desk, deliver } = await answered(context, ({ store, queues }) => ({
      store: { ...store, update: (...write) => (isAway ? Promise.reject(new Error('away')) : store.update(...write)) },
      queues: { ...queues, release: (...them) => (isAway ? Promise.reject(new Error('away')) : queues.release(...them)) },
    }));
    assert.equal(await deliver(), 0);
    isAway = false;
    await desk.clock.advance(hiddenForMs - 10_000);
    assert.equal(await deliver(), 0);
    await desk.clock.advance(10_000);
    assert.equal(await deliver(), 1);
  });
});

describe('the pause before a redelivery', () => {
  const pauses = (failure: 'transient' | 'content', random: number) =>
    [1, 2, 3, 4, 5, 30, 60, 900].map((receiveCount) => pauseMs({ receiveCount }, failure, random) / 1000);

  test('X-9, S14: grows with each delivery: to ten seconds after a few deliveries, and to a minute after many, with jitter', () => {
    assert.deepEqual(pauses('transient', 0.5), [1, 2, 4, 8, 10, 30, 60, 60]);
    assert.deepEqual(pauses('transient', 0), [0.5, 1, 2, 4, 5, 15, 30, 30]);
  });

  test('F-110: is always half a minute when the content of a message cannot be processed', () => {
    assert.deepEqual(new Set(pauses('content', 0.9)), new Set([30]));
  });
});

test('X-9, S15: when a deployed process crashes, its messages are redelivered within the time of a step, but no request is redelivered while its agent handles it', () => {
  for (const spec of topologyOf(lineOf(stepsNamed('charge'))))
    if (spec.file === 'agent') assert.ok(hiddenMs(spec) >= 6 * spec.timeoutMs);
    else if (spec.sources.length > 0) assert.ok(hiddenMs(spec) > spec.timeoutMs && hiddenMs(spec) < steps.stepMs - 10_000, spec.name);
});

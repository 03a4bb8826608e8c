import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { manualClock } from '#ports/clock';
import type { Request } from '#ports/messages';
import { acquireLease } from '#roles/scheduler/lease';
import { attemptsMax, pauseMs } from '#roles/scheduler/races';
import {
  lineOf,
  noting,
  ok,
  openDesk,
  replyTo,
  stateIn,
  stepsIn,
  stepsNamed,
  submitted,
  tea,
  temporaryFolder,
  timePasses,
  updating,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));

/** Lets `left` writes lose a race against a foreign write. */
const losing = (races: { left: number; lost: number }) =>
  updating(async (store, state, ...rest) => {
    const head = races.left-- > 0 ? await store.head(state.orderId) : undefined;
    if (head) races.lost += 1;
    if (head) await store.patch({ ...head, rev: head.rev + 1 }, head);
    return store.update(state, ...rest);
  });

describe('a message whose write loses a race', () => {
  test('F-13: is applied to the winning record, in the same invocation', async (context) => {
    const races = { left: attemptsMax - 1, lost: 0 };
    const desk = openDesk(context, line, { around: losing(races) });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request());
    assert.equal((await desk.request()).path, 'order/pack');
    assert.deepEqual([races.lost, desk.telemetry.counts()['raceLost'], (await desk.state(orderId)).rev], [4, 4, 6]);
    assert.deepEqual(desk.messages('worker-replies'), []);
  });

  test('F-13, S15: is retried after pauses whose length depends on the order and the attempt', async (context) => {
    const time = manualClock();
    const slept: number[] = [];
    const clock = { ...time, sleep: (ms: number, signal?: AbortSignal) => noting(slept, ms, time.sleep(ms, signal)) };
    const desk = openDesk(context, line, { clock, around: losing({ left: attemptsMax - 1, lost: 0 }) });
    const orderId = await submitted(desk);
    const request = await desk.request();
    slept.length = 0;
    await desk.answer(request);
    assert.deepEqual(
      slept,
      [2, 3, 4, 5].map((attempt) => pauseMs(`host-one/${orderId}`, attempt)),
    );
  });

  for (const writesAndSendsAtomically of [true, false]) {
    test(`F-13: is requeued after five lost races and acknowledged, so that it never becomes a dead letter (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
      const races = { left: attemptsMax, lost: 0 };
      const desk = openDesk(context, line, { writesAndSendsAtomically, around: losing(races) });
      await submitted(desk);
      const request = await desk.request();
      const reply = replyTo(request, ok(), desk.clock.now());
      await desk.send('worker-replies', reply);
      assert.equal(await desk.deliver('worker-replies'), 0, 'it does not count as a failed delivery');
      assert.deepEqual(desk.messages('worker-replies'), [reply], 'the same message, with the time of its first send');
      assert.deepEqual([desk.telemetry.counts()['raceLost'], desk.telemetry.counts()['postedAnew']], [5, 1]);
      await desk.clock.advance(1000);
      assert.equal((await desk.queues.receive('worker-replies', { max: 1, visibilityMs: 0, waitMs: 0 }))[0]?.receiveCount, 1);

      await desk.deliver('worker-replies');
      assert.equal((await desk.request()).path, 'order/pack');
    });
  }
});

describe('an order whose lease another host holds', () => {
  const leased = async (desk: ReturnType<typeof openDesk>, orderId: string, holder: string, leaseMs = 30_000) => {
    const lease = await timePasses(desk.clock, acquireLease(desk.store, orderId, { holder, leaseMs, clock: desk.clock }));
    assert.ok(lease);
    return lease;
  };

  test('F-26, F-27: has its message requeued until the lease ends, and the message then meets the state that the holder left', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const lease = await leased(desk, orderId, 'host-two');
    const before = await desk.state(orderId);
    await desk.answer(request);
    assert.deepEqual(await desk.state(orderId), before, 'nothing happens to the order meanwhile');
    const depth = await desk.queues.depth('worker-replies');
    assert.deepEqual([depth.visible, depth.inFlight, depth.delayed], [0, 0, 1]);

    await lease.release();
    const { heldBy, heldUntil } = await desk.state(orderId);
    assert.deepEqual([heldBy, heldUntil], [null, null], 'nothing of the lease is left');
    await desk.clock.advance(29_999);
    assert.equal((await desk.queues.depth('worker-replies')).visible, 0);
    await desk.clock.advance(1);
    await desk.deliver('worker-replies');
    assert.equal((await desk.request()).path, 'order/pack', 'the reply still counts, because it was sent in time');
  });

  test('F-26: has its wake-up requeued as well, for a quarter of an hour at most', async (context) => {
    const desk = openDesk(context, line, { variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(desk);
    await leased(desk, orderId, 'host-two', 3_600_000);
    await desk.deliver('wake-ups');
    assert.equal((await desk.state(orderId)).processState, 'Pending');
    await desk.clock.advance(900_000);
    assert.equal((await desk.queues.depth('wake-ups')).visible, 1);
  });

  test('F-26: is continued by the holder itself, and by any host after the lease has expired', async (context) => {
    const desk = openDesk(context, line, { hostId: 'host-one' });
    const orderId = await submitted(desk);
    await leased(desk, orderId, 'host-one');
    await desk.answer(await desk.request());
    const pack = await desk.request();
    assert.equal(pack.path, 'order/pack');

    await desk.clock.advance(5_000);
    await leased(desk, await submitted(desk, tea, { key: 'other' }), 'host-two', 1_000);
    const other = await desk.request();
    await desk.clock.advance(1_000);
    await desk.answer(other);
    assert.equal((await desk.request()).orderId, other.orderId);
  });

  test('F-26: has two messages on two hosts applied one after the other, the second to the state that the first left', async (context) => {
    const step = operation({ input: z.object({}), output: z.object({}), run: () => ({}) });
    const worker = defineAgent('worker', { left: step, right: step, last: step });
    const app = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
          sequence(parallel(worker.left({}), worker.right({})), worker.last({})),
        ),
      ],
      agents: [worker],
    });
    const dataFolder = temporaryFolder(context);
    const one = openDesk(context, app, { dataFolder, hostId: 'host-one' });
    const two = openDesk(context, app, { dataFolder, hostId: 'host-two', clock: one.clock });
    const orderId = await submitted(one);
    const [left, right] = (await one.requests()) as [Request, Request];
    const replyOf = (request: Request) => ({
      id: request.requestId,
      type: 'reply' as const,
      requestId: request.requestId,
      agent: 'worker',
      sentAt: one.clock.now(),
      reply: { status: 'succeeded' as const, output: {} },
    });
    await timePasses(
      one.clock,
      Promise.all([one.system.scheduler.accept(orderId, [replyOf(left)], []), two.system.scheduler.accept(orderId, [replyOf(right)], [])]),
    );

    assert.deepEqual(
      (await stepsIn(one, orderId)).map(({ name, result }) => `${name} ${result}`),
      ['left Succeeded', 'right Succeeded', 'last null'],
    );
    assert.equal((await two.request()).path, 'order/last');
    assert.equal((await stateIn(two.store, orderId)).heldBy, null);
  });
});

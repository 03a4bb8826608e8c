import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, type Json, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Reply, Request } from '#ports/messages';
import { type Desk, type DeskOptions, failed, lineOf, ok, openDesk, replyTo, sendingFails, stepsNamed, submitted } from './support.ts';

const output = z.object({ id: z.string(), at: z.iso.datetime().optional() });
const first = defineAgent('first', { pick: operation({ input: z.object({}), output, run: () => ({ id: 'never' }) }) });
const second = defineAgent('second', { ship: operation({ input: z.object({}), output, run: () => ({ id: 'never' }) }) });
const app = defineApp({
  workflows: [
    defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () => sequence(first.pick({}), second.ship({}))),
  ],
  agents: [first, second],
});

/** An order whose first step has been requested. */
async function firstRequest(context: TestContext, options: DeskOptions = {}): Promise<{ desk: Desk; orderId: string; request: Request }> {
  const desk = openDesk(context, app, options);
  const orderId = await submitted(desk);
  return { desk, orderId, request: await desk.request('first') };
}
const good = ok({ id: 'r-1' });

describe('a reply is accepted', () => {
  test('F-38: when it is valid and in time: its step closes and the order continues to its end', async (context) => {
    const { desk, orderId, request } = await firstRequest(context);
    await desk.answer(request, good, { agent: 'first' });
    await desk.answer(await desk.request('second'), good, { agent: 'second' });
    const { processState, outcome } = await desk.state(orderId);
    assert.deepEqual([processState, outcome], ['Processed', 'completed']);
  });

  test('F-38: if it was sent in time and arrives late, as long as no new attempt was requested', async (context) => {
    const { desk, orderId, request } = await firstRequest(context);
    const sentAt = desk.clock.now() + 9_999;
    await desk.clock.advance(60_000);
    await desk.supervisor.pass();
    assert.equal(
      (await desk.state(orderId)).failureCount,
      1,
      'the supervisor has counted, and the scheduler has not requested the step again',
    );
    await desk.answer(request, good, { agent: 'first', sentAt });
    assert.equal((await desk.request('second')).path, 'order/ship');
  });
});

describe('a reply is not accepted', () => {
  const wrongs: readonly (readonly [string, (request: Request, desk: Desk, orderId: string) => Promise<unknown>])[] = [
    [
      'names another attempt',
      (request, desk) =>
        desk.answer({ ...request, requestId: request.requestId.replace('#1.1', '#1.2'), attempt: 2 }, good, { agent: 'first' }),
    ],
    [
      'names an attempt of another claim',
      (request, desk) =>
        desk.answer({ ...request, requestId: request.requestId.replace('#1.1', '#2.1'), epoch: 2 }, good, { agent: 'first' }),
    ],
    [
      'names a step that was not requested',
      (request, desk) =>
        desk.answer({ ...request, requestId: request.requestId.replace('pick', 'ship'), path: 'order/ship' }, good, { agent: 'second' }),
    ],
    [
      'names an unknown step',
      (request, desk, orderId) =>
        desk.answer({ ...request, requestId: `${orderId}/constructor/1#1.1`, path: 'constructor' }, good, { agent: 'first' }),
    ],
    ['names no attempt', (request, desk) => desk.answer({ ...request, requestId: 'r-1' }, good, { agent: 'first' })],
    ['gives another attempt than its request id', (request, desk) => desk.answer(request, good, { agent: 'first', attempt: 2 })],
    ['gives another epoch than its request id', (request, desk) => desk.answer(request, good, { agent: 'first', epoch: 7 })],
    ['gives another step than its request id', (request, desk) => desk.answer(request, good, { agent: 'first', path: 'order/ship' })],
    [
      'gives another order than its request id',
      async (request, desk) => desk.answer({ ...request, orderId: await submitted(desk) }, good, { agent: 'first' }),
    ],
    ['arrives on the queue of another agent', (request, desk) => desk.answer(request, good, { agent: 'second' })],
    ['has an output of the wrong type', (request, desk) => desk.answer(request, ok({ id: 7 }), { agent: 'first' })],
    ['has an output with an unknown field', (request, desk) => desk.answer(request, ok({ id: 'r-1', lockedBy: 'me' }), { agent: 'first' })],
    ['has no output', (request, desk) => desk.answer(request, { status: 'succeeded' } as never, { agent: 'first' })],
    ['has a fault with an invalid name', (request, desk) => desk.answer(request, failed('card-declined'), { agent: 'first' })],
    ['has a result of an unknown kind', (request, desk) => desk.answer(request, { status: 'perhaps' } as never, { agent: 'first' })],
    [
      'was sent after the deadline',
      (request, desk) => desk.answer(request, good, { agent: 'first', sentAt: Date.parse(request.completeBy) + 1 }),
    ],
    [
      'has another version',
      (request, desk) =>
        desk.send('first-replies', { ...replyTo(request, good, desk.clock.now()), v: 2 }).then(() => desk.deliver('first-replies')),
    ],
  ];
  for (const [what, answer] of wrongs) {
    test(`F-38: when it ${what}; the valid reply after it is accepted`, async (context) => {
      const { desk, orderId, request } = await firstRequest(context);
      const before = await desk.state(orderId);
      await answer(request, desk, orderId);
      assert.deepEqual(await desk.state(orderId), before);
      assert.deepEqual(await desk.requests('second'), []);

      await desk.take('first-replies');
      await desk.answer(request, good, { agent: 'first' });
      assert.equal((await desk.request('second')).path, 'order/ship');
    });
  }

  test('F-38: when it is not a message: it is dead-lettered at once, and its neighbors are accepted', async (context) => {
    const { desk, request } = await firstRequest(context);
    for (const nonsense of ['', '{', '[]', 'null', '{"v":1,"type":"reply"}']) await desk.send('first-replies', nonsense);
    await desk.send('first-replies', replyTo(request, good, desk.clock.now()));
    assert.equal(await desk.deliver('first-replies'), 0);
    assert.equal(desk.messages('first-replies-dead').length, 5);
    assert.equal((await desk.request('second')).path, 'order/ship');
  });
});

describe('a reply that arrives too late changes nothing', () => {
  /** Asserts that `rev` is unchanged and that the message was acknowledged. */
  async function changesNothing(
    desk: Desk,
    orderId: string,
    request: Request,
    result: Reply['result'] = good,
    sentAt?: number,
  ): Promise<void> {
    const before = await desk.store.load(orderId);
    const stale = desk.telemetry.counts()['staleReply'] ?? 0;
    await desk.answer(request, result, { agent: 'first', ...(sentAt === undefined ? {} : { sentAt }) });
    assert.deepEqual(await desk.store.load(orderId), before);
    assert.deepEqual(desk.messages('first-replies'), [], 'it is acknowledged');
    assert.equal(desk.telemetry.counts()['staleReply'], stale + 1);
  }

  test('F-42: after a new attempt was requested', async (context) => {
    const { desk, orderId, request } = await firstRequest(context);
    const sentAt = desk.clock.now();
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    await changesNothing(desk, orderId, request, good, sentAt);
    await changesNothing(desk, orderId, request, failed('Broken'), sentAt);
  });

  test('F-42, F-50: after the order was reset, before and after its next claim', async (context) => {
    const reset = openDesk(context, { ...app, workflows: app.workflows.map((workflow) => ({ ...workflow, recover: 'order' as const })) });
    const orderId = await submitted(reset);
    const request = await reset.request('first');
    const sentAt = reset.clock.now();
    await reset.clock.advance(10_000);
    await reset.supervisor.pass();
    assert.equal((await reset.state(orderId)).processState, 'Pending');
    await changesNothing(reset, orderId, request, good, sentAt);

    await reset.deliver('wake-ups');
    assert.deepEqual([(await reset.state(orderId)).processState, (await reset.state(orderId)).epoch], ['Processing', 3]);
    await changesNothing(reset, orderId, request, good, sentAt);
  });

  test('F-42: after its step was answered, and after the end of the order', async (context) => {
    const { desk, orderId, request } = await firstRequest(context);
    await desk.answer(request, good, { agent: 'first' });
    const last = await desk.request('second');
    await changesNothing(desk, orderId, request, failed('Broken'));
    await desk.answer(last, good, { agent: 'second' });
    await changesNothing(desk, orderId, request);
    assert.equal((await desk.state(orderId)).processState, 'Processed');
  });

  test('F-42: for an unknown order: it is acknowledged and counted', async (context) => {
    const { desk, request } = await firstRequest(context);
    const orderId = 'ord_unknown';
    await desk.answer({ ...request, orderId, requestId: request.requestId.replace(request.orderId, orderId) }, good, { agent: 'first' });
    assert.deepEqual(desk.messages('first-replies'), []);
    assert.equal(desk.telemetry.counts()['unknownOrder'], 1);
  });
});

describe('when no reply arrives', () => {
  /** The outside view of an order that was not touched since its deadline. */
  const picture = async (desk: Desk, orderId: string): Promise<Json> => {
    const { processState, completeBy, lockedBy, epoch, rev, failureCount } = await desk.state(orderId);
    return { processState, isOverdue: completeBy !== null && completeBy < desk.clock.now(), lockedBy, epoch, rev, failureCount };
  };
  const overdue = { processState: 'Processing', isOverdue: true, lockedBy: 'host-one', epoch: 1, rev: 1, failureCount: 0 };

  test('F-40: after the deadline the record stays as it is: Processing, with a deadline in the past', async (context) => {
    const { desk, orderId, request } = await firstRequest(context);
    await desk.clock.advance(10_001);
    assert.deepEqual(await picture(desk, orderId), overdue);
    await desk.answer(request, good, { agent: 'first', sentAt: desk.clock.now() });
    await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString() });
    await desk.deliver('wake-ups');
    assert.deepEqual(await picture(desk, orderId), overdue, 'neither the late reply nor a read causes a write');
  });

  test('F-41: a crashed agent, a silent agent and a lost request look the same, and the supervisor treats them alike', async (context) => {
    const ends: Json[] = [];
    const silent = lineOf({ pick: () => new Promise(() => {}) });
    const crashing = lineOf({ pick: () => ({}) });
    const ways: readonly (readonly [typeof silent, DeskOptions, (desk: Desk) => Promise<unknown>])[] = [
      [silent, {}, (desk) => desk.deliver('worker-requests')],
      // Crashes after its work, just before it replies.
      [crashing, { around: sendingFails('worker-replies', () => true) }, (desk) => desk.deliver('worker-requests')],
      [crashing, {}, (desk) => desk.take('worker-requests')],
    ];
    for (const [line, options, happens] of ways) {
      const desk = openDesk(context, line, options);
      const orderId = await submitted(desk);
      await happens(desk);
      // The silent agent ran until its deadline. This brings all three to the same moment.
      await desk.clock.advance(Date.UTC(2026, 0, 1, 0, 0, 11) - desk.clock.now());
      const before = await picture(desk, orderId);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      ends.push({
        before,
        after: await picture(desk, orderId),
        firstRequest: desk.messages('worker-requests').at(-1)?.['attempt'] as Json,
      });
    }
    const after = { ...overdue, isOverdue: false, rev: 3, failureCount: 1 };
    assert.deepEqual(ends, [
      { before: overdue, after, firstRequest: 2 },
      { before: overdue, after, firstRequest: 2 },
      { before: overdue, after, firstRequest: 2 },
    ]);
  });

  test('F-40: the former host writes nothing more once another host has claimed the order', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack'), { recover: 'order' }));
    const orderId = await submitted(desk);
    const stale = await desk.state(orderId);
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const write = await desk.store.update({ ...stale, rev: stale.rev + 1, processState: 'Processed' }, stale, {
      messages: [{ queue: 'worker-requests', body: '{}' }],
      announcements: [],
    });
    assert.equal(write.outcome, 'refused');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.ok(!desk.messages('worker-requests').some((message) => Object.keys(message).length === 0), 'a refused write sends nothing');
  });
});

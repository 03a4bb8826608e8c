import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { rolloutMs } from '#ports/errors';
import { queueNames } from '#ports/messages';
import { lineOf, ok, openDesk, replyTo, stepsNamed, submitted, temporaryFolder, typesOf } from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const newer = (message: object): string => JSON.stringify({ ...message, v: 2, more: { of: 'it' } });

describe('a message of a newer version', () => {
  const cases: readonly (readonly [queue: string, message: (context: TestContext) => object])[] = [
    ['worker-requests', () => ({ type: 'request', requestId: 'o/p/1#1.1' })],
    ['worker-replies', () => ({ type: 'reply', orderId: 'o', path: 'p' })],
    ['wake-ups', () => ({ type: 'wake-up', orderId: 'o' })],
    ['submissions', () => ({ type: 'submission', client: 'acme' })],
  ];
  for (const [queue, message] of cases) {
    test(`X-13, X-35: is requeued unchanged to ${queue}, and dead-lettered with the reason after an hour`, async (context) => {
      const desk = openDesk(context, line);
      await desk.send(queue, newer(message(context)));
      const { waitsSince: _, ...sent } = JSON.parse(newer(message(context)));
      // The delay grows, so that a message duplicated by each delivery does not become thousands.
      for (const seconds of [5, 20, 100, 500, 900, 900, 900, 900]) {
        assert.equal(await desk.deliver(queue), 0);
        assert.deepEqual(
          desk.messages(queue).map(({ waitsSince: since, ...rest }) => [typeof since, rest]),
          [['string', sent]],
        );
        await desk.clock.advance(seconds * 1000 - 1);
        assert.equal(await desk.deliver(queue), 0, `not before ${seconds} seconds have passed`);
        await desk.clock.advance(1);
      }
      assert.deepEqual(desk.announced(), []);
      assert.deepEqual([await desk.deliver(queue), desk.messages(`${queue}-dead`).length], [0, 1]);
    });
  }

  test('X-13: delays no other message, and a process of its version processes it', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const reply = replyTo(request, ok(), desk.clock.now());
    await desk.send('worker-replies', newer({ type: 'reply', orderId: 'another' }));
    await desk.send('worker-replies', reply);
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.equal((await desk.request()).path, 'order/pack');
    // Fields of the newer version mean nothing here, and the requeue note means nothing there.
    await desk.send('worker-replies', { ...replyTo(request, ok(), 0), waitsSince: '2026-01-01T00:00:00.000Z' });
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('L6: is dead-lettered after waiting too long, and a person is notified of what to do', async (context) => {
    const desk = openDesk(context, line);
    await desk.send('wake-ups', newer({ type: 'wake-up', orderId: 'o' }));
    await desk.deliver('wake-ups');
    await desk.clock.advance(rolloutMs);
    await desk.deliver('wake-ups');
    const [kept] = await desk.deadLetter();
    assert.match(
      String(kept?.reason),
      /^This message needs another version of the app, .* Deploy that version, then resubmit the message\.$/,
    );
    assert.partialDeepStrictEqual(JSON.parse(String(kept?.body)), { v: 2, more: { of: 'it' } });
    assert.deepEqual(typesOf(desk.announced()), ['Message Dead-Lettered']);
  });
});

describe('during a deployment, while the parts of an app differ', () => {
  test('X-36: a step whose operation an agent does not have yet is requested again, and a newer agent runs it', async (context) => {
    const dataFolder = temporaryFolder(context);
    const desk = openDesk(context, lineOf(stepsNamed('pick')), { dataFolder });
    const orderId = await submitted(desk);
    const old = openDesk(context, lineOf(stepsNamed('pack')), { dataFolder, clock: desk.clock });
    await old.deliver('worker-requests');
    await desk.deliver('worker-replies');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    await desk.answer(await desk.request());
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('X-36: a call of an unknown workflow is requeued, and is refused only after the time limit of the call', async (context) => {
    const desk = openDesk(context, line);
    const completeBy = new Date(desk.clock.now() + 90_000).toISOString();
    const requestIds = { requestId: 'o/stay/1#1.1', orderId: 'o', path: 'stay', attempt: 1, epoch: 1, idempotencyKey: 'o/stay/1' };
    await desk.send(queueNames.calls, {
      v: 1,
      type: 'request',
      ...requestIds,
      operation: 'stay@2',
      completeBy,
      remainingMs: 90_000,
      input: {},
    });
    for (const waiting of [1, 1, 0]) {
      assert.equal(await desk.deliver(queueNames.calls), 0);
      assert.deepEqual([desk.messages(queueNames.calls).length, desk.messages(queueNames.callReplies).length], [waiting, 0]);
      await desk.clock.advance(waiting === 1 && desk.clock.now() > Date.parse(completeBy) - 90_000 ? 240_000 : 60_000);
    }
  });
});

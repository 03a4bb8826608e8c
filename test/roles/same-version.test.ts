import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { rolloutMs } from '#ports/errors';
import { wakeUpMessage } from '#ports/messages';
import { type Desk, lineOf, openDesk, stepsNamed, submitted, temporaryFolder, typesOf } from './support.ts';

const deployed = (steps: readonly string[]) => lineOf(stepsNamed(...steps));

/** A running order whose first step is done and whose second step is running, and its data folder. */
async function underWay(context: TestContext, steps: readonly string[], answers: number) {
  const dataFolder = temporaryFolder(context);
  const desk = openDesk(context, deployed(steps), { dataFolder });
  const orderId = await submitted(desk);
  for (let done = 0; done < answers; done++) await desk.answer(await desk.request());
  const request = await desk.request();
  const after = (edited: readonly string[]): Desk =>
    openDesk(context, deployed(edited), { dataFolder, clock: desk.clock, hostId: 'host-two' });
  return { desk, orderId, request, after };
}

const instruct = ({ system }: Desk, orderId: string) =>
  system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'eva', reason: 'deployed again' }, { id: 'resubmit-1' });

describe('a workflow that is edited under the same version while an order runs', () => {
  const edits: readonly (readonly [what: string, before: readonly string[], after: readonly string[], answers: number])[] = [
    ['a step before the running one is removed', ['a', 'b', 'c'], ['b', 'c'], 1],
    ['a step is added in front', ['b', 'c'], ['a', 'b', 'c'], 1],
    ['steps change places', ['a', 'b', 'c'], ['c', 'b', 'a'], 1],
    ['the running step is renamed', ['a', 'b'], ['a', 'c'], 1],
  ];
  for (const [what, before, edited, answers] of edits)
    test(`S20: ${what}: the order is blocked, and completes with the original definition`, async (context) => {
      const { desk, orderId, request, after } = await underWay(context, before, answers);
      await desk.clock.advance(rolloutMs);
      const other = after(edited);
      await other.answer(request);
      const { processState, fault } = await other.state(orderId);
      assert.deepEqual([processState, fault?.type, await other.requests()], ['Error', 'RecordUnreadable', []]);
      assert.match(
        String(fault?.message),
        /line@1 has changed since this order began\. Give the changed workflow a new version, or deploy/,
      );
      assert.deepEqual(typesOf(other.announced()), ['Service Exception', 'Order In Error']);
      await assert.rejects(instruct(other, orderId), /has changed since this order began/);

      assert.equal((await instruct(desk, orderId)).outcome, 'done');
      const requested: string[] = [];
      for (let [next] = await desk.requests(); next; [next] = await desk.requests()) {
        requested.push(next.path);
        await desk.answer(next);
      }
      assert.deepEqual(
        requested,
        before.slice(answers).map((step) => `order/${step}`),
      );
      assert.equal((await desk.state(orderId)).outcome, 'completed');
    });

  test('S20, X-35: within an hour of the submission of the order a reply is requeued, because the other definition may be the newer one', async (context) => {
    const { desk, orderId, request, after } = await underWay(context, ['a', 'b'], 1);
    const other = after(['b']);
    await other.answer(request);
    assert.deepEqual([(await other.state(orderId)).processState, other.messages('worker-replies').length], ['Processing', 1]);
    await desk.clock.advance(5_000);
    await desk.deliver('worker-replies');
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('S20: an order of an older release without a recorded definition continues as before', async (context) => {
    const { desk, orderId, request } = await underWay(context, ['a', 'b'], 1);
    desk.database.prepare("UPDATE states SET head = json_remove(head, '$.definition')").run();
    await desk.answer(request);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('S20, S7: the reply of an at-most-once step is requeued for an hour, then dead-lettered, and counts after the old version is back', async (context) => {
    const dataFolder = temporaryFolder(context);
    const once = (version: number) => lineOf(stepsNamed('a', 'b'), { version, operation: { atMostOnce: true } });
    const desk = openDesk(context, once(1), { dataFolder });
    const orderId = await submitted(desk);
    const request = await desk.request();
    const without = openDesk(context, once(2), { dataFolder, clock: desk.clock, hostId: 'host-two' });
    await without.answer(request);
    assert.deepEqual([(await without.state(orderId)).fault?.type, without.messages('worker-replies').length], ['RecordUnreadable', 1]);
    await desk.clock.advance(rolloutMs);
    await without.deliver('worker-replies');
    const [{ id, body, reason } = assert.fail(), ...others] = await without.deadLetter();
    assert.match(reason, /^This message needs another version of the app, /);
    assert.deepEqual([JSON.parse(body).requestId, others], [request.requestId, []]);

    await desk.send('worker-replies', body);
    await desk.deliver('worker-replies');
    assert.equal((await instruct(desk, orderId)).outcome, 'done', id);
    assert.equal((await desk.request()).path, 'order/b');
  });

  test('S20: a wake-up that meets the changed workflow is dropped, because the supervisor sends another', async (context) => {
    const { desk, orderId, after } = await underWay(context, ['a', 'b'], 1);
    await desk.clock.advance(rolloutMs);
    const other = after(['b']);
    await other.send('wake-ups', wakeUpMessage(orderId, desk.clock.now()));
    assert.equal(await other.deliver('wake-ups'), 0);
    assert.deepEqual([(await other.state(orderId)).fault?.type, other.messages('wake-ups')], ['RecordUnreadable', []]);
  });

  test('S20: a second reply to a finished order is dropped too', async (context) => {
    const { desk, orderId, request, after } = await underWay(context, ['a', 'b'], 1);
    await desk.answer(request);
    assert.equal((await desk.state(orderId)).processState, 'Processed');
    await desk.clock.advance(rolloutMs);
    const other = after(['b']);
    await other.answer(request);
    assert.deepEqual([(await other.state(orderId)).processState, other.messages('worker-replies')], ['Processed', []]);
  });

  test('S20, X-36: properties that an operation declares at each start may change without stopping an order', async (context) => {
    const { desk, orderId, request } = await underWay(context, ['a', 'b'], 1);
    const timed = lineOf(stepsNamed('a', 'b'), { operation: { completeWithinSeconds: 7, longestSeconds: 70 } });
    assert.equal(openDesk(context, timed).system.definitions.programOf(await desk.state(orderId))?.definition.version, 1);
    await desk.answer(request);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });
});

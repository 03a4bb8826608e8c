import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { collections } from '#ports/documents';
import { queueNames } from '#ports/messages';
import { keepWhileLocked, sendKept } from '#roles/scheduler/inbox';
import { acquireLease, isLocked } from '#roles/scheduler/lease';
import { type Desk, type DeskOptions, journalOf, lineOf, openDesk, stepsNamed, submitted, timePasses } from './support.ts';

const secondMs = 1000;
let ids = 0;
const idOf = () => `call-${++ids}`;

const lock = (desk: Desk, orderId: string, { by = 'olga', seconds = 60 } = {}) =>
  timePasses(desk.clock, desk.system.scheduler.locking.lock(orderId, { id: idOf(), by, seconds, reason: 'I look into it' }));
const unlock = (desk: Desk, orderId: string, { by = 'olga', anyones = false } = {}) =>
  timePasses(desk.clock, desk.system.scheduler.locking.unlock(orderId, { id: idOf(), by, anyones }));
const instruct = (desk: Desk, orderId: string, kind: 'suspend' | 'resume' | 'terminate', by: string) =>
  timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind, by, reason: 'I decided' }, { id: idOf(), caller: by }));

/** An order that olga has locked while its first step was at work for four seconds. */
async function locked(context: TestContext, options: DeskOptions = {}) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two')), options);
  const orderId = await submitted(desk);
  const request = await desk.request();
  await desk.clock.advance(4 * secondMs);
  assert.equal((await lock(desk, orderId)).outcome, 'locked');
  return { desk, orderId, request };
}

const typesIn = async (desk: Desk, orderId: string) => (await journalOf(desk, orderId)).map(({ type }) => type);
const requested = async (desk: Desk) => (await desk.requests()).map(({ path, attempt }) => `${path} ${attempt}`);

/** Delivers what the supervisor and the scheduler send each other, as running functions do. */
async function settle(desk: Desk): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await timePasses(desk.clock, desk.supervisor.pass());
    for (const queue of [queueNames.wakeUps, queueNames.replies('worker')]) await desk.deliver(queue);
  }
}

for (const writesAndSendsAtomically of [true, false])
  describe(`an order that a person has locked, on a store that writes and sends ${writesAndSendsAtomically ? 'in one' : 'in two steps'}`, () => {
    const open = (context: TestContext) => locked(context, { writesAndSendsAtomically });

    test('F-179: a reply that arrives during the lock is applied when the holder releases the lock, long before the lock would expire', async (context) => {
      const { desk, orderId, request } = await open(context);
      const { rev } = await desk.state(orderId);
      await desk.answer(request);
      assert.deepEqual([await requested(desk), (await desk.state(orderId)).rev], [[], rev]);
      await desk.clock.advance(secondMs);
      assert.equal((await unlock(desk, orderId)).outcome, 'unlocked');
      await settle(desk);
      assert.deepEqual(await requested(desk), ['order/two 1']);
      const { heldBy, heldUntil } = await desk.state(orderId);
      assert.deepEqual([heldBy, heldUntil], [null, null]);
      const noted = (await typesIn(desk, orderId)).filter((type) => type !== 'StepExtended');
      assert.deepEqual(noted.slice(-5), ['OrderLocked', 'OrderUnlocked', 'StateChanged', 'ActivityClosed', 'StepRequested']);
    });

    test('F-22: a lock whose holder went away expires, and the order goes on with the messages of its inbox', async (context) => {
      const { desk, orderId, request } = await open(context);
      await desk.answer(request);
      await desk.clock.advance(59 * secondMs);
      await settle(desk);
      assert.equal((await desk.state(orderId)).heldBy, 'person:olga');
      await desk.clock.advance(2 * secondMs);
      await settle(desk);
      assert.deepEqual(await requested(desk), ['order/two 1']);
      const unlocked = (await journalOf(desk, orderId)).find(({ type }) => type === 'OrderUnlocked');
      assert.partialDeepStrictEqual(unlocked, { by: 'olga', expired: true });
    });

    test('S38: when the lock of a suspended order expires, the order is unlocked and applies the messages of its inbox', async (context) => {
      const { desk, orderId, request } = await open(context);
      assert.equal((await instruct(desk, orderId, 'suspend', 'olga')).outcome, 'done');
      await desk.answer(request);
      await desk.clock.advance(61 * secondMs);
      await settle(desk);
      assert.deepEqual([(await desk.state(orderId)).heldBy, desk.messages(queueNames.replies('worker'))], [null, []]);
      assert.equal((await instruct(desk, orderId, 'resume', 'otto')).outcome, 'done');
      await settle(desk);
      assert.deepEqual(await requested(desk), ['order/two 1']);
    });

    test('F-16: the deadlines of a locked order stand still: no expiry counts, and its step has as much time as before', async (context) => {
      const { desk, orderId } = await open(context);
      const { completeBy } = await desk.state(orderId);
      await desk.clock.advance(50 * secondMs);
      await settle(desk);
      await unlock(desk, orderId);
      await settle(desk);
      const after = await desk.state(orderId);
      assert.deepEqual([after.failureCount, after.completeBy], [0, (completeBy ?? 0) + 50 * secondMs]);
      await desk.clock.advance(completeBy === null ? 0 : (after.completeBy ?? 0) - desk.clock.now() + 5 * secondMs);
      await settle(desk);
      assert.equal((await desk.state(orderId)).failureCount, 1);
    });

    test('only the holder of its lock may instruct the order; an instruction of another person is refused with the name of the holder', async (context) => {
      const { desk, orderId } = await open(context);
      await assert.rejects(instruct(desk, orderId, 'suspend', 'otto'), { name: 'InstanceLockedError', person: 'olga' });
      assert.equal((await instruct(desk, orderId, 'suspend', 'olga')).outcome, 'done');
      await unlock(desk, orderId);
      await settle(desk);
      assert.equal((await instruct(desk, orderId, 'resume', 'otto')).outcome, 'done');
    });

    test('is no longer locked after the holder of its lock has terminated it', async (context) => {
      const { desk, orderId, request } = await open(context);
      assert.equal((await instruct(desk, orderId, 'terminate', 'olga')).outcome, 'done');
      await desk.answer(request);
      await unlock(desk, orderId);
      await settle(desk);
      const { processState, outcome, heldBy } = await desk.state(orderId);
      assert.deepEqual([processState, outcome, heldBy], ['Processed', 'terminated', null]);
    });
  });

test('F-22: the same person renews a lock by locking again; another person gets it only after its end', async (context) => {
  const { desk, orderId } = await locked(context);
  await desk.clock.advance(50 * secondMs);
  assert.equal((await lock(desk, orderId)).outcome, 'locked');
  await desk.clock.advance(50 * secondMs);
  await assert.rejects(lock(desk, orderId, { by: 'otto' }), { name: 'InstanceLockedError' });
  await desk.clock.advance(10 * secondMs);
  assert.equal((await lock(desk, orderId, { by: 'otto' })).outcome, 'locked');
});

test('a lock is released by its holder or an admin, and by nobody else', async (context) => {
  const { desk, orderId } = await locked(context);
  await assert.rejects(unlock(desk, orderId, { by: 'otto' }), { name: 'InstanceLockedError' });
  assert.equal((await unlock(desk, orderId, { by: 'ada', anyones: true })).outcome, 'unlocked');
  assert.equal((await unlock(desk, orderId)).outcome, 'free');
});

test('F-179: the messages of a locked order are applied after the release, even if a host takes the lease in between', async (context) => {
  const { desk, orderId, request } = await locked(context);
  await desk.answer(request);
  await unlock(desk, orderId);
  await desk.take(queueNames.wakeUps);
  const lease = await acquireLease(desk.store, orderId, { holder: 'host-two', leaseMs: 5 * secondMs, clock: desk.clock });
  await lease?.release();
  await desk.clock.advance(10 * secondMs);
  await settle(desk);
  assert.deepEqual(await requested(desk), ['order/two 1']);
});

test('a host that crashes between the release of a lock and sending the messages of the inbox loses none of them', async (context) => {
  const { desk, orderId, request } = await locked(context);
  await desk.answer(request);
  await unlock(desk, orderId);
  await desk.take(queueNames.wakeUps);
  await desk.clock.advance(10 * secondMs);
  await settle(desk);
  assert.deepEqual(await requested(desk), ['order/two 1']);
});

for (const ends of ['is released', 'runs out'])
  test(`S38, S27: a host with a slow clock that keeps a message while the lock ${ends} sends that message`, async (context) => {
    const { desk, orderId } = await locked(context);
    const message = { queue: 'elsewhere', body: 'late' };
    const slow = { ...desk, clock: { now: () => desk.clock.now() - 5 * secondMs } };
    const { documents } = desk.store;
    let isKept = false;
    // The message comes after the others were sent, and before the write that frees the order.
    context.mock.method(desk.store, 'documents', async (...range: Parameters<typeof documents>) => {
      const found = await documents(...range);
      if (range[0].startsWith('INBOX') && !isKept) {
        isKept = true;
        await keepWhileLocked(slow, orderId, [message]);
      }
      return found;
    });
    if (ends === 'is released') await unlock(desk, orderId);
    else await desk.clock.advance(61 * secondMs);
    await settle(desk);
    assert.deepEqual(
      [isKept, (await desk.state(orderId)).heldBy, (await desk.queues.receive('elsewhere', { max: 9, visibilityMs: 1, waitMs: 0 })).length],
      [true, null, 1],
    );
  });

const late = { queue: 'elsewhere', body: 'late' };
const sent = async (desk: Desk) => (await desk.queues.receive(late.queue, { max: 9, visibilityMs: 1, waitMs: 0 })).length;
const kept = async (desk: Desk, orderId: string) => (await desk.store.documents(collections.inbox(orderId), undefined, 9)).length;

test('S38: a host whose clock is fast ends the lock in the store before it sends a kept message, so a host with a slower clock does not keep it again', async (context) => {
  const { desk, orderId } = await locked(context);
  await keepWhileLocked({ ...desk, clock: { now: () => desk.clock.now() + 61 * secondMs } }, orderId, [late]);
  assert.equal(await sent(desk), 1);
  assert.equal(isLocked(await desk.state(orderId), desk.clock.now()), false);
});

test('S38: a host whose write is too late for a lock leaves the messages of the next lock in the inbox', async (context) => {
  const { desk, orderId } = await locked(context);
  await keepWhileLocked(desk, orderId, [late]);
  const instance = (stillSince?: number) => ({ state: { stillSince } }) as never;
  await sendKept(desk, orderId, instance(desk.clock.now()), instance());
  assert.deepEqual([await sent(desk), await kept(desk, orderId)], [0, 1]);
});

test('S38: a message that comes twice at the same moment is kept twice, because a host may be sending the first copy', async (context) => {
  const { desk, orderId } = await locked(context);
  await keepWhileLocked(desk, orderId, [late]);
  await keepWhileLocked(desk, orderId, [late]);
  assert.equal(await kept(desk, orderId), 2);
});

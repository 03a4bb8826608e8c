import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type App,
  ChildNotCompleted,
  call,
  cel,
  choice,
  defineAgent,
  defineApp,
  defineWorkflow,
  fault,
  type JsonObject,
  operation,
  raise,
  sequence,
  type WorkflowDefinition,
  when,
  withOutput,
} from 'redress';
import * as z from 'zod';
import type { Request } from '#ports/messages';
import { announcedAs } from '#ports/records';
import { loadDefinitions } from '#roles/definitions/load';
import { childIdOf } from '#roles/submission/submission';
import { type Desk, failed, journalOf, ok, openDesk, reaches, started, submitted } from './support.ts';

const NoRoom = fault('NoRoom');
const Broken = fault('Broken');
const Trip = z.object({ city: z.string(), breaks: z.boolean().optional() });

/** The bookings and their cancellations, in the order in which they happened. */
const bookings: string[] = [];
const done = (what: string) => {
  bookings.push(what);
  return { id: what };
};
const desk = defineAgent('desk', {
  book: operation({
    input: z.object({ city: z.string(), what: z.string() }),
    output: z.object({ id: z.string() }),
    faults: [NoRoom],
    run: ({ city, what }, { failed: no }) => (city === 'full' && what === 'hotel' ? no(NoRoom, 'no room') : done(`${what} in ${city}`)),
  }),
  cancel: operation({ input: z.object({ id: z.string() }), output: z.object({ id: z.string() }), run: ({ id }) => done(`no ${id}`) }),
});

const stay = defineWorkflow('stay', { version: 1, order: z.object({ city: z.string() }), toCaller: [NoRoom] }, ({ order }) => {
  const flight = desk
    .book({ city: order.city, what: 'flight' })
    .named('flight')
    .undo(({ id }) => desk.cancel({ id }));
  const hotel = desk
    .book({ city: order.city, what: 'hotel' })
    .named('hotel')
    .undo(({ id }) => desk.cancel({ id }));
  return withOutput(sequence(flight, hotel), { room: hotel.output.id });
});

const trip = defineWorkflow('trip', { version: 1, order: Trip }, ({ order }) => {
  const there = call(stay, { city: order.city });
  return sequence(
    there,
    desk.book({ city: order.city, what: 'tour' }).named('tour'),
    choice(when(cel<boolean>`has(order.breaks)`, raise(Broken, there.output.room))),
  )
    .on(NoRoom, ({ compensate }) => compensate())
    .on(Broken, ({ compensate }) => compensate());
});

const app = defineApp({ workflows: [trip, stay], agents: [desk] });

async function ended(context: TestContext, order: JsonObject, writesAndSendsAtomically: boolean) {
  bookings.length = 0;
  const system = await started(context, app, { writesAndSendsAtomically });
  const orderId = await submitted(system, order);
  await reaches(system, orderId, 'Processed');
  const state = (await system.store.head(orderId)) ?? assert.fail();
  const child = (await system.store.load(childIdOf(`${orderId}/order/stay/1`))) ?? assert.fail('no child');
  return {
    outcome: state.outcome,
    child: child.state.outcome,
    ofParent: child.order.caller?.orderId === orderId,
    failureCount: state.failureCount,
  };
}

for (const writesAndSendsAtomically of [true, false]) {
  describe(`an order calls another (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, () => {
    test('the caller continues with the reply of the called order after that order is completed', async (context) => {
      assert.deepEqual(await ended(context, { city: 'Rome' }, writesAndSendsAtomically), {
        outcome: 'completed',
        child: 'completed',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings, ['flight in Rome', 'hotel in Rome', 'tour in Rome']);
    });

    test('F-100: a fault of the called order reaches the handler in the caller after all effects of the called order are undone', async (context) => {
      assert.deepEqual(await ended(context, { city: 'full' }, writesAndSendsAtomically), {
        outcome: 'rejected',
        child: 'compensated',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings, ['flight in full', 'no flight in full']);
    });

    test('F-101: undoing the caller undoes the called order although it was completed, newest effect first', async (context) => {
      assert.deepEqual(await ended(context, { city: 'Rome', breaks: true }, writesAndSendsAtomically), {
        outcome: 'compensated',
        child: 'compensated',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings.slice(3), ['no hotel in Rome', 'no flight in Rome']);
    });

    test('F-59: a called order that is completed and then compensated ends twice, and each end is announced under its own id', async (context) => {
      const system = await started(context, app, { writesAndSendsAtomically, variables: { ANNOUNCE_PROCESSED: 'on' } });
      const orderId = await submitted(system, { city: 'Rome', breaks: true });
      await reaches(system, orderId, 'Processed');
      const childId = childIdOf(`${orderId}/order/stay/1`);
      const announced = announcedAs(await system.state(childId));
      const announcements = system.publisher.published(0, 100).filter(({ detail }) => detail['orderId'] === childId);
      assert.deepEqual(
        announcements.map(({ id, detail }) => [id, detail['outcome']]),
        [
          [`${announced}/processed`, 'completed'],
          [`${announced}/processed/compensated`, 'compensated'],
        ],
      );
    });
  });
}

const called = async (on: Desk, breaks = false) => {
  const orderId = await submitted(on, { city: 'Rome', breaks });
  const [request = assert.fail()] = on.messages('workflows-requests');
  await on.deliver('workflows-requests');
  return { orderId, request, childId: childIdOf(String(request['idempotencyKey'])) };
};

/** A called order that was completed and is being compensated for its caller. */
async function takenBack(context: TestContext) {
  const on = openDesk(context, app, { variables: { ANNOUNCE_PROCESSED: 'on' } });
  const { orderId, childId } = await called(on, true);
  for (const id of ['flight', 'hotel']) await on.answer(await on.request('desk'), ok({ id }), { agent: 'desk' });
  await on.deliver('workflows-replies');
  await on.answer(await on.request('desk'), ok({ id: 'tour' }), { agent: 'desk' });
  await on.deliver('workflows-requests');
  assert.equal((await on.request('desk')).operation, 'cancel');
  return { on, orderId, childId };
}

describe('faults between a caller and its called order', () => {
  test('F-80, F-170: canceling the caller cancels the called order and waits until that order is undone', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    await on.answer(await on.request('desk'), ok({ id: 'flight' }), { agent: 'desk' });
    await on.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'test', reason: 'not wanted' }, { id: 'cancel-1' });
    await on.deliver('workflows-requests');
    assert.equal((await on.state(orderId)).processState, 'Processing');
    const requests = (await on.take('desk-requests')) as { type: string; requestId: string; path: string }[];
    assert.deepEqual(
      requests.map(({ type, path }) => `${type} ${path}`),
      ['request order/hotel', 'cancel order/hotel'],
    );
    await on.answer(requests[0] as never, failed('NoRoom'), { agent: 'desk' });
    await on.answer(await on.request('desk'), ok({ id: 'none' }), { agent: 'desk' });
    await on.deliver('workflows-replies');
    assert.equal((await on.state(childId)).outcome, 'canceled');
    assert.equal((await on.state(orderId)).outcome, 'canceled');
  });

  test('X-48: when the record of the called order is damaged, a person is notified, and the cancellation is not redelivered endlessly', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    on.database.prepare("UPDATE states SET blob = 'x' WHERE id = (SELECT id FROM orders WHERE orderId = ?)").run(childId);
    await on.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'test', reason: 'not wanted' }, { id: 'cancel-1' });
    await on.deliver('workflows-requests');
    assert.deepEqual(on.messages('workflows-requests'), []);
    const { processState, fault } = await on.state(childId);
    assert.deepEqual([processState, fault?.type], ['Error', 'RecordUnreadable']);
  });

  const damages = [
    {
      kind: 'compensate',
      what: 'state lost, and one line of the journal wrong',
      damage: (blob: string) => blob.replace(/"state":.*/, '"state":{"ph').replace('"StepRequested"', '"StepForgotten"'),
      pages: 'kept',
    },
    { kind: 'terminate', what: 'state and journal lost', damage: () => '{"half', pages: 'lost' },
  ] as const;
  for (const { kind, what, damage, pages } of damages)
    test(`S17, F-29: when a completed order is damaged during its compensation (${what}), its second end is announced under a new id`, async (context) => {
      const { on, orderId, childId } = await takenBack(context);
      const { blob } = await on.state(childId);
      const update = on.database.prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)');
      update.run(damage(blob), childId);
      if (pages === 'lost') on.database.prepare('DELETE FROM pages WHERE orderId = ?').run(childId);
      await on.send('wake-ups', { v: 1, type: 'wake-up', orderId: childId, sentAt: new Date(on.clock.now()).toISOString() });
      await on.deliver('wake-ups');
      const decision = { kind, by: 'olga', reason: 'lost' } as const;
      assert.equal((await on.system.scheduler.instruct(childId, decision, { id: 'end-1' })).outcome, 'done');
      for (let sent = await on.requests('desk'); sent.length > 0; sent = await on.requests('desk'))
        for (const request of sent) await on.answer(request, ok({ id: 'gone' }), { agent: 'desk' });

      const { outcome, ...child } = await on.state(childId);
      const announced = announcedAs(child);
      const announcements = on.announced().filter(({ id }) => id.startsWith(`${announced}/processed`));
      assert.deepEqual(
        announcements.map(({ id, detail }) => [id.slice(announced.length), detail['outcome']]),
        [
          ['/processed', 'completed'],
          [`/processed/${outcome}`, outcome],
        ],
      );
      // The caller gets a reply at once if the journal still says that the order was completed.
      await on.deliver('workflows-replies');
      assert.equal((await on.state(orderId)).processState, kind === 'compensate' ? 'Processed' : 'Processing');
    });

  test('X-48: when a called order has ended, its reply is lost and its record is damaged, the caller is blocked', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    for (const id of ['flight', 'hotel']) await on.answer(await on.request('desk'), ok({ id }), { agent: 'desk' });
    await on.take('workflows-replies');
    on.database.prepare("UPDATE states SET blob = 'x' WHERE id = (SELECT id FROM orders WHERE orderId = ?)").run(childId);
    await on.clock.advance(600_000);
    await on.supervisor.pass();
    await on.deliver('wake-ups');
    await on.deliver('workflows-requests');
    await on.deliver('workflows-replies');
    const { processState, fault } = await on.state(orderId);
    assert.deepEqual([processState, fault?.type], ['Error', 'OutcomeUnknown']);
    const announced = announcedAs(await on.state(childId));
    assert.match(fault?.message ?? '', new RegExp(`called order ${childId} ended as completed`));
    assert.ok(on.announced().some(({ id }) => id === `${announced}/unreadable`));
  });

  test('X-37: when a restored caller repeats the call of an order that was undone since, the reply is that this order was not completed', async (context) => {
    const on = openDesk(context, app);
    const { orderId, request } = await called(on, true);
    for (const id of ['flight', 'hotel']) await on.answer(await on.request('desk'), ok({ id }), { agent: 'desk' });
    await on.deliver('workflows-replies');
    for (const id of ['tour', 'no hotel', 'no flight']) {
      if (id === 'no hotel') await on.deliver('workflows-requests');
      await on.answer(await on.request('desk'), ok({ id }), { agent: 'desk' });
    }
    await on.deliver('workflows-replies');
    assert.equal((await on.state(orderId)).outcome, 'compensated');

    await on.send('workflows-requests', request);
    assert.equal(await on.deliver('workflows-requests'), 0);
    const [reply] = on.messages('workflows-replies');
    assert.partialDeepStrictEqual(reply, { path: 'order/stay', result: { status: 'failed', fault: { type: 'ChildNotCompleted' } } });
  });

  test('S10: a call that is delivered twice creates one order', async (context) => {
    const on = openDesk(context, app);
    const { request } = await called(on);
    await on.send('workflows-requests', request);
    await on.deliver('workflows-requests');
    assert.equal(on.messages('desk-requests').length, 1);
  });

  test('when the reply of a called order is lost, its caller repeats the call after a while, and no failure counts', async (context) => {
    const on = openDesk(context, app);
    const { orderId } = await called(on);
    for (const id of ['flight', 'hotel']) await on.answer(await on.request('desk'), ok({ id }), { agent: 'desk' });
    await on.take('workflows-replies');
    await on.clock.advance(600_000);
    await on.supervisor.pass();
    await on.deliver('wake-ups');
    assert.equal(await on.deliver('workflows-requests'), 0);
    await on.deliver('workflows-replies');
    const tour = await on.request('desk');
    assert.equal(tour.path, 'order/tour');
    assert.equal((await on.state(orderId)).failureCount, 0);
  });

  test('a body that the called workflow does not accept is refused with a pointer to the wrong field, and no order is created', async (context) => {
    const on = openDesk(context, app);
    const orderId = await submitted(on, { city: 'Rome' });
    const [request] = await on.take('workflows-requests');
    await on.send('workflows-requests', { ...request, input: { town: 'Rome' } });
    await on.deliver('workflows-requests');
    await on.deliver('workflows-replies');
    const { fault: why } = await on.state(orderId);
    assert.equal(why?.type, 'RequestRefused');
    assert.match(why?.message ?? '', /input of stay@1 is invalid: \/city/);
  });

  test('a call that arrives after its deadline creates no order, because no caller waits for it', async (context) => {
    const on = openDesk(context, app);
    await submitted(on, { city: 'Rome' });
    const [request] = await on.take('workflows-requests');
    await on.clock.advance(600_001);
    await on.send('workflows-requests', request);
    await on.deliver('workflows-requests');
    assert.equal(on.messages('desk-requests').length, 0);
  });

  test('S11: a called order that had not begun when its outcome was confirmed never begins, whatever the clock of a later host says', async (context) => {
    const on = openDesk(context, app);
    const orderId = await submitted(on, { city: 'Rome' });
    const [request = assert.fail()] = (await on.take('workflows-requests')) as unknown as Request[];
    await on.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'test', reason: 'enough' }, { id: 'cancel-1' });
    await on.clock.advance(600_001);
    await on.supervisor.pass();
    for (const queue of ['wake-ups', 'workflows-requests', 'workflows-replies']) assert.equal(await on.deliver(queue), 0);
    assert.equal((await on.state(orderId)).outcome, 'canceled');
    const bySlowClock = { ...request, completeBy: new Date(on.clock.now() + 1000).toISOString() };
    await on.send('workflows-requests', bySlowClock);
    assert.equal(await on.deliver('workflows-requests'), 0);
    assert.deepEqual([(await on.state(childIdOf(request.idempotencyKey))).outcome, on.messages('desk-requests')], ['canceled', []]);
  });

  test('F-170: when the caller is terminated, the called order is canceled', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    await on.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'test', reason: 'enough' }, { id: 'end-1' });
    await on.deliver('workflows-requests');
    const [sent = assert.fail()] = (await on.take('desk-requests')) as unknown as Request[];
    await on.answer(sent, failed('NoRoom'), { agent: 'desk' });
    assert.deepEqual([(await on.state(orderId)).outcome, (await on.state(childId)).outcome], ['terminated', 'canceled']);
  });

  test('when an operator terminates the called order, its caller fails', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    await on.system.scheduler.instruct(childId, { kind: 'terminate', by: 'test', reason: 'enough' }, { id: 'end-1' });
    await on.deliver('workflows-replies');
    const { processState, fault: why } = await on.state(orderId);
    assert.deepEqual([processState, why?.type], ['Error', ChildNotCompleted.name]);
    assert.ok((await journalOf(on, orderId)).some(({ type }) => type === 'OrderBlocked'));
  });
});

describe('calls are checked before anything runs', () => {
  const refused = (workflows: readonly WorkflowDefinition[]) => {
    try {
      loadDefinitions({ workflows, agents: [] } as App);
      return 'loaded';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const calling = (name: string, operation: string): WorkflowDefinition => ({
    name,
    version: 1,
    exprVersion: 1,
    order: {},
    toOperator: [],
    root: {
      activity: 'sequence',
      name: 'order',
      children: [{ activity: 'call', name: 'other', agent: 'workflows', operation, input: {} }],
    },
  });

  test('an unknown workflow is named, with a suggestion', () => {
    const message = refused([calling('trip', 'staj@1'), calling('stay', 'stay@2')]);
    assert.match(message, /trip@1 order\/other: It calls staj@1, which is not a workflow of this app\. Did you mean "stay@1"\?/);
  });

  test('a cycle of calls is shown completely', () => {
    assert.match(refused([calling('one', 'two@1'), calling('two', 'one@1')]), /The workflow calls itself: one@1 → two@1 → one@1\./);
  });
});

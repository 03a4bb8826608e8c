import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type App,
  answering,
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

/** What has been booked, in the order in which it was, and was taken back. */
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
  return answering(sequence(flight, hotel), { room: hotel.output.id });
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
    test('it goes on with what the other one has answered, once that is completed', async (context) => {
      assert.deepEqual(await ended(context, { city: 'Rome' }, writesAndSendsAtomically), {
        outcome: 'completed',
        child: 'completed',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings, ['flight in Rome', 'hotel in Rome', 'tour in Rome']);
    });

    test('F-100: a fault of the other one comes to its handler once all that the other one did is undone', async (context) => {
      assert.deepEqual(await ended(context, { city: 'full' }, writesAndSendsAtomically), {
        outcome: 'rejected',
        child: 'compensated',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings, ['flight in full', 'no flight in full']);
    });

    test('F-101: undoing it undoes the other one although that was completed, newest first', async (context) => {
      assert.deepEqual(await ended(context, { city: 'Rome', breaks: true }, writesAndSendsAtomically), {
        outcome: 'compensated',
        child: 'compensated',
        ofParent: true,
        failureCount: 0,
      });
      assert.deepEqual(bookings.slice(3), ['no hotel in Rome', 'no flight in Rome']);
    });

    test('F-59: what was completed and is taken back ends twice: both ends are announced, each under an id of its own', async (context) => {
      const system = await started(context, app, { writesAndSendsAtomically, variables: { ANNOUNCE_PROCESSED: 'on' } });
      const orderId = await submitted(system, { city: 'Rome', breaks: true });
      await reaches(system, orderId, 'Processed');
      const childId = childIdOf(`${orderId}/order/stay/1`);
      const announced = announcedAs(await system.state(childId));
      const told = system.publisher.published(0, 100).filter(({ detail }) => detail['orderId'] === childId);
      assert.deepEqual(
        told.map(({ id, detail }) => [id, detail['outcome']]),
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

/** The one that was called was completed, and is being undone for the other one. */
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

describe('what may go wrong between the two', () => {
  test('F-80, F-170: canceling the one cancels the other, and waits until that is undone', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    await on.answer(await on.request('desk'), ok({ id: 'flight' }), { agent: 'desk' });
    await on.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'test', reason: 'not wanted' }, { id: 'cancel-1' });
    await on.deliver('workflows-requests');
    assert.equal((await on.state(orderId)).processState, 'Processing');
    const askings = (await on.take('desk-requests')) as { type: string; requestId: string; path: string }[];
    assert.deepEqual(
      askings.map(({ type, path }) => `${type} ${path}`),
      ['request order/hotel', 'cancel order/hotel'],
    );
    await on.answer(askings[0] as never, failed('NoRoom'), { agent: 'desk' });
    await on.answer(await on.request('desk'), ok({ id: 'none' }), { agent: 'desk' });
    await on.deliver('workflows-replies');
    assert.equal((await on.state(childId)).outcome, 'canceled');
    assert.equal((await on.state(orderId)).outcome, 'canceled');
  });

  test('X-48: where the record of the other one is damaged a person is told, and its canceling does not come again and again', async (context) => {
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
    { kind: 'compensate', what: 'its state', damage: (blob: string) => blob.replace(/"state":.*/, '"state":{"ph'), pages: 'kept' },
    { kind: 'terminate', what: 'all its journal too', damage: () => '{"half', pages: 'lost' },
  ] as const;
  for (const { kind, what, damage, pages } of damages)
    test(`S17, F-29: what was completed is damaged while it is taken back (${what}): its second end has an id of its own`, async (context) => {
      const { on, orderId, childId } = await takenBack(context);
      const { blob } = await on.state(childId);
      const update = on.database.prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)');
      update.run(damage(blob), childId);
      if (pages === 'lost') on.database.prepare('DELETE FROM pages WHERE orderId = ?').run(childId);
      await on.send('wake-ups', { v: 1, type: 'wake-up', orderId: childId, sentAt: new Date(on.clock.now()).toISOString() });
      await on.deliver('wake-ups');
      const decision = { kind, by: 'olga', reason: 'lost' } as const;
      assert.equal((await on.system.scheduler.instruct(childId, decision, { id: 'end-1' })).outcome, 'done');
      for (let asked = await on.requests('desk'); asked.length > 0; asked = await on.requests('desk'))
        for (const request of asked) await on.answer(request, ok({ id: 'gone' }), { agent: 'desk' });

      const { outcome, ...child } = await on.state(childId);
      const announced = announcedAs(child);
      const told = on.announced().filter(({ id }) => id.startsWith(`${announced}/processed`));
      assert.deepEqual(
        told.map(({ id, detail }) => [id.slice(announced.length), detail['outcome']]),
        [
          ['/processed', 'completed'],
          [`/processed/${outcome}`, outcome],
        ],
      );
      // Whoever takes it back hears that at once, if the journal still says that it was completed.
      await on.deliver('workflows-replies');
      assert.equal((await on.state(orderId)).processState, kind === 'compensate' ? 'Processed' : 'Processing');
    });

  test('X-48: what was called has ended, its answer got lost, and its record is damaged: whoever called it comes before a person', async (context) => {
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
    assert.match(fault?.message ?? '', new RegExp(`${childId} that was called ended as completed`));
    assert.ok(on.announced().some(({ id }) => id === `${announced}/unreadable`));
  });

  test('X-37: when a restored caller calls an order that was undone for it since, the answer is that this order was not completed', async (context) => {
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

  test('S10: the same call delivered twice makes one order', async (context) => {
    const on = openDesk(context, app);
    const { request } = await called(on);
    await on.send('workflows-requests', request);
    await on.deliver('workflows-requests');
    assert.equal(on.messages('desk-requests').length, 1);
  });

  test('an answer that got lost is asked for again after a while, and counts as no failure', async (context) => {
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

  test('a body that is not what the other one takes is refused with its pointer, and no order is made', async (context) => {
    const on = openDesk(context, app);
    const orderId = await submitted(on, { city: 'Rome' });
    const [request] = await on.take('workflows-requests');
    await on.send('workflows-requests', { ...request, input: { town: 'Rome' } });
    await on.deliver('workflows-requests');
    await on.deliver('workflows-replies');
    const { fault: why } = await on.state(orderId);
    assert.equal(why?.type, 'RequestRefused');
    assert.match(why?.message ?? '', /stay@1 takes: \/city/);
  });

  test('what is asked for too late makes no order: nobody waits for it any more', async (context) => {
    const on = openDesk(context, app);
    await submitted(on, { city: 'Rome' });
    const [request] = await on.take('workflows-requests');
    await on.clock.advance(600_001);
    await on.send('workflows-requests', request);
    await on.deliver('workflows-requests');
    assert.equal(on.messages('desk-requests').length, 0);
  });

  test('S11: what nobody has begun when it was asked after never begins, whatever clock the host has to which it comes later', async (context) => {
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

  test('F-170: the one that was called is canceled where the one that called it is ended as it is', async (context) => {
    const on = openDesk(context, app);
    const { orderId, childId } = await called(on);
    await on.system.scheduler.instruct(orderId, { kind: 'terminate', by: 'test', reason: 'enough' }, { id: 'end-1' });
    await on.deliver('workflows-requests');
    const [asked = assert.fail()] = (await on.take('desk-requests')) as unknown as Request[];
    await on.answer(asked, failed('NoRoom'), { agent: 'desk' });
    assert.deepEqual([(await on.state(orderId)).outcome, (await on.state(childId)).outcome], ['terminated', 'canceled']);
  });

  test('the one that an operator ends as it is fails the one that called it', async (context) => {
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

  test('a workflow that the app does not have is named, with what may be meant', () => {
    const message = refused([calling('trip', 'staj@1'), calling('stay', 'stay@2')]);
    assert.match(message, /trip@1 order\/other: It calls staj@1, which is no workflow of this app\. Did you mean "stay@1"\?/);
  });

  test('a cycle of calls is shown as a whole', () => {
    assert.match(refused([calling('one', 'two@1'), calling('two', 'one@1')]), /It calls itself in the end: one@1 → two@1 → one@1\./);
  });
});

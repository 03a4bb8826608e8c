import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, secret, sequence } from 'redress';
import * as z from 'zod';
import { UnreadableRecordError } from '#ports/errors';
import type { Request } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { callKey } from '#roles/operator/idempotency';
import { decodeInstance } from '#roles/scheduler/instance';
import { type Desk, failed, journalOf, ok, openDesk, submitted, temporaryFolder, timePasses, typesOf } from './support.ts';

const Id = z.object({ id: z.string() });
const shop = defineAgent('worker', {
  reserve: operation({ input: z.object({ item: z.string() }), output: Id, run: () => ({ id: 'r' }) }),
  release: operation({ input: Id, output: z.object({}), run: () => ({}) }),
  charge: operation({ input: z.object({ item: z.string() }), output: z.object({ id: secret(z.string()) }), run: () => ({ id: 'c' }) }),
  refund: operation({ input: Id, output: z.object({}), run: () => ({}) }),
  ship: operation({ input: z.object({ item: z.string() }), output: z.object({}), run: () => ({}) }),
  recall: operation({ input: z.object({ item: z.string() }), output: z.object({}), run: () => ({}) }),
});
const line = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) =>
  sequence(
    shop.reserve(order).undo(({ id }) => shop.release({ id })),
    shop.charge(order).undo(({ id }) => shop.refund({ id })),
    shop.ship(order).undo(() => shop.recall(order)),
  ),
);
const app = defineApp({ workflows: [line], agents: [shop] });
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

const blobOf = ({ database }: Desk): string => (database.prepare('SELECT blob FROM states').get() as { blob: string }).blob;
const damage = (desk: Desk, change: (blob: string) => string): void =>
  void desk.database.prepare('UPDATE states SET blob = ?').run(change(blobOf(desk)));
const instruct = (desk: Desk, orderId: string, kind: 'compensate' | 'terminate', dryRun = false) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'lost' }, { id: `i-${desk.clock.now()}`, dryRun }),
  );

const withoutState = (blob: string): string => blob.replace(/"state":.*/, '"state":{"ph');
async function wake(desk: Desk, orderId: string): Promise<void> {
  await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString() });
  await desk.deliver('wake-ups');
}

/** An order that has reserved and charged, and requested shipping. */
async function shipping(desk: Desk): Promise<{ orderId: string; ship: Request }> {
  const orderId = await submitted(desk);
  await desk.answer(await desk.request(), ok({ id: 'R-1' }));
  await desk.answer(await desk.request(), ok({ id: 'C-secret-1' }));
  return { orderId, ship: await desk.request() };
}

/** Returns such an order whose instance is damaged beyond a rebuild, after the system has discovered the damage. */
async function damaged(desk: Desk, change: (blob: string) => string): Promise<{ orderId: string; ship: Request }> {
  const { orderId, ship } = await shipping(desk);
  damage(desk, change);
  await wake(desk, orderId);
  assert.equal((await desk.state(orderId)).processState, 'Error');
  assert.deepEqual(typesOf(desk.announced()), ['Service Exception', 'Order In Error']);
  return { orderId, ship };
}

/** Answers each request as a service does that remembers its keys, until no request is left. Returns the requests. */
async function carriedOut(desk: Desk): Promise<readonly (readonly [path: string, key: string, input: unknown])[]> {
  const requested: (readonly [string, string, unknown])[] = [];
  const answers: { readonly [path: string]: object } = { 'order/reserve': { id: 'R-1' }, 'order/charge': { id: 'C-secret-1' } };
  for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
    for (const request of requests) {
      requested.push([request.path, request.idempotencyKey.slice(request.orderId.length), request.input]);
      await desk.answer(request, ok((answers[request.path] ?? {}) as never));
    }
  return requested;
}

const item = { item: 'tea' };
const confirmedAndUndone = (path: string, input: unknown): readonly (readonly [string, string, unknown])[] => [
  [`order/${path}`, `/order/${path}/1`, item],
  [`order/${path}/undo`, `/order/${path}/undo/1`, input],
];

describe('an order with an unreadable instance can still be compensated', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-160, F-29: when its state is lost but its journal is not, it continues as if nothing had happened (${how})`, async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const { orderId, ship } = await shipping(desk);
      damage(desk, withoutState);
      await desk.answer(ship, ok());
      const { processState, outcome, epoch } = await desk.state(orderId);
      assert.deepEqual([processState, outcome, epoch, desk.announced()], ['Processed', 'completed', 1, []]);
      const journal = await journalOf(desk, orderId);
      assert.ok(journal.some((entry) => entry.type === 'InstanceRebuilt' && entry.whole && entry.exact));
      assert.equal(journal.filter(({ type }) => type === 'StepRequested').length, 3, 'nothing is requested again');
    });

    test(`F-160: when its events do not lead to what its journal recorded, a person decides, and sees the line (${how})`, async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const { orderId } = await damaged(desk, (blob) => withoutState(blob).replace(/"completeBy":\d+/, '"completeBy":1'));
      const { fault, open } = await desk.state(orderId);
      assert.match(fault?.message ?? '', /cannot be rebuilt: Line 4 of the journal \(StepRequested\)|Line 3 of the journal/);
      assert.deepEqual(
        open?.map(({ cause }) => cause),
        ['error/1'],
        'a task is open',
      );
    });

    test(`F-29: when its state is lost, and the events of its journal do not fit, its facts say what to undo, and unknown outcomes are confirmed first (${how})`, async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const { orderId, ship } = await damaged(desk, (blob) => withoutState(blob).replace(/"completeBy":\d+/, '"completeBy":1'));
      assert.equal((await instruct(desk, orderId, 'compensate')).outcome, 'done');
      assert.equal((await desk.state(orderId)).epoch, 2, 'a new claim');
      await desk.answer(ship, ok());
      assert.deepEqual(await carriedOut(desk), [
        ...confirmedAndUndone('ship', item),
        // Its output is secret, so the journal does not contain it.
        ...confirmedAndUndone('charge', { id: 'C-secret-1' }),
        ['order/reserve/undo', '/order/reserve/undo/1', { id: 'R-1' }],
      ]);
      const { processState, outcome, fault } = await desk.state(orderId);
      assert.deepEqual([processState, outcome, fault?.type], ['Processed', 'compensated', 'RecordUnreadable']);
      const journal = await journalOf(desk, orderId);
      assert.deepEqual(
        journal.map(({ seq }) => seq),
        journal.map((_, index) => index + 1),
        'the journal continues',
      );
      assert.ok(journal.some((entry) => entry.type === 'InstanceRebuilt' && entry.whole));
    });

    test(`F-29: when its journal is lost as well, every possible request is confirmed under its key, then undone (${how})`, async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const { orderId } = await damaged(desk, () => '{"half');
      assert.equal((await instruct(desk, orderId, 'compensate', true)).outcome, 'planned');
      assert.equal((await instruct(desk, orderId, 'compensate')).outcome, 'done');
      assert.deepEqual(await carriedOut(desk), [
        ...confirmedAndUndone('ship', item),
        ...confirmedAndUndone('charge', { id: 'C-secret-1' }),
        ...confirmedAndUndone('reserve', { id: 'R-1' }),
      ]);
      assert.equal((await desk.state(orderId)).outcome, 'compensated');
    });
  }

  test('F-29, S10: when the same instruction arrives twice at the same time, the second uses the state that the first has rebuilt', async (context) => {
    const desk = openDesk(context, app);
    const { orderId } = await damaged(desk, () => '{"half');
    const decide = (id: string) =>
      desk.system.scheduler.instruct(
        orderId,
        { kind: 'compensate', by: 'olga', reason: 'lost' },
        { id, key: callKey('olga', 'click', null) },
      );
    const answers = await timePasses(desk.clock, Promise.all([decide('one'), decide('two')]));
    assert.deepEqual(answers.map(({ outcome }) => outcome).toSorted(), ['done', 'replayed']);
    assert.equal((await desk.state(orderId)).epoch, 2);
  });

  test('F-29, X-35: when a newer program has just written the record, it does not count as damaged', async (context) => {
    let newer = 0;
    const around = ({ store }: { readonly store: Store }) => ({
      store: {
        ...store,
        load: (id: string) =>
          newer-- > 0 ? Promise.reject(new UnreadableRecordError(id, 'it is newer', desk.clock.now() + 1)) : store.load(id),
      },
    });
    const desk = openDesk(context, app, { around });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Refused'));
    newer = 1;
    await assert.rejects(instruct(desk, orderId, 'compensate'), UnreadableRecordError);
    assert.equal((await instruct(desk, orderId, 'compensate')).outcome, 'done');
    assert.ok((await journalOf(desk, orderId)).every(({ type }) => type !== 'InstanceRebuilt'));
  });

  test('F-160: when its state is lost and a message changes nothing in it, the rebuilt state is stored all the same', async (context) => {
    const desk = openDesk(context, app);
    const { orderId } = await shipping(desk);
    const before = decodeInstance(await desk.state(orderId));
    damage(desk, withoutState);
    await wake(desk, orderId);
    const { state, seq, tail } = decodeInstance(await desk.state(orderId));
    assert.deepEqual(state, before.state);
    assert.deepEqual([seq, tail.at(-1)?.type], [before.seq + 1, 'InstanceRebuilt']);
    await wake(desk, orderId);
    assert.equal(decodeInstance(await desk.state(orderId)).seq, seq, 'once');
  });

  test('F-160: when its record is readable but inconsistent, it is rebuilt the same way', async (context) => {
    const desk = openDesk(context, app);
    const { orderId, ship } = await shipping(desk);
    damage(desk, (blob) => blob.replace('"order/ship":[', '"order/nowhere":['));
    await desk.answer(ship, ok());
    const { outcome, fault } = await desk.state(orderId);
    assert.deepEqual([outcome, fault, desk.announced()], ['completed', null, []]);
  });

  test('F-29: when it was in Error before the damage, but not if it was resubmitted, because the idempotency keys of that resubmission may be unknown', async (context) => {
    const desk = openDesk(context, app);
    const blockedOrder = async (): Promise<string> => {
      const orderId = await submitted(desk);
      await desk.answer(await desk.request(), failed('Refused'));
      return orderId;
    };
    const loses = async (orderId: string): Promise<void> => {
      damage(desk, () => '{"half');
      await wake(desk, orderId);
      assert.equal((await desk.state(orderId)).fault?.type, 'RecordUnreadable');
    };
    const first = await blockedOrder();
    await loses(first);
    assert.equal((await instruct(desk, first, 'compensate', true)).outcome, 'planned');
    await instruct(desk, first, 'terminate');

    const second = await blockedOrder();
    await timePasses(desk.clock, desk.system.scheduler.instruct(second, { kind: 'resubmit', by: 'olga', reason: 'r' }, { id: 'again' }));
    await loses(second);
    const refused = await instruct(desk, second, 'compensate');
    assert.equal(refused.outcome, 'infeasible');
    assert.match(
      refused.outcome === 'infeasible' ? refused.refusals.map(({ detail }) => detail).join() : '',
      /the keys of later requests are unknown/,
    );
  });

  test('F-29: or terminated, but not resubmitted, because its position is unknown', async (context) => {
    const desk = openDesk(context, app);
    const { orderId } = await damaged(desk, () => 'x');
    await assert.rejects(
      timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'r' }, { id: 'i' })),
      { name: 'UnreadableRecordError' },
    );
    assert.equal((await instruct(desk, orderId, 'terminate')).outcome, 'done');
    assert.deepEqual([(await desk.state(orderId)).outcome, await desk.requests()], ['terminated', []]);
  });

  test('F-29: unless the order row itself is damaged: then its content is unknown, and the instruction is infeasible', async (context) => {
    const dataFolder = temporaryFolder(context);
    const before = openDesk(context, app, { dataFolder });
    const { orderId } = await damaged(before, () => 'x');
    before.database.prepare("UPDATE orders SET record = '{'").run();
    await assert.rejects(instruct(openDesk(context, app, { dataFolder }), orderId, 'compensate'), { name: 'UnreadableRecordError' });
  });

  test('F-29, X-48: when a page repeats lines of the record after a crash while paging out, no line counts twice', async (context) => {
    const desk = openDesk(context, app, { writesAndSendsAtomically: false });
    const { orderId } = await damaged(desk, (blob) => {
      const { tail } = decodeInstance({ orderId: '', blob } as StateRecord);
      desk.database.prepare('INSERT INTO pages (orderId, rev, page) SELECT orderId, 3, ? FROM orders').run(JSON.stringify(tail));
      return blob.slice(0, blob.indexOf('"order/ship"'));
    });
    assert.equal((await instruct(desk, orderId, 'compensate')).outcome, 'done');
    const requested = await carriedOut(desk);
    assert.deepEqual(
      requested.map(([path]) => path).filter((path) => path.endsWith('/undo')),
      ['order/ship/undo', 'order/charge/undo', 'order/reserve/undo'],
    );
    const journal = await journalOf(desk, orderId);
    assert.deepEqual(
      journal.map(({ seq }) => seq),
      journal.map((_, index) => index + 1),
    );
    assert.equal(journal.filter(({ type }) => type === 'OrderSubmitted').length, 1);
  });

  test('F-29: unless lines are missing in the middle of its journal, because then the effects before the gap are unknown', async (context) => {
    const desk = openDesk(context, app);
    const { orderId } = await damaged(desk, (blob) => {
      const { seq, tail } = JSON.parse(blob) as { readonly seq: number; readonly tail: readonly unknown[] };
      return JSON.stringify({ seq, tail: tail.slice(3), state: 'x' });
    });
    assert.deepEqual(await instruct(desk, orderId, 'compensate'), {
      outcome: 'infeasible',
      refusals: [
        {
          code: 'unreadable',
          detail: `The journal has a gap before line 4: it is unknown what was done until then. Search the records of the services for keys that begin with "${orderId}/".`,
        },
      ],
    });
  });

  test('F-29: unless an outcome cannot be confirmed: the refusal says so, and nothing is undone', async (context) => {
    const needy = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) => {
      const charge = shop.charge(order).undo(({ id }) => shop.refund({ id }));
      return sequence(
        charge,
        shop.reserve({ item: charge.output.id }).undo(({ id }) => shop.release({ id })),
        shop.ship(order),
      );
    });
    const desk = openDesk(context, defineApp({ workflows: [needy], agents: [shop] }));
    const { orderId } = await damaged(desk, () => 'x');
    assert.deepEqual(await instruct(desk, orderId, 'compensate'), {
      outcome: 'infeasible',
      refusals: [
        { code: 'unreadable', detail: 'It cannot be confirmed whether order/reserve was done: its input needs lost or secret data.' },
      ],
    });
    assert.equal((await desk.state(orderId)).processState, 'Error');
  });
});

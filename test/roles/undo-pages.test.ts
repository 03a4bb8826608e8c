import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { programOf } from '#core/definition/program';
import { explain } from '#core/views/explain';
import type { Store } from '#ports/store';
import { decodeInstance } from '#roles/scheduler/instance';
import { withUndoPages } from '#roles/scheduler/paging';
import { type Desk, type DeskOptions, failed, ok, openDesk, replyTo, submitted } from './support.ts';

const Refused = fault('Refused');
const Id = z.object({ id: z.string() });
const worker = defineAgent('worker', {
  reserve: operation({ input: z.object({}), output: Id, run: () => ({ id: '' }) }),
  release: operation({ input: Id, output: z.object({}), run: () => ({}) }),
  charge: operation({ input: z.object({}), output: z.object({}), faults: [Refused], run: () => ({}) }),
  tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
});
const reserving = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) =>
    worker
      .reserve({})
      .undo(({ id }) => worker.release({ id }))
      .named(`r${from + index}`),
  );

/** Thirty steps, then twenty in a scope that fails and is undone alone, then thirty more, then all is undone. */
const trip = defineWorkflow('trip', { version: 1, order: z.object({ item: z.string() }) }, () => {
  const tours = sequence(...reserving(30, 50), worker.charge({}).named('pay-tours'))
    .named('tours')
    .on(Refused, ({ compensate }) => sequence(compensate(), worker.tell({}).named('tell-tours')));
  return sequence(...reserving(0, 30), tours, ...reserving(50, 80), worker.charge({})).on(Refused, ({ compensate }) => compensate());
});
const app = defineApp({ workflows: [trip], agents: [worker] });

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `r${from + index}`);
const undone = [...names(30, 50).toReversed(), ...names(50, 80).toReversed(), ...names(0, 30).toReversed()];

const instanceOf = async (desk: Desk, orderId: string) => decodeInstance(await desk.state(orderId)).state;

/** Answers until the order is finished. Returns the requests, each undo under the name of its step, and the largest state. */
async function live(desk: Desk, orderId: string, deliver: () => Promise<unknown> = () => desk.deliver('worker-replies')) {
  const requested: string[] = [];
  let largest = 0;
  for (let round = 0; (await desk.state(orderId)).processState === 'Processing' && round < 400; round++) {
    for (const request of await desk.requests()) {
      const [, name = ''] = /([^/]+?)(?:\/undo)?$/.exec(request.path) ?? [];
      requested.push(request.operation === 'release' ? name : request.operation);
      if (request.operation === 'release') assert.deepEqual(request.input, { id: `${name} is reserved` });
      const output = request.operation === 'reserve' ? { id: `${name} is reserved` } : {};
      const result = request.operation === 'charge' ? failed('Refused') : ok(output);
      await desk.send('worker-replies', replyTo(request, result, desk.clock.now()));
    }
    await deliver();
    largest = Math.max(largest, (await desk.state(orderId)).blob.length);
  }
  return { requested: requested, largest };
}

const isUndone = (requested: readonly string[]) => requested.filter((each) => each.startsWith('r') && each !== 'reserve');

for (const writesAndSendsAtomically of [true, false]) {
  describe(`pages of undo entries beside the state (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, () => {
    test('F-100, F-101: let one scope of a long order be undone first and all other effects later, newest first, with a state as small as at the start', async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      const { requested, largest } = await live(desk, orderId);
      assert.deepEqual(isUndone(requested), undone);
      assert.deepEqual([(await desk.state(orderId)).outcome, largest < 3_500], ['compensated', true], `${largest} characters`);
    });

    test('F-101: are included in the number of entries that are left to undo', async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      for (let done = 0; done < 25; done++) await desk.answer(await desk.request(), ok({ id: `r${done} is reserved` }));
      await desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'acme', reason: 'no' }, { id: 'c' });
      await desk.answer((await desk.requests())[0] as never, failed('Closed'));
      const state = await instanceOf(desk, orderId);
      const whole = await withUndoPages(desk.store, orderId, state);
      assert.deepEqual([whole.undo?.map(({ path }) => path), whole.pagedUndo], [names(0, 25).map((name) => `order/${name}`), undefined]);
      assert.ok((state.pagedUndo?.entries ?? 0) > 10);
      assert.match(explain(programOf(trip), state), /release \(order\/r24\/undo\); 24 more to undo\.$/);
    });
  });
}

describe('an undo page and the write that drops its entries from the state', () => {
  const apart = (context: TestContext, around: (store: Store) => Partial<Store>): Desk => {
    const options: DeskOptions = { writesAndSendsAtomically: false, around: ({ store }) => ({ store: { ...store, ...around(store) } }) };
    return openDesk(context, app, options);
  };

  test('F-58: after a crash between the two, the same page is stored again, and everything is undone once', async (context) => {
    let deaths = 0;
    const desk = apart(context, (store) => ({
      async putUndoPage(...page) {
        await store.putUndoPage(...page);
        if (deaths++ % 2 === 0) throw Object.assign(new Error('killed'), { fatal: true });
      },
    }));
    const orderId = await submitted(desk);
    const { requested } = await live(desk, orderId, async () => {
      while ((await desk.deliver('worker-replies')) > 0);
    });
    assert.ok(deaths > 6);
    assert.deepEqual(isUndone(requested), undone);
  });

  test('S1: a write that loses its race has stored the same page, and everything is undone once', async (context) => {
    let lost = 0;
    const desk = apart(context, (store) => ({
      async update(state, when, along) {
        const { orderId } = state;
        const { state: current } = (await store.load(orderId)) ?? assert.fail();
        // Every third write loses against a foreign write without a relevant change.
        if (current.rev % 3 === 0 && lost++ < 1000) await store.patch({ ...current, rev: current.rev + 1 }, current);
        return store.update(state, when, along);
      },
    }));
    const orderId = await submitted(desk);
    const { requested } = await live(desk, orderId);
    assert.ok(lost > 20);
    assert.deepEqual(isUndone(requested), undone);
  });

  test('S4, F-160: an order whose undo pages are missing is rebuilt from its journal, and everything is undone once', async (context) => {
    const desk = apart(context, () => ({ undoPage: async () => undefined }));
    const orderId = await submitted(desk);
    const { requested } = await live(desk, orderId);
    assert.equal((await desk.state(orderId)).processState, 'Processed');
    assert.deepEqual(isUndone(requested), undone);
  });

  test('S4: an order whose undo pages and journal are missing is blocked instead of being undone in part', async (context) => {
    const desk = apart(context, () => ({ undoPage: async () => undefined, pages: async () => [] }));
    const orderId = await submitted(desk);
    const { requested } = await live(desk, orderId);
    const { processState, fault: why } = await desk.state(orderId);
    assert.deepEqual([processState, why?.type], ['Error', 'RecordUnreadable']);
    assert.ok(isUndone(requested).length < undone.length);
  });
});

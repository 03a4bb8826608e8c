import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assign, call, cel, defineAgent, defineApp, defineWorkflow, operation, parallel, sequence, variable } from 'redress';
import * as z from 'zod';
import { type Json, utf8Bytes } from '#core/data/json';
import { limits } from '#core/definition/definition';
import { decodeInstance } from '#roles/scheduler/instance';
import { journalOf, ok, openDesk, submitted, timePasses } from './support.ts';

describe('a write that makes the journal too long for the state', () => {
  const Order = z.object({ item: z.string() });
  const total = variable<number>('total');
  const worker = defineAgent('worker', {
    read: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    pack: operation({ input: z.object({ total: z.number() }), output: z.object({}), run: () => ({}) }),
    forget: operation({ input: z.object({ text: z.string() }), output: z.object({}), run: () => ({}) }),
  });
  const one = (name: string) => assign(total, cel<number>`${total} + 1.0`).named(name);
  const counted = (count: number, name: (index: number) => string) => Array.from({ length: count }, (_, index) => one(name(index)));
  // Each keeps the whole text for its undo when it closes.
  const large = defineWorkflow('large', { version: 1, order: Order }, ({ order }) => {
    const noting = (name: string) =>
      sequence(assign(variable<number>(name), 1))
        .named(name)
        .undo(worker.forget({ text: order.item }));
    return sequence(noting('one'), noting('two'), noting('three'), worker.pack({ total: 1 }));
  });
  const app = defineApp({
    workflows: [
      defineWorkflow('at-once', { version: 1, order: z.object({}) }, () =>
        sequence(assign(total, 0), ...counted(4000, (index) => `one${index}`), worker.pack({ total })),
      ),
      defineWorkflow('after-an-answer', { version: 1, order: z.object({}) }, () =>
        sequence(assign(total, 0), worker.read({}), ...counted(4000, (index) => `one${index}`), worker.pack({ total })),
      ),
      defineWorkflow('too-much', { version: 1, order: z.object({}) }, () =>
        sequence(
          assign(total, 0),
          sequence(...counted(9900, (index) => `${'x'.repeat(60)}${index}`)).named('y'.repeat(64)),
          worker.pack({ total }),
        ),
      ),
      defineWorkflow('wide', { version: 1, order: z.object({}) }, () =>
        sequence(
          parallel(...Array.from({ length: 990 }, (_, index) => worker.pack({ total: 1 }).named(`${'s'.repeat(60)}${index}`))).named(
            'p'.repeat(28),
          ),
        ),
      ),
      large,
      defineWorkflow('calls-large', { version: 1, order: Order }, ({ order }) => sequence(call(large, { item: order.item }))),
    ],
    agents: [worker],
  });

  for (const writesAndSendsAtomically of [true, false]) {
    const how = writesAndSendsAtomically ? 'one transaction' : 'write, then send';
    for (const workflow of ['at-once', 'after-an-answer'])
      test(`S23, F-159: stores the journal in pages of the same write, and the journal is complete: ${workflow} (${how})`, async (context) => {
        const desk = openDesk(context, app, { writesAndSendsAtomically });
        const orderId = await submitted(desk, {}, { workflow });
        if (workflow === 'after-an-answer') await desk.answer(await desk.request(), ok({}));
        const request = await desk.request();
        assert.deepEqual(request.input, { total: 4000 });
        assert.ok((await desk.state(orderId)).blob.length < 10_000);
        await desk.answer(request, ok({}));
        const journal = await journalOf(desk, orderId);
        assert.deepEqual([journal.at(-1)?.type, journal.length > 8000], ['OrderProcessed', true]);
        assert.ok(journal.every(({ seq }, index) => seq === index + 1));
      });

    test(`S23: cancels a whole order with a thousand running steps near the size limit of the state (${how})`, async (context) => {
      const desk = openDesk(context, app, { writesAndSendsAtomically });
      const orderId = await submitted(desk, {}, { workflow: 'wide' });
      const before = utf8Bytes(decodeInstance(await desk.state(orderId)).state as unknown as Json);
      assert.ok(before > 0.6 * limits.stateBytesMax, `${before} bytes`);
      const decision = { kind: 'cancel', by: 'olga', reason: 'not wanted' } as const;
      assert.equal((await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, decision, { id: 'i' }))).outcome, 'done');
      const journal = await journalOf(desk, orderId);
      assert.ok(journal.filter(({ type }) => type === 'CancelRequested').length >= 990);
      assert.ok(journal.every(({ seq }, index) => seq === index + 1));
    });
  }

  test('S23: faults the activity that makes the write too large for a transaction, and the submission is answered', async (context) => {
    const desk = openDesk(context, app);
    const { processState, fault: raised } = await desk.state(await submitted(desk, {}, { workflow: 'too-much' }));
    assert.deepEqual([processState, raised?.type], ['Error', 'StateTooLarge']);
    assert.match(
      raised?.message ?? '',
      /^The assigned value at order\/y+\/x+\d+ has \d+ bytes; with it, this event would add 31\d{5} bytes to the history \(maximum 3145728 in one write\)\. /,
    );
  });

  test('S23: without a responsible activity is refused on submission with the reason, and creates no order', async (context) => {
    const desk = openDesk(context, app);
    const refused = await desk.submit({ item: 'x'.repeat(150_000) }, { workflow: 'large' });
    assert.partialDeepStrictEqual(refused, { outcome: 'invalid', problems: [{ pointer: '/order', code: 'too-large' }] });
    assert.match(JSON.stringify(refused), /The state of order ord_\w+ would exceed 358400 bytes/);
    assert.deepEqual((await desk.store.list({}, undefined, 10)).items, []);
  });

  test('S23: a called order with a body that does not fit into its state is not created, and its caller gets the fault StateTooLarge', async (context) => {
    const desk = openDesk(context, app);
    const orderId = await submitted(desk, { item: 'x'.repeat(150_000) }, { workflow: 'calls-large' });
    await desk.deliver('workflows-requests');
    await desk.deliver('workflows-replies');
    const { processState, fault: raised } = await desk.state(orderId);
    assert.deepEqual([processState, raised?.type, raised?.source], ['Error', 'StateTooLarge', 'order/large']);
  });
});

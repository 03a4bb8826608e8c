import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  askOperator,
  assign,
  cel,
  defineAgent,
  defineApp,
  defineWorkflow,
  fault,
  forEach,
  operation,
  parallel,
  raise,
  repeatWhile,
  sequence,
  variable,
} from 'redress';
import * as z from 'zod';
import { journalOf, ok, openDesk, submitted } from './support.ts';

describe('an order with more work due at once than one write can hold', () => {
  const worker = defineAgent('worker', {
    read: operation({ input: z.object({}), output: z.string(), run: () => '' }),
    pack: operation({ input: z.object({ total: z.number() }), output: z.object({}), run: () => ({}) }),
  });
  const Odd = fault('Odd');
  const total = variable<number>('total');
  const Numbers = z.object({ numbers: z.array(z.number()) });
  const app = defineApp({
    workflows: [
      defineWorkflow('sums', { version: 1, order: Numbers }, ({ order }) =>
        sequence(
          assign(total, 0),
          forEach(
            order.numbers,
            (number) => sequence(assign(total, cel<number>`${total} + ${number}`), assign(total, cel<number>`${total} + 0.0`)),
            {
              maxConcurrency: 1,
            },
          ),
          worker.pack({ total }),
        ),
      ),
      defineWorkflow('counts', { version: 1, order: z.object({}) }, () =>
        sequence(
          assign(total, 0),
          repeatWhile(cel<boolean>`${total} < 900.0`, assign(total, cel<number>`${total} + 1.0`)),
          worker.pack({ total }),
        ),
      ),
      defineWorkflow('side-by-side', { version: 1, order: z.object({}) }, () =>
        parallel(...Array.from({ length: 2500 }, (_, index) => worker.pack({ total: index }).named(`s${index}`))),
      ),
      defineWorkflow('says', { version: 1, order: z.object({}), toOperator: [Odd] }, () => {
        const read = worker.read({});
        return sequence(read, raise(Odd, read.output));
      }),
      defineWorkflow('asks', { version: 1, order: z.object({}) }, () => {
        const read = worker.read({});
        return sequence(read, askOperator('what', { question: read.output, answer: z.object({}) }));
      }),
    ],
    agents: [worker],
  });

  for (const [workflow, order, answer] of [
    ['sums', { numbers: Array.from({ length: 1000 }, () => 1) }, 1000],
    ['counts', {}, 900],
  ] as const)
    test(`F-84, F-87, S23: runs a loop without steps in portions, continued by a wake-up or by the supervisor: ${workflow}`, async (context) => {
      const desk = openDesk(context, app);
      const orderId = await submitted(desk, order, { workflow });
      let [writes, largest, lost] = [0, 0, true];
      for (; desk.messages('worker-requests').length === 0; writes++) {
        largest = Math.max(largest, (await desk.state(orderId)).blob.length);
        if (lost) await desk.take('wake-ups').then(() => desk.clock.advance(60_000).then(() => desk.supervisor.pass()));
        await desk.deliver('wake-ups');
        lost = false;
      }
      assert.deepEqual((await desk.request()).input, { total: answer });
      assert.ok(writes < 20 && largest < 100_000, `${writes} writes, ${largest} bytes`);
      const journal = await journalOf(desk, orderId);
      assert.deepEqual(
        journal.map(({ seq }) => seq),
        journal.map((_, index) => index + 1),
      );
    });

  test('S23: faults the activity that starts more than a state can hold, and the submission is answered', async (context) => {
    const desk = openDesk(context, app);
    const { processState, fault } = await desk.state(await submitted(desk, {}, { workflow: 'side-by-side' }));
    assert.deepEqual([processState, fault?.type, fault?.source], ['Error', 'StateTooLarge', 'order']);
    assert.match(fault?.message ?? '', /^The start of 2500 activities at order has \d+ bytes; with it, /);
  });

  for (const writesAndSendsAtomically of [true, false])
    for (const workflow of ['says', 'asks'])
      for (const bytes of [45_000, 60_000, 90_000])
        test(`S23: reports a fault or a question of ${bytes} bytes as it is, or as StateTooLarge (${workflow}, ${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
          const desk = openDesk(context, app, { writesAndSendsAtomically });
          const orderId = await submitted(desk, {}, { workflow });
          await desk.answer(await desk.request(), ok('x'.repeat(bytes)));
          const { processState, fault: raised } = await desk.state(orderId);
          assert.equal(processState, 'Error');
          assert.ok(['StateTooLarge', 'Odd', 'OperatorAsked'].includes(raised?.type ?? ''), raised?.type);
        });
});

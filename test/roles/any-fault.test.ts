import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AnyFault, defineAgent, defineApp, defineWorkflow, fault, operation, PermanentFailure, scope, sequence } from 'redress';
import * as z from 'zod';
import { journalOf, noting, reaches, started, submitted } from './support.ts';

const Refused = fault('Refused');
const CardDeclined = fault('CardDeclined', Refused);
const Nothing = z.object({});
const Heard = z.object({ type: z.string(), source: z.string(), message: z.string() });

/** An order whose charge fails with `charge`, and what its catch-all handler sent to the clerk. */
async function notified(context: TestContext, charge: () => never) {
  const heard: z.infer<typeof Heard>[] = [];
  const till = defineAgent('till', { charge: operation({ input: Nothing, output: Nothing, faults: [CardDeclined], run: charge }) });
  const clerk = defineAgent('clerk', {
    note: operation({ input: Heard, output: Nothing, run: (said) => noting(heard, said, {}) }),
    close: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  });
  const line = defineWorkflow('line', { version: 1, order: Nothing }, () =>
    sequence(
      scope('paid', till.charge({}).noUndo())
        .on(Refused, ({ rethrow }) => rethrow())
        .on(AnyFault, ({ rethrow }) => rethrow()),
      clerk.close({}).noUndo(),
    ).on(AnyFault, ({ fault: { type, source, message } }) => clerk.note({ type, source, message }).noUndo()),
  );
  const system = await started(context, defineApp({ workflows: [line], agents: [till, clerk] }));
  const orderId = await submitted(system, {});
  await reaches(system, orderId, 'Processed');
  const raised = (await journalOf(system, orderId)).flatMap((entry) => (entry.type === 'FaultRaised' ? [entry.fault] : []));
  return { heard, raised, outcome: (await system.state(orderId)).outcome };
}

for (const [what, type, raisedAs] of [
  ['an undeclared fault', 'TillBroken', { type: 'TillBroken', class: 'unexpected' }],
  ['a declared fault', 'CardDeclined', { type: 'Refused/CardDeclined', class: 'expected' }],
] as const)
  test(`F-171, F-172: ${what} is raised again unchanged, with its data, and a catch-all handler handles it`, async (context) => {
    const { heard, raised, outcome } = await notified(context, () => {
      throw new PermanentFailure(type, 'no paper', { data: { till: 7 } });
    });
    assert.equal(outcome, 'completed');
    assert.deepEqual(heard, [{ type, source: 'order/paid/charge', message: 'no paper' }]);
    const [first, ...again] = raised;
    assert.partialDeepStrictEqual(first, { ...raisedAs, permanent: true, source: 'order/paid/charge', data: { till: 7 } });
    assert.deepEqual(again, [first]);
  });

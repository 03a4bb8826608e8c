import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Activity, defineAgent, defineApp, defineWorkflow, fault, greaterThan, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { StoreRefusesError } from '#ports/errors';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import { rule } from '../support/rules.ts';
import { type Desk, type DeskOptions, failed, ok, openDesk, submitted, timePasses } from './support.ts';

const Declined = fault('Declined');
const Sku = z.object({ sku: z.string() });
const worker = defineAgent('worker', {
  count: operation({ input: Sku, output: z.object({ pieces: z.number() }), faults: [Declined], run: () => ({ pieces: 1 }) }),
  take: operation({ input: Sku, output: z.object({}), writes: ['stock/{sku}'], run: () => ({}) }),
  put: operation({ input: Sku, output: z.object({}), writes: ['stock/{sku}'], run: () => ({}) }),
});

type Steps = (order: { readonly item: never }) => Activity<'Declined'>;
const oneStep: Steps = ({ item }) => sequence(worker.count({ sku: item }).noUndo() as Activity<'Declined'>);

/** The system with an order whose workflow has these steps. */
async function ordered(context: TestContext, steps: Steps = oneStep, options: DeskOptions = {}) {
  const workflow = defineWorkflow('stock', { version: 1, order: z.object({ item: z.string() }), toOperator: [Declined] }, ({ order }) =>
    steps(order as never),
  );
  const desk = openDesk(context, defineApp({ workflows: [workflow], agents: [worker] }), options);
  return { desk, orderId: await submitted(desk) };
}

const exceptionIn = (desk: Desk, orderId: string) => exceptionOf(exceptionIdOf(orderId, 1), desk.store);
const writers =
  (other: (order: { readonly item: never }) => unknown): Steps =>
  (order) =>
    parallel(
      worker.take({ sku: order.item }).noUndo() as Activity<'Declined'>,
      worker.put({ sku: other(order) } as never).noUndo() as Activity<'Declined'>,
    );

type Trigger = (context: TestContext) => Promise<{ readonly desk: Desk; readonly orderId: string }>;

/** Answers the first request of an order. */
const answered =
  (result: Parameters<Desk['answer']>[1], steps?: Steps): Trigger =>
  async (context) => {
    const { desk, orderId } = await ordered(context, steps);
    await desk.answer(await desk.request(), result);
    return { desk, orderId };
  };

/** Each trigger of the monitor, with the type and the class of the exception that follows in the same write. */
const triggers: readonly (readonly [string, Trigger, string, string])[] = [
  ['a declared refusal', answered(failed('Declined')), 'Declined', 'expected'],
  ['a refusal that nobody declared', answered(failed('Weird')), 'Weird', 'unexpected'],
  [
    'an answer that is not what its operation promises',
    answered(failed('InvalidReply', 'pieces: many', { outcomeUnknown: true })),
    'InvalidReply',
    'application-failure',
  ],
  [
    'an output that the workflow does not expect',
    answered(ok({ pieces: 0 }), ({ item }) => {
      const count = worker.count({ sku: item }).expecting(({ pieces }) => greaterThan(pieces, 0), 'at least one piece');
      return sequence(count.noUndo()) as Activity<'Declined'>;
    }),
    'InvalidReply',
    'application-failure',
  ],
  [
    'a message that its agent cannot process',
    answered({ status: 'rejected', code: 500, message: 'Unable.' }),
    'RequestRejected',
    'basic-failure',
  ],
  [
    'a deadline that is missed too often',
    async (context) => {
      const started = await ordered(context, oneStep, { variables: { MAX_FAILURES: '0' } });
      await started.desk.clock.advance(31_000);
      await timePasses(started.desk.clock, started.desk.supervisor.pass());
      return started;
    },
    'DeadlineExceeded',
    'basic-failure',
  ],
  [
    'two writers of one object',
    (context) =>
      ordered(
        context,
        writers(({ item }) => item),
      ),
    'WritersConflict',
    'unexpected',
  ],
  [
    'a transition that the store or an invariant refuses',
    async (context) => {
      const started = await ordered(context, oneStep, {
        around: ({ store }) => ({
          store: {
            ...store,
            update: async (state, ...rest) => {
              if (state.outcome === 'completed') throw new StoreRefusesError('The item is too large.');
              return store.update(state, ...rest);
            },
          },
        }),
      });
      await started.desk.answer(await started.desk.request(), ok({ pieces: 1 }));
      return started;
    },
    'InvariantViolated',
    'basic-failure',
  ],
  [
    'an exception from outside',
    async (context) => {
      const started = await ordered(context);
      const report = { kind: 'report', by: 'olga', type: 'Fire', message: 'It burns' } as const;
      await timePasses(started.desk.clock, started.desk.system.scheduler.instruct(started.orderId, report, { id: 'r' }));
      return started;
    },
    'Fire',
    'unexpected',
  ],
  [
    'a condition of a rule that throws',
    async (context) => {
      const { desk } = await ordered(context);
      const broken = rule({ event: { kind: 'data' }, object: { workflow: 'stock' }, condition: '1 / (order.item.size() - 3) > 0' });
      await desk.system.rules.put(broken, { by: 'ada', reason: 'a test', expected: undefined });
      return { desk, orderId: await submitted(desk) };
    },
    'RuleFailed',
    'basic-failure',
  ],
];

describe('F-135: the monitor', () => {
  for (const [what, trigger, type, faultClass] of triggers)
    test(`F-123: makes an exception of class ${faultClass} for ${what}`, async (context) => {
      const { desk, orderId } = await trigger(context);
      const exception = await exceptionIn(desk, orderId);
      assert.deepEqual([exception?.type, exception?.class], [type, faultClass]);
      assert.equal((await desk.state(orderId)).processState, 'Error');
    });

  test('F-125: two steps that write different objects, or one after the other, are no conflict', async (context) => {
    const different = await ordered(
      context,
      writers(() => 'coffee'),
    );
    assert.equal((await different.desk.state(different.orderId)).processState, 'Processing');
    const inTurn = await ordered(context, ({ item }) =>
      sequence(worker.take({ sku: item }).noUndo() as Activity<'Declined'>, worker.put({ sku: item }).noUndo() as Activity<'Declined'>),
    );
    await inTurn.desk.answer(await inTurn.desk.request());
    assert.equal((await inTurn.desk.state(inTurn.orderId)).processState, 'Processing');
  });

  test('F-125: an order with two writers goes on when a person resubmits it', async (context) => {
    const { desk, orderId } = await ordered(
      context,
      writers(({ item }) => item),
    );
    const [one, other] = await desk.requests();
    assert.ok(one && other);
    const resubmit = { kind: 'resubmit', by: 'olga', reason: 'both count' } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, resubmit, { id: 'i' }));
    await desk.answer(one);
    await desk.answer(other);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });
});

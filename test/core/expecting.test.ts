import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { atMost, check, compensate, defineAgent, defineWorkflow, type Expr, greaterThan, InvalidReply, operation, sequence } from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';

const run = () => Promise.reject(new Error('not called'));
const bank = defineAgent('bank', {
  charge: operation({ input: z.object({ amount: z.number() }), output: z.object({ charged: z.number(), id: z.string() }), run }),
  refund: operation({ input: z.object({ id: z.string() }), output: z.unknown(), run }),
});
const order = z.object({ amount: z.number() });
const charging = (amount: Expr<number>) =>
  bank
    .charge({ amount })
    .expecting(({ charged }) => atMost(charged, 100), 'a charge of at most 100')
    .undo(({ id }) => bank.refund({ id }));
const plain = defineWorkflow('plain', { version: 1, order }, ({ order }) => sequence(charging(order.amount)));
const handled = defineWorkflow('handled', { version: 1, order }, ({ order }) =>
  sequence(charging(order.amount)).on(InvalidReply, () => compensate()),
);
const answers = (charged: number) => given(bank.charge).answers({ charged, id: 'c-1' });

describe('a step that states what its output must be', () => {
  test('F-137: an output that is not what the workflow expects blocks the order, with a fault of the called service', () => {
    const run = rehearse(plain, { amount: 7 }, answers(101));
    assert.partialDeepStrictEqual(
      run,
      { outcome: 'blocked', fault: { type: 'Engine/InvalidReply', class: 'application-failure' } },
      run.story(),
    );
    assert.match(run.fault?.message ?? '', /not what the workflow expects: a charge of at most 100\./);
    assert.equal(rehearse(plain, { amount: 7 }, answers(100)).outcome, 'completed');
  });

  test('F-137, F-101: the effect behind an unexpected output exists, so the step is confirmed and undone', () => {
    const run = rehearse(handled, { amount: 7 }, answers(101));
    assert.equal(run.outcome, 'compensated', run.story());
    assert.deepEqual([run.undone, run.steps.at(-1)?.input], [['order/charge'], { id: 'c-1' }]);
  });

  test('F-137: the definition has the condition and its description, and the check of a definition knows the types of the output', () => {
    const definition = JSON.parse(JSON.stringify(plain)) as WorkflowDefinition;
    const [step] = (definition.root as unknown as { readonly children: readonly JsonObject[] }).children;
    assert.deepEqual(step?.['expects'], { condition: { $cel: 'steps.charge.charged <= 100' }, what: 'a charge of at most 100' });
    assert.deepEqual(check(definition), []);
    const wrong = (expects: unknown) => ({ ...definition, root: { ...definition.root, children: [{ ...step, expects }] } }) as never;
    const messages = (expects: unknown) =>
      check(wrong(expects))
        .map(({ message }) => message)
        .join('\n');
    assert.match(messages({ condition: { $cel: 'steps.refund.id == ""' }, what: 'x' }), /refund/);
    assert.match(messages({ condition: { $cel: 'steps.charge.' }, what: 'x' }), /\S/);
    assert.match(messages('yes'), /expects is "yes"; it must be an object with condition and what/);
    const odd = () =>
      defineWorkflow('odd', { version: 1, order }, ({ order }) =>
        sequence(bank.charge({ amount: order.amount }).expecting(({ id }) => greaterThan(id as never, 3), 'a number')),
      );
    assert.throws(odd, /odd@1 order\/charge: ">" cannot take a string and a number/);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { atMost, defineAgent, defineRule, defineWorkflow, fault, operation, sequence } from 'redress';
import { crashTest, given, rehearse } from 'redress/testing';
import * as z from 'zod';

const Declined = fault('Declined');
const run = () => ({});
const bank = defineAgent('bank', {
  reserve: operation({ input: z.object({ amount: z.number() }), output: z.object({ lot: z.number() }), run: () => ({ lot: 1 }) }),
  release: operation({ input: z.object({ lot: z.number() }), output: z.unknown(), run }),
  charge: operation({
    input: z.object({ amount: z.number() }),
    output: z.object({ id: z.string() }),
    faults: [Declined],
    run: () => ({ id: 'c' }),
  }),
  ship: operation({ input: z.object({ id: z.string() }), output: z.unknown(), run }),
});
const order = { amount: 7 };
const buy = defineWorkflow('buy', { version: 1, order: z.object({ amount: z.number() }), toOperator: [Declined] }, ({ order }) => {
  const charge = bank.charge({ amount: order.amount }).noUndo();
  return sequence(
    bank.reserve({ amount: order.amount }).undo(({ lot }) => bank.release({ lot })),
    charge,
    bank.ship({ id: charge.output.id }).noUndo(),
  );
});
const about = { name: 'A declined card', workflow: buy, event: { kind: 'exception', type: Declined }, mode: 'enforce' } as const;
const small = ({ order }: { readonly order: { readonly amount: Parameters<typeof atMost>[0] } }) => atMost(order.amount as never, 10);
const later = defineRule('later', { ...about, condition: small as never, action: { kind: 'retry', afterSeconds: 3600 } });
const undo = defineRule('undo', { ...about, action: { kind: 'compensate' } });
const once = given(bank.charge).faults(Declined).once();
const always = given(bank.charge).faults(Declined);

describe('a rehearsal with rules', () => {
  test('F-140: a rule requests the declined charge again after an hour, and the story names the rule', () => {
    const run = rehearse(buy, order, once, { rules: [later] });
    assert.equal(run.story(), 'bank.reserve ok, bank.charge Declined, rule later retry, bank.charge ok, bank.ship ok, completed');
    assert.ok(run.tookMs >= 3_600_000, `${run.tookMs}`);
  });

  test('F-141: a rule that is in dry-run, or whose condition is false, leaves the order blocked', () => {
    assert.equal(rehearse(buy, { amount: 11 }, once, { rules: [later] }).outcome, 'blocked');
    const dry = defineRule('dry', { ...about, mode: 'dry-run', action: { kind: 'retry' } });
    assert.equal(rehearse(buy, order, once, { rules: [dry] }).outcome, 'blocked');
    assert.equal(rehearse(buy, order, once).outcome, 'blocked');
  });

  test('F-133: rules compensate, give outputs and inputs, and raise an exception about which a person decides', () => {
    const played = (action: Parameters<typeof defineRule>[1]['action']) =>
      rehearse(buy, order, always, { rules: [defineRule('a', { ...about, action } as never)] });
    assert.equal(rehearse(buy, order, always, { rules: [undo] }).outcome, 'compensated');
    assert.equal(played({ kind: 'skip', output: { id: 'free' } } as never).outcome, 'completed');
    const other = rehearse(buy, order, once, {
      rules: [defineRule('b', { ...about, action: { kind: 'replace-input', path: 'order/charge', input: { amount: 3 } } })],
    });
    assert.deepEqual(
      other.steps.filter(({ path }) => path === 'order/charge').map(({ input }) => input),
      [{ amount: 7 }, { amount: 3 }],
    );
    assert.equal(
      played({ kind: 'recover' }).story(),
      'bank.reserve ok, bank.charge Declined, rule a recover, bank.release ok, compensated',
    );
    const again = rehearse(buy, order, once, {
      rules: [defineRule('c', { ...about, action: { kind: 'recover', path: 'order/reserve' } })],
    });
    assert.equal(
      again.story(),
      'bank.reserve ok, bank.charge Declined, rule c recover, bank.release ok, bank.reserve ok, bank.charge ok, bank.ship ok, completed',
    );
    const raised = played({ kind: 'raise', type: 'NoMoney', message: 'none' });
    assert.deepEqual([raised.outcome, raised.fault?.type], ['blocked', 'NoMoney']);
  });

  test('timesPerOrder: a rule that acts three times without effect leaves the order to a person', () => {
    const run = rehearse(buy, order, always, { rules: [defineRule('again', { ...about, action: { kind: 'retry' } })] });
    assert.deepEqual([run.outcome, run.fault?.type], ['blocked', 'Engine/RuleStopped']);
    assert.equal(run.steps.filter(({ path }) => path === 'order/charge').length, 4);
  });
});

test('F-133: a crash at any call of an operation while a rule undoes the order leaves no effect behind', async () => {
  const { outcome, runs, outcomes } = await crashTest(buy, [bank], { order, stubs: [always], rules: [undo], mayBlock: false });
  assert.equal(outcome, 'compensated');
  assert.deepEqual(outcomes, { compensated: runs });
});

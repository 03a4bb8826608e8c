import assert from 'node:assert/strict';
import test from 'node:test';
import { checkRule } from '#core/rules/check-rule';
import { isHarmful, withOutcome } from '#core/rules/demotion';
import type { Rule } from '#core/rules/rule';
import { setProblems } from '#core/rules/rule-limits';
import { combined, rule, world } from '../../support/rules.ts';

const ofBuy = (more: Partial<Rule>): Rule => rule({ object: { workflow: 'buy' }, ...more });
const atCharge = { workflow: 'buy', step: 'order/charge' };
const said = (checked: Rule): readonly string[] =>
  checkRule(checked, world).map(({ pointer, code, column }) => `${pointer} ${code}${column === undefined ? '' : ` ${column}`}`);
const told = (checked: Rule): string =>
  checkRule(checked, world)
    .map(({ detail }) => detail)
    .join(' ');

test('F-140: a rule that fits the workflow has no problems', () => {
  const good: readonly Rule[] = [
    rule(),
    rule({ condition: 'exception.type == "Declined" && has(order.total) && order.total > 5.0 && step.attempts < 3.0' }),
    ofBuy({ condition: 'order.items.exists(step, step.quantity > 5.0) && outputs.ship.tracking != "" && at > "2026"' }),
    ofBuy({ object: atCharge, action: { kind: 'skip', output: { chargeId: 'by hand', amount: { $cel: 'order.total' } } } }),
    ofBuy({ action: { kind: 'replace-input', path: 'order/ship', input: { chargeId: { $cel: 'outputs.charge.chargeId' } } } }),
    ofBuy({ action: { kind: 'signal', name: 'papers', payload: { page: 1 } } }),
    rule({ action: { kind: 'recover' } }),
    ofBuy({ event: { kind: 'order-age', afterSeconds: 5 }, action: { kind: 'recover', path: 'order/charge' } }),
    ofBuy({ action: { kind: 'handle', workflow: 'rescue', version: 1, control: 'resumed', path: 'order/ship' } }),
    ofBuy({ event: { kind: 'data' }, condition: 'variables.left > 5.0 && outputs.charge.chargeId != ""', action: { kind: 'suspend' } }),
    ofBuy({
      object: { workflow: 'buy', step: 'order/ship' },
      event: { kind: 'step-state', type: 'Compensating' },
      action: { kind: 'compensate-with', agent: 'payment', operation: 'refund', input: { chargeId: 'x' } },
    }),
    combined(ofBuy({ any: [{ kind: 'exception' }, { kind: 'step-late', afterSeconds: 5 }], condition: 'step.name == "charge"' })),
  ];
  for (const each of good) assert.deepEqual(checkRule(each, world), [], JSON.stringify(each));
});

const conditions: readonly (readonly [string, Partial<Rule>, string])[] = [
  ['order.total >', {}, '/condition invalid-expression 14'],
  ['order.totl > 5.0', {}, '/condition wrong-type 7'],
  ['order.total', {}, '/condition wrong-type 1'],
  ['steps.charge.amount > 1.0', {}, '/condition invalid-expression 1'],
  ['true && outputs.wiegh.grams > 1.0', {}, '/condition unknown-step 9'],
  ['variables.lost > 1.0', {}, '/condition unknown-variable 1'],
  ['order.card == "x"', {}, '/condition secret 1'],
  ['order.total > 5.0 && order.card == "x"', {}, '/condition secret 22'],
  ['has(order.card)', { object: {} }, '/condition secret 5'],
  ['order.items.exists(i, i.quantty > 5.0)', {}, '/condition wrong-type 25'],
  ['exception.kind == "x"', {}, '/condition wrong-type 11'],
  ['exception.class == "unexpcted"', {}, '/condition wrong-type 20'],
  ['order.total > 5.0', { object: {} }, '/condition not-readable 1'],
  ['exception.type == "x"', { event: { kind: 'data' }, action: { kind: 'suspend' } }, '/condition not-readable 1'],
  ['outputs.ship.tracking == ""', { event: { kind: 'data' }, action: { kind: 'suspend' } }, '/condition not-readable 1'],
  ['step.name == "x"', { event: { kind: 'signal' }, action: { kind: 'suspend' } }, '/condition not-readable 1'],
];

test('F-140: a condition is type-checked against the workflow, with the column of each problem', () => {
  for (const [condition, more, wanted] of conditions) assert.deepEqual(said(ofBuy({ ...more, condition })), [wanted], condition);
});

test('a rule that reads an unknown name is refused, and the message says which names exist', () => {
  const suspends = { event: { kind: 'data' }, action: { kind: 'suspend' } } as const;
  assert.match(
    told(ofBuy({ ...suspends, condition: 'outputs.ship.tracking == ""' })),
    /You can read the output of "charge", the order and its variables\./,
  );
  assert.match(told(ofBuy({ ...suspends, condition: 'exception.type == ""' })), /You can read at, order, outputs, variables\./);
  assert.match(told(ofBuy({ condition: 'vars.left > 1.0' })), /A rule reads order, exception, step, outputs, variables and at\./);
  assert.match(told(ofBuy({ condition: 'outputs.chrge.amount > 1.0' })), /Did you mean "charge"\?/);
});

const others: readonly (readonly [Rule, string])[] = [
  [rule({ id: 'No' }), '/id invalid-format'],
  [combined(rule()), '/event one-of'],
  [rule({ all: [] }), '/event one-of'],
  [combined(rule({ all: [{ kind: 'exception' }, { kind: 'data' }], withinSeconds: 5 })), '/condition required'],
  [combined(rule({ all: [{ kind: 'exception' }, { kind: 'signal' }] })), '/withinSeconds required'],
  [combined(rule({ any: [{ kind: 'exception' }] })), '/any length'],
  [rule({ withinSeconds: 5 }), '/withinSeconds not-applicable'],
  [rule({ event: { kind: 'signal', class: 'expected' } }), '/event/class not-applicable'],
  [rule({ event: { kind: 'exception', afterSeconds: 5 } }), '/event/afterSeconds not-applicable'],
  [rule({ event: { kind: 'order-age' } }), '/event/afterSeconds required'],
  [rule({ event: { kind: 'order-state', type: 'Procesed' } }), '/event/type unknown-type'],
  [rule({ event: { kind: 'data' } }), '/condition required'],
  [rule({ object: { workflow: 'by' } }), '/object/workflow unknown-workflow'],
  [rule({ object: { workflow: 'buy', step: 'order/chrge' } }), '/object/step unknown-step'],
  [rule({ object: { agent: 'paymnt' } }), '/object/agent unknown-agent'],
  [rule({ object: { agent: 'payment' }, event: { kind: 'signal' } }), '/object not-applicable'],
  [rule({ executor: { group: 'claims' } }), '/executor not-applicable'],
  [rule({ event: { kind: 'signal' }, action: { kind: 'retry' } }), '/action not-applicable'],
  [rule({ action: { kind: 'retry', afterSeconds: -1 } }), '/action/afterSeconds out-of-range'],
  [ofBuy({ object: atCharge, action: { kind: 'skip', output: { chargeId: 5, amount: 1 } } }), '/action/output/chargeId wrong-type'],
  [ofBuy({ action: { kind: 'replace-input', path: 'order/ship', input: {} } }), '/action/input/chargeId wrong-type'],
  [ofBuy({ action: { kind: 'replace-input', path: 'order/shp', input: {} } }), '/action/path unknown-step'],
  [rule({ action: { kind: 'replace-input', path: 'order/ship', input: {} } }), '/object/workflow required'],
  [ofBuy({ action: { kind: 'recover', path: 'order/chrge' } }), '/action/path unknown-step'],
  [rule({ action: { kind: 'recover', path: 'order/charge' } }), '/object/workflow required'],
  [rule({ action: { kind: 'handle', workflow: 'rescu', control: 'none' } }), '/action/workflow unknown-workflow'],
  [rule({ action: { kind: 'handle', workflow: 'rescue', version: 2, control: 'none' } }), '/action/version unknown-workflow'],
  [ofBuy({ action: { kind: 'handle', workflow: 'rescue', control: 'resumed' } }), '/action/path required'],
  [rule({ action: { kind: 'handle', workflow: 'rescue', control: 'none', path: 'order' } }), '/action/path not-applicable'],
  [ofBuy({ action: { kind: 'signal', name: 'paper', payload: {} } }), '/action/name unknown-signal'],
  [ofBuy({ action: { kind: 'signal', name: 'papers', payload: { page: 'one' } } }), '/action/payload/page wrong-type'],
  [rule({ action: { kind: 'raise', type: 'Over limit', message: '' } }), '/action/type invalid-format'],
  [ofBuy({ action: { kind: 'announce', text: { $cel: 'order.total' } } }), '/action/text wrong-type 1'],
  [rule({ name: 'x'.repeat(17_000) }), ' too-large'],
];

test('F-140: events, objects and actions that do not fit are problems with their place', () => {
  for (const [wrong, wanted] of others) assert.deepEqual(said(wrong), [wanted], JSON.stringify(wrong).slice(0, 300));
});

test('F-104: a rule that gives an undo must name one step without an undo, and the event of its compensation', () => {
  const undo = (more: Partial<Rule>): Rule =>
    ofBuy({
      object: { workflow: 'buy', step: 'order/ship' },
      event: { kind: 'step-state', type: 'Compensating' },
      action: { kind: 'compensate-with', agent: 'payment', operation: 'refund', input: { chargeId: 'x' } },
      ...more,
    });
  assert.deepEqual(said(undo({ object: atCharge })), ['/object/step has-undo']);
  assert.deepEqual(said(undo({ object: { workflow: 'buy' } })), ['/object/step required']);
  assert.deepEqual(said(undo({ event: { kind: 'step-state', type: 'Closed' } })), ['/event/type required']);
  const action = { kind: 'compensate-with', agent: 'payment', operation: 'refnd', input: {} } as const;
  assert.deepEqual(said(undo({ action })), ['/action/operation unknown-operation']);
});

test('a set of rules has limits', () => {
  const many = (count: number, more: Partial<Rule> = {}) =>
    Array.from({ length: count }, (_, index) => rule({ id: `r-${index}`, ...more }));
  assert.deepEqual(setProblems([...many(200), ...many(800, { mode: 'off' })]), []);
  assert.match(setProblems(many(201))[0]?.detail ?? '', /^201 rules about exception would be in force/);
  assert.match(setProblems(many(1001, { mode: 'off' }))[0]?.detail ?? '', /^There would be 1001 rules/);
  assert.match(setProblems(many(100, { name: 'x'.repeat(15_000) }))[0]?.detail ?? '', /^All rules together would have/);
});

test('a rule does harm if half of its last 20 actions failed again', () => {
  const after = (outcomes: string) => isHarmful([...outcomes].reduce((all, each) => withOutcome(all, each === 'p'), ''));
  assert.deepEqual(
    ['f'.repeat(19), `${'f'.repeat(10)}${'p'.repeat(10)}`, `${'f'.repeat(9)}${'p'.repeat(11)}`, `${'f'.repeat(10)}${'p'.repeat(11)}`].map(
      after,
    ),
    [false, true, false, false],
  );
});

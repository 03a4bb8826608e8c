import assert from 'node:assert/strict';
import test from 'node:test';
import { decide } from '#core/rules/decide';
import type { Rule } from '#core/rules/rule';
import { compileRules, isAnyOutputRead, isAnyRuleAbout } from '#core/rules/rule-set';
import { buyOf, event, rule, signal, situation, world } from '../../support/rules.ts';

const askedOf = (rules: readonly Rule[], ...args: Parameters<typeof situation>) => decide(compileRules(rules), situation(...args));
const idsOf = ({ decisions }: ReturnType<typeof decide>) => decisions.map(({ ruleId }) => ruleId);

test('F-140: a rule without an object is about all orders, and its decision is plain data', () => {
  const decided = askedOf([rule({ version: 4, executor: { group: 'claims' } })]);
  assert.deepEqual(decided.decisions, [
    { ruleId: 'declined', version: 4, mode: 'enforce', action: { kind: 'compensate' }, executor: { group: 'claims' } },
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(decided)), decided);
});

test('F-140: a rule decides about the workflow, the step, the agent and the order that its object names', () => {
  const names: readonly [Rule['object'] & {}, boolean][] = [
    [{ workflow: 'buy', step: 'order/charge', agent: 'payment', orderId: 'order-1' }, true],
    [{ workflow: 'sell' }, false],
    [{ step: 'order/ship' }, false],
    [{ agent: 'shipping' }, false],
    [{ orderId: 'order-2' }, false],
  ];
  for (const [object, acts] of names) assert.equal(idsOf(askedOf([rule({ object })])).length, acts ? 1 : 0, JSON.stringify(object));
});

test('F-140: an event matches a rule by its kind, by the type of its fault or a supertype, and by its class', () => {
  const events: readonly [Rule['event'] & {}, boolean][] = [
    [{ kind: 'exception' }, true],
    [{ kind: 'exception', type: 'Declined' }, true],
    [{ kind: 'exception', type: 'Refused' }, true],
    [{ kind: 'exception', type: 'Refused/Declined' }, true],
    [{ kind: 'exception', type: 'Decline' }, false],
    [{ kind: 'exception', class: 'basic-failure' }, false],
    [{ kind: 'step-late' }, false],
  ];
  for (const [about, acts] of events) assert.equal(idsOf(askedOf([rule({ event: about })])).length, acts ? 1 : 0, JSON.stringify(about));
});

test('F-141: a rule acts only if its condition is true', () => {
  const over = (limit: number) => rule({ object: { workflow: 'buy' }, condition: `order.total > ${limit}.0` });
  assert.deepEqual(idsOf(askedOf([over(100)])), ['declined']);
  const decided = askedOf([over(200)]);
  assert.deepEqual(decided.decisions, []);
  assert.deepEqual(decided.asked, [{ id: 'declined', version: 1, matched: false }]);
});

test('F-141: a condition that throws, or is neither true nor false, raises a basic failure and calls a person', () => {
  for (const condition of ['outputs.charge.amount > 1.0', 'order.total', '1 +']) {
    const [decision, ...others] = askedOf([rule({ condition, priority: 1 }), rule({ id: 'other' })]).decisions;
    assert.deepEqual(others, []);
    assert.ok(decision?.action.kind === 'raise');
    assert.equal(decision.action.toPerson, true);
    assert.deepEqual([decision.action.fault.type, decision.action.fault.class], ['Engine/RuleFailed', 'basic-failure']);
    assert.match(decision.action.fault.message, /^The rule declined failed: /);
  }
});

test('F-141: a value of an action that cannot be evaluated, or is not a text, raises a basic failure', () => {
  const ofText = (text: string) => rule({ action: { kind: 'task', text: { $cel: text } } });
  const [good] = askedOf([ofText('"Call " + order.customer.id')]).decisions;
  assert.deepEqual(good?.action, { kind: 'task', text: 'Call c-1' });
  for (const text of ['order.nobody', 'order.total']) assert.equal(askedOf([ofText(text)]).decisions[0]?.action.kind, 'raise', text);
});

test('the rule with the highest priority decides first, and the first rule that acts ends the matching unless it only announces', () => {
  const text = { kind: 'announce', text: 'declined' } as const;
  const rules = [
    rule({ id: 'low', priority: 1 }),
    rule({ id: 'b', priority: 5 }),
    rule({ id: 'told', priority: 9, action: text }),
    rule({ id: 'a', priority: 5 }),
    rule({ id: 'off', priority: 99, mode: 'off' }),
  ];
  assert.deepEqual(idsOf(askedOf(rules)), ['told', 'a']);
});

test('a rule in dry-run notes once for each order what it would have done, and later rules are tried', () => {
  const set = compileRules([rule({ id: 'trial', mode: 'dry-run', priority: 1 }), rule()]);
  const first = decide(set, situation());
  assert.deepEqual(
    first.decisions.map(({ ruleId, mode }) => [ruleId, mode]),
    [
      ['trial', 'dry-run'],
      ['declined', 'enforce'],
    ],
  );
  assert.deepEqual(idsOf(decide(set, situation(), first.memory)), ['declined']);
});

test('a rule acts timesPerOrder times for the same fingerprint, then stops and calls a person', () => {
  const set = compileRules([rule({ timesPerOrder: 2, action: { kind: 'retry' } })]);
  let memory = {};
  const kinds = ['fp', 'fp', 'fp', 'fp', 'other'].map((fingerprint) => {
    const decided = decide(set, situation(event({ fingerprint })), memory);
    memory = decided.memory;
    const { action } = decided.decisions[0] ?? {};
    return action?.kind === 'raise' ? [action.fault.type, action.toPerson] : action?.kind;
  });
  const stopped = ['Engine/RuleStopped', true];
  assert.deepEqual(kinds, ['retry', 'retry', stopped, stopped, 'retry']);
});

test('an order on which rules acted for very many reasons gets no further action without a person', () => {
  const set = compileRules([rule({ action: { kind: 'retry' } })]);
  let memory = {};
  const kinds = Array.from({ length: 65 }, (_, index) => {
    const decided = decide(set, situation(event({ fingerprint: `fp-${index}` })), memory);
    memory = decided.memory;
    return decided.decisions[0]?.action.kind;
  });
  assert.deepEqual([kinds.slice(0, 64).every((kind) => kind === 'retry'), kinds[64]], [true, 'raise']);
});

test('a rule that raises the exception on which it acts stops after three rounds', () => {
  const set = compileRules([rule({ action: { kind: 'raise', type: 'Declined', message: 'again' }, timesPerOrder: 100 })]);
  const rounds: unknown[] = [];
  for (let round = 0; round < 5; ) {
    const { action } = decide(set, situation(event({ round }))).decisions[0] ?? {};
    assert.ok(action?.kind === 'raise');
    rounds.push(action.fault.type);
    if (action.toPerson) break;
    round = action.round;
  }
  assert.deepEqual(rounds, ['Declined', 'Declined', 'Declined', 'Engine/RuleStopped']);
});

test('F-142: a constraint raises an exception when its condition becomes true, and no other while it stays true', () => {
  const limit = rule({
    id: 'limit',
    object: { workflow: 'buy' },
    event: { kind: 'data' },
    condition: 'variables.left <= 0.0',
    action: { kind: 'raise', type: 'OverLimit', message: { $cel: '"left: " + string(variables.left)' } },
  });
  const set = compileRules([limit]);
  let memory = {};
  const raised = [5, 0, -1, 2, -3].map((left) => {
    const { decisions, memory: next } = decide(set, situation({ id: 'd', kind: 'data', at: 0 }, { variables: { left } }), memory);
    memory = next;
    return decisions.map(({ action }) => action.kind === 'raise' && action.fault.message)[0];
  });
  assert.deepEqual(raised, [undefined, 'left: 0', undefined, undefined, 'left: -3']);
});

test('F-142: a constraint that cannot be evaluated raises one exception, not one at each write', () => {
  const set = compileRules([rule({ event: { kind: 'data' }, condition: 'variables.left <= 0.0' })]);
  const first = decide(set, situation({ id: 'd', kind: 'data', at: 0 }));
  assert.equal(first.decisions[0]?.action.kind, 'raise');
  assert.deepEqual(decide(set, situation({ id: 'e', kind: 'data', at: 1 }), first.memory).decisions, []);
});

test('F-104: a rule of compensation gives an undo and its input to a step without one', () => {
  const undo = rule({
    object: { workflow: 'buy', step: 'order/ship' },
    event: { kind: 'step-state', type: 'Compensating' },
    condition: 'order.total > 100.0',
    action: { kind: 'compensate-with', agent: 'payment', operation: 'refund', input: { chargeId: { $cel: 'outputs.charge.chargeId' } } },
  });
  const happens = (type: string, total: number) =>
    askedOf(
      [undo],
      { id: 's', kind: 'step-state', at: 0, type, step: 'order/ship', agent: 'payment' },
      {
        order: { total },
        outputs: { charge: { chargeId: 'ch-1' } },
      },
    ).decisions.map(({ action }) => action);
  assert.deepEqual(happens('Compensating', 120), [
    { kind: 'compensate-with', agent: 'payment', operation: 'refund', input: { chargeId: 'ch-1' } },
  ]);
  assert.deepEqual(happens('Compensating', 80), []);
  assert.deepEqual(happens('Executing', 120), []);
});

test('F-144: rules that nearly fit an event are the candidates of the task; if a rule acts, there are no candidates', () => {
  const near = [
    rule({ id: 'big', name: 'Big orders', condition: 'order.total > 1000.0' }),
    rule({ id: 'trial', mode: 'dry-run' }),
    {
      ...rule({ id: 'both', all: [{ kind: 'exception' }, { kind: 'signal', type: 'papers' }], withinSeconds: 60 }),
      event: undefined,
    } as unknown as Rule,
  ];
  const { candidates } = askedOf(near);
  assert.deepEqual(
    candidates.map(({ ruleId, why }) => [ruleId, why]),
    [
      ['big', 'condition-false'],
      ['both', 'incomplete'],
      ['trial', 'dry-run'],
    ],
  );
  assert.deepEqual(candidates[1]?.missing, [{ kind: 'signal', type: 'papers' }]);
  assert.deepEqual(askedOf([...near, rule({ priority: -1 })]).candidates, []);
});

test('a rule that does not fit a new version of its workflow is skipped for that version, and a fact says so', () => {
  const reads = rule({ object: { workflow: 'buy' }, condition: 'outputs.weigh.grams > 5.0' });
  const both = { ...world, workflows: [...world.workflows, buyOf(2)] };
  const decided = decide(compileRules([reads], both), { ...situation(), workflow: { name: 'buy', version: 2 } });
  assert.deepEqual([decided.decisions, decided.facts], [[], [{ type: 'RuleStale', ruleId: 'declined', version: 1 }]]);
});

test('an event that no rule is about leaves the memory as it is', () => {
  const memory = { kept: [] };
  assert.equal(decide(compileRules([rule()]), situation(signal('papers', 0)), memory).memory, memory);
});

test('the scheduler learns whether a rule is about an event, and whether that rule reads outputs, before it collects values', () => {
  const set = compileRules([rule({ object: { workflow: 'buy' }, condition: 'outputs.charge.amount > 1.0' }), rule({ id: 'general' })]);
  const about = (kind: 'exception' | 'signal', workflow: string) => [
    isAnyRuleAbout(set, kind, workflow),
    isAnyOutputRead(set, kind, workflow),
  ];
  assert.deepEqual(about('exception', 'buy'), [true, true]);
  assert.deepEqual(about('exception', 'sell'), [true, false]);
  assert.deepEqual(about('signal', 'buy'), [false, false]);
});

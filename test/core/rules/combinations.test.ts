import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decide } from '#core/rules/decide';
import { memoryLimits, type RuleMemory } from '#core/rules/memory';
import type { EventPattern, Rule } from '#core/rules/rule';
import { compileRules } from '#core/rules/rule-set';
import type { RuleEvent } from '#core/rules/situation';
import { nextRuleTime } from '#core/rules/timers';
import { combined, rule, signal, situation } from '../../support/rules.ts';

const patterns = (...names: readonly string[]): readonly EventPattern[] => names.map((type) => ({ kind: 'signal', type }));
const both = (withinSeconds = 60, more: Partial<Rule> = {}): Rule =>
  combined(rule({ id: 'both', all: patterns('a', 'b'), withinSeconds, timesPerOrder: 100, action: { kind: 'suspend' }, ...more }));

/** Plays events in their order of arrival, and returns the ids of those at which a rule acted. */
function played(rules: readonly Rule[], events: readonly RuleEvent[]) {
  const set = compileRules(rules);
  let memory: RuleMemory = {};
  const acted: string[] = [];
  const forgotten: string[] = [];
  for (const each of events) {
    const decided = decide(set, situation(each), memory);
    memory = decided.memory;
    if (decided.decisions.length > 0) acted.push(each.id);
    forgotten.push(...decided.facts.flatMap((fact) => (fact.type === 'RuleEventForgotten' ? [fact.eventId] : [])));
  }
  return { acted, forgotten, memory };
}

test('F-143: with `all`, a rule acts on the last of its events to happen, if all have happened within its time', () => {
  const near = [signal('a', 0, 'a1'), signal('b', 60, 'b1')];
  assert.deepEqual(played([both()], near).acted, ['b1']);
  assert.deepEqual(played([both()], [signal('a', 0), signal('b', 61)]).acted, []);
});

test('F-143: a list compares the times at which its events happened, in whatever sequence they arrive', () => {
  assert.deepEqual(played([both()], [signal('b', 50, 'b1'), signal('a', 0, 'a1')]).acted, ['a1']);
  assert.deepEqual(played([both()], [signal('b', 100), signal('a', 0)]).acted, []);
});

test('F-143: any two events of a list must be within the time, not only each of them and the last to arrive', () => {
  const three = combined(rule({ id: 'three', all: patterns('a', 'b', 'c'), withinSeconds: 60 }));
  assert.deepEqual(played([three], [signal('a', 0), signal('c', 100), signal('b', 50, 'b1')]).acted, []);
  assert.deepEqual(played([three], [signal('a', 0), signal('c', 60), signal('b', 50, 'b1')]).acted, ['b1']);
});

test('F-143: a list without the event that has just arrived does not make a rule act', () => {
  const set = compileRules([both(60, { condition: 'variables.open' })]);
  let memory: RuleMemory = {};
  const acts = [signal('a', 0), signal('b', 1), signal('a', 1000)].map((each) => {
    const decided = decide(set, situation(each, { variables: { open: each.at > 1_700_000_500_000 } }), memory);
    memory = decided.memory;
    return decided.decisions.length;
  });
  assert.deepEqual(acts, [0, 0, 0]);
});

test('F-143: an event that fits several entries of a list does not take the entry that another event needs', () => {
  const either = combined(rule({ id: 'either', all: [{ kind: 'signal' }, { kind: 'signal', type: 'a' }], withinSeconds: 60 }));
  assert.deepEqual(played([either], [signal('b', 0), signal('a', 1, 'a1')]).acted, ['a1']);
});

test('F-143: an event counts once for each rule', () => {
  const events = [signal('a', 0, 'a1'), signal('b', 1, 'b1'), signal('b', 2, 'b2'), signal('a', 3, 'a2')];
  assert.deepEqual(played([both()], events).acted, ['b1', 'a2']);
  const announce = { action: { kind: 'announce', text: 'both' } } as const;
  const set = compileRules([both(60, { ...announce, id: 'one' }), both(60, { ...announce, id: 'two' })]);
  const { memory } = decide(set, situation(signal('a', 0)));
  assert.equal(decide(set, situation(signal('b', 1)), memory).decisions.length, 2);
});

test('F-143: an event that is seen twice is kept once', () => {
  const twice = combined(rule({ id: 'twice', all: patterns('a', 'a'), withinSeconds: 60 }));
  assert.deepEqual(played([twice], [signal('a', 0, 'a1'), signal('a', 0, 'a1')]).acted, []);
  assert.deepEqual(played([twice], [signal('a', 0, 'a1'), signal('a', 9, 'a2')]).acted, ['a2']);
});

test('F-143: with `any`, each of the events makes the rule act', () => {
  const any = combined(rule({ id: 'any', any: patterns('a', 'b'), timesPerOrder: 9 }));
  assert.deepEqual(played([any], [signal('b', 0, 'b1'), signal('c', 0), signal('a', 500, 'a1')]).acted, ['b1', 'a1']);
});

test('the memory forgets the oldest event by its own time, and a fact says so', () => {
  const events = Array.from({ length: 33 }, (_, index) => signal('a', 100 - index, `a-${index}`));
  const { forgotten, memory } = played([both()], events);
  assert.deepEqual([forgotten, memory.kept?.length], [['a-32'], 32]);
});

test('a rule about the age of an order decides once, and the next time at which a rule must decide is known', () => {
  const old = rule({ id: 'old', event: { kind: 'order-age', afterSeconds: 60 }, action: { kind: 'suspend' } });
  const set = compileRules([old, { ...old, id: 'older', event: { kind: 'order-age', afterSeconds: 90 } }]);
  const timed = { kind: 'order-age', orderId: 'order-1', workflow: 'buy', eventId: 'age', from: 1000 } as const;
  assert.equal(nextRuleTime(set, timed), 61_000);
  const at = (seconds: number): RuleEvent => ({ id: 'age', kind: 'order-age', at: 1000 + seconds * 1000, seconds });
  const early = decide(set, situation(at(59)));
  assert.deepEqual([early.decisions, early.memory], [[], {}]);
  const { decisions, memory } = decide(set, situation(at(61)));
  assert.deepEqual(
    decisions.map(({ ruleId }) => ruleId),
    ['old'],
  );
  assert.equal(nextRuleTime(set, timed, memory), 91_000);
  assert.deepEqual(decide(set, situation(at(62)), memory).decisions, []);
  assert.equal(nextRuleTime(set, timed, decide(set, situation(at(91)), memory).memory), undefined);
});

test('a rule about the age of an order decides once even if its condition is false, so its order is not due again and again', () => {
  const set = compileRules([rule({ event: { kind: 'order-age', afterSeconds: 0 }, condition: 'false' })]);
  const { memory } = decide(set, situation({ id: 'age', kind: 'order-age', at: 0, seconds: 1 }));
  const timed = { kind: 'order-age', orderId: 'order-1', workflow: 'buy', eventId: 'age', from: 0 } as const;
  assert.equal(nextRuleTime(set, timed, memory), undefined);
});

const anyEvent = fc.record({ name: fc.constantFrom('a', 'b', 'c'), at: fc.integer({ min: 0, max: 200 }) });
const anyEvents = fc
  .array(anyEvent, { maxLength: 60 })
  .map((drafts) => drafts.map(({ name, at }, index) => signal(name, at, `${name}-${index}`)));
const anyRules = fc
  .array(
    fc.record({ names: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 2, maxLength: 3 }), within: fc.integer({ min: 1, max: 90 }) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((drafts) => drafts.map(({ names, within }, index) => both(within, { id: `r-${index}`, all: patterns(...names), priority: index })));

test('decisions are the same each time, the memory stays below its limit, and both can be stored as JSON', () => {
  fc.assert(
    fc.property(anyRules, anyEvents, (rules, events) => {
      const one = played(rules, events);
      assert.deepEqual(played(JSON.parse(JSON.stringify(rules.toReversed())), events), one);
      assert.ok((one.memory.kept?.length ?? 0) <= memoryLimits.keptMax);
      assert.deepEqual(JSON.parse(JSON.stringify(one.memory)), one.memory);
    }),
    { numRuns: 100 },
  );
});

test('F-143: a list acts exactly if some choice of unused events completes it within the time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), anyEvents, (within, events) => {
      // With the same number of a and b per action, a brute force over pairs is the oracle.
      const free: RuleEvent[] = [];
      const expected = events.slice(0, memoryLimits.keptMax).flatMap((each) => {
        if (each.type === 'c') return [];
        const pair = free
          .filter((other) => other.type !== each.type && Math.abs(other.at - each.at) <= within * 1000)
          .toSorted((x, y) => x.at - y.at || (x.id < y.id ? -1 : 1))[0];
        if (!pair) {
          free.push(each);
          return [];
        }
        free.splice(free.indexOf(pair), 1);
        return [each.id];
      });
      assert.deepEqual(played([both(within)], events.slice(0, memoryLimits.keptMax)).acted, expected);
    }),
    { numRuns: 100 },
  );
});

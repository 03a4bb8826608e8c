import { decide } from '#core/rules/decide';
import { parseRuleExpression } from '#core/rules/language';
import type { Rule } from '#core/rules/rule';
import { compileRules } from '#core/rules/rule-set';
import type { RuleEvent, Situation } from '#core/rules/situation';

/**
 * Measures the processor time of a decision with 200 rules in force, all about exceptions. None of them acts, so each condition is
 * evaluated. Half of the conditions look at each of 100 entries of the order. The conditions alone are measured in the same process: other
 * work on the machine hardly changes the ratio of the two times.
 */
const rules = Array.from({ length: 200 }, (_, index): Rule => {
  const limit = 1000 + index;
  return {
    id: `rule-${index}`,
    name: `Rule ${index}`,
    origin: 'people',
    object: { workflow: 'bench' },
    event: { kind: 'exception' },
    condition:
      index % 2 ? `order.items.exists(item, item.quantity > ${limit}.0)` : `exception.type == "T${limit}" && order.total > ${limit}.0`,
    action: { kind: 'suspend' },
    mode: 'enforce',
    priority: index,
    timesPerOrder: 3,
    version: 1,
  };
});
const set = compileRules(rules);
const items = Array.from({ length: 100 }, (_, index) => ({ sku: `sku-${index}`, quantity: index, unitPrice: 100 }));

const situationOf = (event: RuleEvent): Situation => ({
  orderId: 'o1',
  workflow: { name: 'bench', version: 1 },
  event,
  values: { order: { items, total: 500 }, exception: { type: 'CardDeclined' }, outputs: {}, variables: {} },
});
const exception: RuleEvent = { id: 'exc-1', kind: 'exception', at: 0, type: 'CardDeclined', fingerprint: 'fp' };
const signal: RuleEvent = { id: 'signal-1', kind: 'signal', at: 0, type: 'papers' };

/** Returns the best and the median of slices, in milliseconds of processor time for each call. */
function processorMs(work: () => unknown, times: number): { readonly best: number; readonly median: number } {
  const slice = (): number => {
    const before = process.cpuUsage();
    for (let index = 0; index < times; index++) work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / times;
  };
  for (let warm = 0; warm < 3; warm++) slice();
  const slices = Array.from({ length: 10 }, slice).sort((a, b) => a - b);
  return { best: Number((slices[0] ?? 0).toPrecision(3)), median: Number((slices[5] ?? 0).toPrecision(3)) };
}

const decisionOf = (event: RuleEvent) => {
  const situation = situationOf(event);
  return () => decide(set, situation);
};

/** Evaluates the conditions of all rules, and nothing else. */
function conditionsAlone(): () => void {
  const expressions = rules.flatMap(({ condition = '' }) => {
    const parsed = parseRuleExpression(condition);
    return parsed.ok ? [parsed.expression] : [];
  });
  const scope = { ...situationOf(exception).values, at: new Date(0).toISOString() };
  return () => {
    for (const { evaluate } of expressions) evaluate(scope);
  };
}

const print = (figures: object): void => void process.stdout.write(`${JSON.stringify({ bench: 'rules', ...figures })}\n`);
const decided = processorMs(decisionOf(exception), 100);
const alone = processorMs(conditionsAlone(), 100);
print({ what: 'an exception with 200 rules about it', milliseconds: decided, most: 2 });
print({
  what: 'the same, per millisecond of its conditions alone',
  conditions: alone,
  ratio: Number((decided.best / alone.best).toFixed(2)),
  most: 1.25,
});
print({ what: 'an event that no rule is about', milliseconds: processorMs(decisionOf(signal), 100_000), most: 0.02 });

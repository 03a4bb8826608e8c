import { withStep } from './decide.ts';
import type { RuleScope } from './language.ts';
import { isOrderOf } from './match.ts';
import type { Rule } from './rule.ts';
import { isFit, type RuleSet, rulesAbout } from './rule-set.ts';
import type { Situation } from './situation.ts';

/** The actions with which a rule about data forbids a change that would violate it. A rule with another action forbids nothing. */
const forbidding: ReadonlySet<Rule['action']['kind']> = new Set(['raise', 'suspend', 'task', 'compensate', 'recover']);

/** An order before and after a change, as the expressions of rules read it. */
interface Change {
  readonly before: Situation['values'];
  readonly after: Situation['values'];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Returns the constraints in force that a change would violate, although the order did not violate them before (F-142, F-178). */
export function violatedBy(set: RuleSet, order: Pick<Situation, 'orderId' | 'workflow'>, { before, after, at }: Change): readonly Rule[] {
  const scopesOf = (rule: Rule): readonly RuleScope[] =>
    [before, after].map(({ steps, ...values }) =>
      withStep({ ...values, at: new Date(at).toISOString() }, { ...values, ...(steps ? { steps } : {}) }, rule),
    );
  return rulesAbout(set, 'data', order.workflow.name)
    .filter(({ rule }) => rule.mode === 'enforce' && forbidding.has(rule.action.kind))
    .filter((each) => isOrderOf({ ...order } as Situation, each.rule) && isFit(set, each, order.workflow))
    .filter(({ condition, rule }) => {
      if (!condition?.ok) return false;
      const [was, is] = scopesOf(rule).map((scope) => condition.expression.evaluate(scope));
      return is?.ok === true && is.value === true && !(was?.ok === true && was.value === true);
    })
    .map(({ rule }) => rule);
}

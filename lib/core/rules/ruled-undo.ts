import type { Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { RuledUndo } from '#core/data/state';
import type { Template } from '#core/definition/definition';
import { ruleFailed } from './faults.ts';
import { fillRule, parseRuleExpression, type RuleScope } from './language.ts';

/** The input of an undo that a rule gives, or why it cannot be evaluated; undefined if the condition of the rule is false. */
export type RuledInput = { readonly input: Json } | { readonly fault: Fault } | undefined;

/** Returns the input of the undo that a rule of compensation gives to a step that has closed. */
export function ruledInput({ rule, condition, input }: RuledUndo, scope: RuleScope): RuledInput {
  const holds = condition === undefined ? true : conditionIn(condition, scope);
  if (holds === false) return undefined;
  if (holds !== true) return { fault: ruleFailed(rule.id, typeof holds === 'string' ? holds : 'its condition must be true or false.') };
  const filled = fillRule(input as Template, scope);
  return filled.ok ? { input: filled.value } : { fault: ruleFailed(rule.id, filled.fault.message) };
}

/** Returns the value of a condition, or why it has none. */
function conditionIn(condition: string, scope: RuleScope): boolean | string | undefined {
  const parsed = parseRuleExpression(condition);
  if (!parsed.ok) return parsed.message;
  const result = parsed.expression.evaluate(scope);
  if (!result.ok) return result.fault.message;
  return typeof result.value === 'boolean' ? result.value : undefined;
}

import type { Json } from '#core/data/json';
import type { Template } from '#core/definition/definition';
import { createParser, type Evaluation, type Parsed } from '#core/definition/expression';
import { fillWith } from '#core/definition/program';

/** The values that the expressions of a rule may read. */
export interface RuleScope {
  readonly order: Json;
  /** The exception, as the HTTP API shows it. */
  readonly exception?: Json;
  /** The step of the event. */
  readonly step?: Json;
  /** Outputs by the name of the step. */
  readonly outputs: { readonly [name: string]: Json };
  readonly variables: { readonly [name: string]: Json };
  /** The time of the event, RFC 3339 in UTC. */
  readonly at: string;
}

/** The names that a rule may read. */
export const ruleNames = ['order', 'exception', 'step', 'outputs', 'variables', 'at'] as const;

const parse = createParser<RuleScope>({
  variables: { order: 'dyn', exception: 'dyn', step: 'dyn', outputs: 'dyn', variables: 'dyn', at: 'string' },
  roots: new Map([
    ['outputs', 'steps'],
    ['variables', 'vars'],
  ]),
});

const isUnknownName = /^Unknown variable/;

/** Parses an expression of a rule. */
export function parseRuleExpression(text: string): Parsed<RuleScope> {
  const parsed = parse(text);
  if (parsed.ok || !isUnknownName.test(parsed.message)) return parsed;
  return { ...parsed, message: `${parsed.message}. A rule reads ${ruleNames.slice(0, -1).join(', ')} and ${ruleNames.at(-1)}.` };
}

/** Fills a template of an action: each expression is replaced by its value. */
export const fillRule = (template: Template, scope: RuleScope): Evaluation => fillWith(parseRuleExpression, template, scope);

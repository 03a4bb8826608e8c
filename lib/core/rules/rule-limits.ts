import { utf8Bytes } from '#core/data/json';
import type { RuleProblem } from './check-expressions.ts';
import { patternsOf, type Rule, ruleEventKinds, ruleLimits } from './rule.ts';

/** Returns the limits that a set of rules exceeds. Every host loads all rules. */
export function setProblems(rules: readonly Rule[]): readonly RuleProblem[] {
  const bytes = rules.reduce((sum, rule) => sum + utf8Bytes(JSON.parse(JSON.stringify(rule))), 0);
  const crowded = ruleEventKinds
    .map((kind) => ({ kind, count: rules.filter((rule) => rule.mode !== 'off' && isAbout(rule, kind)).length }))
    .filter(({ count }) => count > ruleLimits.inForceMax);
  return [
    ...(rules.length > ruleLimits.rulesMax
      ? [tooMany(`There would be ${rules.length} rules; the maximum is ${ruleLimits.rulesMax}.`)]
      : []),
    ...(bytes > ruleLimits.setBytesMax
      ? [tooMany(`All rules together would have ${bytes} bytes as JSON; the maximum is ${ruleLimits.setBytesMax}.`)]
      : []),
    ...crowded.map(({ kind, count }) =>
      tooMany(
        `${count} rules about ${kind} would be in force or in dry-run; the maximum is ${ruleLimits.inForceMax}. Turn others off, or combine them.`,
      ),
    ),
  ];
}

const isAbout = (rule: Rule, wanted: string): boolean => patternsOf(rule).some(({ kind }) => kind === wanted);

const tooMany = (detail: string): RuleProblem => ({ pointer: '', code: 'too-many', detail });

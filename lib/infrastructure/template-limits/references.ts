import { everyObject } from './deployed-text.ts';
import type { Rule, Violation } from './template.ts';

/**
 * Finds each `Ref` of a rule of a custom bus that is used as the rule's name. CloudFormation replaces such a `Ref` by `bus|rule`, so a
 * metric with this dimension stays empty.
 */
export const ruleReferences: Rule = (template) => {
  const ofBuses = new Set(
    Object.entries(template.Resources).flatMap(([id, { Type, Properties = {} }]) =>
      Type === 'AWS::Events::Rule' && Properties['EventBusName'] !== undefined ? [id] : [],
    ),
  );
  return Object.entries(template.Resources).flatMap(([resource, { Properties }]) => plainReferences(resource, Properties, ofBuses));
};

function plainReferences(resource: string, properties: unknown, ids: ReadonlySet<string>): readonly Violation[] {
  const found: Violation[] = [];
  everyObject(properties, ({ Ref }, within) => {
    if (typeof Ref !== 'string' || !ids.has(Ref) || within.includes('Fn::Split')) return;
    found.push({
      rule: 'RuleReference',
      resource,
      property: within.join('/'),
      problem: `The property uses Ref of the rule ${Ref}. For a rule of a custom event bus, Ref returns "bus|rule", not the name of the rule.`,
      remedy: 'Give the rule a name, and use that.',
    });
  });
  return found;
}

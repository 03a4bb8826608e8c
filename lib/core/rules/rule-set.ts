import type { Expression } from '#core/definition/expression';
import { workflowRef } from '#core/definition/workflow-ref';
import type { RuleWorld } from './check-expressions.ts';
import { fitsVersion } from './check-rule.ts';
import { parseRuleExpression, type RuleScope } from './language.ts';
import { type EventPattern, patternsOf, type Rule, type RuleEventKind } from './rule.ts';

/** A rule prepared for decisions. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly patterns: readonly EventPattern[];
  readonly condition?: { readonly ok: true; readonly expression: Expression<RuleScope> } | { readonly ok: false; readonly message: string };
}

/** Rules compiled once, in the order in which they are asked. Compared by identity: another set of rules is another object. */
export interface RuleSet {
  /** For each kind of event: the rules without a workflow, and for each workflow its own rules together with those. */
  readonly byKind: ReadonlyMap<RuleEventKind, RulesOfKind>;
  readonly world: RuleWorld | undefined;
  /** Whether a rule fits a version of a workflow, found out at the first event. */
  readonly fits: Map<string, boolean>;
}

interface RulesOfKind {
  readonly general: readonly CompiledRule[];
  readonly ofWorkflow: ReadonlyMap<string, readonly CompiledRule[]>;
}

/**
 * Compiles the rules that are not off. With `world`, the app's definitions, a rule that does not fit the version of an order's workflow
 * is skipped for that order.
 */
export function compileRules(rules: readonly Rule[], world?: RuleWorld): RuleSet {
  const compiled = rules
    .filter(({ mode }) => mode !== 'off')
    .toSorted((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1))
    .map(compileRule);
  const kinds = new Map<RuleEventKind, CompiledRule[]>();
  for (const each of compiled)
    for (const kind of new Set(each.patterns.map((pattern) => pattern.kind))) kinds.set(kind, [...(kinds.get(kind) ?? []), each]);
  return { byKind: new Map([...kinds].map(([kind, all]) => [kind, byWorkflow(all)])), world, fits: new Map() };
}

function compileRule(rule: Rule): CompiledRule {
  const patterns = patternsOf(rule);
  if (rule.condition === undefined) return { rule, patterns };
  const parsed = parseRuleExpression(rule.condition);
  return { rule, patterns, condition: parsed.ok ? parsed : { ok: false, message: `${rule.condition}: ${parsed.message}` } };
}

function byWorkflow(all: readonly CompiledRule[]): RulesOfKind {
  const names = new Set(all.flatMap(({ rule }) => rule.object?.workflow ?? []));
  const isFor =
    (name: string | undefined) =>
    ({ rule }: CompiledRule) =>
      rule.object?.workflow === undefined || rule.object.workflow === name;
  return { general: all.filter(isFor(undefined)), ofWorkflow: new Map([...names].map((name) => [name, all.filter(isFor(name))])) };
}

const none: readonly CompiledRule[] = [];

/** Returns the rules that an event of this kind in an order of this workflow may concern, in the order in which they are asked. */
export function rulesAbout({ byKind }: RuleSet, kind: RuleEventKind, workflow: string): readonly CompiledRule[] {
  const found = byKind.get(kind);
  return found ? (found.ofWorkflow.get(workflow) ?? found.general) : none;
}

/** Whether any rule may be about an event of this kind. If not, the values for `decide` need not be gathered. */
export const isAnyRuleAbout = (set: RuleSet, kind: RuleEventKind, workflow: string): boolean => rulesAbout(set, kind, workflow).length > 0;

/** Whether a rule about an event of this kind reads an output in its condition or its action, so that the journal must be read. */
export const isAnyOutputRead = (set: RuleSet, kind: RuleEventKind, workflow: string): boolean =>
  rulesAbout(set, kind, workflow).some(({ rule }) => /\boutputs\b/.test(JSON.stringify([rule.condition, rule.action])));

/** Returns the steps that rules about data name in their objects. */
export const stepsOfConstraints = (set: RuleSet, workflow: string): readonly string[] => [
  ...new Set(rulesAbout(set, 'data', workflow).flatMap(({ rule }) => rule.object?.step ?? [])),
];

/** Whether a rule fits the version of the workflow. Without the app's definitions every rule does, as does a rule without a workflow. */
export function isFit(
  { world, fits }: RuleSet,
  { rule }: CompiledRule,
  workflow: { readonly name: string; readonly version: number },
): boolean {
  if (!world || rule.object?.workflow === undefined) return true;
  const key = `${rule.id} ${rule.version} ${workflowRef(workflow)}`;
  const known = fits.get(key) ?? fitsVersion(rule, workflow, world);
  fits.set(key, known);
  return known;
}

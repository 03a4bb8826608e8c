import { didYouMean } from '#core/checks/suggest';
import { bool, listed } from '#core/checks/types';
import { utf8Bytes } from '#core/data/json';
import { isRemote, limits, type WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import type { WorkflowRef } from '#core/definition/workflow-ref';
import { actionProblems } from './check-action.ts';
import { checkValue, type RuleProblem, type RuleWorld } from './check-expressions.ts';
import { type EventPattern, patternsOf, type Rule, ruleIdPattern, ruleLimits, stepKinds } from './rule.ts';

export type { RuleProblem, RuleWorld } from './check-expressions.ts';

/**
 * Returns the problems of a rule whose fields have the right form: of its events and its object, of what its expressions read and yield,
 * and of its action, for each version of the workflow that the rule is for.
 */
export function checkRule(rule: Rule, world: RuleWorld): readonly RuleProblem[] {
  const shape = [...ownProblems(rule), ...eventProblems(rule)];
  const { targets, problems } = targetsOf(rule, world);
  const found = [...shape, ...problems];
  return found.length > 0 ? found : contentProblems(rule, targets, world);
}

const contentProblems = (rule: Rule, targets: readonly WorkflowDefinition[], world: RuleWorld): readonly RuleProblem[] => [
  ...(rule.condition === undefined ? [] : conditionProblems(rule.condition, rule, targets, world)),
  ...actionProblems(rule, targets, world),
];

/**
 * Whether a rule fits one version of its workflow: a version that came after the rule may lack what the rule reads. A version that the
 * app lacks counts as fitting. So does a version without the step of the rule: the rule has no effect there.
 */
export function fitsVersion(rule: Rule, { name, version }: WorkflowRef, world: RuleWorld): boolean {
  const definition = world.workflows.find((each) => each.name === name && each.version === version);
  const step = rule.object?.step;
  if (!definition || (step !== undefined && !programOf(definition).nodes.has(step))) return true;
  return contentProblems(rule, [definition], world).length === 0;
}

const conditionProblems = (condition: string, rule: Rule, targets: readonly WorkflowDefinition[], { catalog }: RuleWorld) =>
  checkValue(
    { pointer: '/condition', template: { $cel: condition }, wanted: bool, receiver: 'the rule', what: 'a condition' },
    rule,
    targets,
    catalog,
  );

const problem = (pointer: string, code: string, detail: string): RuleProblem => ({ pointer, code, detail });

function ownProblems({ id, executor, action, ...rule }: Rule): readonly RuleProblem[] {
  const bytes = utf8Bytes(JSON.parse(JSON.stringify({ id, executor, action, ...rule })));
  return [
    ...(ruleIdPattern.test(id)
      ? []
      : [problem('/id', 'invalid-format', `Expected 1 to 64 of a-z, 0-9 and "-", got ${JSON.stringify(id)}.`)]),
    ...(bytes > ruleLimits.ruleBytesMax
      ? [problem('', 'too-large', `The rule has ${bytes} bytes as JSON; the maximum is ${ruleLimits.ruleBytesMax}.`)]
      : []),
    ...(executor && action.kind !== 'task' && action.kind !== 'handle'
      ? [problem('/executor', 'not-applicable', `An executor goes with the actions task and handle, not with ${action.kind}.`)]
      : []),
  ];
}

function eventProblems(rule: Rule): readonly RuleProblem[] {
  const { event, all, any, withinSeconds } = rule;
  const given = [event, all, any].filter((each) => each !== undefined);
  if (given.length !== 1) return [problem('/event', 'one-of', 'Expected exactly one of event, all and any.')];
  const lists = [...(all ? [['all', all] as const] : []), ...(any ? [['any', any] as const] : [])];
  return [
    ...(event ? patternProblems(event, '/event') : []),
    ...lists.flatMap(([field, list]) => [
      ...(list.length >= 2 && list.length <= ruleLimits.patternsMax
        ? []
        : [problem(`/${field}`, 'length', `Expected 2 to ${ruleLimits.patternsMax} events, got ${list.length}.`)]),
      ...list.flatMap((each, index) => patternProblems(each, `/${field}/${index}`)),
    ]),
    ...(rule.condition === undefined && patternsOf(rule).some(({ kind }) => kind === 'data')
      ? [problem('/condition', 'required', 'A rule about data needs a condition: it fires when the condition becomes true.')]
      : []),
    ...(all && !(withinSeconds !== undefined && withinSeconds > 0 && withinSeconds <= limits.secondsMax)
      ? [problem('/withinSeconds', 'required', `all needs withinSeconds: above 0, at most ${limits.secondsMax}.`)]
      : []),
    ...(!all && withinSeconds !== undefined
      ? [problem('/withinSeconds', 'not-applicable', 'withinSeconds goes with all: it limits the time from the first event to the last.')]
      : []),
  ];
}

const types: { readonly [kind: string]: readonly string[] } = {
  'order-state': ['Pending', 'Processing', 'Processed', 'Error'],
  'step-state': ['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed'],
};

function patternProblems({ kind, type, class: faultClass, afterSeconds }: EventPattern, pointer: string): readonly RuleProblem[] {
  const isTimed = kind === 'order-age' || kind === 'step-late';
  const known = types[kind];
  const has = (field: string, isGiven: boolean, kinds: string): RuleProblem[] =>
    isGiven ? [problem(`${pointer}/${field}`, 'not-applicable', `${field} goes with ${kinds}, not with ${kind}.`)] : [];
  return [
    ...(kind === 'exception' ? [] : has('class', faultClass !== undefined, 'the kind exception')),
    ...(isTimed ? [] : has('afterSeconds', afterSeconds !== undefined, 'the kinds order-age and step-late')),
    ...(isTimed || kind === 'data' ? has('type', type !== undefined, 'the kinds exception, order-state, step-state and signal') : []),
    ...(known && type !== undefined && !known.includes(type)
      ? [problem(`${pointer}/type`, 'unknown-type', `Expected one of ${listed(known)}, got "${type}".${didYouMean(type, known)}`)]
      : []),
    ...(kind === 'order-age' && afterSeconds === undefined
      ? [problem(`${pointer}/afterSeconds`, 'required', 'order-age needs afterSeconds: the age in seconds since submission.')]
      : []),
    ...(afterSeconds !== undefined && !(afterSeconds >= 0 && afterSeconds <= limits.secondsMax)
      ? [problem(`${pointer}/afterSeconds`, 'out-of-range', `Expected 0 to ${limits.secondsMax} seconds, got ${afterSeconds}.`)]
      : []),
  ];
}

/** Returns the definitions that a rule is for: each version of its workflow that has its step. */
export function targetsOf(
  { object = {}, ...rule }: Pick<Rule, 'object' | 'event' | 'all' | 'any'>,
  { workflows, catalog }: RuleWorld,
): { readonly targets: readonly WorkflowDefinition[]; readonly problems: readonly RuleProblem[] } {
  const { workflow, step, agent } = object;
  const named = workflow === undefined ? workflows : workflows.filter(({ name }) => name === workflow);
  if (workflow !== undefined && named.length === 0) {
    const names = [...new Set(workflows.map(({ name }) => name))];
    const detail = `The app has no workflow "${workflow}".${didYouMean(workflow, names)}`;
    return { targets: [], problems: [problem('/object/workflow', 'unknown-workflow', detail)] };
  }
  const targets = step === undefined ? named : named.filter((each) => programOf(each).nodes.has(step));
  const paths = named.flatMap((each) => [...programOf(each).nodes.keys()]);
  const agents = catalog?.all ? [...catalog.all.keys()] : named.flatMap(agentsOf);
  return {
    targets,
    problems: [
      ...(targets.length === 0 && step !== undefined
        ? [
            problem(
              '/object/step',
              'unknown-step',
              `${workflow ?? 'No workflow'} has ${workflow ? 'no' : 'an'} activity at "${step}".${didYouMean(step, paths)}`,
            ),
          ]
        : []),
      ...(agent !== undefined && !agents.includes(agent)
        ? [problem('/object/agent', 'unknown-agent', `The app has no agent "${agent}".${didYouMean(agent, agents)}`)]
        : []),
      ...((step !== undefined || agent !== undefined) && !patternsOf(rule).some(({ kind }) => stepKinds.has(kind))
        ? [problem('/object', 'not-applicable', 'step and agent go with events of a step: exception, step-late and step-state.')]
        : []),
    ],
  };
}

const agentsOf = (workflow: WorkflowDefinition): readonly string[] =>
  [...programOf(workflow).nodes.values()].flatMap((node) => (isRemote(node) ? [node.agent] : []));

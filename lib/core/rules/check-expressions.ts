import type { ASTNode } from '@marcbachmann/cel-js';
import { answersLater } from '#core/activities/index';
import { typeOfTemplate } from '#core/checks/assignability';
import type { Readable } from '#core/checks/expression-types';
import { secretReadIn } from '#core/checks/secret-output';
import { didYouMean } from '#core/checks/suggest';
import { readableOf, testedFor } from '#core/checks/type-check';
import { bool, listed, objectOf, type Type, text, unknown } from '#core/checks/types';
import { outputVariable } from '#core/data/child-order';
import { faultClasses, faultTags } from '#core/data/fault';
import type { Catalog } from '#core/definition/catalog';
import type { Template, WorkflowDefinition } from '#core/definition/definition';
import type { Expression } from '#core/definition/expression';
import { assignedIn, expressionsIn, programOf } from '#core/definition/program';
import { parseRuleExpression, type RuleScope } from './language.ts';
import { type FreeRead, freeReads } from './reads.ts';
import { patternsOf, type Rule, stepKinds, troubleKinds } from './rule.ts';

/** A problem of a rule. */
export interface RuleProblem {
  /** JSON pointer into the rule. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
  /** The position in an expression, in characters from 1. */
  readonly column?: number;
}

/** The workflows and the catalog against which a rule is checked. */
export interface RuleWorld {
  readonly workflows: readonly WorkflowDefinition[];
  readonly catalog?: Catalog;
}

/** A value of a rule, and the place that receives it. */
export interface RuleValue {
  readonly pointer: string;
  readonly template: Template;
  readonly wanted: Type;
  readonly receiver: string;
  /** The name of the expected value in messages, if not its type. */
  readonly what?: string;
}

/** Checks the expressions of a value, and the value itself, for each workflow that the rule is for. */
export function checkValue(value: RuleValue, rule: Rule, targets: readonly WorkflowDefinition[], catalog?: Catalog): RuleProblem[] {
  const found = [...expressionsIn(value.template)].flatMap(({ text, pointer }) => {
    const at = `${value.pointer}${pointer}`;
    const parsed = parseRuleExpression(text);
    if (!parsed.ok) return [{ pointer: at, code: 'invalid-expression', detail: parsed.message, column: parsed.position + 1 }];
    const named = nameProblems(parsed.expression, rule, targets);
    const reads =
      rule.object?.workflow === undefined || named.length > 0 ? [] : targets.flatMap((each) => readProblems(parsed.expression, rule, each));
    return [...named, ...reads].map(({ detail, position, code }) => ({ pointer: at, code, detail, column: position + 1 }));
  });
  // An impossible read has no type, so the types are not checked.
  if (found.length > 0) return unique(found);
  const tested = testedIn(value.template);
  const typed = rule.object?.workflow === undefined ? [undefined] : targets;
  return unique(typed.flatMap((each) => typeProblems(value, { readable: readableFor(rule, each, tested, catalog) })));
}

const ofAnyException: Pick<Rule, 'event' | 'object'> = { event: { kind: 'exception' } };

/** Checks a condition over an exception and its order, of any workflow. A field that an order lacks makes the condition false. */
export function checkExceptionCondition(condition: string, pointer: string): readonly RuleProblem[] {
  const parsed = parseRuleExpression(condition);
  if (!parsed.ok) return [{ pointer, code: 'invalid-expression', detail: parsed.message, column: parsed.position + 1 }];
  const others = freeReads(parsed.expression.ast).filter(({ name }) => name !== 'exception' && name !== 'order');
  if (others.length > 0)
    return others.map(({ name, position }) => {
      const detail = `${name} cannot be read here. You can read exception and order.`;
      return { pointer, code: 'not-readable', detail, column: position + 1 };
    });
  const value = { pointer, template: { $cel: condition }, wanted: bool, receiver: 'the solution', what: 'a condition' };
  return typeProblems(value, { readable: readableFor(ofAnyException as Rule, undefined, testedIn(value.template)) });
}

function typeProblems(
  { pointer, template, wanted, receiver, what }: RuleValue,
  { readable }: { readonly readable: Readable },
): RuleProblem[] {
  const problems: RuleProblem[] = [];
  typeOfTemplate(template, wanted, {
    readable,
    receiver,
    what,
    parse: parseRuleExpression,
    say: (message, severity = 'error', where) => {
      if (severity !== 'error') return;
      const column = where?.position === undefined ? {} : { column: where.position + 1 };
      problems.push({ pointer: `${pointer}${where?.pointer ?? ''}`, code: 'wrong-type', detail: where?.detail ?? message, ...column });
    },
  });
  return problems;
}

interface Found {
  readonly code: string;
  readonly detail: string;
  readonly position: number;
}

/** Checks that the events of the rule have the values that an expression reads. */
function nameProblems({ ast }: Expression<RuleScope>, rule: Rule, targets: readonly WorkflowDefinition[]): readonly Found[] {
  const there = readableNames(rule);
  const tested = new Set(testedFor(ast));
  return freeReads(ast).flatMap((read) => {
    if (read.name === 'order' && rule.object?.workflow === undefined)
      return isTested(read, tested) ? secretProblem(ast, read, targets) : [unguarded(read)];
    if (there.includes(read.name)) return secretProblem(ast, read, targets);
    const detail = `${read.name} cannot be read here: ${whyNot(read.name)}. You can read ${there.join(', ')}.`;
    return [{ code: 'not-readable', detail, position: read.position }];
  });
}

/** Returns the names that exist at each event of a rule. */
function readableNames(rule: Rule): readonly string[] {
  const kinds = patternsOf(rule).map(({ kind }) => kind);
  return [
    ...(kinds.every((kind) => kind === 'exception') ? ['exception'] : []),
    ...(kinds.every((kind) => stepKinds.has(kind) || (kind === 'data' && rule.object?.step !== undefined)) ? ['step'] : []),
    'at',
    ...(rule.object?.workflow === undefined ? ['has(order.…)'] : ['order', 'outputs', 'variables']),
  ];
}

const whyNot = (name: string): string => {
  if (name === 'exception') return 'not every event of the rule is an exception';
  return name === 'step' ? 'not every event of the rule is about a step' : 'the rule names no workflow in its object';
};

const isTested = ({ path, isOptional }: FreeRead, tested: ReadonlySet<string>): boolean =>
  isOptional || [...tested].some((each) => path === each || path.startsWith(`${each}.`) || path.startsWith(`${each}[`));

const unguarded = ({ path, position }: FreeRead): Found => ({
  code: 'not-readable',
  detail: `${path} may not exist: the rule names no workflow in its object. Name one, or test for the field: has(${path}).`,
  position,
});

/** A decision is kept in the history, so no rule may read a secret. */
function secretProblem(ast: ASTNode, { name, path, position }: FreeRead, targets: readonly WorkflowDefinition[]): readonly Found[] {
  if (name === 'exception' || name === 'at' || name === 'step') return [];
  const secret = targets.map((each) => secretReadIn(ast, each)).find((each) => each !== undefined);
  return secret === path ? [{ code: 'secret', detail: `${secret} holds a secret, which a rule may not read.`, position }] : [];
}

/** Checks that the workflow has the outputs and variables that an expression reads, when the event happens. */
function readProblems({ steps, vars }: Expression<RuleScope>, rule: Rule, workflow: WorkflowDefinition): readonly Found[] {
  const title = `${workflow.name}@${workflow.version}`;
  const answering = answeringIn(workflow);
  const kept = keptOutputs(rule, workflow);
  const variables = assignedIn(workflow.root).filter((name) => name !== outputVariable);
  return [
    ...steps.flatMap(({ name, position }) => {
      if (!answering.includes(name))
        return [{ code: 'unknown-step', detail: `${title} has no step "${name}" with an output.${didYouMean(name, answering)}`, position }];
      if (kept.includes(name)) return [];
      const detail =
        `outputs.${name} is not kept at this event of ${title}. ` +
        (kept.length > 0
          ? `You can read the output of ${listed(kept)}, the order and its variables.`
          : 'You can read only the order and its variables.');
      return [{ code: 'not-readable', detail, position }];
    }),
    ...vars
      .filter(({ name }) => !variables.includes(name))
      .map(({ name, position }) => ({
        code: 'unknown-variable',
        detail: `${title} sets no variable "${name}".${didYouMean(name, variables)}`,
        position,
      })),
  ];
}

const answeringIn = (workflow: WorkflowDefinition): readonly string[] => [
  ...new Set([...programOf(workflow).nodes.values()].filter(answersLater).map(({ name }) => name)),
];

/**
 * Returns the outputs that exist at the events of a rule. At an event of trouble these are all outputs, from the journal. At any other
 * event these are the outputs that the definition itself reads later, and that of the step that closes.
 */
function keptOutputs(rule: Rule, workflow: WorkflowDefinition): readonly string[] {
  const kinds = patternsOf(rule).map(({ kind }) => kind);
  if (kinds.every((kind) => troubleKinds.has(kind))) return answeringIn(workflow);
  const { nodes, readOutputs } = programOf(workflow);
  const own = kinds.every((kind) => kind === 'step-state') ? nodes.get(rule.object?.step ?? '') : undefined;
  return [...new Set([...readOutputs.keys(), ...(own ? [own.name] : [])])];
}

const testedIn = (template: Template): ReadonlySet<string> =>
  new Set(
    [...expressionsIn(template)].flatMap(({ text }) => {
      const parsed = parseRuleExpression(text);
      return parsed.ok ? [...testedFor(parsed.expression.ast)] : [];
    }),
  );

const condition = objectOf({ processState: text, status: unknown });
const exception = objectOf({
  id: text,
  orderId: text,
  workflow: objectOf({ name: text, version: { kind: 'number', whole: false } }),
  path: unknown,
  step: unknown,
  type: text,
  class: { kind: 'string', among: faultClasses },
  tags: { kind: 'list', item: { kind: 'string', among: faultTags } },
  message: text,
  data: unknown,
  before: condition,
  after: condition,
  attempt: { kind: 'number', whole: false },
  at: text,
  fingerprint: text,
});
const step = objectOf({
  path: text,
  name: text,
  agent: unknown,
  operation: unknown,
  status: { kind: 'string', among: ['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed'] },
  attempts: { kind: 'number', whole: false },
  output: unknown,
  /** The input of the step that a constraint is about, as the order has it now. */
  input: unknown,
});

/** Returns the types of what a rule reads. Without a workflow the order's fields have any type. */
function readableFor(rule: Rule, workflow: WorkflowDefinition | undefined, tested: ReadonlySet<string>, catalog?: Catalog): Readable {
  const types = workflow && readableOf(workflow, catalog);
  return {
    order: types?.order ?? unknown,
    fault: unknown,
    step: (name) => types?.step(name) ?? unknown,
    variable: (name) => types?.variable(name) ?? unknown,
    loop: () => unknown,
    isTestedFor: (path) => tested.has(path) || (types?.isTestedFor(path) ?? false),
    named: (name) => namedTypes(rule).get(name),
  };
}

const namedTypes = (rule: Rule): ReadonlyMap<string, Type> =>
  new Map([...readableNames(rule)].flatMap((name) => (name in types ? [[name, types[name as keyof typeof types]] as const] : [])));

const types = { exception, step, at: text };

const unique = (problems: readonly RuleProblem[]): RuleProblem[] => [
  ...new Map(problems.map((each) => [JSON.stringify(each), each])).values(),
];

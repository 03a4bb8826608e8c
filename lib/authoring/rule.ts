import * as z from 'zod';
import type { FaultClass } from '#core/data/fault';
import { isObject } from '#core/data/json';
import type { Status } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { checkRule, type RuleProblem, type RuleWorld } from '#core/rules/check-rule';
import { type Rule, type RuleControl, type RuleEventKind, type RuleExecutor, type RuleMode, ruleLimits } from '#core/rules/rule';
import { setProblems } from '#core/rules/rule-limits';
import { placeIn } from './call-site.ts';
import { DefinitionError } from './definition-error.ts';
import { celOf, type Expr, expression, type In, type Ref } from './expression.ts';
import type { FaultType } from './fault.ts';
import { ruleFields } from './rule-schema.ts';
import type { Workflow } from './workflow.ts';

/** Reads a value whose type the author gives: `outputs<number>('charge.amount')`. It is type-checked when the app is loaded. */
export type RuleRead = <T>(path: string) => Ref<T>;

type StepKind = 'exception' | 'step-late' | 'step-state';

/** An event that a rule is about. */
export type RuleEvent<K extends RuleEventKind = RuleEventKind> = { readonly kind: K } & EventFields[NoInfer<K>];

interface EventFields {
  readonly exception: { readonly type?: string | FaultType; readonly class?: FaultClass; readonly afterSeconds?: never };
  readonly 'step-late': { readonly afterSeconds?: number; readonly type?: never; readonly class?: never };
  readonly 'order-age': { readonly afterSeconds: number; readonly type?: never; readonly class?: never };
  readonly 'order-state': {
    readonly type?: 'Pending' | 'Processing' | 'Processed' | 'Error';
    readonly class?: never;
    readonly afterSeconds?: never;
  };
  readonly 'step-state': { readonly type?: Status; readonly class?: never; readonly afterSeconds?: never };
  readonly data: { readonly type?: never; readonly class?: never; readonly afterSeconds?: never };
  readonly signal: { readonly type?: string; readonly class?: never; readonly afterSeconds?: never };
}

interface ExceptionFields {
  readonly id: string;
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly path: string;
  readonly step: string;
  readonly type: string;
  readonly class: FaultClass;
  readonly tags: readonly string[];
  readonly message: string;
  readonly attempt: number;
  readonly at: string;
  readonly fingerprint: string;
}

interface StepFields {
  readonly path: string;
  readonly name: string;
  readonly agent: string;
  readonly operation: string;
  readonly status: Status;
  readonly attempts: number;
}

/** The values that a rule may read. `exception` and `step` exist if each of its events has them. */
export type RuleValues<I, K extends RuleEventKind> = {
  readonly order: Ref<I>;
  readonly at: Expr<string>;
  readonly outputs: RuleRead;
  readonly variables: RuleRead;
} & ([K] extends ['exception'] ? { readonly exception: Ref<ExceptionFields> } : unknown) &
  ([K] extends [StepKind] ? { readonly step: Ref<StepFields> } : unknown);

type Words = In<string>;

/** An action that a rule about events of these kinds may have. */
export type RuleActionOf<K extends RuleEventKind> =
  | { readonly kind: 'compensate' }
  | { readonly kind: 'recover'; readonly path?: string }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'replace-input'; readonly path: string; readonly input: unknown }
  | {
      readonly kind: 'handle';
      readonly workflow: WorkflowDefinition;
      readonly control: Exclude<RuleControl, 'resumed'>;
      readonly path?: never;
    }
  | { readonly kind: 'handle'; readonly workflow: WorkflowDefinition; readonly control: 'resumed'; readonly path: string }
  | { readonly kind: 'raise'; readonly type: string; readonly message: Words }
  | { readonly kind: 'signal'; readonly name: string; readonly payload: unknown }
  | { readonly kind: 'announce'; readonly text: Words }
  | { readonly kind: 'task'; readonly group?: string; readonly dueSeconds?: number; readonly text?: Words }
  | ([K] extends ['exception' | 'step-late']
      ? { readonly kind: 'retry'; readonly afterSeconds?: number } | { readonly kind: 'skip'; readonly output: unknown }
      : never)
  | ([K] extends ['step-state']
      ? { readonly kind: 'compensate-with'; readonly agent: string; readonly operation: string; readonly input: unknown }
      : never);

type Events<K extends RuleEventKind> =
  | { readonly event: RuleEvent<K>; readonly all?: never; readonly any?: never; readonly withinSeconds?: never }
  | { readonly all: readonly RuleEvent<K>[]; readonly withinSeconds: number; readonly event?: never; readonly any?: never }
  | { readonly any: readonly RuleEvent<K>[]; readonly event?: never; readonly all?: never; readonly withinSeconds?: never };

interface Fields<I, K extends RuleEventKind> {
  readonly name: string;
  /** The workflow whose orders the rule is about, in all its versions. Without it, all workflows. */
  readonly workflow?: Workflow<I, unknown, string>;
  /** The path of a step: `order/charge`. */
  readonly step?: string;
  readonly agent?: string;
  /** The condition under which the rule fires. Without it, the events alone decide. */
  readonly condition?: (values: RuleValues<I, NoInfer<K>>) => Expr<boolean>;
  readonly action: RuleActionOf<NoInfer<K>> | ((values: RuleValues<I, NoInfer<K>>) => RuleActionOf<NoInfer<K>>);
  /** The group that gets the task of a `task` action that names none. Only `task` and `handle` may have an executor. */
  readonly executor?: RuleExecutor;
  /** `off`, `dry-run` or `enforce`. It may be changed while the system runs. */
  readonly mode: RuleMode;
  /** Rules with the highest priority are asked first. Default: 0. */
  readonly priority?: number;
  /** A number to increase with each change of the rule, so that the history of an order tells which version decided. Default: 1. */
  readonly version?: number;
  /** The most actions on one order for the same fingerprint; for an event without one, for the same kind of event. Default: 3. */
  readonly timesPerOrder?: number;
}

/** A rule of an app, as plain data. */
export interface AppRule extends Rule {
  readonly origin: 'app';
}

const places = new WeakMap<object, string>();

/**
 * Defines a rule that comes with the app. Its functions run once, when the rule is defined, and record expressions. `defineApp` checks the
 * rule against the workflows of the app.
 *
 * @throws DefinitionError that names each field of a wrong form.
 */
export function defineRule<K extends RuleEventKind, I = unknown>(id: string, options: Fields<I, K> & Events<K>): AppRule {
  const { name, workflow, step, agent, condition, action, executor, mode, priority = 0, version = 1, timesPerOrder, ...events } = options;
  const place = placeIn(new Error('place').stack);
  const values = valuesOf<I, K>();
  const object = { ...(workflow ? { workflow: workflow.name } : {}), ...(step ? { step } : {}), ...(agent ? { agent } : {}) };
  const fields = {
    name,
    ...(Object.keys(object).length > 0 ? { object } : {}),
    ...events,
    ...(condition ? { condition: celOf(condition(values)) } : {}),
    ...(executor ? { executor } : {}),
    action: actionOf(typeof action === 'function' ? action(values) : action),
    mode,
    priority,
    timesPerOrder: timesPerOrder ?? ruleLimits.timesPerOrderDefault,
  };
  const parsed = z.strictObject(ruleFields).safeParse(JSON.parse(JSON.stringify(fields, withFaultNames)));
  if (!parsed.success)
    throw new DefinitionError(
      parsed.error.issues.map(({ path, message }) => messageOf(id, { pointer: `/${path.join('/')}`, detail: message }, place)).join('\n'),
    );
  const rule = { id, origin: 'app', version, ...parsed.data } as AppRule;
  if (place) places.set(rule, place);
  return rule;
}

const valuesOf = <I, K extends RuleEventKind>(): RuleValues<I, K> => {
  const roots = ['order', 'at', 'exception', 'step'].map((root) => [root, expression(root)]);
  const reads = ['outputs', 'variables'].map((root) => [root, (path: string) => expression(`${root}.${path}`)]);
  return Object.fromEntries([...roots, ...reads]) as RuleValues<I, K>;
};

const actionOf = (action: RuleActionOf<never>): object =>
  action.kind === 'handle' ? { ...action, workflow: action.workflow.name, version: action.workflow.version } : action;

/** Replaces a declared fault by its type, for `JSON.stringify`. */
const withFaultNames = (key: string, value: unknown): unknown =>
  key === 'type' && isObject(value) && typeof value['path'] === 'string' ? value['path'] : value;

const messageOf = (id: string, { pointer, detail }: Pick<RuleProblem, 'pointer' | 'detail'>, place: string | undefined): string =>
  `rule ${id} ${pointer}: ${detail}${place ? `\n  at ${place}` : ''}`;

/** Returns the problems of an app's rules, each with the place of the rule. */
export function ruleProblems(rules: readonly AppRule[], world: RuleWorld): readonly string[] {
  const ids = rules.map(({ id }) => id);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [
    ...rules.flatMap((rule) => checkRule(rule, world).map((problem) => messageOf(rule.id, problem, places.get(rule)))),
    ...[...twice].map((id) => `Two rules have the id "${id}". Give one of them another id.`),
    ...setProblems(rules).map(({ detail }) => detail),
  ];
}

import type * as z from 'zod';
import { check } from '#core/checks/check';
import { type OnExhausted, rootPath, type WorkflowDefinition } from '#core/definition/definition';
import { exprVersion } from '#core/definition/expression';
import { type Activity, recordedIn, type Shape } from './activity.ts';
import { type AgentDefinition, type AnyAgent, type AnyOperation, agentDefinitionOf, describedBy } from './agent.ts';
import { type Answering, calledBy } from './call.ts';
import { catalogOf } from './catalog.ts';
import { type ChannelPolicies, channelProblems } from './channel-policy.ts';
import { isComposite } from './composite.ts';
import { DefinitionError } from './definition-error.ts';
import { type Expr, expression, type Ref } from './expression.ts';
import type { FaultType } from './fault.ts';
import { checkedSchemaOf } from './schema.ts';
import type { HostListeners, RuntimeService } from './services.ts';

declare const types: unique symbol;

/** A workflow, with the types of what it takes and answers, and of the faults that go to whoever calls it. */
export type Workflow<I = unknown, R = unknown, C extends string = never> = WorkflowDefinition & {
  readonly [types]?: { readonly input: (input: I) => void; readonly answer: R; readonly faults: C };
};

/** What may pass is asked again where nobody handles it. */
type Unhandled<F extends string, P extends string> = Exclude<F, P | `${P}/${string}` | `Transient/${string}`>;

/** Every fault that can leave the workflow is named as one that goes to an operator, or this does not compile. */
type Complete<F extends string, P extends string> = [Unhandled<F, P>] extends [never]
  ? unknown
  : { 'neither handled here nor sent to an operator': Unhandled<F, P> };

interface Options<O extends z.ZodType, P extends string, C extends string> {
  /** Whole number from 1. Orders stay with the version that they started on. */
  readonly version: number;
  /** Schema of the order's body. */
  readonly order: O;
  readonly toOperator?: readonly FaultType<P>[];
  /** Faults that go to the workflow that calls this one, once all that it did is undone; in an order of its own, to an operator. */
  readonly toCaller?: readonly FaultType<C>[];
  /** Seconds for the whole order. */
  readonly completeWithinSeconds?: number;
  readonly recover?: 'step' | 'order';
  readonly maxFailures?: number;
  readonly onExhausted?: OnExhausted;
  /** With `onExhausted: 'wait'`: seconds until a step above the threshold is requested again. At most a year. */
  readonly longWaitSeconds?: number;
}

/** Describes a workflow. The function runs once; what it returns becomes plain data. */
export function defineWorkflow<O extends z.ZodType, F extends string, P extends string = never, C extends string = never, R = unknown>(
  name: string,
  { order, toOperator = [], toCaller = [], ...options }: Options<O, P, C>,
  build: (context: { order: Ref<z.output<O>>; orderId: Expr<string> }) => Activity<F> & Answering<R> & Complete<NoInfer<F>, P | C>,
): Workflow<z.input<O>, R, C> {
  const schema = checkedSchemaOf(order, `${name}@${options.version} order`);
  const recorded = {
    name,
    ...options,
    exprVersion,
    order: schema,
    toOperator: toOperator.map(({ path }) => path),
    ...(toCaller.length > 0 ? { toCaller: toCaller.map(({ path }) => path) } : {}),
    root: rootOf(build({ order: expression('order'), orderId: expression('orderId') })),
  };
  const definition = JSON.parse(JSON.stringify(recorded)) as WorkflowDefinition;
  const found = foundIn(recorded.root);

  const errors = check(definition, catalogOf(found)).filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new DefinitionError(errors.map(({ path, message }) => `${name}@${options.version} ${path}: ${message}`).join('\n'));
  written.set(definition, found);
  return definition;
}

/** What a workflow was written with, beside the data that it leaves. */
export interface Written {
  readonly operations: ReadonlyMap<string, AnyOperation>;
  readonly called: ReadonlyMap<string, WorkflowDefinition>;
}

const written = new WeakMap<WorkflowDefinition, Written>();

function foundIn(root: Shape): Written {
  const shapes = [...shapesIn(root)];
  return {
    operations: new Map(shapes.flatMap((shape) => entry(describedBy(shape), ({ name, operation }) => [name, operation]))),
    called: new Map(shapes.flatMap((shape) => entry(calledBy(shape), (workflow) => [`${workflow.name}@${workflow.version}`, workflow]))),
  };
}

/**
 * The operations that a workflow's steps ask for, by name (`payment.charge`), with their schemas: for test kits.
 * None of a definition that was not written here: plain data knows no schemas.
 */
export const operationsOf = (workflow: WorkflowDefinition): Written['operations'] => written.get(workflow)?.operations ?? new Map();

/** The workflows that a workflow calls, by name and version (`ship-one@1`); none of one that was not written here. */
export const calledIn = (workflow: WorkflowDefinition): Written['called'] => written.get(workflow)?.called ?? new Map();

const entry = <T, V>(found: T | undefined, of: (found: T) => readonly [string, V]): readonly (readonly [string, V])[] =>
  found === undefined ? [] : [of(found)];

function* shapesIn(shape: unknown): Generator<object> {
  if (typeof shape !== 'object' || shape === null) return;
  yield shape;
  for (const part of Object.values(shape)) yield* shapesIn(part);
}

/**
 * The root is named `order`. What has a name of its own that somebody may say, and what would have no room for a second
 * activity, is put into a sequence; its handlers go along, so that they end the order as those of any root do.
 */
function rootOf(activity: Activity<string>): Shape {
  const { shape, fixed } = recordedIn(activity);
  if (isComposite(activity) && !fixed && shape.activity !== 'while') return { ...shape, name: rootPath };

  const { faultHandlers, ...only } = shape;
  return {
    activity: 'sequence',
    name: rootPath,
    children: [only],
    ...(faultHandlers === undefined ? {} : { faultHandlers }),
  };
}

/** What an app brings along for trying it on one machine. Nothing of it is deployed. */
export interface LocalTrial {
  /**
   * Starts stand-ins for the remote services, when the environment names none. What it returns as `environment` is
   * set for the agents; `dataFolder` is where the stand-ins may keep their own data.
   */
  start?(context: {
    readonly dataFolder: string;
  }): Promise<{ readonly environment: { readonly [name: string]: string }; readonly about: string; close(): Promise<void> }>;
  /** Variables that name the real services: with any of them set, no stand-ins are started. */
  readonly variables?: readonly string[];
  /** A folder of `*.json`, each the body of a `POST /orders`: submitted on a first start. */
  readonly samples?: URL;
}

/** What a system runs: its workflows, and the agents that they ask. */
export interface App {
  readonly workflows: readonly WorkflowDefinition[];
  readonly agents: readonly AgentDefinition[];
  readonly local?: LocalTrial;
  /** What becomes of messages that can't be processed, by channel: an agent's name, `submissions` or `wake-ups`. */
  readonly channels?: ChannelPolicies;
  /** Started in each process that runs the app, on one machine and in Lambda. */
  readonly services?: readonly RuntimeService[];
  /** What the app does when its host tells it something. */
  readonly on?: HostListeners;
}

/**
 * Puts workflows and agents together. A step whose agent or operation is missing keeps the system from starting.
 *
 * @throws DefinitionError that names every policy of a channel that is wrong.
 */
export function defineApp({
  workflows,
  agents,
  local,
  channels,
  services,
  on,
}: {
  workflows: readonly WorkflowDefinition[];
  agents: readonly AnyAgent[];
  local?: LocalTrial;
  channels?: ChannelPolicies;
  services?: readonly RuntimeService[];
  on?: HostListeners;
}): App {
  const problems = channelProblems(channels ?? {});
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'));
  return {
    workflows,
    agents: agents.map(agentDefinitionOf),
    ...(local ? { local } : {}),
    ...(channels ? { channels } : {}),
    ...(services ? { services } : {}),
    ...(on ? { on } : {}),
  };
}

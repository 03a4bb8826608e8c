import type * as z from 'zod';
import { check } from '#core/checks/check';
import { isObject } from '#core/data/json';
import { type OnExhausted, rootPath, type WorkflowDefinition } from '#core/definition/definition';
import { exprVersion } from '#core/definition/expression';
import type { People } from '#core/definition/people';
import { workflowRef } from '#core/definition/workflow-ref';
import { type Activity, recordedIn, type Shape } from './activity.ts';
import { type AgentDefinition, type AnyAgent, type AnyOperation, agentDefinitionOf, describedBy } from './agent.ts';
import { calledBy, type WithOutput } from './call.ts';
import { catalogOf, catalogOfApp } from './catalog.ts';
import { type ChannelPolicies, channelProblems } from './channel-policy.ts';
import { isComposite } from './composite.ts';
import { type Consumer, type ConsumerDefinition, consumerDefinitionOf, consumerProblems, isConsumer } from './consumer.ts';
import { DefinitionError } from './definition-error.ts';
import { type Expr, expression, type Ref } from './expression.ts';
import type { FaultType } from './fault.ts';
import { missingIn, type Origin, originOf, partsOf, placeOf, recordingSteps } from './origin.ts';
import { type AppRule, ruleProblems } from './rule.ts';
import { checkedSchemaOf } from './schema.ts';
import type { HostListeners, RuntimeService } from './services.ts';

declare const types: unique symbol;

/** A workflow, with the types of its input and its output, and the faults that reach its caller. */
export type Workflow<I = unknown, R = unknown, C extends string = never> = WorkflowDefinition & {
  readonly [types]?: { readonly input: (input: I) => void; readonly answer: R; readonly faults: C };
};

/** The faults that need a handler or an operator. An unhandled transient fault does not: its step is requested again. */
type Unhandled<F extends string, P extends string> = Exclude<F, P | `${P}/${string}` | `Transient/${string}`>;

/** Compiles only if every fault that can leave the workflow is in `toOperator` or `toCaller`. */
type Complete<F extends string, P extends string> = [Unhandled<F, P>] extends [never]
  ? unknown
  : { 'neither handled here nor sent to an operator': Unhandled<F, P> };

interface Options<O extends z.ZodType, P extends string, C extends string> {
  /** The version, a whole number from 1. Orders stay with the version that they started on. */
  readonly version: number;
  /** Schema of the order's body. */
  readonly order: O;
  /** Faults that block the order for an operator. */
  readonly toOperator?: readonly FaultType<P>[];
  /** Faults that reach the calling workflow after everything here is undone. In an order without a caller they go to an operator. */
  readonly toCaller?: readonly FaultType<C>[];
  /** Time limit of the whole order, in seconds. */
  readonly completeWithinSeconds?: number;
  /** The reaction to a missed deadline. `step` (default): the step is requested again. `order`: the order is reset. */
  readonly recover?: 'step' | 'order';
  /** The failure limit: the missed deadlines of a step above which `onExhausted` applies. */
  readonly maxFailures?: number;
  readonly onExhausted?: OnExhausted;
  /** With `onExhausted: 'wait'`: seconds until a step above the failure limit is requested again. At most a year. */
  readonly longWaitSeconds?: number;
  /** The group of people who get the tasks of its orders, when a task is due, and who hears of a task that nobody takes. */
  readonly people?: People;
}

/** Defines a workflow. The function runs once, and its result becomes plain data. */
export function defineWorkflow<O extends z.ZodType, F extends string, P extends string = never, C extends string = never, R = unknown>(
  name: string,
  { order, toOperator = [], toCaller = [], ...options }: Options<O, P, C>,
  build: (context: { order: Ref<z.output<O>>; orderId: Expr<string> }) => Activity<F> & WithOutput<R> & Complete<NoInfer<F>, P | C>,
): Workflow<z.input<O>, R, C> {
  const title = `${name}@${options.version}`;
  const schema = checkedSchemaOf(order, `${title} order`);
  const { built, steps } = recordingSteps(() => build({ order: expression('order'), orderId: expression('orderId') }));
  const root = rootOf(built);
  const recorded = {
    name,
    ...options,
    exprVersion,
    order: schema,
    toOperator: toOperator.map(({ path }) => path),
    ...(toCaller.length > 0 ? { toCaller: toCaller.map(({ path }) => path) } : {}),
    root,
  };
  const definition = JSON.parse(JSON.stringify(recorded)) as WorkflowDefinition;
  const found = foundIn(root);

  const places = placesIn(root);
  const errors = check(definition, catalogOf(found))
    .filter(({ severity }) => severity === 'error')
    .map(({ path, message }) => `${title} ${path}: ${message}${places(path)}`);
  const problems = [...errors, ...unplaced(steps, root).map((problem) => `${title}: ${problem}`)];
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'));
  partsByDefinition.set(definition, found);
  placesOf.set(definition, places);
  return definition;
}

/** Returns the places in the author's code that made the activity at a path, as further lines of a message. Empty if none is known. */
type Places = (path: string) => string;

const placesOf = new WeakMap<WorkflowDefinition, Places>();

/**
 * Returns the places that made the activity at a path, as further lines of a message. Empty for a definition loaded as plain data.
 */
export const placeAt = (workflow: WorkflowDefinition, path: string): string => placesOf.get(workflow)?.(path) ?? '';

function placesIn(root: Shape): Places {
  const shapes = [...partsOf(root)] as readonly Partial<Shape>[];
  return (path) => {
    const name = path.split('/').findLast((segment) => segment !== 'undo');
    const origins = new Set(shapes.filter((shape) => shape.name === name).flatMap((shape) => originOf(shape) ?? []));
    // A name that several activities have gives the places of all of them.
    return [...new Set([...origins].flatMap((origin) => placeOf(origin) ?? []))].map((place) => `\n  at ${place}`).join('');
  };
}

/** Describes the steps that were made but are not part of the workflow. They would never run. */
function unplaced(steps: readonly Origin[], root: Shape): readonly string[] {
  const problems = missingIn(root, steps).map((step) => {
    const place = placeOf(step);
    return `The step "${step.name}" is made, but is not part of the workflow. Put it into a sequence, or remove it.${place ? `\n  at ${place}` : ''}`;
  });
  return [...new Set(problems)];
}

/** The operations and workflows behind a definition, which the plain data does not contain. */
export interface DefinitionParts {
  readonly operations: ReadonlyMap<string, AnyOperation>;
  readonly called: ReadonlyMap<string, WorkflowDefinition>;
}

const partsByDefinition = new WeakMap<WorkflowDefinition, DefinitionParts>();

function foundIn(root: Shape): DefinitionParts {
  const shapes = [...partsOf(root)];
  return {
    operations: new Map(shapes.flatMap((shape) => entry(describedBy(shape), ({ name, operation }) => [name, operation]))),
    called: new Map(shapes.flatMap((shape) => entry(calledBy(shape), (workflow) => [workflowRef(workflow), workflow]))),
  };
}

/**
 * Returns the operations of a workflow's steps by name (`payment.charge`), with their schemas, for test kits. Empty for a definition
 * loaded as plain data, which has no schemas.
 */
export const operationsOf = (workflow: WorkflowDefinition): DefinitionParts['operations'] =>
  partsByDefinition.get(workflow)?.operations ?? new Map();

/** Returns the workflows that a workflow calls, by name and version (`ship-one@1`). Empty for a definition loaded as plain data. */
export const calledIn = (workflow: WorkflowDefinition): DefinitionParts['called'] => partsByDefinition.get(workflow)?.called ?? new Map();

const entry = <T, V>(found: T | undefined, of: (found: T) => readonly [string, V]): readonly (readonly [string, V])[] =>
  found === undefined ? [] : [of(found)];

/**
 * Returns the root, which is always named `order`. A sequence wraps an activity without children, a `while` and a composite with a fixed
 * name. The handlers of a wrapped composite move to the sequence, so that they are handlers of the root.
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

/** Stand-ins and samples for a trial on one machine. A deployment ignores them. */
export interface LocalTrial {
  /**
   * Starts stand-ins for the remote services, unless the environment names real ones. The returned `environment` is set for the agents;
   * stand-ins may keep their data in `dataFolder`.
   */
  start?(context: {
    readonly dataFolder: string;
  }): Promise<{ readonly environment: { readonly [name: string]: string }; readonly about: string; close(): Promise<void> }>;
  /** Environment variables that name the real services. If any is set, no stand-in starts. */
  readonly variables?: readonly string[];
  /** A folder of `*.json`, each the body of a `POST /orders`. The first start submits them. */
  readonly samples?: URL;
}

/** The workflows, agents and consumers that a system runs. */
export interface App {
  readonly workflows: readonly WorkflowDefinition[];
  readonly agents: readonly AgentDefinition[];
  /** Consumers of queues of the app's own. */
  readonly consumers?: readonly ConsumerDefinition[];
  readonly local?: LocalTrial;
  /** The treatment of messages that cannot be processed, by channel: the name of an agent or a consumer, `submissions` or `wake-ups`. */
  readonly channels?: ChannelPolicies;
  /** The rules by which the system acts on exceptions without a person. */
  readonly rules?: readonly AppRule[];
  /** Services that each process of the app starts, on one machine and in Lambda. */
  readonly services?: readonly RuntimeService[];
  /** Listeners for the events of the host. */
  readonly on?: HostListeners;
}

/**
 * Defines an app from workflows and agents. The system does not start if a step's agent or operation is missing.
 *
 * @throws DefinitionError that names every name that occurs twice, every invalid channel policy, and every problem of a rule.
 */
export function defineApp({
  workflows,
  agents,
  consumers = [],
  local,
  channels,
  rules,
  services,
  on,
}: {
  workflows: readonly WorkflowDefinition[];
  agents: readonly AnyAgent[];
  consumers?: readonly Consumer[];
  local?: LocalTrial;
  channels?: ChannelPolicies;
  rules?: readonly AppRule[];
  services?: readonly RuntimeService[];
  on?: HostListeners;
}): App {
  checkParts('workflows', 'defineWorkflow', workflows, isDefinition);
  checkParts('agents', 'defineAgent', agents, isAgent);
  checkParts('consumers', 'defineConsumer', consumers, isConsumer);
  const names = agents.map((agent) => agentDefinitionOf(agent).name);
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  const problems = [
    ...twice.map(
      (name) => `Two agents are called "${name}". They would share one queue: rename one, or define one agent with all operations.`,
    ),
    ...consumerProblems(consumers.map(consumerDefinitionOf), agents.map(agentDefinitionOf), channels),
    ...channelProblems(channels ?? {}),
    ...rulesProblems(rules ?? [], { workflows, agents: agents.map(agentDefinitionOf) }),
  ];
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'));
  return {
    workflows,
    agents: agents.map(agentDefinitionOf),
    ...(consumers.length > 0 ? { consumers: consumers.map(consumerDefinitionOf) } : {}),
    ...(local ? { local } : {}),
    ...(channels ? { channels } : {}),
    ...(rules ? { rules } : {}),
    ...(services ? { services } : {}),
    ...(on ? { on } : {}),
  };
}

const isDefinition = (part: unknown): boolean => isObject(part) && typeof part['name'] === 'string' && isObject(part['root']);
const isAgent = (part: unknown): boolean => isObject(part) && agentDefinitionOf(part as AnyAgent) !== undefined;

const rulesProblems = (rules: readonly AppRule[], app: Pick<App, 'workflows' | 'agents'>): readonly string[] =>
  rules.length > 0 ? ruleProblems(rules, { workflows: app.workflows, catalog: catalogOfApp(app) }) : [];

/** Checks the parts of an app. Modules that import each other leave a part undefined. */
function checkParts(
  what: 'workflows' | 'agents' | 'consumers',
  maker: string,
  parts: readonly unknown[],
  isGood: (part: unknown) => boolean,
): void {
  if (!Array.isArray(parts)) throw new DefinitionError(`defineApp: expected a list of ${what}, got ${typeof parts}.`);
  const wrong = parts.findIndex((part) => !isGood(part));
  if (wrong === -1) return;
  const reason =
    parts[wrong] === undefined ? 'undefined. Look for a missing export, or for modules that import each other' : typeof parts[wrong];
  throw new DefinitionError(`defineApp: ${what}[${wrong}] must come from ${maker}, got ${reason}.`);
}

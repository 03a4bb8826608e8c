import * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import { engineFaults, shortType } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import { secretPointers } from '#core/definition/secrets';
import type { In } from './expression.ts';
import type { Failed, FaultType } from './fault.ts';
import { recordStep, type StepActivity } from './step.ts';

/** What an operation knows of the asking that it serves. */
export interface Call<F extends string = never> {
  readonly orderId: string;
  /** Path of the step: `order/charge`. */
  readonly path: string;
  /** Names this asking, for logs. */
  readonly requestId: string;
  /** Names the effect: hand it to the service, so that the same key again does nothing anew. */
  readonly idempotencyKey: string;
  /** How often the step has been asked, from 1. */
  readonly attempt: number;
  /**
   * Something may have been done under the key already, by an earlier asking or try. A refusal that says nothing of the key, such
   * as 401, does not say then that nothing was done: `new PermanentFailure(…, { outcomeUnknown: call.repeated })`.
   */
  readonly repeated: boolean;
  /** Nobody waits for the answer after this. */
  readonly completeBy: Date;
  /**
   * Says that the work gets on: the step has its time anew, up to the operation's `longestSeconds`. It may be called as often as
   * you like: at most one message leaves in each tenth of the time. Without `longestSeconds` it does nothing.
   */
  heartbeat(): Promise<void>;
  /** Aborted when `completeBy` passes, when the step is canceled, and when the system stops. The answer still counts after a cancellation. */
  readonly signal: AbortSignal;
  /** The faults that the operation declares, for whoever translates a service's refusals. */
  readonly faults: readonly FaultType<F>[];
  /** The service said no: `return call.failed(CardDeclined, 'the card was declined')`. */
  failed<P extends F>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P>;
}

/** One thing that an agent can do; its schemas give the types of the steps that ask for it. */
export interface Operation<I extends z.ZodType, O extends z.ZodType, F extends string> {
  readonly input: I;
  readonly output: O;
  /** Faults that the workflow must handle, or send to an operator. */
  readonly faults?: readonly FaultType<F>[];
  /** Seconds for one asking (default: the system's `STEP_COMPLETE_WITHIN_SECONDS`). */
  readonly completeWithinSeconds?: number;
  /** Seconds for one asking at the most, heartbeats included. Without it there are no heartbeats. */
  readonly longestSeconds?: number;
  /**
   * `automatic`, the default: the agent asks for more time by itself as long as its process lives. `manual`: only `call.heartbeat()`
   * does, so that work that hangs is requested again when the time of one attempt is over.
   */
  readonly heartbeats?: 'automatic' | 'manual';
  /** Tries within one asking, for failures that may pass. */
  readonly attemptsMax?: number;
  /**
   * The service has no idempotency, so it is never asked again blindly: only after a TransientFailure that says
   * `nothingSent`. Whatever else is thrown, but a PermanentFailure, leaves the outcome unknown.
   */
  readonly atMostOnce?: true;
  run(input: z.output<I>, call: Call<F>): Promise<z.input<O> | Failed<F>> | z.input<O> | Failed<F>;
  /** Asks the service whether the effect under this key exists, and for its output; undefined: it does not. */
  lookup?(idempotencyKey: string, call: Call): Promise<z.input<O> | undefined> | z.input<O> | undefined;
  /** Stops what is at work, if it can; called before the signal of `run` is aborted. What it throws is only logged. */
  cancel?(call: Call): Promise<void> | void;
}

/** Describes an operation; the types of input, output and faults follow from its schemas. */
export const operation = <I extends z.ZodType, O extends z.ZodType, F extends string = never>(
  operation: Operation<I, O, F>,
): Operation<I, O, NoInfer<F>> => operation;

export interface AnyOperation {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly faults?: readonly FaultType[];
  readonly completeWithinSeconds?: number;
  readonly longestSeconds?: number;
  readonly heartbeats?: 'automatic' | 'manual';
  readonly attemptsMax?: number;
  readonly atMostOnce?: true;
  run(input: never, call: never): unknown;
  lookup?(idempotencyKey: string, call: never): unknown;
  cancel?(call: never): unknown;
}

/** What runs behind an agent's queue pair. */
export interface AgentDefinition {
  readonly name: string;
  readonly operations: { readonly [name: string]: AnyOperation };
}

type DeclaredFaults<Op> = Op extends { readonly faults?: readonly FaultType<infer F>[] } ? (string extends F ? never : F) : never;

const definition = Symbol('agent definition');
const described = Symbol('described operation');

/** What a step asks for, as its agent describes it: it stays with the step while the workflow is written. */
export interface DescribedOperation {
  /** `payment.charge`. */
  readonly name: string;
  readonly operation: AnyOperation;
}

/** The operation behind a function of an agent, or behind a recorded step. */
export const describedBy = (from: object): DescribedOperation | undefined =>
  (from as { readonly [described]?: DescribedOperation })[described];

/** The agent's operations as functions that return steps. */
export type Agent<Ops> = {
  readonly [K in keyof Ops]: Ops[K] extends { readonly input: infer I extends z.ZodType; readonly output: infer O extends z.ZodType }
    ? (input: In<z.input<I>>) => StepActivity<DeclaredFaults<Ops[K]>, z.output<O>>
    : never;
} & { readonly [definition]: AgentDefinition };

const engineFaultNames: ReadonlySet<string> = new Set(Object.values(engineFaults).map(shortType));

/** An agent wraps one remote service. `payment.charge({…})` is then a step of a workflow. */
export function defineAgent<const Ops extends { readonly [name: string]: AnyOperation }>(name: string, operations: Ops): Agent<Ops> {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name))
    throw new TypeError(`"${name}" is no name for an agent: small letters, digits and "-", at most 40.`);
  if (name === workflowsAgent) throw new TypeError(`"${name}" is the agent behind calls of other workflows. Call yours something else.`);
  for (const [operation, { faults = [], heartbeats, longestSeconds }] of Object.entries(operations)) {
    if (heartbeats !== undefined && longestSeconds === undefined)
      throw new TypeError(
        `${name}.${operation} has heartbeats, and no longest time: say with longestSeconds how long it may take with them.`,
      );
    const alike = faults.find(({ name: fault }, index) => faults.findIndex((each) => each.name === fault) !== index);
    if (alike)
      throw new TypeError(`${name}.${operation} declares two faults that are called ${alike.name}: agents answer with that name alone.`);
    const engines = faults.find(({ name: fault }) => engineFaultNames.has(fault));
    if (engines)
      throw new TypeError(
        `${name}.${operation} declares a fault that is called ${engines.name}, as one of the engine's own is: agents answer with that name alone. Give it another one.`,
      );
  }
  const callables = Object.entries(operations).map(([key, operation]) => {
    const about = { [described]: { name: `${name}.${key}`, operation } };
    return [key, Object.assign((input: unknown) => recordStep({ ...stepOf(name, key, operation, input), ...about }), about)];
  });
  return Object.assign(Object.fromEntries(callables), { [definition]: { name, operations } });
}

export const agentDefinitionOf = (agent: { readonly [definition]: AgentDefinition }): AgentDefinition => agent[definition];
export type AnyAgent = { readonly [definition]: AgentDefinition };

/** Marks a field that nobody may see: absent from history, alerts, announcements and logs. */
export const secret = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), secret: true }) as T;

const stepOf = (
  agent: string,
  name: string,
  { faults = [], completeWithinSeconds, longestSeconds, atMostOnce, lookup, output }: AnyOperation,
  input: unknown,
) => {
  const secretOutput = secretPointers(z.toJSONSchema(output, { unrepresentable: 'any', io: 'output' }) as Json);
  return {
    activity: 'step',
    name,
    agent,
    operation: name,
    input,
    ...(faults.length > 0 ? { faults: faults.map(({ path }) => path) } : {}),
    ...(completeWithinSeconds === undefined ? {} : { completeWithinSeconds }),
    ...(longestSeconds === undefined ? {} : { longestSeconds }),
    ...(atMostOnce ? { atMostOnce } : {}),
    ...(lookup ? { lookup: true } : {}),
    ...(secretOutput.length > 0 ? { secretOutput } : {}),
  };
};

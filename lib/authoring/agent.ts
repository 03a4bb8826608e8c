import type * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import { engineFaults, shortType } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';
import { secretPointers } from '#core/definition/secrets';
import { expectFunction } from './definition-error.ts';
import type { In } from './expression.ts';
import type { Failed, FaultDetails, FaultType } from './fault.ts';
import { checkObjects, objectsOf } from './objects.ts';
import { checkSchema, outputSchemaOf } from './schema.ts';
import { recordStep, type StepActivity } from './step.ts';

/** The context of one call of an operation. */
export interface Call<F extends string = never, O extends z.ZodType = z.ZodType> {
  readonly orderId: string;
  /** Path of the step: `order/charge`. */
  readonly path: string;
  /** The id of this attempt's request, for logs. */
  readonly requestId: string;
  /** The name of the effect. Pass it to the service, so that a repeated request has one effect. */
  readonly idempotencyKey: string;
  /** The number of requests of this step so far, from 1. It begins at 1 again if a retry starts the step for a new effect. */
  readonly attempt: number;
  /**
   * Whether an earlier attempt or try may have had an effect under this key. Then a refusal that does not depend on the key, such as 401,
   * proves nothing: `new PermanentFailure(…, { outcomeUnknown: call.repeated })`.
   */
  readonly repeated: boolean;
  /** The deadline of this attempt at the time of the call. Heartbeats extend it, and the agent sends no reply after it. */
  readonly completeBy: Date;
  /**
   * Reports progress and extends the deadline, up to the operation's `longestSeconds`. If the operation declares none, a heartbeat does
   * nothing. Call it as often as you like: it sends at most one message in each tenth of the time limit.
   */
  heartbeat(): Promise<void>;
  /**
   * Returns a credential of the service, as the deployment stores it now: `await call.credential('PAYMENT_KEY')`. Ask for it at each
   * call, because its value may change. A name that the deployment does not have fails the step as `NotConfigured`.
   */
  credential(name: string): Promise<string>;
  /** Aborted at the deadline, when the step is canceled, and when the system stops. A result after a cancellation still counts. */
  readonly signal: AbortSignal;
  /** The faults that the operation declares, for code that translates refusals of the service. */
  readonly faults: readonly FaultType<F>[];
  /** The schema of the operation's output, for code that checks the replies of the service. */
  readonly output: O;
  /** Returns a refusal of the service: `return call.failed(CardDeclined, 'the card was declined')`. */
  failed<P extends F>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P>;
}

/** One operation of an agent. Its schemas give the types of its steps. */
export interface Operation<I extends z.ZodType, O extends z.ZodType, F extends string> {
  readonly input: I;
  readonly output: O;
  /** Faults that the workflow must handle, or name in `toOperator` or `toCaller`. It may leave out transient ones. */
  readonly faults?: readonly FaultType<F>[];
  /** Time limit of one attempt, in seconds (default: the system's `STEP_COMPLETE_WITHIN_SECONDS`). */
  readonly completeWithinSeconds?: number;
  /** Upper limit of one attempt with all heartbeats, in seconds. Without it, heartbeats are off. */
  readonly longestSeconds?: number;
  /**
   * With `automatic`, the default, the agent extends the deadline while its process runs. With `manual`, only `call.heartbeat()` does, so
   * hanging work is requested again after the deadline.
   */
  readonly heartbeats?: 'automatic' | 'manual';
  /** The most tries within one attempt. Each try after the first one follows a transient failure. */
  readonly attemptsMax?: number;
  /**
   * Declares that the service is not idempotent. The step is requested again only if nothing was done: after a TransientFailure with
   * `nothingSent`, an UnprocessableMessage, or a declared transient fault. After any other exception, except a PermanentFailure, the
   * outcome is unknown.
   */
  readonly atMostOnce?: true;
  /**
   * Names of the objects that the operation reads and writes; `{sku}` in `stock/{sku}` is a field of its input or output. At most 16
   * together. If two steps of an order are at work at the same time and both write one object, the order gets the exception
   * `WritersConflict`.
   */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  run(input: z.output<I>, call: Call<F, NoInfer<O>>): Promise<z.input<O> | Failed<F>> | z.input<O> | Failed<F>;
  /** Returns the output if the service has the effect under this key, otherwise undefined. */
  lookup?(idempotencyKey: string, call: Call<never, NoInfer<O>>): Promise<z.input<O> | undefined> | z.input<O> | undefined;
  /** Stops running work if possible, before the `AbortSignal` of `run` is aborted. Its exceptions are only logged. */
  cancel?(call: Call<never, NoInfer<O>>): Promise<void> | void;
}

/** Defines an operation. The types of input, output and faults follow from its schemas. */
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
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  run(input: never, call: never): unknown;
  lookup?(idempotencyKey: string, call: never): unknown;
  cancel?(call: never): unknown;
}

/** The code behind an agent's channel. */
export interface AgentDefinition {
  readonly name: string;
  readonly operations: { readonly [name: string]: AnyOperation };
}

type DeclaredFaults<Op> = Op extends { readonly faults?: readonly FaultType<infer F>[] } ? (string extends F ? never : F) : never;

const definition = Symbol('agent definition');
const described = Symbol('described operation');

/** The operation that a step requests. It stays with the step while the workflow is being defined. */
export interface DescribedOperation {
  /** The full name: `payment.charge`. */
  readonly name: string;
  readonly operation: AnyOperation;
}

/** Returns the operation behind an agent's function, or behind a recorded step. */
export const describedBy = (from: object): DescribedOperation | undefined =>
  (from as { readonly [described]?: DescribedOperation })[described];

/** The agent's operations as functions that return steps. */
export type Agent<Ops> = {
  readonly [K in keyof Ops]: Ops[K] extends { readonly input: infer I extends z.ZodType; readonly output: infer O extends z.ZodType }
    ? (input: In<z.input<I>>) => StepActivity<DeclaredFaults<Ops[K]>, z.output<O>>
    : never;
} & { readonly [definition]: AgentDefinition };

const engineFaultNames: ReadonlySet<string> = new Set(Object.values(engineFaults).map(shortType));

/** Defines an agent, which wraps one remote service. `payment.charge({…})` is then a step of a workflow. */
export function defineAgent<const Ops extends { readonly [name: string]: AnyOperation }>(name: string, operations: Ops): Agent<Ops> {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name))
    throw new TypeError(
      `Invalid agent name "${name}": begin with a lowercase letter, and use at most 40 lowercase letters, digits and "-".`,
    );
  if (name === workflowsAgent) throw new TypeError(`"${name}" is reserved for calls of other workflows. Choose another agent name.`);
  for (const [operation, { run, input, output, faults = [], heartbeats, longestSeconds, reads, writes }] of Object.entries(operations)) {
    checkSchema(input, `${name}.${operation} input`);
    checkSchema(output, `${name}.${operation} output`);
    if (reads || writes)
      checkObjects(`${name}.${operation}`, { ...(reads ? { reads } : {}), ...(writes ? { writes } : {}) }, shapesOf(input, output));
    expectFunction(run, `${name}.${operation} with run: (input, call) => …`);
    if (heartbeats !== undefined && longestSeconds === undefined)
      throw new TypeError(`${name}.${operation} has heartbeats but no upper limit. Set longestSeconds to the longest time of one attempt.`);
    const alike = faults.find(({ name: fault }, index) => faults.findIndex((each) => each.name === fault) !== index);
    if (alike)
      throw new TypeError(
        `${name}.${operation} declares two faults named ${alike.name}. A reply names a fault without its ancestors: rename one of them.`,
      );
    const reserved = faults.find(({ name: fault }) => engineFaultNames.has(fault));
    if (reserved)
      throw new TypeError(
        `${name}.${operation} declares a fault named ${reserved.name}, which is one of the engine's own. A reply names a fault without its ancestors: choose another name.`,
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

/** Marks a field as secret: it is redacted in history, alerts, announcements and logs. */
export const secret = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), secret: true }) as T;

const shapesOf = (input: z.ZodType, output: z.ZodType) => ({
  input: outputSchemaOf(input),
  output: outputSchemaOf(output),
});

/** Returns the details of the faults that have any, by path. */
function detailsOf(faults: readonly FaultType[]): { readonly faultDetails?: { readonly [path: string]: FaultDetails } } {
  const entries = faults.flatMap(({ path, details }) => (details ? [[path, details] as const] : []));
  return entries.length > 0 ? { faultDetails: Object.fromEntries(entries) } : {};
}

const stepOf = (
  agent: string,
  name: string,
  { faults = [], completeWithinSeconds, longestSeconds, atMostOnce, lookup, output, ...objects }: AnyOperation,
  input: unknown,
) => {
  const secretOutput = secretPointers(outputSchemaOf(output));
  return {
    activity: 'step',
    name,
    agent,
    operation: name,
    input,
    ...(faults.length > 0 ? { faults: faults.map(({ path }) => path) } : {}),
    ...detailsOf(faults),
    ...(completeWithinSeconds === undefined ? {} : { completeWithinSeconds }),
    ...(longestSeconds === undefined ? {} : { longestSeconds }),
    ...(atMostOnce ? { atMostOnce } : {}),
    ...(lookup ? { lookup: true } : {}),
    ...objectsOf(objects),
    ...(secretOutput.length > 0 ? { secretOutput } : {}),
  };
};

import type { AnyOperation } from '#authoring/agent';
import type { FaultType } from '#authoring/fault';
import { nodeAt, type Program } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import type { StateRecord } from '#ports/records';
import type { AgentObservation } from '#testing/world/agent-event';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';

/** A property that every run must have, whatever fails. A violation is a text that names what breaks the law: an order, a request or a host. */
export interface Law {
  readonly name: string;
  /** The check after each observation of some kinds. */
  readonly after?: Check;
  /** Returns the violations at the end: injected faults have ended, time has passed and nothing happens any more. */
  atEnd?(history: History): readonly string[];
}

type Kind = Observation['type'];

/** A check after one observation. */
export interface Check {
  /** The kinds of observations that it checks; undefined for all. */
  readonly kinds: readonly Kind[] | undefined;
  /** Returns the violation, or undefined. */
  wrongWith(observation: Observation, history: History): string | undefined;
}

/** Returns a check of these kinds. The types exclude all others. */
export const on = <K extends Kind>(
  kinds: readonly K[],
  wrongWith: (observation: Extract<Observation, { type: K }>, history: History) => string | undefined,
): Check => ({ kinds, wrongWith });

/** Returns a check of all observations. */
export const onAny = (wrongWith: Check['wrongWith']): Check => ({ kinds: undefined, wrongWith });

interface RedactedValues {
  readonly inputs: { readonly [operation: string]: (id: string) => unknown };
  readonly outputs: { readonly [operation: string]: (id: string) => unknown };
}

/** The facts about a world that laws need beside its observations. */
export interface Setting {
  /** The client that submits orders, and the queue on which it listens. */
  readonly client: string;
  readonly responseQueue: string;
  /** The reference that a client gives with an order, if it gives one. */
  referenceOf(orderId: string): string | undefined;
  readonly agents: Definitions['agents'];
  /** Faults that services declare. */
  readonly declaredFaults: readonly FaultType[];
  /** Names of faults that services throw without a declaration; undefined if they may throw any. */
  readonly undeclaredFaults: ReadonlySet<string> | undefined;
  /** The only signal for which orders of a workflow wait, by workflow; undefined if that is unknown. */
  readonly signals: { readonly [workflow: string]: string } | undefined;
  /** Whether an order may still wait for a signal at the end. */
  readonly mayWait: boolean;
  /** Whether so few processes crash that no valid message may become a dead letter. */
  readonly processesAllMessages: boolean;
  /** Whether the services of the world return the idempotency key of the request as `id` of their output, and quote their input in a refusal. */
  readonly answersNameTheirKey: boolean;
  /** Whether each instruction of an operator comes with its entry of the audit, as in the API. */
  readonly audits: boolean;
  /** Text that only secret values contain; undefined if the world has none. */
  readonly secretWord: string | undefined;
  /** Text that every forged reply contains; undefined if the world forges none. */
  readonly forgedWord: string | undefined;
  /** Inputs and outputs as they look when they are redacted, by operation and by the id that they contain. */
  readonly redactedValues: RedactedValues;
  /** The clock tolerance: how late a deadline must be before it counts, and the largest difference between clocks. */
  readonly toleranceMs: number;
  now(): number;
  /** The default of `maxFailures` for workflows that do not set it. */
  readonly maxFailures: number;
  /** Whether the write that creates an order also claims it. */
  readonly claimsOnSubmit: boolean;
  /** Whether the store sends messages in the same transaction as the write. */
  readonly writesAndSendsAtomically: boolean;
  /** Whether a rule is in dry-run as long as the world lasts. */
  isDryRule(id: string): boolean;
  /** Whether the end of an order is announced. */
  readonly announcesProcessed: boolean;
  /** Returns how long the channel of an agent has been closed; undefined if it is open. */
  closedForMs(agent: string | undefined): number | undefined;
  /** The longest time for which a process may stand still without noticing. */
  readonly standsStillMaxMs: number;
  /** Returns the time at which injected faults ended; undefined while they last. */
  quietSince(): number | undefined;
}

/** Whether a reply is forged: no agent sent it for that request. */
export const isForged = (body: string, { forgedWord }: Pick<Setting, 'forgedWord'>): boolean =>
  forgedWord !== undefined && body.includes(forgedWord);

/** Returns an operation by its name in calls, `agent.operation` or `agent.operation lookup`. */
export function operationIn({ agents }: Pick<Setting, 'agents'>, name: string): AnyOperation | undefined {
  const [agent, operation = ''] = name.replace(' lookup', '').split('.');
  return agents.find((each) => each.name === agent)?.operations[operation];
}

/** Whether the activity at a path is a call. The effects of a call belong to the called order. */
export const isCall = (path: string, program: Program | undefined): boolean =>
  program !== undefined && !path.endsWith('/undo') && nodeAt(program, path).activity === 'call';

/** Whether an agent records an intent before it calls its service. Such an agent may requeue a request after it has withdrawn the intent. */
export const recordsIntents = (agent: string, { agents }: Pick<Setting, 'agents'>): boolean =>
  Object.values(agents.find(({ name }) => name === agent)?.operations ?? {}).some(({ atMostOnce }) => atMostOnce === true);

/** Returns the host that wrote the whole state; undefined if the write changed only fields beside the instance. */
export const writerOf = ({ rev, writeIds }: StateRecord): string | undefined => {
  const last = writeIds.at(-1);
  return last?.rev === rev ? last.id.slice(0, last.id.lastIndexOf(':')) : undefined;
};

/** Keeps one value for each process and agent, because processes share no memory. */
export function eachProcess<T>(make: () => T): (of: AgentObservation) => T {
  const all = new Map<string, T>();
  return ({ host, agent }) => {
    const key = `${host} ${agent}`;
    const known = all.get(key) ?? make();
    all.set(key, known);
    return known;
  };
}

/**
 * Returns a law about the behavior of each process towards the service of each agent. It ignores a process after any jump of its clock,
 * because the process may have measured times across the jump.
 */
export function lawOfSteadyProcesses(
  name: string,
  make: () => { observe(observation: AgentObservation, at: number): string | undefined },
  { now }: Pick<Setting, 'now'>,
): Law {
  const jumps = new Map<string, number>();
  const of = eachProcess(() => ({ process: make(), aheadMs: undefined as number | undefined, jumps: 0, hasJumped: false }));
  return {
    name,
    after: on(['agent event', 'clock jumps'], (observation) => {
      const { host } = observation;
      const seen = jumps.get(host) ?? 0;
      if (observation.type === 'clock jumps') {
        if (observation.from !== observation.to) jumps.set(host, seen + 1);
        return undefined;
      }
      const known = of(observation);
      const aheadMs = observation.now - now();
      if (known.aheadMs === undefined) known.jumps = seen;
      known.hasJumped ||= (known.aheadMs ??= aheadMs) !== aheadMs || known.jumps !== seen;
      const wrong = known.hasJumped ? undefined : known.process.observe(observation, now());
      return wrong === undefined ? undefined : `host ${host} ${wrong} (agent ${observation.agent})`;
    }),
  };
}

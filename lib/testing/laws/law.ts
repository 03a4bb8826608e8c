import type { AnyOperation } from '#authoring/agent';
import type { FaultType } from '#authoring/fault';
import { nodeAt, type Program } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import type { StateRecord } from '#ports/records';
import type { AgentObservation } from '#testing/world/agent-event';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';

/** Something that must hold whatever goes wrong. Each answers with what is wrong, in words that name the order. */
export interface Law {
  readonly name: string;
  /** Looked at after everything that happens of some kinds. */
  readonly after?: Look;
  /** Looked at when faults are over, time has gone on, and everything has come to rest. */
  atEnd?(history: History): readonly string[];
}

type Kind = Observation['type'];

/** What is wrong after what has just happened. */
export interface Look {
  /** Of what it is to be asked; undefined where it is of everything. */
  readonly kinds: readonly Kind[] | undefined;
  wrongWith(observation: Observation, history: History): string | undefined;
}

/** It is asked of these kinds alone, and cannot look for another: that does not compile. */
export const on = <K extends Kind>(
  kinds: readonly K[],
  wrongWith: (observation: Extract<Observation, { type: K }>, history: History) => string | undefined,
): Look => ({ kinds, wrongWith });

export const onAny = (wrongWith: Look['wrongWith']): Look => ({ kinds: undefined, wrongWith });

interface Masked {
  readonly inputs: { readonly [operation: string]: (id: string) => unknown };
  readonly outputs: { readonly [operation: string]: (id: string) => unknown };
}

/** What a law may know of the world beside what happens. */
export interface Setting {
  /** The client that submits orders, and the queue on which it listens. */
  readonly client: string;
  readonly responseQueue: string;
  /** The reference that a client gives with an order, if it gives one. */
  referenceOf(orderId: string): string | undefined;
  readonly agents: Definitions['agents'];
  /** Operations, as `agent.operation`, whose effects stay when an order is undone. */
  readonly lasting: ReadonlySet<string>;
  /** Faults that services declare, and names of faults that they throw without having declared them. */
  readonly declaredFaults: readonly FaultType[];
  readonly undeclaredFaults: ReadonlySet<string>;
  /** Whether each service answers with `{ id }`, which is the key under which it was asked, and quotes its input where it refuses. */
  readonly answersNameTheirKey: boolean;
  /** Text that is secret wherever it stands; undefined where the world has none. */
  readonly secretWord: string | undefined;
  /** Text that stands in each reply from somebody who was not asked; undefined where nobody forges replies. */
  readonly forgedWord: string | undefined;
  /** What a person sees of values with secrets, by operation and the id in the value. */
  readonly masked: Masked;
  /** How late a deadline must be before it counts, and how far apart clocks are at the most. */
  readonly toleranceMs: number;
  now(): number;
  /** What a workflow may fail that says nothing of it. */
  readonly maxFailures: number;
  /** Whether an order is claimed in the write that makes it. */
  readonly claimsOnSubmit: boolean;
  /** Whether messages travel with the very write that they follow from. */
  readonly writesAndSendsAtomically: boolean;
  /** Whether it is announced when an order ends. */
  readonly announcesProcessed: boolean;
  /** For how long the channel of an agent has been closed; undefined where it is open. */
  closedForMs(agent: string | undefined): number | undefined;
  /** How long a host may stand still, without knowing it. */
  readonly standsStillMaxMs: number;
  /** Since when nothing goes wrong any more; undefined while something may. */
  quietSince(): number | undefined;
}

/** Whether a reply comes from somebody who was not asked. */
export const isForged = (body: string, { forgedWord }: Pick<Setting, 'forgedWord'>): boolean =>
  forgedWord !== undefined && body.includes(forgedWord);

/** An operation by its name in calls: `agent.operation`, also of its lookup. */
export function operationIn({ agents }: Pick<Setting, 'agents'>, name: string): AnyOperation | undefined {
  const [agent, operation = ''] = name.replace(' lookup', '').split('.');
  return agents.find((each) => each.name === agent)?.operations[operation];
}

/** Whether a path is that of a call: it has its effects in the order that it made. */
export const isCall = (path: string, program: Program | undefined): boolean =>
  program !== undefined && !path.endsWith('/undo') && nodeAt(program, path).activity === 'call';

/** The host that made a write of a whole state; undefined where only the attributes on top were touched. */
export const writerOf = ({ rev, writeIds }: StateRecord): string | undefined => {
  const last = writeIds.at(-1);
  return last?.rev === rev ? last.id.slice(0, last.id.lastIndexOf(':')) : undefined;
};

/** What is remembered of each process and agent: two of them know nothing of each other. */
export function eachProcess<T>(make: () => T): (of: AgentObservation) => T {
  const all = new Map<string, T>();
  return ({ host, agent }) => {
    const key = `${host} ${agent}`;
    const known = all.get(key) ?? make();
    all.set(key, known);
    return known;
  };
}

/** A law about how each process treats each agent's service. It ignores a process after a jump of its clock, even one that was undone. */
export function lawOfSteadyProcesses(
  name: string,
  make: () => { takes(observation: AgentObservation, at: number): string | undefined },
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
      const wrong = known.hasJumped ? undefined : known.process.takes(observation, now());
      return wrong === undefined ? undefined : `${host} ${wrong} (${observation.agent})`;
    }),
  };
}

import type { StateRecord } from '#ports/records';
import type { GuardedBy } from '../guarded.ts';
import type { History } from '../history.ts';
import type { Happening } from '../sight.ts';

/** Something that must hold whatever goes wrong. Each answers with what is wrong, in words that name the order. */
export interface Law {
  readonly name: string;
  /** Looked at after everything that happens of some kinds. */
  readonly after?: Look;
  /** Looked at when faults are over, time has gone on, and everything has come to rest. */
  atEnd?(history: History): readonly string[];
}

type Kind = Happening['type'];

/** What is wrong after what has just happened. */
export interface Look {
  /** Of what it is to be asked; undefined where it is of everything. */
  readonly kinds: readonly Kind[] | undefined;
  wrongWith(happening: Happening, history: History): string | undefined;
}

/** It is asked of these kinds alone, and cannot look for another: that does not compile. */
export const on = <K extends Kind>(
  kinds: readonly K[],
  wrongWith: (happening: Extract<Happening, { type: K }>, history: History) => string | undefined,
): Look => ({ kinds, wrongWith });

export const onAny = (wrongWith: Look['wrongWith']): Look => ({ kinds: undefined, wrongWith });

/** What a law may know of the world beside what happens. */
export interface Times {
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

/** The host that made a write of a whole state; undefined where only the attributes on top were touched. */
export const writerOf = ({ rev, writeIds }: StateRecord): string | undefined => {
  const last = writeIds.at(-1);
  return last?.rev === rev ? last.id.slice(0, last.id.lastIndexOf(':')) : undefined;
};

/** What is remembered of each process and agent: two of them know nothing of each other. */
export function eachProcess<T>(make: () => T): (of: GuardedBy) => T {
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
  make: () => { takes(happening: GuardedBy, at: number): string | undefined },
  { now }: Pick<Times, 'now'>,
): Law {
  const jumps = new Map<string, number>();
  const of = eachProcess(() => ({ process: make(), aheadMs: undefined as number | undefined, jumps: 0, hasJumped: false }));
  return {
    name,
    after: on(['guarded', 'clock jumps'], (happening) => {
      const { host } = happening;
      const seen = jumps.get(host) ?? 0;
      if (happening.type === 'clock jumps') {
        if (happening.from !== happening.to) jumps.set(host, seen + 1);
        return undefined;
      }
      const known = of(happening);
      const aheadMs = happening.now - now();
      if (known.aheadMs === undefined) known.jumps = seen;
      known.hasJumped ||= (known.aheadMs ??= aheadMs) !== aheadMs || known.jumps !== seen;
      const wrong = known.hasJumped ? undefined : known.process.takes(happening, now());
      return wrong === undefined ? undefined : `${host} ${wrong} (${happening.agent})`;
    }),
  };
}

import { generationOf } from '#core/data/ids';
import type { StoredEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';

/** One use of an object, from the history of an order. It took place between the first request of the step and its close. */
export interface Use {
  /** The time of the first request of the step. */
  readonly requestedAt: number;
  readonly orderId: string;
  readonly path: string;
  readonly object: string;
  readonly at: number;
  readonly seq: number;
}

export interface Uses {
  readonly reads: readonly Use[];
  readonly writes: readonly Use[];
}

/** Returns the uses of objects by all orders. */
export function usesIn(history: History): Uses {
  const of = (name: 'reads' | 'writes'): readonly Use[] =>
    [...history.orders.values()].flatMap(({ orderId, journal }) =>
      journal.flatMap((fact) =>
        fact.type === 'ObjectsUsed'
          ? (fact[name] ?? []).map((object) => ({ ...fact, requestedAt: requestedAt(fact, journal), orderId, object }))
          : [],
      ),
    );
  return { reads: of('reads'), writes: of('writes') };
}

/** Returns when the effect of a done step was first requested, according to the journal; without such a line, the time of the use. */
function requestedAt({ path, seq, at }: Extract<StoredEntry, { type: 'ObjectsUsed' }>, journal: readonly StoredEntry[]): number {
  const ended = journal.findLast(
    (fact) => fact.seq < seq && (fact.type === 'ActivityClosed' || fact.type === 'LateResult') && fact.path === path,
  );
  const effect = (fact: StoredEntry): number => ('attemptId' in fact ? generationOf(fact.attemptId ?? '') : Number.NaN);
  const first = journal.find((fact) => fact.type === 'StepRequested' && fact.path === path && ended && effect(fact) === effect(ended));
  return Math.min(first?.at ?? at, at);
}

/** Each use has the time of the first request of its effect, and a canceled step that was done after all has its uses, too. */
export const wrongUses = ({ orderId, journal }: Tracked): readonly string[] =>
  journal.flatMap((fact) => {
    if (fact.type === 'LateResult' && fact.output !== undefined)
      return journal.some((use) => use.type === 'ObjectsUsed' && use.path === fact.path && use.at === fact.at)
        ? []
        : [`order ${orderId}: ${fact.path} was done after its cancellation, and its objects are not recorded`];
    if (fact.type !== 'ObjectsUsed' || fact.requestedAt === requestedAt(fact, journal)) return [];
    return [`order ${orderId}: ${fact.path} says that it was requested at ${fact.requestedAt}, not at ${requestedAt(fact, journal)}`];
  });

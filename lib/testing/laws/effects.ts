import type { Program } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { isCall, type Law, on, type Setting } from './law.ts';

/**
 * S7, S11: nothing is done twice, nothing undone that was never done, and what is undone by its outcome leaves nothing behind. Once a
 * table was restored nobody knows of what was asked for since the time of which it is: that may have been done, or undone.
 */
export function effects({ now, lasting }: Pick<Setting, 'now' | 'lasting'>): Law {
  const askedAt = new Map<string, number>();
  const undoneBy = new Map<string, string>();
  const forgotten = new Set<string>();
  const isUnknown = (key: string): boolean => forgotten.has(key) || forgotten.has(undoneBy.get(key) ?? '');
  return {
    name: 'effects',
    after: on(['effect', 'sent', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        for (const [key, at] of askedAt) if (at >= observation.asOf) forgotten.add(key);
        return undefined;
      }
      if (observation.type === 'sent') {
        const key = observation.queue.endsWith('-requests') ? keyIn(observation.body) : undefined;
        if (key !== undefined) askedAt.set(key, now());
        return undefined;
      }
      const { operation, key, undoes } = observation;
      if (undoes !== undefined) undoneBy.set(undoes, key);
      const before = history.effects.get(undoes ?? key);
      if (undoes === undefined) return before ? `${operation} is done twice under ${key}` : undefined;
      if (!before) return `${operation} undoes ${undoes}, which was never done`;
      return before.undone ? `${operation} undoes ${undoes} a second time` : undefined;
    }),
    atEnd: (history) => history.sound.flatMap((order) => leftBy(order, history, { isUnknown, lasting })),
  };
}

const keyIn = (body: string): string | undefined => /"idempotencyKey":"([^"]+)"/.exec(body)?.[1];

interface Excused {
  isUnknown(key: string): boolean;
  readonly lasting: ReadonlySet<string>;
}

function leftBy(order: Tracked, history: History, { isUnknown, lasting }: Excused): readonly string[] {
  const { orderId, state, journal } = order;
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated') return [];
  const standing = history.standing(orderId);
  const wanted = outcome === 'completed' ? doneBy(order) : new Set<string>();
  const keys = new Set(standing.map(([key]) => key));
  const path = (key: string) => key.slice(orderId.length + 1, key.lastIndexOf('/'));
  const told = new Set(journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])));
  const tooMuch = standing.filter(
    ([key, { operation }]) => !wanted.has(key) && !lasting.has(operation) && !told.has(path(key)) && !isUnknown(key),
  );
  const missing = [...wanted].filter((key) => !keys.has(key) && !isUnknown(key));
  return [
    ...tooMuch.map(([key, { operation }]) => `${orderId} is ${outcome}, but ${operation} is still done under ${key}`),
    ...missing.map((key) => `${orderId} is completed, but nothing is left of ${key}`),
  ];
}

/** Keys of what the journal says is done, and not undone since. */
function doneBy({ orderId, journal, program }: Tracked): ReadonlySet<string> {
  const done = new Map<string, string>();
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    const generation = fact.attemptId?.slice(0, fact.attemptId.indexOf('#'));
    if (fact.result === 'Succeeded' && generation && hasEffect(fact.path, program))
      done.set(fact.path, `${orderId}/${fact.path}/${generation}`);
    if (fact.result === 'Compensated') done.delete(fact.path.replace(/\/undo$/, ''));
  }
  return new Set(done.values());
}

/** A call has its effects in the order that it made. */
const hasEffect = (path: string, program: Program | undefined): boolean => !path.endsWith('/undo') && !isCall(path, program);

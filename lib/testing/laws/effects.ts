import type { Program } from '#core/definition/program';
import type { History, Tracked } from '#testing/world/history';
import { isCall, type Law, on, type Setting } from './law.ts';

/**
 * A service applies each effect once and undoes it at most once. A compensated order leaves no effect (S7, S11). Effects that were
 * requested between a backup and its restore are exempt, because the order does not know of them.
 */
export function effects({ now, operationsWithoutUndo }: Pick<Setting, 'now' | 'operationsWithoutUndo'>): Law {
  /** Time of the last request, by idempotency key. */
  const requestedAt = new Map<string, number>();
  /** Key of the undo, by key of the effect. */
  const undoneBy = new Map<string, string>();
  /** Keys requested since the time of the backup. */
  const forgotten = new Set<string>();
  const isUnknown = (key: string): boolean => forgotten.has(key) || forgotten.has(undoneBy.get(key) ?? '');
  return {
    name: 'effects',
    after: on(['effect', 'sent', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        for (const [key, at] of requestedAt) if (at >= observation.asOf) forgotten.add(key);
        return undefined;
      }
      if (observation.type === 'sent') {
        const key = observation.queue.endsWith('-requests') ? keyIn(observation.body) : undefined;
        if (key !== undefined) requestedAt.set(key, now());
        return undefined;
      }
      const { operation, key, undoes } = observation;
      if (undoes !== undefined) undoneBy.set(undoes, key);
      const before = history.effects.get(undoes ?? key);
      if (undoes === undefined) return before ? `${operation} took effect twice under ${key}` : undefined;
      if (!before) return `${operation} undid ${undoes}, which had no effect`;
      return before.undone ? `${operation} undid ${undoes} twice` : undefined;
    }),
    atEnd: (history) => history.sound.flatMap((order) => wrongAtEnd(order, history, { isUnknown, operationsWithoutUndo })),
  };
}

const keyIn = (body: string): string | undefined => /"idempotencyKey":"([^"]+)"/.exec(body)?.[1];

interface Exempt {
  isUnknown(key: string): boolean;
  readonly operationsWithoutUndo: ReadonlySet<string>;
}

function wrongAtEnd(order: Tracked, history: History, { isUnknown, operationsWithoutUndo }: Exempt): readonly string[] {
  const { orderId, state, journal } = order;
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated') return [];
  const standing = history.existingEffects(orderId);
  const expected = outcome === 'completed' ? doneBy(order) : new Set<string>();
  const keys = new Set(standing.map(([key]) => key));
  const path = (key: string) => key.slice(orderId.length + 1, key.lastIndexOf('/'));
  const reported = new Set(
    journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])),
  );
  const unexpected = standing.filter(
    ([key, { operation }]) => !expected.has(key) && !operationsWithoutUndo.has(operation) && !reported.has(path(key)) && !isUnknown(key),
  );
  const missing = [...expected].filter((key) => !keys.has(key) && !isUnknown(key));
  return [
    ...unexpected.map(([key, { operation }]) => `order ${orderId} is ${outcome}, but the effect of ${operation} remains under ${key}`),
    ...missing.map((key) => `order ${orderId} is completed, but the effect ${key} does not exist`),
  ];
}

/** Returns the keys of the effects that the journal records as done and not undone since. */
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

/** Whether a step has an effect of its own. The effects of a call belong to the called order. */
const hasEffect = (path: string, program: Program | undefined): boolean => !path.endsWith('/undo') && !isCall(path, program);

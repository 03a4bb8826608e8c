import { lasting } from '../app.ts';
import type { History, Tracked } from '../history.ts';
import type { Law } from './law.ts';

/** S7, S11: nothing is done twice, nothing undone that was never done, and what is undone by its outcome leaves nothing behind. */
export const effects = (): Law => ({
  name: 'effects',
  after(happening, history) {
    if (happening.type !== 'effect') return undefined;
    const { operation, key, undoes } = happening;
    const before = history.effects.get(undoes ?? key);
    if (undoes === undefined) return before ? `${operation} is done twice under ${key}` : undefined;
    if (!before) return `${operation} undoes ${undoes}, which was never done`;
    return before.undone ? `${operation} undoes ${undoes} a second time` : undefined;
  },
  atEnd: (history) => [...history.orders.values()].flatMap((order) => leftBy(order, history)),
});

function leftBy({ orderId, state, journal }: Tracked, history: History): readonly string[] {
  const { outcome } = state;
  const standing = history.standing(orderId);
  const path = (key: string) => key.slice(orderId.length + 1, key.lastIndexOf('/'));
  if (outcome === 'completed') {
    const keys = new Set(standing.map(([key]) => path(key)));
    const done = journal.filter((fact) => fact.type === 'ActivityClosed' && fact.result === 'Succeeded' && fact.asking !== undefined);
    const undone = new Set(journal.flatMap((fact) => (fact.type === 'ActivityClosed' && fact.result === 'Compensated' ? [fact.path] : [])));
    const missing = done.flatMap((fact) =>
      'path' in fact && fact.path && hasEffect(fact.path) && !keys.has(fact.path) ? [fact.path] : [],
    );
    return missing.filter((each) => !undone.has(`${each}/undo`)).map((each) => `${orderId} is completed, but nothing is left of ${each}`);
  }
  if (outcome === null || outcome === 'terminated') return [];
  const told = new Set(journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])));
  return standing.flatMap(([key, { operation }]) =>
    lasting.has(operation) || told.has(path(key)) ? [] : [`${orderId} is ${outcome}, but ${operation} is still done under ${key}`],
  );
}

/** A call has its effects in the order that it made. */
const hasEffect = (path: string): boolean => !path.endsWith('/stay');

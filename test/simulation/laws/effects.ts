import type { JournalEntry } from '../../../lib/instance.ts';
import { lasting } from '../app.ts';
import type { History, Tracked } from '../history.ts';
import { type Law, on } from './law.ts';

/** S7, S11: nothing is done twice, nothing undone that was never done, and what is undone by its outcome leaves nothing behind. */
export const effects = (): Law => ({
  name: 'effects',
  after: on(['effect'], (happening, history) => {
    const { operation, key, undoes } = happening;
    const before = history.effects.get(undoes ?? key);
    if (undoes === undefined) return before ? `${operation} is done twice under ${key}` : undefined;
    if (!before) return `${operation} undoes ${undoes}, which was never done`;
    return before.undone ? `${operation} undoes ${undoes} a second time` : undefined;
  }),
  atEnd: (history) => history.sound.flatMap((order) => leftBy(order, history)),
});

function leftBy({ orderId, state, journal }: Tracked, history: History): readonly string[] {
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated') return [];
  const standing = history.standing(orderId);
  const wanted = outcome === 'completed' ? doneBy(orderId, journal) : new Set<string>();
  const keys = new Set(standing.map(([key]) => key));
  const path = (key: string) => key.slice(orderId.length + 1, key.lastIndexOf('/'));
  const told = new Set(journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])));
  const tooMuch = standing.filter(([key, { operation }]) => !wanted.has(key) && !lasting.has(operation) && !told.has(path(key)));
  return [
    ...tooMuch.map(([key, { operation }]) => `${orderId} is ${outcome}, but ${operation} is still done under ${key}`),
    ...[...wanted].filter((key) => !keys.has(key)).map((key) => `${orderId} is completed, but nothing is left of ${key}`),
  ];
}

/** Keys of what the journal says is done, and not undone since. */
function doneBy(orderId: string, journal: readonly JournalEntry[]): ReadonlySet<string> {
  const done = new Map<string, string>();
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    const generation = fact.asking?.slice(0, fact.asking.indexOf('#'));
    if (fact.result === 'Succeeded' && generation && hasEffect(fact.path)) done.set(fact.path, `${orderId}/${fact.path}/${generation}`);
    if (fact.result === 'Compensated') done.delete(fact.path.replace(/\/undo$/, ''));
  }
  return new Set(done.values());
}

/** A call has its effects in the order that it made. */
const hasEffect = (path: string): boolean => !/\/(stay|trip|visit|undo)$/.test(path);

import { nodeAt, type Program } from '#core/definition/program';
import { stepOf } from '#testing/world/effects';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * S7, S11: nothing is done twice, nothing undone that was never done, and what is undone by its outcome leaves nothing behind. Once a
 * table was restored nobody knows of what was asked for since the time of which it is: that may have been done, or undone.
 */
export function effects({ now }: Pick<Setting, 'now'>): Law {
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
      if (undoes === undefined)
        return before ? `${operation} is done twice under ${key}` : doneUnderOther(operation, key, history, isUnknown);
      if (!before) return `${operation} undoes ${undoes}, which was never done`;
      return before.undone ? `${operation} undoes ${undoes} a second time` : undefined;
    }),
    atEnd: (history) => history.sound.flatMap((order) => leftBy(order, history, isUnknown)),
  };
}

const keyIn = (body: string): string | undefined => /"idempotencyKey":"([^"]+)"/.exec(body)?.[1];

/** A step has one effect at a time, unless nobody knows what became of an earlier one. */
function doneUnderOther(operation: string, key: string, history: History, isUnknown: (key: string) => boolean): string | undefined {
  const { orderId, path } = stepOf(key);
  const other = history.standing(orderId).find(([each]) => each !== key && stepOf(each).path === path && !isUnknown(each));
  const { journal = [], program } = history.orders.get(orderId) ?? {};
  // Another run of a step without an undo leaves the effect of the earlier one.
  const isOne = !journal.some(({ type }) => type === 'OutcomeUnknown') && (!program || nodeAt(program, path).undo !== undefined);
  return other && isOne ? `${operation} is done twice, under ${other[0]} and ${key}` : undefined;
}

function leftBy(order: Tracked, history: History, isUnknown: (key: string) => boolean): readonly string[] {
  const { orderId, state, journal, program } = order;
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated' || !program) return [];
  const standing = history.standing(orderId);
  const keys = new Set(standing.map(([key]) => key));
  const done = doneBy(order, program);
  const told = new Set(journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])));
  const mayStay = (key: string): boolean => {
    const { path } = stepOf(key);
    // A handler does its own work after the undoing.
    const isRight = done.has(key) && (outcome === 'completed' || isInHandler(path));
    return isRight || nodeAt(program, path).undo === undefined || told.has(path) || isUnknown(key);
  };
  const tooMuch = standing.filter(([key]) => !mayStay(key));
  const missing = [...done].filter((key) => !keys.has(key) && !isUnknown(key) && !told.has(stepOf(key).path));
  return [
    ...tooMuch.map(([key, { operation }]) => `${orderId} is ${outcome}, but ${operation} is still done under ${key}`),
    ...missing.map((key) => `${orderId} is ${outcome}, but nothing is left of ${key}`),
  ];
}

const isInHandler = (path: string): boolean => /\/on-[^/]+\//.test(path);

/** Keys of what the journal says is done, and not undone since. */
function doneBy({ orderId, journal }: Tracked, program: Program): ReadonlySet<string> {
  const done = new Map<string, string>();
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    const { path } = fact;
    const generation = fact.attemptId?.slice(0, fact.attemptId.indexOf('#'));
    // A call has its effects in the order that it made.
    const isEffect = !path.endsWith('/undo') && nodeAt(program, path).activity === 'step';
    if (fact.result === 'Succeeded' && generation && isEffect) done.set(path, `${orderId}/${path}/${generation}`);
    if (fact.result !== 'Compensated') continue;
    // A composite is undone as a whole.
    const undone = path.replace(/\/undo$/, '');
    for (const each of done.keys()) if (each === undone || isInside(each, undone)) done.delete(each);
  }
  return new Set(done.values());
}

const isInside = (path: string, around: string): boolean => path.startsWith(`${around}/`) || path.startsWith(`${around}[`);

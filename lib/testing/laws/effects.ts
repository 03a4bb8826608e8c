import { stepOfUndo } from '#core/data/ids';
import { nodeAt, type Program } from '#core/definition/program';
import { isAt } from '#core/engine/undo-pages';
import { stepOf } from '#testing/world/effects';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * A service applies each effect once and undoes it at most once. A compensated order leaves no effect (S7, S11). Effects that were
 * requested between a backup and its restore are exempt, because the order does not know of them.
 */
export function effects({ now }: Pick<Setting, 'now'>): Law {
  /** Time of the last request, by idempotency key. */
  const requestedAt = new Map<string, number>();
  /** Key of the undo, by key of the effect. */
  const undoneBy = new Map<string, string>();
  /** Keys requested since the time of the backup. */
  const requestedSinceBackup = new Set<string>();
  const isUnknown = (key: string): boolean => requestedSinceBackup.has(key) || requestedSinceBackup.has(undoneBy.get(key) ?? '');
  return {
    name: 'effects',
    after: on(['effect', 'sent', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        for (const [key, at] of requestedAt) if (at >= observation.asOf) requestedSinceBackup.add(key);
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
      if (undoes === undefined)
        return before ? `${operation} took effect twice under ${key}` : effectUnderOtherKey(operation, key, history, isUnknown);
      if (!before) return `${operation} undid ${undoes}, which had no effect`;
      return before.undone ? `${operation} undid ${undoes} twice` : undefined;
    }),
    atEnd: (history) => history.sound.flatMap((order) => wrongAtEnd(order, history, isUnknown)),
  };
}

const keyIn = (body: string): string | undefined => /"idempotencyKey":"([^"]+)"/.exec(body)?.[1];

/** Returns the violation if the step already has an effect. A step has one effect at a time, unless the outcome of an earlier one is unknown. */
function effectUnderOtherKey(operation: string, key: string, history: History, isUnknown: (key: string) => boolean): string | undefined {
  const { orderId, path } = stepOf(key);
  const other = history.existingEffects(orderId).find(([each]) => each !== key && stepOf(each).path === path && !isUnknown(each));
  const { journal = [], program } = history.orders.get(orderId) ?? {};
  // Another run of a step leaves the effect of the earlier run if the step has no undo, or if a person has said that it was undone.
  const isLeft = journal.some((fact) => fact.type === 'OutcomeUnknown' || (fact.type === 'MarkedCompensated' && fact.path === path));
  const isOne = !isLeft && (!program || nodeAt(program, path).undo !== undefined);
  return other && isOne ? `${operation} took effect twice, under ${other[0]} and ${key}` : undefined;
}

function wrongAtEnd(order: Tracked, history: History, isUnknown: (key: string) => boolean): readonly string[] {
  const { orderId, state, journal, program } = order;
  const { outcome } = state;
  if (outcome === null || outcome === 'terminated' || !program) return [];
  const existing = history.existingEffects(orderId);
  const keys = new Set(existing.map(([key]) => key));
  const done = doneBy(order, program);
  const reported = new Set(
    journal.flatMap((fact) => (fact.type === 'OutcomeUnknown' || fact.type === 'MarkedCompensated' ? [fact.path] : [])),
  );
  const mayRemain = (key: string): boolean => {
    const { path } = stepOf(key);
    // A handler runs its own steps after the compensation.
    const isExpected = done.has(key) && (outcome === 'completed' || isInHandler(path));
    return isExpected || nodeAt(program, path).undo === undefined || reported.has(path) || isUnknown(key);
  };
  const unexpected = existing.filter(([key]) => !mayRemain(key));
  const missing = [...done].filter((key) => !keys.has(key) && !isUnknown(key) && !reported.has(stepOf(key).path));
  return [
    ...unexpected.map(([key, { operation }]) => `order ${orderId} is ${outcome}, but the effect of ${operation} remains under ${key}`),
    ...missing.map((key) => `order ${orderId} is ${outcome}, but the effect ${key} does not exist`),
  ];
}

/** Whether a path lies in a fault handler. */
const isInHandler = (path: string): boolean => /\/on-[^/]+\//.test(path);

/** Returns the keys of the effects that the journal records as done and not undone since. */
function doneBy({ orderId, journal }: Tracked, program: Program): ReadonlySet<string> {
  const done = new Map<string, string>();
  for (const fact of journal) {
    if (fact.type !== 'ActivityClosed') continue;
    const { path } = fact;
    const generation = fact.attemptId?.slice(0, fact.attemptId.indexOf('#'));
    // The effects of a call belong to the called order.
    const isEffect = !path.endsWith('/undo') && nodeAt(program, path).activity === 'step';
    if (fact.result === 'Succeeded' && generation && isEffect) done.set(path, `${orderId}/${path}/${generation}`);
    if (fact.result !== 'Compensated') continue;
    // The undo of a composite undoes all steps inside.
    const undone = stepOfUndo(path);
    for (const each of done.keys()) if (isAt(each, undone)) done.delete(each);
  }
  return new Set(done.values());
}

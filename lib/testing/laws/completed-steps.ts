import { idempotencyKeyOf, undonePath } from '#core/data/ids';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** `requeued`: the number of times that the agent has requeued the request. */
type Sent = { readonly orderId?: string; readonly idempotencyKey?: string; readonly requeued?: number };

/** Whether a fact allows a completed step to be requested as a new effect. */
const allowsNewEffect = (fact: JournalEntry, path: string): boolean =>
  fact.type === 'InstructionGiven' ||
  (fact.type === 'RuleActed' && fact.action.kind === 'recover') ||
  (fact.type === 'MarkedCompensated' && isAround(fact.path, path)) ||
  (fact.type === 'ActivityClosed' && fact.result === 'Compensated' && isAround(undonePath(fact.path), path));
const isAround = (outer: string, path: string): boolean => path === outer || path.startsWith(`${outer}/`);

/**
 * A step or an undo that is recorded as done is never requested again under its key. A new effect needs an undo, an instruction of an
 * operator or a recovery by a rule first (S6).
 */
export function completedSteps({ writesAndSendsAtomically }: Pick<Setting, 'writesAndSendsAtomically'>): Law {
  /** Journal line of each completion, by idempotency key. */
  const recorded = new Map<string, number>();
  /** Journal line of the last success, by step. */
  const last = new Map<string, number>();
  return {
    name: 'completed steps',
    after: on(['sent', 'written'], (observation, history) => {
      if (observation.type === 'sent') return writesAndSendsAtomically ? wrongMessage(observation, history) : undefined;
      const order = history.orders.get(observation.after.orderId);
      return order?.newFacts.map((fact) => wrongIn(fact, order)).find((wrong) => wrong !== undefined);
    }),
  };

  /** Checks a message. If messages are sent within the write, a slow process cannot send one of an older write. */
  function wrongMessage({ queue, body }: { readonly queue: string; readonly body: string }, history: History): string | undefined {
    if (!queue.endsWith('-requests')) return undefined;
    const { orderId = '', idempotencyKey: key = '', requeued } = JSON.parse(body) as Sent;
    if (requeued !== undefined || !recorded.has(key) || history.orders.get(orderId)?.damagedAt !== undefined) return undefined;
    return `order ${orderId}: a message requested ${key} again after it was done (journal line ${recorded.get(key)})`;
  }

  function wrongIn(fact: JournalEntry, { orderId, journal }: Tracked): string | undefined {
    if ((fact.type !== 'StepRequested' && fact.type !== 'ActivityClosed') || fact.attemptId === undefined) return undefined;
    const { path, attemptId } = fact;
    const key = idempotencyKeyOf(orderId, path, Number.parseInt(attemptId, 10));
    if (fact.type === 'ActivityClosed') {
      if (fact.result !== 'Succeeded' && fact.result !== 'Compensated') return undefined;
      if (recorded.has(key))
        return `order ${orderId}: ${key} was recorded as done twice (journal lines ${recorded.get(key)} and ${fact.seq})`;
      recorded.set(key, fact.seq);
      // An undo belongs to its effect: a new effect gets a new undo.
      if (fact.result === 'Succeeded') last.set(`${orderId}/${path}`, fact.seq);
      return undefined;
    }
    if (recorded.has(key))
      return `order ${orderId}: ${key} was requested again (journal line ${fact.seq}) after it was done (line ${recorded.get(key)})`;
    const since = last.get(`${orderId}/${path}`);
    if (since === undefined || journal.some((each) => each.seq > since && allowsNewEffect(each, path))) return undefined;
    return `order ${orderId}: step ${path} succeeded (journal line ${since}) and was requested as a new effect without a reason (line ${fact.seq})`;
  }
}

import { idempotencyKeyOf, undonePath } from '#core/data/ids';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** `requeued`: its agent posts anew what it has had before. */
type Sent = { readonly orderId?: string; readonly idempotencyKey?: string; readonly requeued?: number };

/** What makes a step that was done be asked for as a new effect. */
const isReason = (fact: JournalEntry, path: string): boolean =>
  fact.type === 'InstructionGiven' ||
  (fact.type === 'MarkedCompensated' && isAround(fact.path, path)) ||
  (fact.type === 'ActivityClosed' && fact.result === 'Compensated' && isAround(undonePath(fact.path), path));
const isAround = (outer: string, path: string): boolean => path === outer || path.startsWith(`${outer}/`);

/**
 * S6: what is recorded as done, or as undone, is never asked for again under its key, in no write, and by no message that a
 * later write has sent; and as a new effect only after it was undone, or where a person has decided something.
 */
export function done({ writesAndSendsAtomically }: Pick<Setting, 'writesAndSendsAtomically'>): Law {
  /** By key: the line of the journal that says so. */
  const recorded = new Map<string, number>();
  /** By step: the line that says that it was done last. */
  const last = new Map<string, number>();
  return {
    name: 'done',
    after: on(['sent', 'written'], (observation, history) => {
      if (observation.type === 'sent') return writesAndSendsAtomically ? wrongMessage(observation, history) : undefined;
      const order = history.orders.get(observation.after.orderId);
      return order?.news.map((fact) => wrongIn(fact, order)).find((wrong) => wrong !== undefined);
    }),
  };

  /** Where messages travel with the very write, none is sent by whoever wrote before and was slow since. */
  function wrongMessage({ queue, body }: { readonly queue: string; readonly body: string }, history: History): string | undefined {
    if (!queue.endsWith('-requests')) return undefined;
    const { orderId = '', idempotencyKey: key = '', requeued } = JSON.parse(body) as Sent;
    if (requeued !== undefined || !recorded.has(key) || history.orders.get(orderId)?.damagedAt !== undefined) return undefined;
    return `${key} is done (line ${recorded.get(key)}), and a message asks for it again`;
  }

  function wrongIn(fact: JournalEntry, { orderId, journal }: Tracked): string | undefined {
    if ((fact.type !== 'StepRequested' && fact.type !== 'ActivityClosed') || fact.attemptId === undefined) return undefined;
    const { path, attemptId: asking } = fact;
    const key = idempotencyKeyOf(orderId, path, Number.parseInt(asking, 10));
    if (fact.type === 'ActivityClosed') {
      if (fact.result !== 'Succeeded' && fact.result !== 'Compensated') return undefined;
      if (recorded.has(key)) return `${key} is recorded as done in line ${recorded.get(key)}, and once more in line ${fact.seq}`;
      recorded.set(key, fact.seq);
      // An undo belongs to its effect: done anew, it is undone anew.
      if (fact.result === 'Succeeded') last.set(`${orderId}/${path}`, fact.seq);
      return undefined;
    }
    if (recorded.has(key)) return `${key} is done (line ${recorded.get(key)}), and asked for again in line ${fact.seq}`;
    const since = last.get(`${orderId}/${path}`);
    if (since === undefined || journal.some((each) => each.seq > since && isReason(each, path))) return undefined;
    return `${orderId} has done ${path} (line ${since}), and asks for it as a new effect in line ${fact.seq}: nothing says why`;
  }
}

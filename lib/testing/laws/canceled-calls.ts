import { idempotencyKeyOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import { childIdOf } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import { isSuspendedByRule } from './handled-exceptions.ts';
import { type Law, on, type Setting } from './law.ts';

/** Limit if no faults disturb the cancellation: it reaches the called order at once, which then waits only for its running steps. */
const promptMs = 300_000;
/** Limit if the cancellation may be lost. The caller repeats it after ten minutes, and a supervisor may look only once an hour. */
const repeatedMs = 600_000 + 3_600_000;

interface Canceled {
  readonly at: number;
  readonly child: string;
}

/** A canceled called order ends promptly instead of running to its own end (L1). */
export function canceledCalls({ now, quietSince }: Setting): Law {
  const canceled = new Map<string, Canceled>();
  return {
    name: 'canceled calls',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        // A restored order may not have canceled anything yet.
        canceled.clear();
        return undefined;
      }
      const { orderId } = observation.after;
      for (const fact of history.orders.get(orderId)?.newFacts ?? []) {
        // In the simulated workflows, each call has the name `visit`.
        if (fact.type === 'CancelRequested' && fact.path.endsWith('/visit')) {
          const child = childIdOf(idempotencyKeyOf(orderId, fact.path, Number.parseInt(fact.attemptId ?? '1', 10)));
          if (history.orders.get(child)?.state.processState === 'Processing') canceled.set(`${orderId}/${fact.path}`, { at: now(), child });
        }
        if (fact.type === 'ActivityClosed') {
          const late = lateness(orderId, fact, canceled.get(`${orderId}/${fact.path}`), history);
          if (late !== undefined) return late;
        }
      }
      return undefined;
    }),
  };

  function lateness(
    orderId: string,
    { path }: Extract<CoreFact, { type: 'ActivityClosed' }>,
    cancellation: Canceled | undefined,
    history: History,
  ): string | undefined {
    const quiet = quietSince();
    if (!cancellation || quiet === undefined || isExempt(cancellation.child, history) || hasWaited(orderId, history)) return undefined;
    const after = now() - Math.max(cancellation.at, quiet);
    const boundMs = cancellation.at > quiet ? promptMs : repeatedMs;
    return after > boundMs ? `order ${orderId}: the canceled call ${path} took ${Math.round(after / 1000)} s to end` : undefined;
  }
}

/** Whether any duration is allowed: an operator or a failing undo takes time, and a damaged order cannot be canceled. */
const isExempt = (orderId: string, history: History): boolean => {
  const { damagedAt, journal = [] } = history.orders.get(orderId) ?? {};
  const takesTime = journal.some(({ type }) => type === 'UndoFailed' || type === 'OrderBlocked' || type === 'ThresholdExceeded');
  return damagedAt !== undefined || takesTime || wasSuspended(orderId, history);
};

/** Whether the caller may have waited for a person. Until that person decides, the caller does not apply the end of its called order. */
const hasWaited = (orderId: string, history: History): boolean =>
  wasSuspended(orderId, history) || history.orders.get(orderId)?.journal.some(({ type }) => type === 'OrderBlocked') === true;

/** Whether an operator or a rule has suspended the order. It may stay suspended for any time. */
function wasSuspended(orderId: string, history: History): boolean {
  const { journal = [] } = history.orders.get(orderId) ?? {};
  return isSuspendedByRule(journal) || journal.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'suspend');
}

import { idempotencyKeyOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import { childIdOf } from '#roles/submission/submission';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** Of a call that was canceled while nothing goes wrong: its order is told at once, and has its steps to wait for. */
const toldMs = 300_000;
/** If the cancellation is lost, the caller asks again after ten minutes, and a supervisor may look once an hour. */
const foundOutMs = 600_000 + 3_600_000;

interface Canceled {
  readonly at: number;
  readonly child: string;
}

/** L1: an order that was called, and is not wanted any more, does not go on until it ends by itself. */
export function promptness({ now, quietSince }: Setting): Law {
  const canceled = new Map<string, Canceled>();
  return {
    name: 'promptness',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        // An order that is as it was before may not have canceled anything yet.
        canceled.clear();
        return undefined;
      }
      const { orderId } = observation.after;
      for (const fact of history.orders.get(orderId)?.news ?? []) {
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
    asked: Canceled | undefined,
    history: History,
  ): string | undefined {
    const quiet = quietSince();
    if (!asked || quiet === undefined || hadTrouble(asked.child, history) || wasSuspended(orderId, history)) return undefined;
    const after = now() - Math.max(asked.at, quiet);
    const boundMs = asked.at > quiet ? toldMs : foundOutMs;
    return after > boundMs ? `${orderId} has canceled ${path}, and it takes ${Math.round(after / 1000)} s to end` : undefined;
  }
}

/** A person, or an undo that was refused, may take any time; and what nobody can read cannot be canceled. */
const hadTrouble = (orderId: string, history: History): boolean => {
  const { damagedAt, journal = [] } = history.orders.get(orderId) ?? {};
  const takesTime = journal.some(({ type }) => type === 'UndoFailed' || type === 'OrderBlocked' || type === 'ThresholdExceeded');
  return damagedAt !== undefined || takesTime || wasSuspended(orderId, history);
};

/** Who has stopped one of both may let any time pass. */
const wasSuspended = (orderId: string, history: History): boolean =>
  history.orders.get(orderId)?.journal.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'suspend') ?? false;

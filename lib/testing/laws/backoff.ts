import { engineFaults } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';
import type { StepState } from '#core/data/step-state';
import { delayMaxMs } from '#ports/queues';
import type { History } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** Returns the longest pause of an agent after a number of tries. */
const longestAfter = (tries: number): number => Math.min(5000, 100 * 2 ** (tries - 1));
const undoMs = { first: 5000, longest: 3_600_000 };

type UndoFailed = Extract<CoreFact, { type: 'UndoFailed' }> & { readonly at: number };

/** Each pause before a retry is within its bounds, and no message has a longer delay than queues allow (S14). */
export function backoff({ undeclaredFaults }: Pick<Setting, 'undeclaredFaults'>): Law {
  /** Pauses of agents, as shares of the longest allowed pause. */
  const shares: number[] = [];
  return {
    name: 'backoff',
    after: on(['backs off', 'sent', 'written'], (observation, history) => {
      if (observation.type === 'backs off') shares.push(observation.ms / longestAfter(observation.tries));
      // Without `undeclaredFaults`, services may throw any fault, even one that names the time of the next call. No pause is judged then.
      if (observation.type === 'backs off' && undeclaredFaults && (observation.ms < 0 || observation.ms > longestAfter(observation.tries)))
        return `request ${observation.requestId}: its agent backed off for ${observation.ms} ms after ${observation.tries} tries`;
      if (observation.type === 'sent' && observation.delayMs > delayMaxMs)
        return `queue ${observation.queue}: a message has a delay of ${observation.delayMs} ms`;
      if (observation.type !== 'written') return undefined;
      const { orderId } = observation.after;
      const failed = history.orders.get(orderId)?.newFacts.filter((fact) => fact.type === 'UndoFailed') ?? [];
      return failed.map((fact) => wrongPause(orderId, fact, history)).find((wrong) => wrong !== undefined);
    }),
    atEnd: () => {
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      return !undeclaredFaults || shares.length < 40 || (mean > 0.25 && mean < 0.75)
        ? []
        : [`pauses of agents have no jitter: their mean is ${mean} of the longest`];
    },
  };
}

/** Returns what is wrong with the pause before a failed undo is requested again. It must be 0.8 to 1.2 times the usual pause. */
function wrongPause(orderId: string, { path, attemptId, at, fault }: UndoFailed, history: History): string | undefined {
  const local = history.orders.get(orderId)?.instance.state.activities[path]?.local as StepState | undefined;
  if (local?.phase !== 'waitingToRetry' || !attemptId.endsWith(`.${local.attempt}`)) return undefined;
  const growing = undoMs.first * 2 ** (local.attempt - (local.from ?? 1));
  const isRefused = fault?.permanent === true && fault.type !== engineFaults.programmingError;
  const usual = isRefused ? undoMs.longest : Math.min(undoMs.longest, growing);
  const pause = local.completeBy - at;
  return pause >= 0.8 * usual - 1 && pause <= 1.2 * usual + 1
    ? undefined
    : `order ${orderId}: ${path} is retried after ${pause} ms, expected about ${usual}`;
}

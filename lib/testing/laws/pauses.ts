import type { StepState } from '#core/activities/step';
import type { CoreFact } from '#core/data/journal';
import { delayMaxMs } from '#ports/queues';
import type { History } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** The longest pause of an agent between two tries: it grows from the first on. */
const longestAfter = (tries: number): number => Math.min(5000, 100 * 2 ** (tries - 1));
const undoMs = { first: 5000, longest: 3_600_000 };

type UndoFailed = Extract<CoreFact, { type: 'UndoFailed' }> & { readonly at: number };

/** S14: whatever is tried again is tried after a pause within its bounds; nothing is put on a queue for longer than queues know. */
export function pauses(): Law {
  /** Each rest as a share of the longest that it could have been. */
  const shares: number[] = [];
  return {
    name: 'pauses',
    after: on(['backs off', 'sent', 'written'], (observation, history) => {
      if (observation.type === 'backs off') shares.push(observation.ms / longestAfter(observation.tries));
      if (observation.type === 'backs off' && (observation.ms < 0 || observation.ms > longestAfter(observation.tries)))
        return `${observation.requestId} is tried again after ${observation.ms} ms`;
      if (observation.type === 'sent' && observation.delayMs > delayMaxMs)
        return `a message to ${observation.queue} is to wait for ${observation.delayMs} ms`;
      if (observation.type !== 'written') return undefined;
      const { orderId } = observation.after;
      const failed = history.orders.get(orderId)?.news.filter((fact) => fact.type === 'UndoFailed') ?? [];
      return failed.map((fact) => wrongPause(orderId, fact, history)).find((wrong) => wrong !== undefined);
    }),
    atEnd: () => {
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      return shares.length < 40 || (mean > 0.25 && mean < 0.75) ? [] : [`agents rest for ${mean} of what they may, all in all`];
    },
  };
}

/** From 0.8 to 1.2 of what its failures so far come to. */
function wrongPause(orderId: string, { path, attemptId: asking, at, fault }: UndoFailed, history: History): string | undefined {
  const own = history.orders.get(orderId)?.instance.state.activities[path]?.local as StepState | undefined;
  if (own?.phase !== 'waitingToRetry' || !asking.endsWith(`.${own.attempt}`)) return undefined;
  const growing = undoMs.first * 2 ** (own.attempt - (own.from ?? 1));
  const usual = fault?.permanent ? undoMs.longest : Math.min(undoMs.longest, growing);
  const pause = own.completeBy - at;
  return pause >= 0.8 * usual - 1 && pause <= 1.2 * usual + 1
    ? undefined
    : `${orderId} tries ${path} again after ${pause} ms instead of some ${usual}`;
}

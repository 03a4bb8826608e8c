import type { StepState } from '#core/data/step-state';
import { isCall, type Law, on } from './law.ts';

/** What makes the same claim ask for the same effect once more. */
const reasons: ReadonlySet<string> = new Set([
  'DeadlineExpired',
  'InstructionGiven',
  'ThresholdExceeded',
  'OrderReset',
  'RecordUnreadable',
]);

/** F-52: a step is asked for again only where it was counted as late, or a person wants it, or what is around it begins anew. */
export function repeatedRequests(): Law {
  /** By step: the effect that was asked for last, under which claim, and how much the journal had then. */
  const last = new Map<string, { readonly generation: number; readonly epoch: number; readonly lines: number }>();
  return {
    name: 'repeated requests',
    after: on(['written'], (observation, history) => {
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      // Behind a service that was away it is asked in its turn, and nothing of that counts.
      const { waitingSince, kind } = observation.before?.nextDueFor ?? {};
      // What could not be sent for longer than the step may take was never asked for.
      const isItsTurn = waitingSince !== undefined || kind === 'unsent';
      const { orderId, journal, instance, news, program } = order;
      for (const fact of news) {
        if (fact.type === 'ActivityClosed' || fact.type === 'RunFailed') last.delete(`${orderId}/${fact.path}`);
        if (fact.type !== 'StepRequested') continue;
        const own = instance.state.activities[fact.path]?.local as StepState | undefined;
        // Who calls another order looks after it every ten minutes.
        if (!own || own.mode !== undefined || isCall(fact.path, program)) continue;
        const key = `${orderId}/${fact.path}`;
        const before = last.get(key);
        last.set(key, { generation: own.generation, epoch: own.epoch, lines: journal.length });
        if (!before || before.generation !== own.generation || before.epoch !== own.epoch) continue;
        const since = journal.slice(before.lines);
        if (!isItsTurn && !since.some(({ type }) => reasons.has(type)))
          return `${orderId} asks for ${fact.path} again, and nothing says why`;
      }
      return undefined;
    }),
  };
}

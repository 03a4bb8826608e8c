import type { StepState } from '#core/data/step-state';
import { isCall, type Law, on } from './law.ts';

/** Facts that allow another request of the same effect under the same claim. */
const reasons: ReadonlySet<string> = new Set([
  'DeadlineExpired',
  'InstructionGiven',
  'RuleActed',
  'ThresholdExceeded',
  'OrderReset',
  'RecordUnreadable',
]);

/** A step is requested again only after a counted expiry, an instruction, an action of a rule or a new run of its scope (F-52). */
export function repeatedRequests(): Law {
  /** The last request of each step: its effect, its claim, and the number of journal lines up to it. */
  const last = new Map<string, { readonly generation: number; readonly epoch: number; readonly lines: number }>();
  return {
    name: 'repeated requests',
    after: on(['written'], (observation, history) => {
      const order = history.orders.get(observation.after.orderId);
      if (!order) return undefined;
      // After an outage of a service, waiting steps are requested in turn without a counted expiry.
      const { waitingSince, kind } = observation.before?.nextDueFor ?? {};
      // A request that could not be sent before its deadline was never received, so its repetition needs no counted expiry.
      const isUncounted = waitingSince !== undefined || kind === 'unsent';
      const { orderId, journal, instance, newFacts, program } = order;
      const linesBefore = journal.length - newFacts.length;
      for (const [index, fact] of newFacts.entries()) {
        if (fact.type === 'ActivityClosed' || fact.type === 'RunFailed') last.delete(`${orderId}/${fact.path}`);
        if (fact.type !== 'StepRequested') continue;
        const local = instance.state.activities[fact.path]?.local as StepState | undefined;
        // Confirmations and calls are exempt: a caller requests the state of its called order every ten minutes.
        if (!local || local.mode !== undefined || isCall(fact.path, program)) continue;
        const key = `${orderId}/${fact.path}`;
        const before = last.get(key);
        const lines = linesBefore + index + 1;
        last.set(key, { generation: local.generation, epoch: local.epoch, lines });
        if (!before || before.generation !== local.generation || before.epoch !== local.epoch) continue;
        const since = journal.slice(before.lines, lines);
        if (!isUncounted && !since.some(({ type }) => reasons.has(type)))
          return `order ${orderId}: step ${fact.path} was requested again without a reason`;
      }
      return undefined;
    }),
  };
}

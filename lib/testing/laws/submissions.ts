import { timeText } from '#ports/messages';
import type { OrderRecord } from '#ports/records';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Submitted = Extract<Observation, { type: 'submitted' }>;

/** Whether a client submitted the order. Otherwise another order called it, or it handles the exception of another order. */
const isSubmitted = (order: OrderRecord | undefined): boolean => order?.caller === undefined && order?.handles === undefined;

/** A submission key belongs to one order. Repeating the submission returns that order as replayed; another body is refused (S10). */
export function submissions({ claimsOnSubmit }: Setting): Law {
  const fresh = new Set<string>();
  return {
    name: 'submissions',
    after: on(['written', 'submitted'], (observation, history) => {
      if (observation.type === 'written' && !observation.before && isSubmitted(observation.order)) {
        const { orderId: id, processState } = observation.after;
        return (processState === 'Pending') === claimsOnSubmit ? `order ${id} was created as ${processState}` : undefined;
      }
      if (observation.type !== 'submitted') return undefined;
      const { orderId, workflow, outcome, replayed } = observation;
      if (outcome !== 'accepted' && outcome !== 'key-reused') return `order ${orderId}: its submission was answered ${outcome}`;
      const stored = history.orders.get(orderId)?.state.workflow.name;
      if (outcome === 'accepted' && stored !== undefined && stored !== workflow)
        return `order ${orderId} of workflow ${stored} was the answer to a submission of ${workflow}`;
      if (outcome === 'key-reused')
        return stored === workflow ? `order ${orderId}: its own submission was refused as key-reused` : undefined;
      if (replayed === false && fresh.has(orderId)) return `order ${orderId} was answered as new twice`;
      if (replayed === false) fresh.add(orderId);
      return wrongAnswer(observation, history);
    }),
  };

  function wrongAnswer({ orderId, answer }: Submitted, history: History): string | undefined {
    const submittedAt = timeText(history.orders.get(orderId)?.state.submittedAt ?? 0);
    const expected = JSON.stringify({ orderId, processState: claimsOnSubmit ? 'Processing' : 'Pending', submittedAt });
    return answer === expected ? undefined : `order ${orderId}: its submission was answered ${answer}, expected ${expected}`;
  }
}

import { timeText } from '#ports/messages';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Submitted = Extract<Observation, { type: 'submitted' }>;

/** S10: a key stands for one order: the same again is that order, and is told so; another one is refused. */
export function submissions({ claimsOnSubmit }: Setting): Law {
  const fresh = new Set<string>();
  return {
    name: 'submissions',
    after: on(['written', 'submitted'], (observation, history) => {
      if (observation.type === 'written' && !observation.before && observation.caller === undefined) {
        const { orderId: id, processState } = observation.after;
        return (processState === 'Pending') === claimsOnSubmit ? `${id} is made, and is ${processState}` : undefined;
      }
      if (observation.type !== 'submitted') return undefined;
      const { orderId, workflow, outcome, replayed } = observation;
      if (outcome !== 'accepted' && outcome !== 'key-reused') return `${orderId} is answered ${outcome}`;
      const stored = history.orders.get(orderId)?.state.workflow.name;
      if (outcome === 'accepted' && stored !== undefined && stored !== workflow)
        return `${orderId}, a ${stored}, is the answer to somebody who wants a ${workflow}`;
      if (outcome === 'key-reused') return stored === workflow ? `${orderId} is refused to who submitted it` : undefined;
      if (replayed === false && fresh.has(orderId)) return `${orderId} is new a second time`;
      if (replayed === false) fresh.add(orderId);
      return wrongAnswer(observation, history);
    }),
  };

  function wrongAnswer({ orderId, answer }: Submitted, history: History): string | undefined {
    const submittedAt = timeText(history.orders.get(orderId)?.state.submittedAt ?? 0);
    const wanted = JSON.stringify({ orderId, processState: claimsOnSubmit ? 'Processing' : 'Pending', submittedAt });
    return answer === wanted ? undefined : `${orderId} is answered ${answer} instead of ${wanted}`;
  }
}

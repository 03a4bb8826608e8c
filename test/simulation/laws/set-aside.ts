import { timeText } from '../../../lib/messages.ts';
import type { SetAside } from '../../../lib/poison/set-aside.ts';
import { type Law, on } from './law.ts';

const reasons: readonly RegExp[] = [
  /^It is no submission: .+\.$/,
  /^It was refused: \/\w+(\/\w+)* .+\.$/,
  /^Its sender is not registered for this client\.$/,
  /^It was delivered too often without success\.$/,
  /^It is for a newer version\. Since \d{4}-\d\d-\d\dT[\d:.]+Z nobody came who runs that: deploy it again, then send the message anew\.$/,
];

/** S17, S25: of every message that is kept for a person he is told: what it is, where it lay, of which order, and why. */
export function setAside(): Law {
  const kept = new Map<string, SetAside>();
  return {
    name: 'set aside',
    after: on(['set aside'], ({ message }) => {
      kept.set(message.id, message);
      const { messageId, queue, reason } = message;
      return reasons.some((known) => known.test(reason)) ? undefined : `${messageId} of ${queue} is set aside, since: ${reason}`;
    }),
    atEnd: (history) =>
      [...kept.values()].flatMap((message) => {
        const detail = JSON.stringify(detailOf(message));
        return history.announced.get(message.id)?.has(detail) ? [] : [`${message.id} is set aside, and nobody is told ${detail}`];
      }),
  };
}

const detailOf = ({ id, orderId, setAsideAt, queue, failures, reason }: SetAside) => ({
  id,
  ...(orderId === undefined ? {} : { orderId }),
  ...{ at: timeText(setAsideAt), class: 'application-failure', type: 'PoisonMessage', source: queue },
  ...{ before: 'queued', after: 'set aside', failureCount: failures, message: reason },
});

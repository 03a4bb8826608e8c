import { queues } from '../../../lib/messages.ts';
import { type Law, on } from './law.ts';

interface SetAside {
  readonly queue: string;
  readonly messageId: string;
  readonly reason: string;
  readonly at: string;
  readonly body: string;
}

const reasons: readonly RegExp[] = [
  /^It is no submission: .+\.$/,
  /^It was refused: \/\w+(\/\w+)* .+\.$/,
  /^Its sender is not registered for this client\.$/,
  /^It was delivered too often without success\.$/,
  /^It is for a newer version\. Since \d{4}-\d\d-\d\dT[\d:.]+Z nobody came who runs that: deploy it again, then send the message anew\.$/,
];

/** S17, S25: of every message that is kept for a person he was told before: what it is, where it lay, of which order, and why. */
export const setAside = (): Law => ({
  name: 'set aside',
  after: on(['sent'], (happening, history) => {
    if (happening.queue !== queues.setAside) return undefined;
    const { queue, messageId, reason, at, body } = JSON.parse(happening.body) as SetAside;
    if (!reasons.some((known) => known.test(reason))) return `${messageId} of ${queue} is set aside, since: ${reason}`;
    const id = `${queue}/${messageId}`;
    const orderId = orderIn(body);
    const detail = {
      id,
      ...(orderId === undefined ? {} : { orderId }),
      ...{ at, class: 'application-failure', type: 'PoisonMessage', source: queue },
      ...{ before: 'queued', after: 'set aside', failureCount: 0, message: reason },
    };
    return history.announced.get(id)?.has(JSON.stringify(detail))
      ? undefined
      : `${id} is set aside, and nobody is told ${JSON.stringify(detail)}`;
  }),
});

function orderIn(body: string): string | undefined {
  try {
    const { orderId } = (JSON.parse(body) ?? {}) as { readonly orderId?: unknown };
    return typeof orderId === 'string' ? orderId : undefined;
  } catch {
    return undefined;
  }
}

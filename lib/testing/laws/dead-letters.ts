import type { DeadLetter } from '#roles/dead-letters/dead-letter';
import { type Law, on } from './law.ts';

/** Allowed reasons. "Delivered too often" is not among them, because outages end long before a queue's redelivery limit. */
const reasons: readonly RegExp[] = [
  /^This is not a valid message for (an agent|the scheduler|a consumer)\.$/,
  /^The consumer "[a-z-]+" has no message type ".+"\. Expected one of: .+\.$/,
  /^The body of this [\w.-]+ does not match its schema: .+\.$/,
  /^\w+: .+ is about nothing\.$/,
  /^This is not a valid submission: .+\.$/,
  /^The submission was refused: \/\w+(\/\w+)* .+\.$/,
  /^The sender is not registered for this client\. Register it with PUT \/clients\/\{id\}\.$/,
  /^The record of order \S+ cannot be read: .+ Rebuild that order \(npx redress order rebuild\), then resubmit this message\.$/,
  /^Processing failed \d+ times?(, most recently with \w+)?\.$/,
  /^Processing began \d+ times? without success\. The last process stopped without a result\.$/,
  /^This message needs another version of the app, and has waited for it since \d{4}-\d\d-\d\dT[\d:.]+Z\. Deploy that version, then resubmit the message\.$/,
];

/** Each dead letter is announced once, with its message, its queue, its order and its reason (S17, S25). */
export function deadLetters(): Law {
  const kept: DeadLetter[] = [];
  return {
    name: 'dead letters',
    after: on(['dead-lettered'], ({ message }) => {
      kept.push(message);
      const { id, reason } = message;
      return reasons.some((known) => known.test(reason)) ? undefined : `dead letter ${id} has an unknown reason: ${reason}`;
    }),
    atEnd: (history) =>
      kept.flatMap(({ id, queue, body, reason, failures, deadAt }) => {
        const orderId = orderIn(body);
        const detail = {
          id,
          ...(orderId === undefined ? {} : { orderId }),
          ...{ at: new Date(deadAt).toISOString(), class: 'application-failure', type: 'PoisonMessage', source: queue },
          ...{ before: 'queued', after: 'dead-lettered', failureCount: failures, message: reason },
        };
        const announced = history.announced.get(id);
        return announced?.size === 1 && announced.has(JSON.stringify(detail))
          ? []
          : [`dead letter ${id} was not announced exactly once as ${JSON.stringify(detail)}`];
      }),
  };
}

function orderIn(body: string): string | undefined {
  try {
    const { orderId } = (JSON.parse(body) ?? {}) as { readonly orderId?: unknown };
    return typeof orderId === 'string' ? orderId : undefined;
  } catch {
    return undefined;
  }
}

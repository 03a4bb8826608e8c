import { requestIdFrom } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { History } from '#testing/world/history';
import { type Law, onAny } from './law.ts';

const requesting: ReadonlySet<string> = new Set(['StepRequested', 'CancelRequested']);

interface Sent {
  readonly requestId?: string;
  readonly remainingMs?: number;
  /** The number of times that the request was requeued. */
  readonly requeued?: number;
}

/** A request is sent only after the write that records it, so a refused write sends nothing (S3, S26). */
export function requests(): Law {
  const written = new Set<string>();
  /** Ids of requests that were sent before their write was observed. The store may send them within the write. */
  const early = new Set<string>();
  return {
    name: 'requests',
    after: onAny((observation, history) => {
      if (observation.type === 'sent' && observation.queue.endsWith('-requests')) {
        // A message of a newer release has another form, without a request id. Its agent requeues it. A requeued request still has time left.
        const { requestId, remainingMs = 0, requeued } = JSON.parse(observation.body) as Sent;
        if (requestId !== undefined && requeued !== undefined && !(remainingMs > 0 && requeued > 0))
          return `request ${requestId} was requeued (${requeued}) with ${remainingMs} ms left`;
        if (requestId !== undefined && !written.has(requestId)) early.add(requestId);
      }
      if (observation.type === 'sent' || observation.type === 'published') return undefined;
      if (observation.type === 'written') for (const id of requestsIn(observation.after.orderId, history)) written.add(id);
      if (early.size === 0) return undefined;
      const wrong = [...early].find((id) => !written.has(id) && !isDamaged(id, history));
      early.clear();
      return wrong && `request ${wrong} was sent but never written`;
    }),
  };
}

const isDamaged = (requestId: string, history: History): boolean =>
  history.orders.get(requestId.slice(0, requestId.indexOf('/')))?.damagedAt !== undefined;

const requestsIn = (orderId: string, history: History): readonly string[] =>
  (history.orders.get(orderId)?.newFacts ?? []).flatMap((fact) =>
    requesting.has(fact.type) ? [requestIdOf(orderId, fact as Extract<CoreFact, { type: 'StepRequested' }>)] : [],
  );

const requestIdOf = (orderId: string, { path, attemptId }: { readonly path: string; readonly attemptId: string }): string =>
  requestIdFrom(orderId, path, attemptId);

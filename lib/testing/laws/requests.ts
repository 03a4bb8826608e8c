import { requestIdFrom } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { History } from '#testing/world/history';
import { type Law, onAny } from './law.ts';

const asked: ReadonlySet<string> = new Set(['StepRequested', 'CancelRequested']);

interface Sent {
  readonly requestId?: string;
  readonly remainingMs?: number;
  /** How often it was put back. */
  readonly requeued?: number;
}

/** S3, S26: what an agent is asked for was written before: a write that is refused asks for nothing. */
export function requests(): Law {
  const written = new Set<string>();
  /** Sent before any write that says so was seen: perhaps within it. */
  const early = new Set<string>();
  return {
    name: 'requests',
    after: onAny((observation, history) => {
      if (observation.type === 'sent' && observation.queue.endsWith('-requests')) {
        // Without an id it asks for nothing: it was put back for a newer version of the program.
        const { requestId, remainingMs = 0, requeued } = JSON.parse(observation.body) as Sent;
        if (requestId !== undefined && requeued !== undefined && !(remainingMs > 0 && requeued > 0))
          return `${requestId} is requeued (${requeued}) with ${remainingMs} ms left`;
        if (requestId !== undefined && !written.has(requestId)) early.add(requestId);
      }
      if (observation.type === 'sent' || observation.type === 'published') return undefined;
      if (observation.type === 'written') for (const id of askedBy(observation.after.orderId, history)) written.add(id);
      if (early.size === 0) return undefined;
      const wrong = [...early].find((id) => !written.has(id) && !isDamaged(id, history));
      early.clear();
      return wrong && `${wrong} is sent, and no write says so`;
    }),
  };
}

const isDamaged = (requestId: string, history: History): boolean =>
  history.orders.get(requestId.slice(0, requestId.indexOf('/')))?.damagedAt !== undefined;

const askedBy = (orderId: string, history: History): readonly string[] =>
  (history.orders.get(orderId)?.news ?? []).flatMap((fact) =>
    asked.has(fact.type) ? [requestIdOf(orderId, fact as Extract<CoreFact, { type: 'StepRequested' }>)] : [],
  );

const requestIdOf = (orderId: string, { path, attemptId }: { readonly path: string; readonly attemptId: string }): string =>
  requestIdFrom(orderId, path, attemptId);

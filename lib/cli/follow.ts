import type { Clock } from '#ports/clock';
import { systemClock } from '#ports/clock';
import { RefusedError, UnreachableError } from './errors.ts';
import type { Api } from './http.ts';
import { isEnded, type OrderView, orderPath } from './orders.ts';

export interface Following {
  /** Called with the first and with every changed view of the order. */
  readonly seen: (order: OrderView, before: OrderView | undefined) => void;
  /** Called once for each outage of the system. The poll is repeated until the system answers. */
  readonly lost?: (error: Error) => void;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

const lookEveryMs = 100;
const lookEveryMaxMs = 1_000;
/** The time for which a system that does not answer is tried again: enough for a restart. */
const patienceMs = 30_000;

/** Polls an order until it is finished or blocked, or the signal aborts. Resolves with its last view. */
export async function followOrder(
  api: Api,
  orderId: string,
  { seen, lost, signal, clock = systemClock }: Following,
): Promise<OrderView | undefined> {
  let order: OrderView | undefined;
  let etag: string | undefined;
  let waitMs = lookEveryMs;
  let lostAt: number | undefined;

  while (!signal?.aborted) {
    try {
      const answer = await api.call<OrderView>('GET', orderPath(orderId), etag === undefined ? {} : { headers: { 'if-none-match': etag } });
      lostAt = undefined;
      waitMs = Math.min(waitMs * 1.25, lookEveryMaxMs);
      if (answer.status !== 304) {
        seen(answer.body, order);
        order = answer.body;
        etag = answer.etag;
        waitMs = lookEveryMs;
        if (isEnded(order)) return order;
      }
    } catch (error) {
      if (!(error instanceof Error) || !isTemporary(error)) throw error;
      if (lostAt === undefined && order) lost?.(error);
      lostAt ??= clock.now();
      // If the first request already fails, the URL is probably wrong: do not wait for a restart.
      if (!order || clock.now() - lostAt > patienceMs) throw error;
      waitMs = (error instanceof RefusedError && error.retryAfterMs) || lookEveryMaxMs;
    }
    await clock.sleep(waitMs, signal);
  }
  return order;
}

const isTemporary = (error: Error): boolean =>
  error instanceof UnreachableError || (error instanceof RefusedError && [429, 502, 503, 504].includes(error.problem.status));

import type { Clock } from '#ports/clock';
import { hashOf } from '#ports/records';

export interface WakeUpsOptions<Order> {
  readonly clock: Pick<Clock, 'now'>;
  /** Sends a wake-up to the scheduler. */
  readonly send: (order: Order) => Promise<void>;
  readonly rememberedMax?: number;
}

/** An order that is due, and the timeout of its steps. */
export interface DueOrder {
  readonly orderId: string;
  readonly stepMs: number;
}

/** Wakes orders that are due, with exponential backoff. */
export interface WakeUps<Order> {
  /** Starts a new pass. */
  begin(): void;
  /** Sends a wake-up for this deadline unless one was sent recently; resolves to whether it did. */
  once(order: Order, deadline: string): Promise<boolean>;
}

/** Number of orders whose last wake-up is remembered, to bound the memory. For other orders, `isTurn` decides from the time alone. */
const rememberedUsual = 10_000;
const pauseMs = {
  /** Longest pause before a lost wake-up is sent again, while schedulers run. */
  lost: 30_000,
  /** Longest pause, after no scheduler has run for a long time. */
  longest: 600_000,
};
/** Pauses grow up to a quarter of the time for which no scheduler has answered. */
const shareOfWaited = 4;

interface Woken {
  readonly deadline: string;
  readonly firstAt: number;
  readonly at: number;
  readonly againMs: number;
}

/**
 * Creates the sender of wake-ups. A lost wake-up is sent again with exponential backoff, first after one step timeout, so that an order
 * whose steps take seconds does not wait half a minute. If no scheduler runs, pauses grow further, to keep the queue short.
 */
export function createWakeUps<Order extends DueOrder>({
  clock,
  send,
  rememberedMax = rememberedUsual,
}: WakeUpsOptions<Order>): WakeUps<Order> {
  const woken = new Map<string, Woken>();
  let pass: { readonly at: number; readonly before: number | undefined } | undefined;
  let fullSince: number | undefined;

  function begin(): void {
    const now = clock.now();
    pass = { at: now, before: pass?.at };
    if (woken.size < rememberedMax) fullSince = undefined;
    else forgetOld(now);
  }

  /** Forgets orders that were no longer due at their next wake-up. */
  function forgetOld(now: number): void {
    for (const [orderId, { at, againMs }] of woken) if (now - at > 2 * Math.max(againMs, pauseMs.lost)) woken.delete(orderId);
  }

  function isTime({ orderId, stepMs }: DueOrder, deadline: string, now: number): boolean {
    const known = woken.get(orderId);
    const last = known?.deadline === deadline ? known : undefined;
    if (last && now - last.at < last.againMs) return false;
    if (!known && woken.size >= rememberedMax) return isTurn(orderId, now);
    const firstAt = last?.firstAt ?? now;
    woken.set(orderId, { deadline, firstAt, at: now, againMs: Math.min(growing(now - firstAt), last ? 2 * last.againMs : stepMs) });
    return true;
  }

  /** Whether an order that is not remembered is woken in this pass. Such orders are spread over several passes. */
  function isTurn(orderId: string, now: number): boolean {
    fullSince ??= now;
    if (pass?.before === undefined) return true;
    const everyMs = pauseMs.lost * 2 ** Math.floor(Math.log2(growing(now - fullSince) / pauseMs.lost));
    const turnAt = (at: number): number => Math.floor(at / everyMs + hashOf(orderId) / 2 ** 32);
    return turnAt(pass.at) > turnAt(pass.before);
  }

  return {
    begin,
    async once(order, deadline) {
      if (!isTime(order, deadline, clock.now())) return false;
      await send(order);
      return true;
    },
  };
}

const growing = (waitedMs: number): number => Math.min(pauseMs.longest, Math.max(pauseMs.lost, waitedMs / shareOfWaited));

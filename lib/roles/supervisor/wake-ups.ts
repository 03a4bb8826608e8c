import type { Clock } from '#ports/clock';
import { hashOf } from '#ports/records';

export interface WakeUpsOptions<Order> {
  readonly clock: Pick<Clock, 'now'>;
  /** Sends one to the scheduler. */
  readonly send: (order: Order) => Promise<void>;
  readonly rememberedMax?: number;
}

/** An order that is due, and how long its steps may take. */
export interface DueOrder {
  readonly orderId: string;
  readonly stepMs: number;
}

/** Wake-ups for orders that are due, each as often as it makes sense. */
export interface WakeUps<Order> {
  /** A new pass begins. */
  begin(): void;
  /** Wakes the scheduler for this deadline, unless it was woken a while ago; whether it did. */
  once(order: Order, deadline: string): Promise<boolean>;
}

/** So many orders are remembered; how often others are woken follows from the time alone. */
const rememberedUsual = 10_000;
const pauseMs = {
  /** A wake-up that got lost is sent again within this time. */
  lost: 30_000,
  /** The longest pause, where no scheduler has come for long. */
  longest: 600_000,
};
/** Pauses grow with the time for which nobody has come: to a quarter of it. */
const shareOfWaited = 4;

interface Woken {
  readonly deadline: string;
  readonly firstAt: number;
  readonly at: number;
  readonly againMs: number;
}

/**
 * A wake-up that got lost is sent again after what the order's steps may take, then after twice as long, and so on: an order of
 * seconds does not wait half a minute. When no scheduler runs, its queue must not fill with repetitions: pauses grow further.
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

  /** An order that was not due any more when its turn came needs no place here. */
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

  /** Each order that is not remembered has its turn once in a while, and not all of them in the same pass. */
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

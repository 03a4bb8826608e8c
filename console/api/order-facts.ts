import { useEffect, useState } from 'preact/hooks';
import { get } from './client.ts';
import type { Order } from './types.ts';

/** Facts that a list shows beside the id of an order. */
export type OrderFacts = Pick<Order, 'reference' | 'processState' | 'outcome' | 'fault' | 'undo'>;

interface Known {
  readonly stamp: string;
  readonly facts: OrderFacts;
}

const known = new Map<string, Known>();
const knownMax = 1_000;
/** Calls under way, by order and stamp. */
const reading = new Map<string, Promise<void>>();
/** Calls at a time: a page of a list has up to a hundred orders. */
const callsMax = 4;
let calls = 0;
const waiting: (() => void)[] = [];

async function read(orderId: string, stamp: string): Promise<void> {
  if (calls >= callsMax) await new Promise<void>((resolve) => waiting.push(resolve));
  calls += 1;
  try {
    const { reference, processState, outcome, fault, undo } = await get<Order>(`/orders/${encodeURIComponent(orderId)}`);
    known.delete(orderId);
    known.set(orderId, { stamp, facts: { reference, processState, outcome, fault, ...(undo ? { undo } : {}) } });
    const [oldest] = known.keys();
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
  } catch {
    // The order may be forgotten by now: the list shows its id alone.
  } finally {
    calls -= 1;
    waiting.shift()?.();
  }
}

/** Reads an order once, and again for another `stamp`. */
export function useOrderFacts(orderId: string, stamp = ''): OrderFacts | undefined {
  const [, setRead] = useState(0);
  const found = known.get(orderId);
  const isKnown = found !== undefined && (stamp === '' || found.stamp === stamp);
  useEffect(() => {
    if (isKnown) return;
    let isCurrent = true;
    const key = `${orderId} ${stamp}`;
    const call = reading.get(key) ?? read(orderId, stamp).finally(() => reading.delete(key));
    reading.set(key, call);
    void call.then(() => isCurrent && setRead((count) => count + 1));
    return () => {
      isCurrent = false;
    };
  }, [orderId, stamp, isKnown]);
  return found?.facts;
}

/** Forgets all orders, when another person signs in. */
export const forgetOrderFacts = (): void => known.clear();

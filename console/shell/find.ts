import { useEffect, useState } from 'preact/hooks';
import { apiPath, get } from '../api/client.ts';
import type { Page } from '../api/poll.ts';
import type { ListedOrder } from '../api/types.ts';

/** The orders that a search has found so far. */
export interface Found {
  readonly orders: readonly ListedOrder[];
  /** The hint for a search that has found nothing. */
  readonly note?: string;
}

const waitMs = 200;
const shownMax = 5;
const pageSize = 100;
const lookedAtMax = 2_000;
const leastCharacters = 3;
const wholeId = /^ord_[a-z2-7]{52}$/;
const idOrBeginning = /^(ord_)?[a-z2-7]*$/;

/** Finds orders by their reference, by their whole id, or by the beginning of their id. */
export function useFound(text: string): Found {
  const [found, setFound] = useState<Found>({ orders: [] });
  useEffect(() => {
    // Lists end a shortened id with this mark.
    const word = text.trim().replace(/…$/, '');
    setFound({ orders: [] });
    if (word.length < leastCharacters) return;
    const ended = new AbortController();
    const show = (next: Found): void => {
      if (!ended.signal.aborted) setFound(next);
    };
    const timer = setTimeout(() => void find(word, ended.signal, show).catch(() => show({ orders: [] })), waitMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text]);
  return found;
}

async function find(word: string, signal: AbortSignal, show: (found: Found) => void): Promise<void> {
  if (wholeId.test(word)) return show(await byId(word, signal));
  if (!word.startsWith('ord_')) {
    const { items } = await get<Page<ListedOrder>>(apiPath('/orders', { reference: word, limit: shownMax }), { signal });
    if (items.length > 0 || !idOrBeginning.test(word)) return show({ orders: items });
  }
  if (idOrBeginning.test(word)) await byBeginning(word.startsWith('ord_') ? word : `ord_${word}`, signal, show);
}

async function byId(id: string, signal: AbortSignal): Promise<Found> {
  const order = await get<ListedOrder>(`/orders/${id}`, { signal }).catch(() => undefined);
  return order ? { orders: [order] } : { orders: [], note: 'No order has this id.' };
}

/** The API lists orders by time, so the search looks through pages, the newest first. */
async function byBeginning(beginning: string, signal: AbortSignal, show: (found: Found) => void): Promise<void> {
  const orders: ListedOrder[] = [];
  let cursor: string | undefined;
  for (let lookedAt = 0; lookedAt < lookedAtMax && orders.length < shownMax; lookedAt += pageSize) {
    const { items, next } = await get<Page<ListedOrder>>(apiPath('/orders', { limit: pageSize, cursor }), { signal });
    orders.push(...items.filter(({ orderId }) => orderId.startsWith(beginning)));
    show({ orders: orders.slice(0, shownMax), note: 'Looking at older orders…' });
    if (next === null) return show({ orders: orders.slice(0, shownMax), note: 'No order has such an id.' });
    cursor = next;
  }
  show({
    orders: orders.slice(0, shownMax),
    note: `None of the newest ${lookedAtMax.toLocaleString('en')} orders. An older one is found by its whole id.`,
  });
}

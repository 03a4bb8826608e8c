import { useEffect, useRef, useState } from 'preact/hooks';
import { apiPath, get } from '../../api/client.ts';
import type { Page } from '../../api/poll.ts';
import type { HistoryEntry } from '../../api/types.ts';

/**
 * One read takes at most this many pages, of 100 entries each, and goes on where the last one stopped. The command line and the API have
 * the rest of a longer history.
 */
const pagesMax = 20;

/** The history of an order, as far as it has been read. */
export interface History {
  readonly entries: readonly HistoryEntry[];
  /** Whether the last read reached the end of the history. */
  readonly isWhole: boolean;
}

/** Reads the whole history, and what is new when the order has changed. */
export function useHistory(orderId: string, rev: number | undefined): History | undefined {
  const [history, setHistory] = useState<History>();
  // The last page that was read. New entries appear on this page, so the next read begins with it.
  const last = useRef<{ cursor: string | undefined; entries: Map<number, HistoryEntry> }>({ cursor: undefined, entries: new Map() });
  useEffect(() => {
    if (rev === undefined) return;
    const ended = new AbortController();
    const read = async (): Promise<void> => {
      const { entries } = last.current;
      let isWhole = false;
      for (let pages = 0; pages < pagesMax && !isWhole; pages += 1) {
        const { cursor } = last.current;
        const path = apiPath(`/orders/${orderId}/history`, { limit: 100, cursor });
        const { items, next } = await get<Page<HistoryEntry>>(path, { signal: ended.signal });
        for (const entry of items) entries.set(entry.seq, entry);
        isWhole = next === null;
        if (next !== null) last.current.cursor = next;
      }
      const sorted = [...entries.values()].sort((one, other) => one.seq - other.seq);
      if (!ended.signal.aborted) setHistory({ entries: sorted, isWhole });
    };
    read().catch(() => undefined);
    return () => ended.abort();
  }, [orderId, rev]);
  return history;
}

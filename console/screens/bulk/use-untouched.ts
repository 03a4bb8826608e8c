import { useEffect, useState } from 'preact/hooks';
import { apiPath, get, Problem } from '../../api/client.ts';
import type { Page } from '../../api/poll.ts';
import type { BulkItem, BulkRun } from '../../api/types.ts';

/** The largest number of orders that a filter may name. */
const idsMax = 5_000;

/** The orders that a stopped run has left untouched. */
export interface Untouched {
  readonly ids: readonly string[];
  /** Whether `ids` are all untouched orders of the run. */
  readonly isAll: boolean;
  readonly run: BulkRun;
}

/** Reads the orders that a run has left untouched. Undefined: they are being read, or `runId` is empty. */
export function useUntouched(runId: string): Untouched | Problem | undefined {
  const [found, setFound] = useState<Untouched | Problem>();
  useEffect(() => {
    if (runId === '') return;
    const ended = new AbortController();
    const read = async (): Promise<Untouched> => {
      const run = await get<BulkRun>(`/bulk/${encodeURIComponent(runId)}`, { signal: ended.signal });
      const ids: string[] = [];
      let cursor: string | undefined;
      for (;;) {
        const path = apiPath(`/bulk/${encodeURIComponent(runId)}/items`, { outcome: 'left', limit: 100, cursor });
        const { items, next } = await get<Page<BulkItem>>(path, { signal: ended.signal });
        ids.push(...items.map(({ orderId }) => orderId));
        if (next === null) return { ids, isAll: true, run };
        if (ids.length >= idsMax) return { ids, isAll: false, run };
        cursor = next;
      }
    };
    read().then(setFound, (error: unknown) => !ended.signal.aborted && error instanceof Problem && setFound(error));
    return () => ended.abort();
  }, [runId]);
  return found;
}

import type { Documents } from '#ports/documents';
import { lookedMax } from '#ports/list-filters';
import { type BulkDocuments, bulkDocuments, chunkOrders, type Mark, type OrderOfSet, type StoredOutcome } from './documents.ts';
import type { BulkItem, BulkRun } from './run.ts';

export interface BulkItemPage {
  readonly items: readonly BulkItem[];
  /** The place in the set where the next page begins; absent at the end. */
  readonly next?: number;
}

type Store = Pick<Documents, 'document' | 'documents' | 'putDocument'>;

/** Lists the orders of a run with their outcomes, by order. It looks at `lookedMax` orders for a page. */
export async function itemsOf(
  run: BulkRun,
  outcome: BulkItem['outcome'] | undefined,
  { from, limit }: { readonly from: number; readonly limit: number },
  store: Store,
): Promise<BulkItemPage> {
  const documents = bulkDocuments(store);
  const count = run.set?.count ?? 0;
  const marks = await documents.marks(run.id);
  const items: BulkItem[] = [];
  let place = from;
  for (const end = Math.min(count, from + lookedMax); place < end; ) {
    const index = Math.floor(place / chunkOrders);
    const orders = (await documents.chunk(run, index)).slice(place - index * chunkOrders, end - index * chunkOrders);
    const found = await outcomesOf(documents, run.id, orders);
    for (const { orderId } of orders) {
      const mark = marks.get(index)?.[place - index * chunkOrders];
      const item = itemOf(orderId, found.get(orderId), mark);
      place++;
      if (outcome === undefined || item.outcome === outcome) items.push(item);
      if (items.length >= limit) return { items, ...(place < count ? { next: place } : {}) };
    }
  }
  return { items, ...(place < count ? { next: place } : {}) };
}

const outcomesOf = (documents: BulkDocuments, id: string, orders: readonly OrderOfSet[]): Promise<ReadonlyMap<string, StoredOutcome>> =>
  documents.outcomes(id, orders);

function itemOf(orderId: string, stored: StoredOutcome | undefined, mark: Mark = 'none'): BulkItem {
  if (!stored) return { orderId, outcome: 'left' };
  const { outcome, at, refusals } = stored;
  return { orderId, outcome, at, ...(refusals ? { refusals } : {}), ...(mark === 'none' ? {} : { verified: mark }) };
}

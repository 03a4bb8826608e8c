import type { Documents } from '#ports/documents';
import { lookedMax } from '#ports/list-filters';
import type { Store as OrderStore } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import { readableHead } from '#roles/scheduler/load';
import { bulkDocuments, chunkOrders, type Mark, type OrderOfSet, type StoredOutcome } from './documents.ts';
import { openCauseOf } from './freeze.ts';
import type { BulkItem, BulkRun, OrderNow } from './run.ts';

export interface BulkItemPage {
  readonly items: readonly BulkItem[];
  /** The place in the set where the next page begins; absent at the end. */
  readonly next?: number;
}

type Store = Pick<Documents, 'document' | 'documents' | 'putDocument'> & Pick<OrderStore, 'head'>;

interface Extent {
  readonly from: number;
  readonly limit: number;
}

/**
 * Lists the orders of a run with their outcomes, in the sequence of the set. It looks at no more than `lookedMax` orders for a page, and
 * reads the heads of those that failed after the instruction.
 */
export async function itemsOf(run: BulkRun, outcome: BulkItem['outcome'] | undefined, extent: Extent, store: Store): Promise<BulkItemPage> {
  const page = await pageOf(run, outcome, extent, store);
  const items = await allSettledOrThrow(
    page.items.map(async (item) => (hasFailed(item) ? { ...item, ...(await nowOf(item, store)) } : item)),
  );
  return { ...page, items };
}

const hasFailed = ({ verified }: BulkItem): boolean => verified === 'failed-again' || verified === 'failed-otherwise';

async function nowOf({ orderId }: BulkItem, store: Store): Promise<{ readonly now?: OrderNow }> {
  const head = await readableHead(orderId, store);
  if (!head) return {};
  const { processState, outcome } = head;
  const seq = openCauseOf(head);
  const found = head.fault ?? (seq === 0 ? undefined : await exceptionOf(exceptionIdOf(orderId, seq), store));
  return { now: { processState, outcome, fault: found ? { type: found.type, message: found.message } : null } };
}

async function pageOf(
  run: BulkRun,
  outcome: BulkItem['outcome'] | undefined,
  { from, limit }: Extent,
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
    const found = await documents.outcomes(run.id, orders);
    for (const order of orders) {
      const mark = marks.get(index)?.[place - index * chunkOrders];
      const item = itemOf(order, found.get(order.orderId), mark);
      place++;
      if (outcome === undefined || item.outcome === outcome) items.push(item);
      if (items.length >= limit) return { items, ...(place < count ? { next: place } : {}) };
    }
  }
  return { items, ...(place < count ? { next: place } : {}) };
}

function itemOf({ orderId, reference }: OrderOfSet, stored: StoredOutcome | undefined, mark: Mark = 'none'): BulkItem {
  const order = { orderId, ...(reference === undefined ? {} : { reference }) };
  if (!stored) return { ...order, outcome: 'left' };
  const { outcome, at, refusals } = stored;
  return { ...order, outcome, at, ...(refusals ? { refusals } : {}), ...(mark === 'none' ? {} : { verified: mark }) };
}

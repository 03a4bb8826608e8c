import type { Clock } from '#ports/clock';
import type { Documents } from '#ports/documents';
import type { Store } from '#ports/store';
import { listExceptions } from '#roles/exceptions/list';
import { bulkDocuments, chunkOrders } from './documents.ts';
import { eachMatch } from './freeze.ts';
import type { BulkAsked, BulkFilter, BulkRun } from './run.ts';

/** A count stops soon after this many candidates. It is reused for `freshMs`. */
const countMax = 1_000;
const freshMs = 60_000;
/** The largest number of runs whose count a process remembers. */
const knownMax = 100;

type Ports = { readonly store: Store; readonly clock: Pick<Clock, 'now'> };

/** Counts the orders that match a run's filter now and are not in its set. */
export type SinceFrozen = (run: BulkRun, asked: BulkAsked) => Promise<number>;

export function createSinceFrozen({ store, clock }: Ports): SinceFrozen {
  const known = new Map<string, { readonly at: number; readonly count: number }>();
  return async (run, { filter }) => {
    if (!run.set || filter.ids) return 0;
    const now = clock.now();
    const before = known.get(run.id);
    if (before && now - before.at < freshMs) return before.count;
    const count = await countOf(run, filter, run.set.at, { store, now });
    if (known.size >= knownMax) known.clear();
    known.set(run.id, { at: now, count });
    return count;
  };
}

async function countOf(run: BulkRun, filter: BulkFilter, at: number, { store, now }: { readonly store: Store; readonly now: number }) {
  const candidates = await candidatesOf(filter, at, store, now);
  const isInSet = membership(run, store);
  let count = 0;
  for (const orderId of candidates) if (!(await isInSet(orderId))) count++;
  return count;
}

/**
 * Returns orders that have come to match since the set was frozen (`at`). With a filter on Error, a fingerprint or a fault, these are the
 * orders with an exception since then. With any other filter, they were submitted since then: no index tells when an older order began to
 * match.
 */
async function candidatesOf(filter: BulkFilter, at: number, store: Store, now: number): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (filter.state === 'Error' || filter.fingerprint !== undefined || filter.fault !== undefined) {
    const ids = await withOpenException(filter, at, store, now);
    await eachMatch({ ...filter, ids }, { store, now }, (orders) => {
      for (const { orderId, seq } of orders) if (seq > 0) found.add(orderId);
      return found.size < countMax;
    });
    return found;
  }
  const submittedAfter = Math.max(at, filter.submittedAfter ?? 0);
  await eachMatch({ ...filter, submittedAfter }, { store, now }, (orders) => {
    for (const { orderId } of orders) found.add(orderId);
    return found.size < countMax;
  });
  return found;
}

async function withOpenException(filter: BulkFilter, since: number, store: Store, now: number): Promise<readonly string[]> {
  const { fingerprint, workflow } = filter;
  const named = {
    state: 'open',
    since,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(workflow === undefined ? {} : { workflow }),
  } as const;
  const ids = new Set<string>();
  for (let after: string | undefined; ids.size < countMax; ) {
    const page = await listExceptions(store, named, { after, limit: 100, now });
    for (const { orderId } of page.items) ids.add(orderId);
    if (page.next === undefined) break;
    after = page.next;
  }
  return [...ids];
}

/** Returns a function that finds an order in the sorted set, and reads each chunk at most once. */
function membership(run: BulkRun, store: Pick<Documents, 'document' | 'documents' | 'putDocument'>): (orderId: string) => Promise<boolean> {
  const documents = bulkDocuments(store);
  const chunks = new Map<number, readonly string[]>();
  const idsOf = async (index: number): Promise<readonly string[]> => {
    const ids = chunks.get(index) ?? (await documents.chunk(run, index)).map(({ orderId }) => orderId);
    chunks.set(index, ids);
    return ids;
  };
  return async (orderId) => {
    let [low, high] = [0, Math.ceil((run.set?.count ?? 0) / chunkOrders) - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const ids = await idsOf(middle);
      if (orderId < (ids[0] ?? '')) high = middle - 1;
      else if (orderId > (ids.at(-1) ?? '')) low = middle + 1;
      else return ids.includes(orderId);
    }
    return false;
  };
}

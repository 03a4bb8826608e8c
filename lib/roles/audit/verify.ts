import type { AuditMisfit, VerifiedDay, VerifiedDays } from '#ports/audit';
import { collections, type Document, type Documents } from '#ports/documents';
import { dayMs, dayOf } from '#ports/util/days';
import { dayAfter, keptDays } from './days.ts';
import { type Digest, digestHash, digestIn, entriesIn, entryHash } from './digests.ts';

type Store = Pick<Documents, 'document' | 'documents'>;

/** A verification ends after the day with which it has compared this many entries. */
const comparedMax = 5000;
const readAtOnce = 500;
/** The largest number of misfits that are named for one day. */
const namedMax = 100;

/** Compares the entries of at most `limit` days with their digests, from the oldest day on, after the day `after`. */
export async function verifiedDays(
  store: Store,
  after: string | undefined,
  { limit, now }: { limit: number; now: number },
): Promise<VerifiedDays> {
  const digests = (await store.documents(collections.auditDigests, after, limit)).map(digestIn);
  let before = after === undefined ? undefined : await digestOf(store, after);
  const items: VerifiedDay[] = [];
  for (let compared = 0; items.length < digests.length && compared < comparedMax; ) {
    const digest = digests[items.length] as Digest;
    const misfits = [...chainMisfits(digest, before, now), ...(await entryMisfits(store, digest, now))].slice(0, namedMax);
    items.push({ ...digest, misfits });
    before = digest;
    compared += digest.entries;
  }
  const isLast = items.length === digests.length && digests.length < limit;
  return { items, ...(isLast || !before ? {} : { next: before.day }) };
}

async function digestOf(store: Pick<Store, 'document'>, day: string): Promise<Digest | undefined> {
  const found = await store.document(collections.auditDigests, day);
  return found && digestIn(found);
}

/**
 * Returns a misfit if the digest does not continue the chain. The oldest digests expire, so the first one that is left may name a digest
 * that is gone.
 */
function chainMisfits({ day, previous }: Digest, before: Digest | undefined, now: number): readonly AuditMisfit[] {
  const isOldest = !before && Date.parse(day) < now - (keptDays - 1) * dayMs;
  const continues = before ? before.hash === previous && dayAfter(before.day) === day : previous === null || isOldest;
  return continues ? [] : [{ entry: null, problem: 'digest-before-removed' }];
}

/**
 * Returns the misfits of one day: a digest that does not fit its parts, then the entries that are not as the digest lists them, earliest
 * first.
 */
async function entryMisfits(store: Store, { day, previous, hash }: Digest, now: number): Promise<readonly AuditMisfit[]> {
  const parts = (await documentsOf(store, collections.auditDigestParts(day))).map(entriesIn);
  const own: readonly AuditMisfit[] = digestHash(day, previous, parts) === hash ? [] : [{ entry: null, problem: 'digest-changed' }];
  // The store may have removed entries of so old a day.
  if (day <= dayOf(now - keptDays * dayMs)) return own;
  const expected = new Map(parts.flat());
  const misfits: AuditMisfit[] = [];
  for (const { id, content } of await documentsOf(store, collections.audit(day))) {
    const listed = expected.get(id);
    if (listed === undefined) misfits.push({ entry: id, problem: 'added' });
    else if (listed !== entryHash(content)) misfits.push({ entry: id, problem: 'changed' });
    expected.delete(id);
  }
  for (const id of expected.keys()) misfits.push({ entry: id, problem: 'removed' });
  // The newest entry has the smallest id.
  return [...own, ...misfits.toSorted((a, b) => (String(a.entry) > String(b.entry) ? -1 : 1))];
}

async function documentsOf(store: Store, collection: string): Promise<readonly Document[]> {
  const all: Document[] = [];
  for (;;) {
    const page = await store.documents(collection, all.at(-1)?.id, readAtOnce);
    all.push(...page);
    if (page.length < readAtOnce) return all;
  }
}

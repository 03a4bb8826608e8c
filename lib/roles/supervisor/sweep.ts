import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import type { Store } from '#ports/store';

interface Ports {
  readonly store: Pick<Store, 'sweep'> & Pick<Documents, 'document' | 'putDocument'>;
  readonly clock: Clock;
  /** Number of orders between two reads of the clock. */
  readonly lookedAtOnce?: number;
  /** Aborts when the host must stop before the sweep is complete. */
  readonly stopping?: AbortSignal | undefined;
  /** The figures that a sweep has gathered so far. An interrupted sweep stores them with its position, for the next sweep. */
  readonly gathering?: Gathering | undefined;
}

type Gathered = Document['content'][string];

interface Gathering {
  begin(before: Gathered | undefined): void;
  gathered(): Gathered;
}

/** Interval between saved positions: an interrupted sweep loses at most this much work. */
const notedEveryMs = 60_000;
const id = 'PLACE';

/**
 * Walks through all orders. Saves its position at intervals, so that the next sweep continues an interrupted one. A short sweep writes
 * nothing. Resolves to whether the walk reached the end.
 */
export async function sweepThrough(
  { store, clock, lookedAtOnce = 1000, stopping, gathering }: Ports,
  look: (ids: readonly string[]) => Promise<void>,
): Promise<boolean> {
  let noted = await store.document(collections.sweep, id);
  let notedAt = clock.now();
  const note = async (after: string): Promise<void> => {
    const rev = noted?.rev ?? 0;
    const place: Document = {
      collection: collections.sweep,
      id,
      rev: rev + 1,
      content: { after, ...(gathering && after !== '' ? { gathered: gathering.gathered() } : {}) },
    };
    const write = await store.putDocument(place, rev);
    // Another sweep runs at the same time: its position serves as well.
    noted = write.outcome === 'written' ? place : (write.current ?? undefined);
    notedAt = clock.now();
  };

  gathering?.begin(placeIn(noted) === undefined ? undefined : noted?.content['gathered']);
  for (let after = placeIn(noted); ; ) {
    const { ids, next } = await store.sweep(after, lookedAtOnce);
    await look(ids);
    const isCut = next !== undefined && stopping?.aborted === true;
    if (next === undefined ? placeIn(noted) !== undefined : isCut || clock.now() - notedAt >= notedEveryMs) await note(next ?? '');
    if (next === undefined || isCut) return next === undefined;
    after = next;
  }
}

const placeIn = (noted: Document | undefined): string | undefined => {
  const after = noted?.content['after'];
  return typeof after === 'string' && after !== '' ? after : undefined;
};

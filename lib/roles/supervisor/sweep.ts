import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import type { Store } from '#ports/store';

interface Ports {
  readonly store: Pick<Store, 'sweep'> & Pick<Documents, 'document' | 'putDocument'>;
  readonly clock: Clock;
  /** Orders looked at between two looks at the clock. */
  readonly lookedAtOnce?: number;
  /** Told when its run ends before the sweep does. */
  readonly stopping?: AbortSignal | undefined;
}

/** A run that is cut off loses so much at the most. */
const notedEveryMs = 60_000;
const id = 'PLACE';

/**
 * Walks through all orders. The place is noted now and then, where one run does not come to the end: the next one goes on
 * there. A sweep that is done in one run writes nothing.
 */
export async function sweepThrough(
  { store, clock, lookedAtOnce = 1000, stopping }: Ports,
  look: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  let noted = await store.document(collections.sweep, id);
  let notedAt = clock.now();
  const note = async (after: string): Promise<void> => {
    const rev = noted?.rev ?? 0;
    const place: Document = { collection: collections.sweep, id, rev: rev + 1, content: { after } };
    const write = await store.putDocument(place, rev);
    // Another sweep is under way: its place is as good.
    noted = write.outcome === 'written' ? place : (write.current ?? undefined);
    notedAt = clock.now();
  };

  for (let after = placeIn(noted); ; ) {
    const { ids, next } = await store.sweep(after, lookedAtOnce);
    await look(ids);
    const isCut = next !== undefined && stopping?.aborted === true;
    if (next === undefined ? placeIn(noted) !== undefined : isCut || clock.now() - notedAt >= notedEveryMs) await note(next ?? '');
    if (next === undefined || isCut) return;
    after = next;
  }
}

const placeIn = (noted: Document | undefined): string | undefined => {
  const after = noted?.content['after'];
  return typeof after === 'string' && after !== '' ? after : undefined;
};

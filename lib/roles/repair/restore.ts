import type { StateHead } from '#ports/records';

/** What only ever rises: by these numbers writes are fenced, pages are put aside, and what is asked and told is named. */
export type Counters = Pick<StateHead, 'rev' | 'epoch' | 'errorGen' | 'statusSeq'>;

const gap = 1_000_000;

/**
 * Where the counters of a record go on that is put back as it was: higher than anybody can have seen them. Whoever was at work
 * on what had become of it meanwhile writes nothing any more; and nothing new is taken for something old.
 */
export function countersAfterRestore(restored: Partial<Counters>, inUse: Partial<Counters> = {}): Counters {
  const after = (name: keyof Counters): number => Math.max(restored[name] ?? 0, inUse[name] ?? 0) + gap;
  return { rev: after('rev'), epoch: after('epoch'), errorGen: after('errorGen'), statusSeq: after('statusSeq') };
}

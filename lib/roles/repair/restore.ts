import type { Counters } from '#ports/records';

const gap = 1_000_000;

/**
 * Returns the counters of a record that is restored from a backup: higher than any process can have seen. Writes
 * of processes that still have the later record are refused, and no new message has the id of an old one.
 */
export function countersAfterRestore(restored: Partial<Counters>, inUse: Partial<Counters> = {}): Counters {
  const after = (name: keyof Counters): number => Math.max(restored[name] ?? 0, inUse[name] ?? 0) + gap;
  return { rev: after('rev'), epoch: after('epoch'), errorGen: after('errorGen'), statusSeq: after('statusSeq') };
}

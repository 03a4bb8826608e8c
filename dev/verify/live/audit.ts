import type { Embedded } from '#adapters/sqlite/open';
import type { StateHead } from '#ports/records';

/** One write to an order's state as the data file recorded it: the state before and after. */
export interface AuditedWrite {
  readonly before: StateHead;
  readonly after: StateHead;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Makes the data file record every write to a state in the write's own transaction, whichever process makes it. */
export async function startAudit({ database }: Embedded): Promise<{ writes(): readonly AuditedWrite[] }> {
  await database.write(() => {
    database.prepare('CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INTEGER, rev INTEGER, epoch INTEGER, before TEXT, after TEXT)').run();
    database
      .prepare(
        `CREATE TRIGGER audited AFTER UPDATE ON states BEGIN
           INSERT INTO audit (at, rev, epoch, before, after)
           VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), new.rev, new.epoch, old.head, new.head);
         END`,
      )
      .run();
  });
  const select = database.prepare('SELECT at, before, after FROM audit ORDER BY seq');
  return {
    writes: () =>
      (select.all() as { at: number; before: string; after: string }[]).map(({ at, before, after }) => ({
        at,
        before: JSON.parse(before) as StateHead,
        after: JSON.parse(after) as StateHead,
      })),
  };
}

/** Yields every write that was based on an outdated state, or that took another host's lease. */
export function* staleWritesIn(writes: readonly AuditedWrite[]): Generator<string> {
  for (const { before, after, at } of writes) {
    const name = `the write of ${after.orderId} at rev ${after.rev}`;
    if (after.rev !== before.rev + 1) yield `${name} was made on rev ${after.rev - 1}, and rev ${before.rev} was there`;
    if (after.epoch < before.epoch) yield `${name} is of epoch ${after.epoch}, and epoch ${before.epoch} was there`;
    const kept = before.writeIds.filter(({ rev }) => after.writeIds.some((each) => each.rev === rev));
    if (kept.length < Math.min(before.writeIds.length, 3)) yield `${name} forgot whose writes came before it`;
    const isLeased = before.heldBy !== null && (before.heldUntil ?? 0) > at;
    if (isLeased && after.heldBy !== null && after.heldBy !== before.heldBy) yield `${name} took the lease of one who still had it`;
  }
}

import { isAt } from '#core/engine/undo-pages';
import type { StoredEntry } from '#roles/scheduler/instance';
import { isMessageDead } from '#testing/laws/undone-messages';
import { type Undo, undosOf } from '#testing/laws/undone-writes';
import { stepOf } from '#testing/world/effects';
import type { History, Tracked } from '#testing/world/history';
import type { LedgerLine } from './services.ts';

interface Book extends LedgerLine {
  readonly orderId: string;
  readonly path: string;
}

interface Books {
  readonly lines: readonly Book[];
  readonly history: History;
  readonly toleranceMs: number;
}

/** A step that closes later than this after the undo may be found too late. */
const inTimeMs = 1_800_000;

/**
 * Returns how the histories differ from the books of the warehouse: each line about used objects has its entry there, each order that has
 * read an undone write knows of the undo, and no order has noted the undo of a write that it has not read (S46).
 */
export function wrongInBooks(ledger: readonly LedgerLine[], history: History, toleranceMs: number): readonly string[] {
  const lines = ledger.map((line) => ({ ...line, ...stepOf(line.key) }));
  const books = { lines, history, toleranceMs };
  return [...history.sound.flatMap((order) => wrongInOrder(order, books)), ...undosOf(history).flatMap((undo) => wrongInUndo(undo, books))];
}

function wrongInOrder({ orderId, journal }: Tracked, { lines, history }: Books): readonly string[] {
  const own = lines.filter((line) => line.orderId === orderId);
  return journal.flatMap((fact) => {
    if (fact.type === 'ObjectsUsed') {
      const isKnown = own.some(({ path, reads, writes }) => path === fact.path && isSame(reads, fact.reads) && isSame(writes, fact.writes));
      return isKnown
        ? []
        : [`books: order ${orderId} says that ${fact.path} has used objects (line ${fact.seq}), and the warehouse does not`];
    }
    if (fact.type !== 'InconsistencyFound' || history.orders.get(fact.cause.orderId)?.damagedAt !== undefined) return [];
    const written = new Set(lines.filter((line) => isOf(line, fact.cause)).flatMap(({ writes }) => writes));
    return own.some(({ reads }) => reads.some((object) => written.has(object)))
      ? []
      : [`books: order ${orderId} has noted the undo ${fact.id}, and has read none of its objects at the warehouse`];
  });
}

const isSame = (one: readonly string[], other: readonly string[] = []): boolean => one.toSorted().join(' ') === other.toSorted().join(' ');

const isOf = (line: Book, { orderId, path }: { readonly orderId: string; readonly path: string }): boolean =>
  line.orderId === orderId && isAt(line.path, path);

/** Returns the readers of an undone write who do not know of it. */
function wrongInUndo(undo: Undo, books: Books): readonly string[] {
  const { lines, history, toleranceMs } = books;
  const from = history.orders.get(undo.orderId);
  if (!from || from.damagedAt !== undefined) return [];
  const written = lines.filter((line) => isOf(line, undo) && line.writes.length > 0 && line.at < undo.at - toleranceMs).at(-1);
  // A step may have written again, or closed long after its effect: only what is sure counts.
  const closed = from.journal.findLast((fact) => fact.type === 'ObjectsUsed' && fact.path === written?.path && fact.seq < undo.seq);
  const isUndoneBefore = from.journal.some(
    ({ at, ...fact }) =>
      fact.seq > (closed?.seq ?? 0) && fact.seq < undo.seq && fact.type === 'ActivityClosed' && fact.path === `${undo.path}/undo`,
  );
  if (!written || closed?.type !== 'ObjectsUsed' || !isSame(written.writes, closed.writes) || isUndoneBefore) return [];
  return history.sound.flatMap(({ orderId, journal }) => {
    if (orderId === undo.orderId || isMessageDead(orderId, undo, history)) return [];
    const read = lines.find((line) => {
      if (line.orderId !== orderId || line.at < written.at + toleranceMs || line.at > undo.at - toleranceMs) return false;
      const used = journal.find(
        (fact) =>
          fact.type === 'ObjectsUsed' && fact.path === line.path && fact.at >= line.at - toleranceMs && isSame(line.reads, fact.reads),
      );
      if (!used || used.at > undo.at + inTimeMs) return false;
      return line.reads.some((object) => isStill(object, written, line, lines) && !isWrittenBetween(object, closed, used, books));
    });
    const knows = journal.some(
      (fact) => fact.type === 'InconsistencyFound' && fact.cause.orderId === undo.orderId && fact.cause.path === undo.path,
    );
    return read && !knows
      ? [
          `books: ${read.path} of order ${orderId} has read at the warehouse what ${undo.path} of ${undo.orderId} had written, and does not know of the undo`,
        ]
      : [];
  });
}

/** Whether a reader has seen what a step wrote: no other order has written the object in between. */
const isStill = (object: string, written: Book, read: Book, lines: readonly Book[]): boolean =>
  written.writes.includes(object) &&
  !lines.some((line) => line.orderId !== written.orderId && line.writes.includes(object) && line.at > written.at && line.at < read.at);

/** Whether another order says that it has written the object in between, as far as the clocks of the hosts can tell. */
const isWrittenBetween = (object: string, closed: StoredEntry, used: StoredEntry, { history, toleranceMs }: Books): boolean =>
  [...history.orders.values()].some(({ journal }) =>
    journal.some(
      (fact) =>
        fact.type === 'ObjectsUsed' &&
        fact !== closed &&
        (fact.requestedAt ?? fact.at) > closed.at - toleranceMs &&
        fact.at < requestedAtOf(used) + toleranceMs &&
        fact.writes?.includes(object) === true,
    ),
  );

const requestedAtOf = (fact: StoredEntry): number => (fact.type === 'ObjectsUsed' ? (fact.requestedAt ?? fact.at) : fact.at);

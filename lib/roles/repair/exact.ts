import type { Page } from '#ports/store';
import { type Instance, journal, type StoredEntry } from '#roles/scheduler/instance';
import type { Loaded } from '#roles/scheduler/types';
import { folded } from './fold.ts';
import { salvagedJournal } from './rebuild.ts';

/** The state of an order as its journal tells it. */
export type Refolded = {
  /** The number of journal lines that could be read. */
  readonly lines: number;
  readonly pages: number;
} & (
  | { readonly ok: true; readonly instance: Instance }
  /** `reason`: a sentence that says where the journal ends, or where it and the state differ. */
  | { readonly ok: false; readonly reason: string }
);

/**
 * Rebuilds an unreadable instance exactly, from the pages of the journal and the readable part of the instance. The order can continue with
 * the result as if nothing had happened. If a line is missing, or if the events do not lead to the recorded facts, it returns the reason.
 * `fold`: how the lines are applied.
 */
export function refolded(order: Omit<Loaded, 'instance'>, pages: readonly Page[], fold: typeof folded = folded): Refolded {
  const { entries, whole, last } = salvagedJournal(order.record, pages);
  // After a restore from a backup, pages may hold lines of writes that came after the backup.
  const lines = entries.filter(({ seq }) => last === undefined || seq <= last);
  const counts = { lines: lines.length, pages: pages.length };
  if (!whole || last === undefined) return { ...counts, ok: false, reason: missingIn(lines) };
  const result = fold(order, lines);
  if (!result.ok) return { ...counts, ...result };
  const paged = new Set(pages.flat().map(({ seq }) => seq));
  return { ...counts, ok: true, instance: { ...result.instance, tail: lines.filter(({ seq }) => !paged.has(seq)) } };
}

function missingIn(lines: readonly StoredEntry[]): string {
  const gap = lines.find(({ seq }, index) => seq !== index + 1);
  if (gap) return `The journal has a gap before line ${gap.seq}.`;
  if (lines.length === 0) return 'No line of the journal can be read.';
  return `The journal is readable up to line ${lines.length}. The lost state held the lines after it.`;
}

/** Adds to the journal of a rebuilt instance that it was rebuilt. `asked`: the person who asked for it. */
export const withRebuilt = (instance: Instance, asked: { readonly by?: string; readonly reason?: string }, now: number): Instance =>
  journal(instance, [{ type: 'InstanceRebuilt', whole: true, exact: true, ...asked }], now);

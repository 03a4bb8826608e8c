import { inconsistencyFault } from '#roles/exceptions/causes';
import type { Report } from '#roles/operator/instruction';
import type { Inconsistency } from '#roles/recovery/inconsistencies';
import type { JournalEntry } from './instance.ts';

type Found = Extract<JournalEntry, { type: 'InconsistencyFound' }>;

/** Whether an order has opened an exception about the undone write of this line. */
export const isRaised = ({ undone, maskedBy }: Found): boolean => !undone && maskedBy === undefined;

/** Returns the lines of an order about an undone write. `id` names the undo. */
export const notesOf = (id: string, journal: readonly JournalEntry[]): readonly Found[] =>
  journal.filter((entry): entry is Found => entry.type === 'InconsistencyFound' && entry.id === id);

/** Returns the uses in a message that an order has not noted yet: a later message may name more uses. An exception covers all uses. */
export function unnotedUses(
  { id, uses }: Pick<Inconsistency, 'id' | 'uses'>,
  journal: readonly JournalEntry[],
): Inconsistency['uses'] | 'all are noted' {
  const notes = notesOf(id, journal);
  if (notes.length === 0) return uses;
  if (notes.some(isRaised)) return 'all are noted';
  const known = new Set(notes.flatMap(({ masked, undone }) => masked?.uses ?? undone ?? []).map(keyOf));
  const news = uses.filter((use) => !known.has(keyOf(use)));
  return news.length === 0 ? 'all are noted' : news;
}

const keyOf = ({ path, object, at }: Inconsistency['uses'][number]): string => [path, object, at].join(' ');

/**
 * Returns what the line of a masked inconsistency keeps. If it is still true at the end of the order, an exception names it: see
 * `raiseMasked`.
 */
export const keptOf = ({ uses, causedBy }: Inconsistency): Pick<Inconsistency, 'uses' | 'causedBy'> => ({
  uses: uses.slice(0, usesMax),
  ...(causedBy === undefined ? {} : { causedBy }),
});

/** The largest number of uses that an exception or a line names. */
const usesMax = 16;

/** Returns the report of undone writes that an order has read. */
export function inconsistencyReport({ cause, causedBy, uses, isTooMany }: Omit<Inconsistency, 'id'>): Report {
  const [first] = uses;
  const objects = [...new Set(uses.map(({ object }) => object))];
  const message = isTooMany
    ? `Too many orders have read what ${cause.path} wrote: some of them were not notified that the write is undone. See GET /orders/${cause.orderId}/dependents.`
    : `${cause.path} of ${cause.orderId} has been undone, after this order had read ${objects.slice(0, 5).join(', ')}.`;
  return {
    kind: 'report',
    by: 'recovery',
    type: inconsistencyFault,
    message,
    data: { cause: { ...cause }, uses: uses.slice(0, usesMax).map(({ path, object }) => ({ path, object })) },
    ...(first ? { path: first.path } : {}),
    ...(causedBy === undefined ? {} : { causedBy }),
  };
}

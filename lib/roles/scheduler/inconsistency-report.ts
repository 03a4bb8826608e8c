import { inconsistencyFault } from '#roles/exceptions/causes';
import type { Report } from '#roles/operator/instruction';
import type { Inconsistency } from '#roles/recovery/inconsistencies';
import type { JournalEntry } from './instance.ts';

/** Whether an order has noted an undone write. `id` names the undo. */
export const isNoted = (id: string, journal: readonly JournalEntry[]): boolean =>
  journal.some((entry) => entry.type === 'InconsistencyFound' && entry.id === id);

/** Returns what the line of a masked inconsistency keeps. At the end of the order, it may turn out to be still true: see `raiseMasked`. */
export const keptOf = ({ uses, causedBy }: Inconsistency): Pick<Inconsistency, 'uses' | 'causedBy'> => ({
  uses: uses.slice(0, usesMax),
  ...(causedBy === undefined ? {} : { causedBy }),
});

/** An exception names at most this many uses. */
const usesMax = 16;

/** Returns the report of undone writes that an order has read. */
export function inconsistencyReport({ cause, causedBy, uses, isTooMany }: Omit<Inconsistency, 'id'>): Report {
  const [first] = uses;
  const objects = [...new Set(uses.map(({ object }) => object))];
  const message = isTooMany
    ? `More orders have read what ${cause.path} wrote than can be told at once, and some were not told. See GET /orders/${cause.orderId}/dependents.`
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

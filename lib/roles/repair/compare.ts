import { isDeepStrictEqual } from 'node:util';
import type { State } from '#core/data/state';
import type { Instance } from '#roles/scheduler/instance';

/** A field in which a rebuilt instance differs from the stored one, with both values. */
export interface Difference {
  readonly field: string;
  readonly stored: unknown;
  readonly rebuilt: unknown;
}

/** Returns the first field in which a rebuilt instance differs; undefined if both show the same state of the order. */
export function differenceBetween(stored: Instance, rebuilt: Instance): Difference | undefined {
  const [one, other] = [comparable(stored), comparable(rebuilt)];
  // If all undo entries lie in pages, the stored state does not name the newest one.
  if (one['newest'] === undefined && one['entries'] === other['entries']) delete other['newest'];
  const field = Object.keys({ ...one, ...other }).find((name) => !isDeepStrictEqual(one[name], other[name]));
  return field === undefined ? undefined : { field, stored: one[field], rebuilt: other[field] };
}

/**
 * Returns the parts of an instance that a rebuild restores. A rebuild puts paged-out undo entries back into the state, so only their number
 * and the newest one are compared.
 */
function comparable({ state, tail: _, lastRequested: __, ...beside }: Instance): { [field: string]: unknown } {
  const { undo = [], pagedUndo, activities, ...others } = state;
  const unpaged = Object.entries(activities).map(([path, { above: ___, ...activity }]) => [path, activity] as const);
  const entries = undo.length + (pagedUndo?.entries ?? 0);
  return { ...beside, ...(others satisfies Partial<State>), activities: unpaged, entries, newest: undo.at(-1)?.path };
}

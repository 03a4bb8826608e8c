/** Rows that keep their places. */
export interface SteadyRows<T> {
  readonly items: readonly T[];
  /** The number of rows that are not shown yet, because they belong above or between others. */
  readonly waiting: number;
  /** Whether the list now has the shown rows in another order. */
  readonly isReordered: boolean;
}

/**
 * Returns the rows to show, from the rows shown so far (`shown`) and the newest answer (`newest`). Rows that have left the list disappear.
 * If the list has rows beyond the answer (`goesOn`), shown rows beyond its end stay, because they may still be in the list.
 */
export function steadied<T>(
  shown: readonly T[],
  newest: readonly T[],
  { keyOf, goesOn }: { readonly keyOf: (item: T) => string; readonly goesOn: boolean },
): SteadyRows<T> {
  const places = new Map(newest.map((item, place) => [keyOf(item), { item, place }]));
  const lastKnown = shown.findLastIndex((item) => places.has(keyOf(item)));
  const staying = shown.flatMap((item, index) => places.get(keyOf(item))?.item ?? (goesOn && index > lastKnown ? [item] : []));
  const known = new Set(shown.map(keyOf));
  const end = newest.findLastIndex((item) => known.has(keyOf(item)));
  const fresh = newest.filter((item) => !known.has(keyOf(item)));
  const isAtEnd = (item: T): boolean => shown.length === 0 || (end >= 0 && (places.get(keyOf(item))?.place ?? 0) > end);
  const added = fresh.filter(isAtEnd);
  const order = staying.flatMap((item) => places.get(keyOf(item))?.place ?? []);
  return {
    items: [...staying, ...added],
    waiting: fresh.length - added.length,
    isReordered: order.some((place, index) => index > 0 && place < (order[index - 1] ?? 0)),
  };
}

import { useCallback, useRef, useState } from 'preact/hooks';
import { serverNow } from './client.ts';
import { type Pages, usePages } from './poll.ts';
import { type SteadyRows, steadied } from './steadied.ts';

/** A list whose rows keep their places while a person looks at it. */
export interface SteadyPages<T> extends Pages<T>, SteadyRows<T> {
  /** Shows all rows, in their present order. */
  readonly showAll: () => void;
}

/**
 * Polls a list as `usePages` does. New rows would move the others, and a click would meet another row than the one a person meant. So
 * rows that belong above or between those that are shown wait until the person asks for them.
 */
export function useSteadyPages<T>(path: string, keyOf: (item: T) => string, everyMs?: number): SteadyPages<T> {
  const pages = usePages(path, keyOf, everyMs);
  const [shownSince, setShownSince] = useState(serverNow);
  const held = useRef<{ readonly path: string; readonly since: number; readonly items: readonly T[] } | undefined>(undefined);
  const showAll = useCallback(() => setShownSince(serverNow()), []);
  const isHeld = held.current?.path === path && held.current.since === shownSince;
  // An answer from before `shownSince` (when the visit began, or when `showAll` was called last) is shown only until the next answer comes.
  const steady = isHeld
    ? steadied(held.current?.items ?? [], pages.items, { keyOf, goesOn: pages.hasMore })
    : { items: pages.items, waiting: 0, isReordered: false };
  if (isHeld || (pages.data !== undefined && pages.at >= shownSince)) held.current = { path, since: shownSince, items: steady.items };
  return { ...pages, ...steady, showAll };
}

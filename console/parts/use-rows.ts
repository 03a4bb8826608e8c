import { useState } from 'preact/hooks';
import { go } from '../router.ts';
import { useKeys } from './keys.ts';

/** The keys of a list: `j` and `k` move, `Enter` opens. */
export interface Rows {
  /** The row with the cursor, or -1. */
  readonly at: number;
  readonly table: { readonly 'data-rows': number };
}

/** Moves a cursor over rows. `open`: the address of each row, or what `Enter` does. */
export function useRows(open: readonly (string | (() => void))[]): Rows {
  const [at, setAt] = useState(-1);
  const move = (by: number): void => {
    const next = Math.min(open.length - 1, Math.max(0, at + by));
    setAt(next);
    document.querySelectorAll('[data-rows] tbody tr')[next]?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(
    [
      { key: 'j', what: 'Next row', run: () => move(1) },
      { key: 'k', what: 'Previous row', run: () => move(-1) },
      {
        key: 'Enter',
        what: 'Open the row',
        run: () => {
          const target = open[at];
          if (typeof target === 'string') go(target);
          else target?.();
        },
      },
    ],
    [at, open.join(' ')],
  );
  return { at: Math.min(at, open.length - 1), table: { 'data-rows': open.length } };
}

import { useState } from 'preact/hooks';
import { useKeys } from './keys.ts';
import { type Rows, useRows } from './use-rows.ts';

/** The rows of a list that a person has chosen, by their ids. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  readonly choose: (ids: Iterable<string>) => void;
  readonly clear: () => void;
  readonly rows: Rows;
}

/**
 * `j` and `k` move, `x` selects, `Shift x` selects up to here, `*` selects all that are shown, and Escape clears. `open`: the address of
 * each row, or what `Enter` does.
 */
export function useSelection(ids: readonly string[], open: readonly (string | (() => void))[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState(0);
  const rows = useRows(open);
  const choose = (next: Iterable<string>): void => setChosen(new Set(next));
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
    setLast(ids.indexOf(id));
  };
  const upToHere = (): void => {
    const [from, to] = [Math.min(last, rows.at), Math.max(last, rows.at)];
    choose([...chosen, ...ids.slice(Math.max(0, from), to + 1)]);
  };
  const here = ids[rows.at];
  useKeys(
    [
      { key: 'x', what: 'Select the row', run: () => here !== undefined && toggle(here) },
      { key: 'X', what: 'Select up to this row', run: upToHere },
      { key: '*', what: 'Select all rows that are shown', run: () => choose(ids) },
      { key: 'Escape', what: 'Clear the selection', run: () => choose([]) },
    ],
    [here, chosen, last, ids.length],
  );
  return { chosen, toggle, choose, clear: () => choose([]), rows };
}

import { useState } from 'preact/hooks';
import { has } from '../../api/session.ts';
import type { ListedOrder } from '../../api/types.ts';
import { useKeys } from '../../parts/keys.ts';
import { counted } from '../../parts/text.tsx';
import { type Rows, useRows } from '../../parts/use-rows.ts';
import { go, href } from '../../router.ts';

/** The orders of a list that a person has chosen. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (orderId: string) => void;
  readonly clear: () => void;
  readonly rows: Rows;
}

/** `j` and `k` move, `x` selects, `Shift x` selects up to here, `*` selects all that are shown, and Escape clears. */
export function useSelection(orders: readonly ListedOrder[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState(0);
  const rows = useRows(orders.map(({ orderId }) => `/orders/${orderId}`));
  const toggle = (orderId: string): void => {
    const next = new Set(chosen);
    if (!next.delete(orderId)) next.add(orderId);
    setChosen(next);
    setLast(orders.findIndex((order) => order.orderId === orderId));
  };
  const upToHere = (): void => {
    const [from, to] = [Math.min(last, rows.at), Math.max(last, rows.at)];
    setChosen(new Set([...chosen, ...orders.slice(Math.max(0, from), to + 1).map(({ orderId }) => orderId)]));
  };
  const here = orders[rows.at]?.orderId;
  useKeys(
    [
      { key: 'x', what: 'Select the row', run: () => here !== undefined && toggle(here) },
      { key: 'X', what: 'Select up to this row', run: upToHere },
      { key: '*', what: 'Select all rows that are shown', run: () => setChosen(new Set(orders.map(({ orderId }) => orderId))) },
      { key: 'Escape', what: 'Clear the selection', run: () => setChosen(new Set()) },
    ],
    [here, chosen, last, orders.length],
  );
  return { chosen, toggle, clear: () => setChosen(new Set()), rows };
}

interface BarProps {
  readonly selection: Selection;
  readonly orders: readonly ListedOrder[];
  /** The filter of the list. */
  readonly matching: { readonly [name: string]: string | undefined };
}

const idsMax = 100;

/** What can be done with the chosen orders together. */
export function SelectionBar({ selection: { chosen, clear }, orders, matching: { workflow, fault, state, reference } }: BarProps) {
  if (chosen.size === 0 || !has('operator')) return null;
  const ids = [...chosen];
  const faults = new Set(orders.filter(({ orderId }) => chosen.has(orderId)).map((order) => order.fault?.type));
  const [only] = faults;
  const start = (kind: string): void => go('/bulk/new', { ids: ids.join(','), kind });
  const isAll = chosen.size === orders.length && reference === undefined && (workflow || fault || state);
  return (
    <div class="bulkbar" role="status">
      <b>{counted(chosen.size, 'order')}</b>
      <span class="soft">{faults.size === 1 && only !== undefined ? `all ${only}` : ''}</span>
      <span class="sep" />
      {ids.length > idsMax ? (
        <span class="soft">{`At most ${idsMax} at once. Use a filter for more.`}</span>
      ) : (
        <>
          <button class="btn sm" type="button" onClick={() => start('resubmit')}>
            Resubmit…
          </button>
          <button class="btn sm" type="button" onClick={() => start('suspend')}>
            Suspend…
          </button>
          <button class="btn sm" type="button" onClick={() => start('compensate')}>
            Undo…
          </button>
          <button class="btn sm" type="button" onClick={() => start('acknowledge')}>
            More…
          </button>
        </>
      )}
      {isAll && <a href={href('/bulk/new', { workflow, fault, state })}>Select all that match</a>}
      <button class="btn bare sm" type="button" onClick={clear}>
        Clear <kbd>Esc</kbd>
      </button>
    </div>
  );
}

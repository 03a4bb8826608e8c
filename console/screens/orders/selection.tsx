import { has } from '../../api/session.ts';
import type { ListedOrder } from '../../api/types.ts';
import { counted } from '../../parts/text.tsx';
import type { Selection } from '../../parts/use-selection.ts';
import { go, href } from '../../router.ts';

interface BarProps {
  readonly selection: Selection;
  readonly orders: readonly ListedOrder[];
  /** The filter of the list. */
  readonly matching: { readonly [name: string]: string | undefined };
}

const idsMax = 100;

/** The actions for all chosen orders together. */
export function SelectionBar({ selection: { chosen, clear }, orders, matching: { workflow, fault, state, ...others } }: BarProps) {
  if (chosen.size === 0 || !has('operator')) return null;
  const ids = [...chosen];
  const faults = new Set(orders.filter(({ orderId }) => chosen.has(orderId)).map((order) => order.fault?.type));
  const [only] = faults;
  const start = (kind: string): void => go('/bulk/new', { ids: ids.join(','), kind });
  // A bulk run knows none of the other filters: it would meet more orders than the list shows.
  const isAll = chosen.size === orders.length && Object.keys(others).length === 0 && (workflow || fault || state);
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

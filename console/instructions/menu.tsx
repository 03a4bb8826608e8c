import type { InstructionKind, Order } from '../api/types.ts';
import { Dialog } from '../parts/dialog.tsx';
import { shortId } from '../parts/text.tsx';
import { kindFor, kindNames, kinds, unfitNow } from './kinds.ts';

interface Props {
  readonly order: Order;
  readonly choose: (kind: InstructionKind) => void;
  readonly lock: () => void;
  readonly close: () => void;
}

/** All kinds of instructions. A kind that does not fit stays in its place, with the reason. */
export function ActionMenu({ order, choose, lock, close }: Props) {
  const isOver = order.processState === 'Processed';
  const onKeyDown = (event: KeyboardEvent): void => {
    const kind = kindNames.find((each) => kinds[each].letter === event.key);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'l' && !isOver) lock();
    else if (kind && unfitNow(kind, order) === undefined) choose(kind);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={`What to do with ${shortId(order.orderId)}`} close={close} wide>
      <ul class="action-list" onKeyDown={onKeyDown}>
        {kindNames.map((kind) => {
          const { name, does, letter, harm } = kindFor(kind, order);
          const why = unfitNow(kind, order);
          return (
            <li key={kind}>
              <button class={`action ${harm ? 'c-stop' : ''}`} type="button" disabled={why !== undefined} onClick={() => choose(kind)}>
                <kbd>{letter}</kbd>
                <b>{`${name}…`}</b>
                <span class="hint">{why ?? does}</span>
              </button>
            </li>
          );
        })}
        {!isOver && (
          <li>
            <button class="action" type="button" onClick={lock}>
              <kbd>l</kbd>
              <b>Work on it alone…</b>
              <span class="hint">nobody else changes it meanwhile</span>
            </button>
          </li>
        )}
      </ul>
    </Dialog>
  );
}

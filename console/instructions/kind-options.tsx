import type { InstructionKind, Order } from '../api/types.ts';
import { kindFor, kindNames, unfitNow } from './kinds.ts';

/** The usual decisions about an order in this state. */
function usual({ undo, suspended, processState }: Order): readonly InstructionKind[] {
  if (undo && undo.stuck.length > 0) return ['mark-compensated', suspended ? 'resume' : 'retry-undo', 'suspend'];
  if (suspended) return ['resume', 'cancel'];
  return processState === 'Error' ? ['resubmit', 'replace-input', 'skip', 'compensate', 'cancel'] : ['suspend', 'cancel', 'amend'];
}

/** The kinds of instructions with what each does: the usual ones first, those that do not fit last, with the reason. */
export function KindOptions({ order }: { order: Order }) {
  const fitting = kindNames.filter((kind) => unfitNow(kind, order) === undefined);
  const first = usual(order).filter((kind) => fitting.includes(kind));
  const groups = [
    ['Usual', first],
    ['Others', fitting.filter((kind) => !first.includes(kind))],
    ['Not possible now', kindNames.filter((kind) => !fitting.includes(kind))],
  ] as const;
  return (
    <>
      {groups.map(([label, list]) =>
        list.length === 0 ? null : (
          <optgroup key={label} label={label}>
            {list.map((kind) => (
              <option key={kind} value={kind}>
                {`${kindFor(kind, order).name}: ${unfitNow(kind, order) ?? kindFor(kind, order).does}`}
              </option>
            ))}
          </optgroup>
        ),
      )}
    </>
  );
}

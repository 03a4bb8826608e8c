import type { Problem } from '../api/client.ts';
import type { HistoryEntry, Order } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem.tsx';
import { Said } from '../parts/text.tsx';
import { ageOf } from '../time.ts';

/** Says that the check is too old, and names the last instruction. */
export function StaleNote({
  order,
  entries,
  rev,
  hasOrderChanged,
}: {
  order: Order;
  entries: readonly HistoryEntry[];
  rev: number;
  hasOrderChanged: boolean;
}) {
  const given = entries.findLast(({ type }) => type === 'InstructionGiven');
  return (
    <div class="note warn" role="status">
      <Icon name="clock" />
      <div>
        {hasOrderChanged
          ? `The order has changed since you checked: it had version ${rev} then, and has version ${order.rev} now. `
          : 'You have changed the form since you checked. '}
        Check again before you apply.
        {hasOrderChanged && given && (
          <div class="soft">
            The last instruction: {String(given['kind'])} by <Said>{String(given['by'])}</Said>, {ageOf(given.at)} ago: “
            <Said>{String(given['reason'])}</Said>”.
          </div>
        )}
      </div>
    </div>
  );
}

/** The reason why the instruction was not applied, and what to do. */
export function Conflict({ problem }: { problem: Problem }) {
  if (problem.code === 'stale')
    return (
      <div class="note warn" role="alert">
        <Icon name="clock" />
        <div>
          Somebody was faster: the order changed before your instruction. Nothing of yours was applied, and your text is kept. Check again.
        </div>
      </div>
    );
  if (problem.code === 'locked')
    return (
      <div class="note warn" role="alert">
        <Icon name="lock" />
        <div>
          <Said>{problem.heldBy ?? 'Somebody'}</Said> holds this order. Nothing was applied, and your text is kept.
        </div>
      </div>
    );
  return <ProblemNote problem={problem} />;
}

import type { ListedOrder, Order } from '../api/types.ts';
import { Icon } from './icon.tsx';
import type { IconName } from './icons.ts';

type Tone = 'ok' | 'work' | 'undo' | 'off' | 'stop' | 'warn';

/** A state in one word. `tinted` marks a state that a person should notice. */
export const Chip = ({ tone, icon, children, tinted = false }: ChipProps) => (
  <span class={`chip ${tinted ? `t ${tone}` : tone}`}>
    <Icon name={icon} />
    {children}
  </span>
);

interface ChipProps {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly children: string;
  readonly tinted?: boolean;
}

const ends: { readonly [outcome: string]: readonly [string, Tone, IconName] } = {
  completed: ['Completed', 'ok', 'done'],
  compensated: ['Compensated', 'undo', 'undo'],
  rejected: ['Rejected', 'off', 'off'],
  canceled: ['Canceled', 'off', 'cancel'],
  terminated: ['Terminated', 'off', 'square'],
};

/** The state of an order, followed by its marks. */
export function OrderState({
  order,
}: {
  order: Pick<ListedOrder, 'processState' | 'outcome' | 'suspended' | 'undoing' | 'failureCount' | 'waitsFor'> & Pick<Order, 'undo'>;
}) {
  const { suspended, undoing, failureCount, waitsFor, undo } = order;
  // A suspended order has no `waitsFor`, even if its undo is stuck. So `undo` counts, too.
  const isStuck = waitsFor?.kind === 'undo' || (undo !== undefined && undo.stuck.length > 0);
  return (
    <span class="marks">
      {stateChip(order)}
      {suspended && (
        <Chip tone="warn" icon="pause" tinted>
          Suspended
        </Chip>
      )}
      {undoing && !isStuck && (
        <Chip tone="undo" icon="undo" tinted>
          being undone
        </Chip>
      )}
      {isStuck && (
        <Chip tone="stop" icon="stuck" tinted>
          undo stuck
        </Chip>
      )}
      {waitsFor?.kind === 'confirmation' && (
        <Chip tone="warn" icon="unknown" tinted>
          outcome unknown
        </Chip>
      )}
      {waitsFor?.kind === 'outage' && (
        <Chip tone="warn" icon="clock" tinted>
          service outage
        </Chip>
      )}
      {/* The supervisor counts a failure each time that a step is late. */}
      {failureCount > 0 && order.processState !== 'Processed' && (
        <Chip tone="warn" icon="clock" tinted>
          {`late ${failureCount === 1 ? 'once' : `${failureCount} times`}`}
        </Chip>
      )}
    </span>
  );
}

function stateChip({ processState, outcome, suspended }: Pick<ListedOrder, 'processState' | 'outcome' | 'suspended'>) {
  if (processState === 'Pending')
    return (
      <Chip tone="off" icon="idle">
        Pending
      </Chip>
    );
  if (processState === 'Processing')
    return (
      <Chip tone={suspended ? 'off' : 'work'} icon={suspended ? 'off' : 'work'}>
        Processing
      </Chip>
    );
  if (processState === 'Error')
    return (
      <Chip tone="stop" icon="stop" tinted>
        Error
      </Chip>
    );
  const [word, tone, icon] = ends[outcome ?? ''] ?? ['Processed', 'off', 'done'];
  return (
    <Chip tone={tone} icon={icon}>
      {word}
    </Chip>
  );
}

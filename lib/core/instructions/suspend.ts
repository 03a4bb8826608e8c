import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished } from './kind.ts';

/** Stops the time of the order until somebody resumes it. Replies are kept until then, and no activity begins. */
export interface Suspend {
  readonly kind: 'suspend';
}

export const suspend: InstructionKind<Suspend> = {
  refusals: (order) =>
    firstOf(
      () => whenFinished(order),
      () => whenStill(order),
    ),
  event: () => ({ type: 'suspended' }),
};

const whenStill = ({ suspended, processState }: Judged): readonly InstructionRefusal[] => [
  ...(suspended ? [refusal('suspended', 'The order is already suspended.')] : []),
  ...(processState === 'Error'
    ? [refusal('nothing-to-do', 'The order is in Error, where no new work begins: there is nothing to suspend.')]
    : []),
];

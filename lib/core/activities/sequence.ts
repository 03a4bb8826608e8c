import type { Activity, ActivityBase } from '#core/definition/definition';
import { type Behavior, close, run, succeeded } from '#core/engine/behavior';

export interface Sequence extends ActivityBase {
  readonly activity: 'sequence';
  readonly children: readonly Activity[];
}

export interface SequenceState {
  /** The position of the running child. */
  readonly at: number;
}

/** Runs its children one after the other, in the order of the definition. */
export const sequence: Behavior<Sequence, SequenceState> = {
  children: ({ children }) => children,
  problems: ({ children }) => (Array.isArray(children) ? [] : ['The field "children" must be a list of activities.']),
  templates: () => [],
  execute: (sequence) => startChild(sequence, 0),

  childClosed(sequence, { at }, closing) {
    if (closing.result !== 'Succeeded') return close(closing);

    return startChild(sequence, at + 1);
  },
};

const startChild = ({ children }: Sequence, at: number) => {
  const child = children[at];
  return child ? run<SequenceState>([child.name], { at }) : close(succeeded());
};

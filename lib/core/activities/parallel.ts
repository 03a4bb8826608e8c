import type { Activity, ActivityBase } from '#core/definition/definition';
import { type Behavior, close, run, succeeded, wait } from '#core/engine/behavior';

export interface Parallel extends ActivityBase {
  readonly activity: 'parallel';
  readonly children: readonly Activity[];
}

export interface ParallelState {
  /** The number of branches that are still open. */
  readonly open: number;
}

/** Runs its children side by side and closes when all of them are closed. */
export const parallel: Behavior<Parallel, ParallelState> = {
  children: ({ children }) => children,
  problems: ({ children }) => (Array.isArray(children) ? [] : ['The field "children" must be a list of activities.']),
  templates: () => [],

  execute: ({ children }) =>
    children.length === 0
      ? close(succeeded())
      : run(
          children.map((child) => child.name),
          { open: children.length },
        ),

  childClosed: (_, { open }) => (open === 1 ? close(succeeded()) : wait({ open: open - 1 })),
};

import type { ActivityBase } from '#core/definition/definition';
import { type Behavior, noChildren, undoNext } from '#core/engine/behavior';

export interface Compensate extends ActivityBase {
  readonly activity: 'compensate';
  /** The name of the composite to undo. Default: the composite whose handler contains this activity. */
  readonly scope?: string;
}

export interface CompensateState {
  /** The path of the composite whose completed work is undone. */
  readonly scope: string;
}

/** Undoes the completed work of a composite, strictly newest first. Closes when no work is left. */
export const compensate: Behavior<Compensate, CompensateState> = {
  children: noChildren,
  templates: () => [],
  execute: ({ scope }, { scopePath }) => undoNext({ scope: scopePath(scope) }),
  childClosed: (_, state) => undoNext(state),
};

import type { ActivityBase } from '#core/definition/definition';
import type { Behavior } from '#core/engine/behavior';

export interface Compensate extends ActivityBase {
  readonly activity: 'compensate';
  /** Name of a composite around it or beside it; without one, the composite whose handler it stands in. */
  readonly scope?: string;
}

export interface CompensateState {
  /** Path of the composite whose completed work is undone. */
  readonly scope: string;
}

/** Undoes what was completed inside a scope, strictly newest first; closes when nothing is left of it (WSEHF). */
export const compensate: Behavior<Compensate, CompensateState> = {
  children: () => [],
  templates: () => [],
  execute: ({ scope }, { scopePath }) => ({ state: { scope: scopePath(scope) }, undoNext: true }),
  childClosed: (_, state) => ({ state, undoNext: true }),
};

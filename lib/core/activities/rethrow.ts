import type { ActivityBase } from '#core/definition/definition';
import { type Behavior, noChildren, raise } from '#core/engine/behavior';

export interface Rethrow extends ActivityBase {
  readonly activity: 'rethrow';
}

/** Raises the fault that the enclosing handler has caught, with its type, class, data and source (WF: Rethrow). */
export const rethrow: Behavior<Rethrow, never> = {
  children: noChildren,
  templates: () => [],
  execute: (_, { caught, path }) => {
    if (!caught) throw new Error(`${path} is not inside a fault handler.`);
    return raise(caught);
  },
};

import type { ActivityBase } from '#core/definition/definition';
import { type Behavior, raise } from '#core/engine/behavior';

export interface Rethrow extends ActivityBase {
  readonly activity: 'rethrow';
}

/** Raises the fault that the handler around it has caught, as it was: with its type, class, data and source (WF: Rethrow). */
export const rethrow: Behavior<Rethrow, never> = {
  children: () => [],
  templates: () => [],
  execute: (_, { caught, path }) => {
    if (!caught) throw new Error(`${path} stands in no handler.`);
    return raise(caught);
  },
};

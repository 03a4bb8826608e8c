import { type Behaviour, raise } from '../behaviour.ts';
import type { ActivityBase } from '../definition.ts';

export interface Rethrow extends ActivityBase {
  readonly activity: 'rethrow';
}

/** Raises the fault that the handler around it has caught, as it was: with its type, class, data and source (WF: Rethrow). */
export const rethrow: Behaviour<Rethrow, never> = {
  children: () => [],
  templates: () => [],
  execute: (_, { caught, path }) => {
    if (!caught) throw new Error(`${path} stands in no handler.`);
    return raise(caught);
  },
};

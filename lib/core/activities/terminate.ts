import type { ActivityBase } from '#core/definition/definition';
import type { Behavior } from '#core/engine/behavior';

export interface Terminate extends ActivityBase {
  readonly activity: 'terminate';
}

/** Ends the order at once, without compensation. */
export const terminate: Behavior<Terminate, never> = {
  children: () => [],
  templates: () => [],
  execute: () => ({ verb: 'terminate' }),
};

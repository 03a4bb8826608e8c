import type { ActivityBase } from '#core/definition/definition';
import { type Behavior, noChildren } from '#core/engine/behavior';

export interface Terminate extends ActivityBase {
  readonly activity: 'terminate';
}

/** Ends the order at once, without compensation. */
export const terminate: Behavior<Terminate, never> = {
  children: noChildren,
  templates: () => [],
  execute: () => ({ verb: 'terminate' }),
};

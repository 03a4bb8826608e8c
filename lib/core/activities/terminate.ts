import type { Behaviour } from '../behaviour.ts';
import type { ActivityBase } from '../definition.ts';

export interface Terminate extends ActivityBase {
  readonly activity: 'terminate';
}

/** Ends the order at once; nothing is undone. */
export const terminate: Behaviour<Terminate, never> = {
  children: () => [],
  templates: () => [],
  execute: () => ({ terminate: true }),
};

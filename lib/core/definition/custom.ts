import type { Behavior } from '#core/engine/behavior';
import type { ActivityBase } from './definition.ts';

/** An activity that an app has defined, under a name with a namespace: `shop:ensure`. */
export interface CustomActivity extends ActivityBase {
  readonly activity: `${string}:${string}`;
  /** Faults that it raises, with their ancestors. */
  readonly faults?: readonly string[];
  readonly [field: string]: unknown;
}

const registered = new Map<string, Behavior>();

/** Registers the behavior of a custom activity. An app calls this while it is loaded. */
export function registerActivity(type: string, behavior: Behavior): void {
  if (registered.has(type)) throw new TypeError(`Two activities are called "${type}". Give one of them another name.`);
  registered.set(type, behavior);
}

export const registeredBehavior = (type: string): Behavior | undefined => registered.get(type);
export const registeredTypes = (): readonly string[] => [...registered.keys()];

import { inside } from '#testing/rehearse/player';
import { stepOf } from '#testing/world/effects';
import type { History } from '#testing/world/history';

/** The number of effects of each step at the end, by its path: `order/ship-one > order/charge`. */
export type Standing = ReadonlyMap<string, number>;

/** Returns the prefix of an order's paths: empty, or `order/ship-one > ` for a called order. */
export function labelOf(orderId: string, history: History): string {
  const { caller, callerPath } = history.orders.get(orderId) ?? {};
  return caller === undefined ? '' : inside(`${labelOf(caller, history)}${callerPath}`);
}

export function standingIn(history: History): Standing {
  const standing = new Map<string, number>();
  for (const [key, { undone }] of history.effects) {
    const { orderId, path } = stepOf(key);
    const label = `${labelOf(orderId, history)}${path}`;
    if (!undone) standing.set(label, (standing.get(label) ?? 0) + 1);
  }
  return standing;
}

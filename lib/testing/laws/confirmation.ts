import type { StepState } from '#core/data/step-state';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** Before the engine concludes that a step had no effect, a late effect must be impossible (S11). */
export const confirmation = ({ toleranceMs }: Setting): Law => ({
  name: 'confirmation',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    const path = order?.before && concludedTooEarly(order, toleranceMs);
    return path && `order ${order.orderId}: step ${path} was closed as not done while its request could still take effect`;
  }),
});

function concludedTooEarly({ before, instance, newFacts }: Tracked, toleranceMs: number): string | undefined {
  // An operator may know that the step had no effect.
  if (newFacts.some(({ type }) => type === 'MarkedCompensated' || type === 'InstructionGiven')) return undefined;
  return newFacts
    .flatMap((fact) => (fact.type === 'ActivityClosed' ? [fact] : []))
    .find(({ path, at }) => {
      const { mode, until = 0 } = (before?.state.activities[path]?.local ?? {}) as Partial<StepState>;
      // A step that closes with an undo of its own was done.
      const wasDone = instance.state.undo?.some((entry) => entry.path === path);
      return mode === 'confirm' && until > at + toleranceMs && !wasDone;
    })?.path;
}

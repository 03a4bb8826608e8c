import type { StepState } from '#core/data/step-state';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** S11: that something was not done is believed only when it cannot be done any more. */
export const confirming = ({ toleranceMs }: Setting): Law => ({
  name: 'confirming',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    const path = order?.before && believedTooEarly(order, toleranceMs);
    return path && `${order.orderId} believes that ${path} was not done while it may still be done`;
  }),
});

function believedTooEarly({ before, instance, news }: Tracked, toleranceMs: number): string | undefined {
  // A person may know better.
  if (news.some(({ type }) => type === 'MarkedCompensated' || type === 'InstructionGiven')) return undefined;
  return news
    .flatMap((fact) => (fact.type === 'ActivityClosed' ? [fact] : []))
    .find(({ path, at }) => {
      const { mode, until = 0 } = (before?.state.activities[path]?.local ?? {}) as Partial<StepState>;
      const isKnownDone = instance.state.undo?.some((entry) => entry.path === path);
      return mode === 'confirm' && until > at + toleranceMs && !isKnownDone;
    })?.path;
}

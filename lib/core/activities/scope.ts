import type { Activity, ActivityBase } from '#core/definition/definition';
import { type Behavior, close, run } from '#core/engine/behavior';

export interface ScopeActivity extends ActivityBase {
  readonly activity: 'scope';
  readonly do: Activity;
}

/** One activity in a frame of its own: for fault handlers, and as what `compensate` names. */
export const scope: Behavior<ScopeActivity, Record<string, never>> = {
  children: (scope) => [scope.do],
  templates: () => [],
  execute: (scope) => run([scope.do.name], {}),
  childClosed: (_, __, closing) => close(closing),
};

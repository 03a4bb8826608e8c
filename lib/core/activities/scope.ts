import type { Activity, ActivityBase } from '#core/definition/definition';
import { type Behavior, close, run } from '#core/engine/behavior';

export interface ScopeActivity extends ActivityBase {
  readonly activity: 'scope';
  readonly do: Activity;
}

/** Wraps one activity: the place for fault handlers, and the name that `compensate` refers to. */
export const scope: Behavior<ScopeActivity, Record<string, never>> = {
  children: (scope) => [scope.do],
  templates: () => [],
  execute: (scope) => run([scope.do.name], {}),
  childClosed: (_, __, closing) => close(closing),
};

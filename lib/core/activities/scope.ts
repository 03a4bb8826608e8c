import { type Behaviour, close, run } from '../behaviour.ts';
import type { Activity, ActivityBase } from '../definition.ts';

export interface ScopeActivity extends ActivityBase {
  readonly activity: 'scope';
  readonly do: Activity;
}

/** One activity in a frame of its own: for fault handlers, and as what `compensate` names. */
export const scope: Behaviour<ScopeActivity, Record<string, never>> = {
  children: (scope) => [scope.do],
  templates: () => [],
  execute: (scope) => run([scope.do.name], {}),
  childClosed: (_, __, closing) => close(closing),
};

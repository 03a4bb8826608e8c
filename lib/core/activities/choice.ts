import { conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { type Behavior, close, raise, run, succeeded } from '#core/engine/behavior';

export interface Choice extends ActivityBase {
  readonly activity: 'choice';
  /** Tried in this order. */
  readonly branches: readonly { readonly when: Template; readonly do: Activity }[];
  readonly otherwise?: Activity;
}

/** Runs the first branch whose condition holds; without one, `otherwise`, or nothing (IfElse). */
export const choice: Behavior<Choice, Record<string, never>> = {
  children: ({ branches, otherwise }) => [...branches.map((branch) => branch.do), ...(otherwise ? [otherwise] : [])],
  problems: ({ branches }) => (Array.isArray(branches) ? [] : ['Its branches are no list.']),
  templates: ({ branches }) => branches.map(({ when }) => when),

  execute({ branches, otherwise }, context) {
    for (const branch of branches) {
      const condition = conditionOf(branch.when, context);
      if (!condition.ok) return raise(condition.fault);
      if (condition.holds) return run([branch.do.name], {});
    }
    return otherwise ? run([otherwise.name], {}) : close(succeeded());
  },

  childClosed: (_, __, closing) => close(closing),
};

import { conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { type Behavior, close, raise, run, succeeded } from '#core/engine/behavior';

export interface Choice extends ActivityBase {
  readonly activity: 'choice';
  /** The branches, in the order in which their conditions are evaluated. */
  readonly branches: readonly { readonly when: Template; readonly do: Activity }[];
  readonly otherwise?: Activity;
}

/** Runs the first branch whose condition holds. If none does, runs `otherwise` or nothing (WF: IfElse). */
export const choice: Behavior<Choice, Record<string, never>> = {
  children: ({ branches, otherwise }) => [...branches.map((branch) => branch.do), ...(otherwise ? [otherwise] : [])],
  problems: ({ branches }) => (Array.isArray(branches) ? [] : ['The field "branches" must be a list of {when, do}.']),
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

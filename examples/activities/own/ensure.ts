import { close, defineActivity, run, succeeded } from 'redress';

/** The state that the engine keeps while the activity runs. */
interface Progress {
  readonly last: 'to come' | 'begun';
}

/**
 * `ensure({}, { do, last })`: runs `last` after `do`, whether `do` succeeds, fails or is canceled. Then it ends as `do` ended. While
 * `last` runs, it can be canceled like any other activity.
 */
export const ensure = defineActivity<object, Progress, 'do' | 'last'>('example:ensure', ['do', 'last'], {
  execute: (activity) => run([activity.do.name], { last: 'to come' }),
  childClosed: (activity, { last }) => (last === 'to come' ? run([activity.last.name], { last: 'begun' }) : close(succeeded())),
  handleFault: (activity, { last }) => (last === 'to come' ? { run: [activity.last.name] } : undefined),
  cancel: (activity, { last }) => (last === 'to come' ? { run: [activity.last.name] } : undefined),
});

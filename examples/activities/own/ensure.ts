import { close, defineActivity, run, succeeded } from 'redress';

/** What the engine keeps of it while it is at work. */
interface Progress {
  readonly last: 'to come' | 'begun';
}

/**
 * `ensure({}, { do, last })`: runs `last` after `do`, whatever becomes of that: it succeeds, it fails, or it is canceled.
 * Then it ends as `do` has ended. Where `last` is at work itself, it may be canceled like any other activity.
 */
export const ensure = defineActivity<object, Progress, 'do' | 'last'>('example:ensure', ['do', 'last'], {
  execute: (activity) => run([activity.do.name], { last: 'to come' }),
  childClosed: (activity, { last }) => (last === 'to come' ? run([activity.last.name], { last: 'begun' }) : close(succeeded())),
  handleFault: (activity, { last }) => (last === 'to come' ? { run: [activity.last.name] } : undefined),
  cancel: (activity, { last }) => (last === 'to come' ? { run: [activity.last.name] } : undefined),
});

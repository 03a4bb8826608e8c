import { close, defineActivity, run, wait } from 'redress';

/** The state that the engine keeps while the activity runs. */
interface Progress {
  readonly attempt: number;
  /** The end of the pause, in milliseconds since 1970. */
  readonly until?: number;
}

/**
 * `again({ retries, seconds }, { do })`: runs `do` again after a transient fault, at most `retries` times. Each pause is twice as long as
 * the one before. The engine does not repeat the finished steps of an earlier run.
 */
export const again = defineActivity<{ readonly retries: number; readonly seconds: number }, Progress, 'do'>('example:again', ['do'], {
  execute: (activity) => runOnce(activity, 1),
  retries: ({ retries }, { attempt, until }, fault) => until === undefined && attempt <= retries && !fault.permanent,
  childFaulted: ({ seconds }, { attempt }, _, { at }) => wait({ attempt, until: at + seconds * 1000 * 2 ** (attempt - 1) }),
  childClosed: (_, __, closing) => close(closing),
  woken: (activity, { attempt, until }, { at }) => (until !== undefined && at >= until ? runOnce(activity, attempt + 1) : undefined),
  wakeAt: ({ until }) => until,
  postponed: (progress, byMs) => (progress.until === undefined ? progress : { ...progress, until: progress.until + byMs }),
});

/** Starts a run. `resetsVariables`: each run begins with the variables that the first run had. */
const runOnce = (activity: { readonly do: { readonly name: string } }, attempt: number) => ({
  ...run<Progress>([activity.do.name], { attempt }),
  resetsVariables: true,
});

import { close, defineActivity, run, wait } from 'redress';

/** What the engine keeps of it while it is at work. */
interface Progress {
  readonly attempt: number;
  /** The end of the pause, in milliseconds since 1970. */
  readonly until?: number;
}

/**
 * `again({ retries, seconds }, { do })`: runs `do` again after a fault that may pass, at most `retries` times. Each pause is
 * twice as long as the one before. What an earlier run has done is not done again: the engine sees to that.
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

/** `fresh`: each run begins with the variables that the first one had. */
const runOnce = (activity: { readonly do: { readonly name: string } }, attempt: number) => ({
  ...run<Progress>([activity.do.name], { attempt }),
  fresh: true,
});

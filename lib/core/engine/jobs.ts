import { runsAgain } from '#core/activities/index';
import { ranTwice } from '#core/data/fault';
import { childPath, type Start } from '#core/data/ids';
import { isObject } from '#core/data/json';
import type { ActivityState, Closing } from '#core/data/state';
import { isCustom, isRemote } from '#core/definition/definition';
import { raise, succeeded } from './behavior.ts';
import { cancel } from './cancellation.ts';
import { close, notifyParent } from './closing.ts';
import { continueUndoing, isIdle, isUndoing, restartAfterReplacing, undoNext } from './compensation.ts';
import { rootClosed } from './ending.ts';
import { fail } from './fault-propagation.ts';
import { handlerFor, isRetried } from './fault-routing.ts';
import type { Job } from './job.ts';
import { withCleanUpRepeatable, withoutOutputsIn } from './memory.ts';
import { continueResuming } from './resuming.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { apply, execute } from './verbs.ts';

/** Carries out the jobs of a transition until none is left. */
export function runJobs(builder: TransitionBuilder): void {
  for (let job = builder.nextJob(); job; job = builder.nextJob()) runJob(builder, job);
}

function runJob(builder: TransitionBuilder, job: Job): void {
  switch (job.do) {
    case 'startChild':
      return startChild(builder, job.path, job.start);
    case 'start':
      return execute(builder, job.path);
    case 'cancel':
      return cancel(builder, job.path);
    case 'childClosed':
      return childClosed(builder, job.path, job.child, job.closing);
    case 'rootClosed':
      return rootClosed(builder, job.closing);
    case 'childrenClosed':
      return childrenClosed(builder, job.path);
    case 'undoNextIfIdle':
      return isIdle(builder, job.path) ? undoNext(builder, job.path) : undefined;
    case 'continueUndoing':
      return continueUndoing(builder);
    case 'resume':
      return continueResuming(builder, job.path);
    case 'undone':
      return undone(builder, job.path);
    case 'forgetTurn':
      return builder.replaceState(withoutOutputsIn(builder.state, job.turn));
  }
}

function startChild(builder: TransitionBuilder, path: string, start: Start): void {
  if (builder.activity(path)?.status !== 'Executing') return;
  const child = childPath(path, start);
  if (builder.jobs.skipsChildrenOf(path)) return notifyParent(builder, child, path, { result: 'Canceled' });
  if (hasRun(builder, path, child))
    return apply(builder, path, raise(ranTwice(path, builder.node(path).activity, builder.node(child).name)));
  execute(builder, child);
}

/**
 * Whether a custom activity has already run this child; if not, notes that it runs now. Without `reruns`, a second run would reuse the keys
 * of the first.
 */
function hasRun(builder: TransitionBuilder, path: string, child: string): boolean {
  const node = builder.node(path);
  if (!isCustom(node) || builder.behavior(path).repeats || runsAgain(node)) return false;
  const { ran = [] } = builder.activity(path) ?? {};
  const { name } = builder.node(child);
  if (ran.includes(name)) return true;
  builder.patch(path, { ran: [...ran, name] });
  return false;
}

function childClosed(builder: TransitionBuilder, path: string, child: string, closing: Closing): void {
  const activity = builder.activity(path);
  if (!activity) return;
  const turn = /^(.*\[\d+\]\/)[^/]+$/.exec(child)?.[1];
  if (turn?.startsWith(`${path}[`)) builder.jobs.later({ do: 'forgetTurn', turn });
  if (activity.status === 'Compensating') return undoNext(builder, path);
  if (activity.resumes && activity.status === 'Executing') return continueResuming(builder, path);
  if (isRemote(builder.node(path))) return lateUndone(builder, path, closing);
  if (activity.status === 'Canceling') return isUndoing(builder, path) ? undoNext(builder, path) : childrenClosed(builder, path);
  if (activity.status === 'Faulting' && activity.handling) return handled(builder, path, child, closing);
  if (activity.status === 'Faulting' && !activity.awaitsPerson) return childrenClosed(builder, path);

  const node = builder.node(path);
  const behavior = builder.behavior(path);
  // The condition of a loop is evaluated in the turn that closed, so that it can read the outputs of that turn.
  const context = behavior.repeats ? builder.context(path, child) : builder.context(path);
  if (closing.result !== 'Faulted') return apply(builder, path, behavior.childClosed?.(node, activity.local, closing, context));
  if (isRetried(builder, path, closing.fault)) {
    builder.fact({ type: 'RunFailed', path, attempt: runNumber(activity), fault: closing.fault });
    return apply(builder, path, behavior.childFaulted?.(node, activity.local, closing.fault, context));
  }
  builder.fact({ type: 'ActivityFaulting', path, child });
  fail(builder, path, closing.fault);
}

/** Returns the number of the present run, which a retry or a custom activity like it keeps as `attempt`. */
function runNumber({ local }: ActivityState): number {
  const attempt = isObject(local) ? local['attempt'] : undefined;
  return typeof attempt === 'number' ? attempt : 1;
}

/** Closes a canceled step after its undo, the only child that a step can have. */
function lateUndone(builder: TransitionBuilder, path: string, closing: Closing): void {
  if (closing.result === 'Compensated' && !restartAfterReplacing(builder, path)) close(builder, path, { result: 'Canceled' });
}

/**
 * Closes a composite whose handler has ended. The order continues after the composite; a fault inside the handler propagates further up.
 */
function handled(builder: TransitionBuilder, path: string, child: string, closing: Closing): void {
  // When branches close in the same instant, the closing of the last branch arrives only after the handler has started. It is ignored.
  if (!builder.node(path).faultHandlers?.some((handler) => `${path}/${handler.do.name}` === child)) return;
  close(builder, path, closing.result === 'Faulted' || closing.result === 'Canceled' ? closing : succeeded());
}

/** Continues an activity after its last child has closed. */
function childrenClosed(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || builder.hasChildren(path) || cleanUp(builder, path)) return;
  if (activity.status === 'Canceling') return close(builder, path, { result: 'Canceled' });
  if (activity.status !== 'Faulting' || activity.handling || !activity.fault) return;

  const { fault } = activity;
  const parent = builder.parentFor(path);
  // While an enclosing retry will run this activity again, its own handlers are skipped (WF).
  const handler = parent !== undefined && isRetried(builder, parent, fault) ? undefined : handlerFor(builder, path, fault);
  if (!handler) return close(builder, path, { result: 'Faulted', fault });
  builder.patch(path, { handling: true });
  builder.fact({ type: 'FaultHandled', path, handler: handler.do.name, fault });
  execute(builder, `${path}/${handler.do.name}`);
}

/** Starts the next child that cleans up. Returns false if none is left. */
function cleanUp(builder: TransitionBuilder, path: string): boolean {
  const { cleanUp: queue = [], cleaning, ...activity } = builder.activity(path) ?? { status: 'Canceling' as const };
  const [start, ...cleanUp] = queue;
  if (start === undefined) {
    if (cleaning) builder.put(path, activity);
    return false;
  }
  if (!cleaning) builder.fact({ type: 'CleanUpStarted', path });
  builder.patch(path, { cleanUp, cleaning: true });
  const child = childPath(path, start);
  builder.replaceState(withCleanUpRepeatable(builder.program, builder.state, child));
  execute(builder, child);
  return true;
}

/** Continues an activity whose scope has no work left to undo. */
function undone(builder: TransitionBuilder, path: string): void {
  const { undone } = builder.behavior(path);
  if (undone) apply(builder, path, undone(builder.node(path), builder.local(path), builder.context(path)));
}

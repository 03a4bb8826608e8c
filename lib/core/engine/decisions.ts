import type { RuledAction } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import type { Blocked } from '#core/data/state';
import { awaitsReply } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { block, unblock } from './blocking.ts';
import { raise } from './fault-propagation.ts';
import { runJobs } from './jobs.ts';
import { forgetLate } from './lateness.ts';
import { repeat } from './repetition.ts';
import { continueAll, resubmit } from './resumption.ts';
import { suspend } from './suspension.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Carries out what a rule has decided about a blocked order. */
export function carryOutDecision(builder: TransitionBuilder, blocked: Blocked, action: RuledAction): void {
  const path = placeOf(builder, blocked);
  switch (action.kind) {
    case 'retry':
      // After a report no activity has failed: the open request of the step is sent again.
      if (blocked.reported && mayRequestAgain(builder, path))
        return goOn(builder, path, () => requestAgain(builder, path, action.afterSeconds));
      return action.afterSeconds > 0 && hasFailedItself(builder, path)
        ? goOn(builder, path, () => repeatLater(builder, path, action.afterSeconds))
        : resubmit(builder, path, undefined);
    case 'go-on':
      return goOn(builder, path, () => {}, true);
    case 'raise':
      return action.toPerson
        ? blockAgain(builder, blocked.path, action.fault)
        : goOn(builder, path, () => raise(builder, path, action.fault));
    case 'suspend':
      return suspendAt(
        builder,
        path,
        blocked.reported ? action.again === true && mayRequestAgain(builder, path) : hasFailedItself(builder, path),
      );
  }
}

/** Carries out what a rule has decided about an open step of an order that is not blocked. Without such a step, nothing happens. */
export function carryOutAt(builder: TransitionBuilder, path: string, action: RuledAction): void {
  const step = builder.stepAt(path);
  if (!step || step.mode !== undefined || builder.activity(path)?.status !== 'Executing') return;
  if (action.kind === 'retry' && mayRequestAgain(builder, path)) requestAgain(builder, path, action.afterSeconds);
  else if (action.kind === 'raise') raise(builder, path, { ...action.fault, source: path });
}

/**
 * Returns the path of the activity that the exception is about. A report may name an activity that is not open: then the exception is about
 * the order.
 */
const placeOf = (builder: TransitionBuilder, { path, fault, reported }: Blocked): string =>
  reported && fault.source !== undefined && builder.activity(fault.source) ? fault.source : path;

/**
 * Whether the activity is a step that awaits its reply and may be requested again. A step that runs at most once may not, nor may a step
 * whose reply is recorded.
 */
function mayRequestAgain(builder: TransitionBuilder, path: string): boolean {
  const step = builder.stepAt(path);
  const node = builder.node(path);
  const isOnce = isRemote(node) && node.atMostOnce === true;
  return step !== undefined && step.mode === undefined && awaitsReply(step) && !isOnce && !builder.activity(path)?.reply;
}

const requestAgain = (builder: TransitionBuilder, path: string, afterSeconds: number): void =>
  afterSeconds > 0 ? repeatLater(builder, path, afterSeconds) : repeat(builder, path);

/** Whether this activity failed, and awaits a person. A report from outside blocks an order without a failed activity. */
const hasFailedItself = (builder: TransitionBuilder, path: string): boolean =>
  builder.activity(path)?.awaitsPerson === true && builder.stepAt(path)?.mode === undefined;

/**
 * Ends the block, calls `work`, and then continues the other activities. `staysLate`: the late counts stay, because the decision is about
 * no step.
 */
function goOn(builder: TransitionBuilder, path: string, work: () => void, staysLate = false): void {
  if (!staysLate) forgetLate(builder);
  unblock(builder, path);
  builder.continuesWhileBlocked = true;
  work();
  runJobs(builder);
  continueAll(builder, () => false);
}

/** Runs the activity again after a pause. Until then its state stays, so that a cancellation finds it. */
function repeatLater(builder: TransitionBuilder, path: string, afterSeconds: number): void {
  const at = builder.event.at + afterSeconds * 1000;
  builder.patch(path, { waitsUntil: at });
  builder.commands.push({ type: 'wake', at });
}

/** Leaves the order blocked, with another fault. */
function blockAgain(builder: TransitionBuilder, path: string, fault: Fault): void {
  const raised = { ...fault, source: path };
  if (builder.activity(path)?.awaitsPerson) builder.faulting(path, raised, true);
  block(builder, path, raised);
}

/** Suspends the order. `again`: the activity runs again when the order is resumed. */
function suspendAt(builder: TransitionBuilder, path: string, again: boolean): void {
  unblock(builder, path);
  if (again) builder.patch(path, { waitsUntil: builder.event.at });
  suspend(builder);
}

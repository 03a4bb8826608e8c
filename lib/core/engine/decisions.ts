import type { RuledAction } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import { firstGenerationOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { succeeded } from './behavior.ts';
import { block, unblock } from './blocking.ts';
import { close } from './closing.ts';
import { raise } from './fault-propagation.ts';
import { runJobs } from './jobs.ts';
import { forgetLate } from './lateness.ts';
import { continueAll, resubmit } from './resumption.ts';
import { requestAttempt } from './step-attempts.ts';
import { suspend } from './suspension.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { noteRefused } from './undo-list.ts';
import { apply } from './verbs.ts';

/** Carries out what a rule has decided about the activity for which the order is blocked. */
export function carryOutDecision(builder: TransitionBuilder, path: string, action: RuledAction): void {
  switch (action.kind) {
    case 'retry':
      return action.afterSeconds > 0 && waitsItself(builder, path)
        ? goOn(builder, path, () => repeatLater(builder, path, action.afterSeconds))
        : resubmit(builder, path, undefined);
    case 'skip':
      return goOn(builder, path, () => skip(builder, path, action.output));
    case 'replace-input':
      return goOn(builder, path, () => replaceInput(builder, path, action.input));
    case 'raise':
      return action.toPerson ? blockAgain(builder, path, action.fault) : goOn(builder, path, () => raise(builder, path, action.fault));
    case 'suspend':
      return suspendAt(builder, path);
  }
}

/** Whether the activity failed itself. An order may also be stopped beside its activities, which then go on where they were. */
const waitsItself = (builder: TransitionBuilder, path: string): boolean =>
  builder.activity(path)?.awaitsPerson === true && builder.stepAt(path)?.mode === undefined;

/** Ends the block, does the work, and then continues the other activities. */
function goOn(builder: TransitionBuilder, path: string, work: () => void): void {
  forgetLate(builder);
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

/** Closes a step with this output. Nothing was done, so nothing of it is undone. */
function skip(builder: TransitionBuilder, path: string, output: Json): void {
  const local = builder.stepAt(path);
  // A later run of an enclosing retry then asks under a new key.
  if (local && local.attempt > 0) noteRefused(builder, path, local);
  close(builder, path, succeeded(output));
}

/** Requests a step with another input: a new effect under a new key. */
function replaceInput(builder: TransitionBuilder, path: string, input: Json): void {
  const node = builder.node(path);
  if (!isRemote(node)) return;
  const { generation = firstGenerationOf(builder.subject) - 1, attempt = 0 } = builder.stepAt(path) ?? {};
  apply(builder, path, requestAttempt(node, generation + 1, attempt + 1, builder.context(path), { input, newKey: true }));
}

/** Leaves the order blocked, with another fault. */
function blockAgain(builder: TransitionBuilder, path: string, fault: Fault): void {
  const raised = { ...fault, source: path };
  if (builder.activity(path)?.awaitsPerson) builder.faulting(path, raised, true);
  block(builder, path, raised);
}

/** Suspends the order. The activity runs again when a person resumes it. */
function suspendAt(builder: TransitionBuilder, path: string): void {
  const failed = waitsItself(builder, path);
  unblock(builder, path);
  if (failed) builder.patch(path, { waitsUntil: builder.event.at });
  suspend(builder);
}

import { runsAgain } from '#core/activities/index';
import type { Fault } from '#core/data/fault';
import { attemptIdOf } from '#core/data/ids';
import type { Closing } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import type { Next } from './behavior.ts';
import { cancel } from './cancellation.ts';
import { close } from './closing.ts';
import { replaceFormer, restartAfterReplacing, undoLate, undoNext } from './compensation.ts';
import { terminate } from './ending.ts';
import { askPerson, raise } from './fault-propagation.ts';
import { isHandled, isUsedUp } from './fault-routing.ts';
import { resetForNextRun, variablesOf, withoutSignal } from './memory.ts';
import { requestWakeUp, sendRequests } from './requests.ts';
import { refused } from './size-limit.ts';
import { closeSkipped } from './skipping.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { canBeUndone, noteDone, noteRefused, noteUndone, noteWhole } from './undo-list.ts';

/** Starts an activity. The journal gets an `ActivityStarted`, or a `StepRequested` if the activity sends a request at once. */
export function execute(builder: TransitionBuilder, path: string): void {
  const skip = builder.state.skips?.[path];
  if (skip) return closeSkipped(builder, path, skip);
  const node = builder.node(path);
  const behavior = builder.behavior(path);
  const vars = runsAgain(node) ? variablesOf(builder.state, node) : undefined;
  const { pagedUndo } = builder.state;
  const above = pagedUndo && behavior.children(node).length > 0 ? { above: pagedUndo.top } : {};
  builder.put(path, { status: 'Executing', ...(vars ? { vars } : {}), ...above });
  const next = behavior.execute(node, builder.context(path));
  if (next.verb !== 'request') builder.fact({ type: 'ActivityStarted', path });
  apply(builder, path, next);
}

/** Carries out the outcome of a behavior. The order of these lines is the order in which things happen. */
export function apply(builder: TransitionBuilder, path: string, wanted: Next<unknown> | undefined): void {
  if (wanted === undefined) return;
  const next = refused(builder, path, wanted) ?? wanted;
  if (next.verb === 'raise' && next.onlyIfHandled && waits(builder, path, { ...next.raise, source: path }))
    return failForNow(builder, path, next);
  if (next.state !== undefined) builder.setLocal(path, next.state);
  if (next.takeSignal) builder.replaceState(withoutSignal(builder.state, next.takeSignal));
  carryOut(builder, path, next);
  if (next.state !== undefined && next.verb !== 'undoNext') requestWakeUp(builder, path);
}

/** Carries out the verb. Closing, faults and cancellation follow the rules of Windows Workflow (WF). */
function carryOut(builder: TransitionBuilder, path: string, next: Next<unknown>): void {
  switch (next.verb) {
    case 'run':
      if (next.resetsVariables) builder.replaceState(resetForNextRun(builder.program, builder.state, path));
      for (const start of next.run) builder.jobs.later({ do: 'startChild', path, start });
      builder.startedCount += next.run.length;
      return;
    case 'wait':
    case 'request':
    case 'requestAgain':
      return sendRequests(builder, path, next);
    case 'close':
      if (next.assign) builder.set({ vars: { ...builder.state.vars, ...next.assign } });
      return recordAndClose(builder, path, next.close);
    case 'raise':
      return raise(builder, path, next.raise);
    case 'ask':
      return askPerson(builder, path, next.question);
    case 'cancelChildren':
      builder.jobs.skipChildrenOf(path);
      for (const child of builder.children(path)) cancel(builder, child);
      return;
    case 'undoNext':
      return undoNext(builder, path);
    case 'replaceFormer': {
      const irreplaceable = replaceFormer(builder, path);
      return irreplaceable && raise(builder, path, irreplaceable);
    }
    case 'terminate':
      return terminate(builder);
  }
}

/** Whether a step whose agent answered "not now" waits for its deadline, because nothing handles the fault now. */
const waits = (builder: TransitionBuilder, path: string, fault: Fault): boolean =>
  !isHandled(builder, path, fault, true) && !isUsedUp(builder, path, fault);

function failForNow(builder: TransitionBuilder, path: string, { state, raise }: Extract<Next<unknown>, { verb: 'raise' }>): void {
  builder.fact({ type: 'AttemptFailed', path, attemptId: attemptIdOf(builder.step(path)), fault: raise });
  builder.setLocal(path, state);
}

/** Closes an activity. The work of a step is recorded before the step leaves the state. */
function recordAndClose(builder: TransitionBuilder, path: string, closing: Closing): void {
  const local = builder.stepAt(path);
  if (local?.mode === 'confirm') return closeConfirmed(builder, path, local, closing);
  if (local?.mode === 'undo') noteUndone(builder, path);
  if (local?.mode === undefined && local && closing.result === 'Succeeded') noteDone(builder, path, local, closing.output);
  if (!isRemote(builder.node(path)) && closing.result === 'Succeeded') noteWhole(builder, path);
  close(builder, path, closing);
}

/** Closes a step whose outcome is now definite. The activity that waited for it continues. A canceled step that was done is undone. */
function closeConfirmed(builder: TransitionBuilder, path: string, local: StepState, closing: Closing): void {
  const done = closing.result === 'Succeeded';
  if (done && canBeUndone(builder, path) && builder.activity(path)?.status === 'Canceling')
    return undoLate(builder, path, local, closing.output ?? null);
  if (done) noteDone(builder, path, local, closing.output);
  else noteRefused(builder, path, local);
  if (!restartAfterReplacing(builder, path)) close(builder, path, { result: 'Canceled' });
}

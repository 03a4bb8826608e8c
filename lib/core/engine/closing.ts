import { runsAgain } from '#core/activities/index';
import { attemptIdOf } from '#core/data/ids';
import { closedFact } from '#core/data/journal';
import type { Closing } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { withOutput, withoutInstruction, withoutMemo, withoutReadOutputs } from './memory.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Closes an activity: removes it from the state and notifies its parent. */
export function close(builder: TransitionBuilder, path: string, closing: Closing): void {
  const parent = builder.parentFor(path);
  const node = builder.node(path);
  const step = builder.stepAt(path);
  builder.remove(path);
  builder.replaceState(withOutput(builder.program, builder.state, path, closing));
  builder.fact(closedFact(path, closing, step && attemptIdOf(step)));
  if (runsAgain(node)) builder.replaceState(withoutMemo(builder.program, builder.state, path));
  builder.replaceState(withoutReadOutputs(builder.program, builder.state, path));
  builder.replaceState(withoutInstruction(builder.program, builder.state, path));
  notifyParent(builder, path, parent, closing);
}

/** Notifies the parent that a child has closed, or that a child was canceled before it started. */
export function notifyParent(builder: TransitionBuilder, child: string, parent: string | undefined, closing: Closing): void {
  if (parent === undefined) return builder.jobs.next({ do: 'rootClosed', closing });
  builder.jobs.later({ do: 'childClosed', path: parent, child, closing });
  // An activity that undoes a scope may have waited for this step.
  if (builder.state.undo && isRemote(builder.node(child))) builder.jobs.later({ do: 'continueUndoing' });
}

/** Closes a step and starts it again with its present input. Its parent is not notified. */
export function restart(builder: TransitionBuilder, path: string): void {
  const attemptId = attemptIdOf(builder.step(path));
  builder.remove(path);
  builder.fact({ type: 'ActivityClosed', path, result: 'Canceled', attemptId });
  builder.jobs.next({ do: 'start', path });
}

import type { Fault } from '#core/data/fault';
import { isRemote } from '#core/definition/definition';
import { cancelChildren } from './cancellation.ts';
import { close } from './closing.ts';
import { isHandled } from './fault-routing.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { noteRefused, noteUnknown } from './undo-list.ts';

/**
 * Raises a fault. If nothing up to the root handles it, the order is blocked as it is and no activity is closed. A
 * second fault in the same instant waits until a person has dealt with the first.
 */
export function raise(builder: TransitionBuilder, path: string, fault: Fault): void {
  const raised: Fault = { ...fault, source: fault.source ?? path };
  if (builder.state.phase === 'running' && builder.blockingPath() === undefined && isHandled(builder, path, raised))
    return propagateFault(builder, path, raised);
  builder.faulting(path, raised, true);
  builder.blockFor(path);
}

/** Blocks the order for a question to a person. No handler can catch a question. */
export function askPerson(builder: TransitionBuilder, path: string, question: Fault): void {
  builder.faulting(path, { ...question, source: path }, true);
  builder.blockFor(path);
}

/** Propagates a fault: the children are canceled and closed first, then the engine looks for a handler (WF). */
export function propagateFault(builder: TransitionBuilder, path: string, fault: Fault): void {
  builder.fact({ type: 'FaultRaised', path, fault });
  fail(builder, path, fault);
}

/** Begins the end of an activity that has failed, or that the fault of a child has reached: cancels its children, then lets it clean up. */
export function fail(builder: TransitionBuilder, path: string, fault: Fault): void {
  const node = builder.node(path);
  const cleanUp = builder.behavior(path).handleFault?.(node, builder.local(path), fault, builder.context(path));
  if (isRemote(node)) return closeFaulted(builder, path, fault);
  builder.faulting(path, fault);
  if (cleanUp) builder.patch(path, { cleanUp: cleanUp.run });
  cancelChildren(builder, path);
}

/** Closes a failed step. Its last known phase decides what a later run may do, and whether there is something to undo. */
function closeFaulted(builder: TransitionBuilder, path: string, fault: Fault): void {
  const local = builder.stepAt(path);
  if (local && local.attempt > 0) {
    if (local.phase === 'refused') noteRefused(builder, path, local);
    else noteUnknown(builder, path, local);
  }
  close(builder, path, { result: 'Faulted', fault });
}

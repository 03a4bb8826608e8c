import { type Fault, isKindOf } from '#core/data/fault';
import type { FaultHandler } from '#core/definition/definition';
import { parentOf } from '#core/definition/program';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * Whether some enclosing activity handles a fault of the activity at this path, so that the activities in between can
 * be closed. A transient fault (`isTransient`) does not end an activity that cleans up.
 */
export function isHandled(builder: TransitionBuilder, path: string, fault: Fault, isTransient = false): boolean {
  for (let at: string | undefined = path, from: string | undefined; at !== undefined; from = at, at = builder.parentFor(at)) {
    const activity = builder.activity(at);
    if (!activity) continue;
    if (activity.cleaning && from !== undefined) return !isTransient;
    // An activity that is ending already closes what is inside it, whatever the fault.
    const propagates = activity.status === 'Faulting' && !activity.handling && !activity.awaitsPerson && from !== undefined;
    if (activity.status === 'Canceling' || propagates) return true;
    if (from !== undefined && isRetried(builder, at, fault)) return true;
    if (!activity.handling && handlerFor(builder, at, fault)) return true;
  }
  return escalatesToCaller(builder, fault);
}

/**
 * Whether an enclosing retry has used all its runs, and the workflow leaves unanswered steps to a person. The order is
 * then blocked at once, with the fault of the last reply. A step of an activity that cleans up is requested again.
 */
export function isUsedUp(builder: TransitionBuilder, path: string, fault: Fault): boolean {
  const { onExhausted = 'error' } = builder.program.definition;
  for (let at = builder.parentFor(path); at !== undefined && onExhausted === 'error'; at = builder.parentFor(at)) {
    const activity = builder.activity(at);
    if (activity?.cleaning) return false;
    if (activity?.status !== 'Executing') continue;
    if (builder.behavior(at).isUsedUp?.(builder.node(at), activity.local, fault)) return true;
  }
  return false;
}

/** Whether the order was called, and its workflow names the fault in `toCaller`. The order then undoes its work and ends with the fault. */
function escalatesToCaller({ program, state }: TransitionBuilder, fault: Fault): boolean {
  const { toCaller = [] } = program.definition;
  return state.called === true && !state.ending && toCaller.some((type) => isKindOf(fault.type, type));
}

/** Whether the activity at this path would run its failed child again after this fault. */
export function isRetried(builder: TransitionBuilder, path: string, fault: Fault): boolean {
  const activity = builder.activity(path);
  if (activity?.status !== 'Executing') return false;
  return builder.behavior(path).retries?.(builder.node(path), activity.local, fault) ?? false;
}

/** Returns the first handler of the activity that matches the fault. */
export const handlerFor = (builder: TransitionBuilder, path: string, fault: Fault): FaultHandler | undefined =>
  builder.node(path).faultHandlers?.find((handler) => isKindOf(fault.type, handler.fault));

/** Returns the body of the nearest running handler around an activity. */
export function handlerAround(builder: TransitionBuilder, at: string): string | undefined {
  for (let path = at, around = parentOf(path); around !== undefined; path = around, around = parentOf(path))
    if (builder.activity(around)?.handling) return path;
  return undefined;
}

import { type Fault, isKindOf } from '#core/data/fault';
import type { FaultHandler } from '#core/definition/definition';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * Whether a fault of the activity at a path goes to somebody on its way up, so that it may unwind what is in between.
 * One that may be over by the next asking (`forNow`) does not end what cleans up.
 */
export function isHandled(builder: TransitionBuilder, path: string, fault: Fault, isTransient = false): boolean {
  for (let at: string | undefined = path, from: string | undefined; at !== undefined; from = at, at = builder.parentFor(at)) {
    const activity = builder.activity(at);
    if (!activity) continue;
    if (activity.cleaning && from !== undefined) return !isTransient;
    const propagates = activity.status === 'Faulting' && !activity.handling && !activity.awaitsPerson && from !== undefined;
    if (activity.status === 'Canceling' || propagates) return true;
    if (from !== undefined && isRetried(builder, at, fault)) return true;
    if (!activity.handling && handlerFor(builder, at, fault)) return true;
  }
  return escalatesToCaller(builder, fault);
}

/**
 * Whether a retry around it has had all its runs, and the workflow leaves what nobody answers to a person: he is asked at once,
 * with what was answered last. What cleans up goes on being tried.
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

/** An order that another one called ends with the faults that are for its caller, once all that it did is undone. */
function escalatesToCaller({ program, state }: TransitionBuilder, fault: Fault): boolean {
  const { toCaller = [] } = program.definition;
  return state.called === true && !state.ending && toCaller.some((type) => isKindOf(fault.type, type));
}

export function isRetried(builder: TransitionBuilder, path: string, fault: Fault): boolean {
  const activity = builder.activity(path);
  if (activity?.status !== 'Executing') return false;
  return builder.behavior(path).retries?.(builder.node(path), activity.local, fault) ?? false;
}

export const handlerFor = (builder: TransitionBuilder, path: string, fault: Fault): FaultHandler | undefined =>
  builder.node(path).faultHandlers?.find((handler) => isKindOf(fault.type, handler.fault));

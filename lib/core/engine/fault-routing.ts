import { type Fault, isKindOf } from '#core/data/fault';
import type { FaultHandler } from '#core/definition/definition';
import type { Draft } from './transition-builder.ts';

/**
 * Whether a fault of the activity at a path goes to somebody on its way up, so that it may unwind what is in between.
 * One that may be over by the next asking (`forNow`) does not end what cleans up.
 */
export function isTaken(draft: Draft, path: string, fault: Fault, forNow = false): boolean {
  for (let at: string | undefined = path, from: string | undefined; at !== undefined; from = at, at = draft.waiterFor(at)) {
    const activity = draft.activity(at);
    if (!activity) continue;
    if (activity.cleaning && from !== undefined) return !forNow;
    const unwinds = activity.status === 'Faulting' && !activity.handling && !activity.waits && from !== undefined;
    if (activity.status === 'Canceling' || unwinds) return true;
    if (from !== undefined && absorbs(draft, at, fault)) return true;
    if (!activity.handling && handlerFor(draft, at, fault)) return true;
  }
  return goesToCaller(draft, fault);
}

/**
 * Whether a retry around it has had all its runs, and the workflow leaves what nobody answers to a person: he is asked at once,
 * with what was answered last. What cleans up goes on being tried.
 */
export function isUsedUp(draft: Draft, path: string, fault: Fault): boolean {
  const { onExhausted = 'error' } = draft.program.definition;
  for (let at = draft.waiterFor(path); at !== undefined && onExhausted === 'error'; at = draft.waiterFor(at)) {
    const activity = draft.activity(at);
    if (activity?.cleaning) return false;
    if (activity?.status !== 'Executing') continue;
    if (draft.behavior(at).isUsedUp?.(draft.node(at), activity.own, fault)) return true;
  }
  return false;
}

/** An order that another one called ends with the faults that are for its caller, once all that it did is undone. */
function goesToCaller({ program, state }: Draft, fault: Fault): boolean {
  const { toCaller = [] } = program.definition;
  return state.called === true && !state.ending && toCaller.some((type) => isKindOf(fault.type, type));
}

export function absorbs(draft: Draft, path: string, fault: Fault): boolean {
  const activity = draft.activity(path);
  if (activity?.status !== 'Executing') return false;
  return draft.behavior(path).absorbs?.(draft.node(path), activity.own, fault) ?? false;
}

export const handlerFor = (draft: Draft, path: string, fault: Fault): FaultHandler | undefined =>
  draft.node(path).faultHandlers?.find((handler) => isKindOf(fault.type, handler.fault));

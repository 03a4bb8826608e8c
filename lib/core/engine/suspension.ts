import { attemptIdOf } from '#core/data/ids';
import { requestWakeUp } from './requests.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Stops the time of an order. Replies and signals are recorded, and no activity starts. */
export const suspend = (builder: TransitionBuilder): void => builder.set({ phase: 'suspended', suspendedAt: builder.event.at });

/** Ends the suspension, if there is one, and moves all times by its length. Every deadline has as much time left as before. */
export function endSuspension(builder: TransitionBuilder): void {
  const { suspendedAt, endBy, ...state } = builder.state;
  if (suspendedAt === undefined) return;
  builder.replaceState({ ...state, phase: 'running', ...(endBy === undefined ? {} : { endBy }) });
  moveTimes(builder, builder.event.at - suspendedAt);
}

/** Stops the deadlines of an order that a person locks. The renewal of a lock changes nothing here. */
export function beginStandstill(builder: TransitionBuilder): void {
  if (builder.state.stillSince === undefined) builder.set({ stillSince: builder.event.at });
}

/** Moves all times by the time for which they stood still. The times of a suspended order move when it is resumed. */
export function endStandstill(builder: TransitionBuilder, { until, goesOn }: { readonly until: number; readonly goesOn: boolean }): void {
  const { stillSince, ...state } = builder.state;
  if (stillSince === undefined) return;
  const isOpen = state.phase !== 'closed';
  builder.replaceState({ ...state, ...(goesOn && isOpen ? { stillSince: Math.max(stillSince, until) } : {}) });
  if (isOpen && state.phase !== 'suspended') moveTimes(builder, until - stillSince);
}

/** Moves every deadline and timer. Clocks of hosts differ: no time moves backward. */
function moveTimes(builder: TransitionBuilder, byMs: number): void {
  if (byMs <= 0) return;
  const { endBy, activities } = builder.state;
  if (endBy !== undefined) builder.set({ endBy: endBy + byMs });
  for (const path of Object.keys(activities)) postpone(builder, path, byMs);
}

function postpone(builder: TransitionBuilder, path: string, byMs: number): void {
  const { local: before, reply } = builder.activity(path) ?? {};
  if (before === undefined) return;
  const local = builder.behavior(path).postponed?.(before, byMs) ?? before;
  const waitsUntil = builder.activity(path)?.waitsUntil;
  builder.patch(path, { local, ...(waitsUntil === undefined ? {} : { waitsUntil: waitsUntil + byMs }) });
  requestWakeUp(builder, path);
  const step = builder.stepAt(path);
  if (!step || reply || step.phase !== 'requested') return;
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(step), completeBy: step.completeBy });
}

/** Returns the time by the clock of the order, which stops at a suspension. A reply that was sent during the suspension is in time. */
export const orderTime = ({ state: { suspendedAt } }: TransitionBuilder, at: number): number => Math.min(at, suspendedAt ?? at);

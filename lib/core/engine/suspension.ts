import { attemptIdOf } from '#core/data/ids';
import { requestWakeUp } from './requests.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Stops the time of an order. Replies and signals are recorded, and no activity starts. */
export const suspend = (builder: TransitionBuilder): void => builder.set({ phase: 'suspended', suspendedAt: builder.event.at });

/** Moves all times by the length of the suspension. Every deadline has as much time left as before. */
export function restoreTimes(builder: TransitionBuilder): void {
  const { suspendedAt, endBy, ...state } = builder.state;
  if (suspendedAt === undefined) return;
  // Clocks of hosts differ: an order cannot be resumed before it was suspended.
  const byMs = Math.max(0, builder.event.at - suspendedAt);
  builder.replaceState({ ...state, phase: 'running', ...(endBy === undefined ? {} : { endBy: endBy + byMs }) });
  for (const path of Object.keys(state.activities)) postpone(builder, path, byMs);
}

function postpone(builder: TransitionBuilder, path: string, byMs: number): void {
  const { local: before, reply } = builder.activity(path) ?? {};
  if (before === undefined || byMs === 0) return;
  const local = builder.behavior(path).postponed?.(before, byMs) ?? before;
  const waitsUntil = builder.activity(path)?.waitsUntil;
  builder.patch(path, { local, ...(waitsUntil === undefined ? {} : { waitsUntil: waitsUntil + byMs }) });
  requestWakeUp(builder, path);
  const step = builder.stepAt(path);
  if (!step || reply || step.phase !== 'requested') return;
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(step), completeBy: step.completeBy });
}

/** Returns the time in terms of the order. A reply that was sent during the suspension is in time. */
export const orderTime = ({ state: { suspendedAt } }: TransitionBuilder, at: number): number => Math.min(at, suspendedAt ?? at);

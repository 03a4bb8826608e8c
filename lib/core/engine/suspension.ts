import type { StepState } from '#core/activities/step';
import { attemptIdOf } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import type { TransitionBuilder } from './transition-builder.ts';

/** Its time stands still from now on: what comes is recorded, and nothing is begun. */
export const suspend = (builder: TransitionBuilder): void => builder.set({ phase: 'suspended', suspendedAt: builder.event.at });

/** Everything has as much time left as it had then; what was late is late by as much. */
export function restoreTimes(builder: TransitionBuilder): void {
  const { suspendedAt, endBy, ...state } = builder.state;
  if (suspendedAt === undefined) return;
  // Clocks of hosts differ: it was not resumed before it was suspended.
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
  builder.wakeLater(path);
  if (!isRemote(builder.node(path)) || reply || (local as StepState).phase !== 'requested') return;
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(local as StepState), completeBy: (local as StepState).completeBy });
}

/** An answer that was sent while the time of its step stood still is in time. */
export const orderTime = ({ state: { suspendedAt } }: TransitionBuilder, at: number): number => Math.min(at, suspendedAt ?? at);

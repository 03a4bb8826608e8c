import type { StepState } from '#core/activities/step';
import { askingOf } from '#core/data/ids';
import { asks } from '#core/definition/definition';
import type { Draft } from './transition-builder.ts';

/** Its time stands still from now on: what comes is recorded, and nothing is begun. */
export const suspend = (draft: Draft): void => draft.set({ phase: 'suspended', suspendedAt: draft.event.at });

/** Everything has as much time left as it had then; what was late is late by as much. */
export function restoreTimes(draft: Draft): void {
  const { suspendedAt, endBy, ...state } = draft.state;
  if (suspendedAt === undefined) return;
  // Clocks of hosts differ: it was not resumed before it was suspended.
  const byMs = Math.max(0, draft.event.at - suspendedAt);
  draft.remember({ ...state, phase: 'running', ...(endBy === undefined ? {} : { endBy: endBy + byMs }) });
  for (const path of Object.keys(state.activities)) postpone(draft, path, byMs);
}

function postpone(draft: Draft, path: string, byMs: number): void {
  const { own: before, reply } = draft.activity(path) ?? {};
  if (before === undefined || byMs === 0) return;
  const own = draft.behavior(path).postponed?.(before, byMs) ?? before;
  const waitsUntil = draft.activity(path)?.waitsUntil;
  draft.patch(path, { own, ...(waitsUntil === undefined ? {} : { waitsUntil: waitsUntil + byMs }) });
  draft.wakeLater(path);
  if (!asks(draft.node(path)) || reply || (own as StepState).phase !== 'asked') return;
  draft.fact({ type: 'StepExtended', path, asking: askingOf(own as StepState), completeBy: (own as StepState).completeBy });
}

/** An answer that was sent while the time of its step stood still is in time. */
export const orderTime = ({ state: { suspendedAt } }: Draft, at: number): number => Math.min(at, suspendedAt ?? at);

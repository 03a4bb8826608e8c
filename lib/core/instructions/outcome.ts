import type { State } from '#core/data/state';
import { type Program, stepAt } from '#core/definition/program';
import { isDefiniteRefusal } from '#core/engine/step-replies';

/**
 * Whether nobody knows if the last request of an open step had its effect. A recorded success, or a recorded definite refusal, tells it.
 */
export function isUnknown(program: Program, state: State, path: string): boolean {
  const step = stepAt(program, state, path);
  if (!step || step.attempt === 0 || step.phase === 'refused') return false;
  const reply = state.activities[path]?.reply;
  return reply === undefined || !(reply.status === 'succeeded' || isDefiniteRefusal(reply));
}

import type { Fault } from '#core/data/fault';
import { definitionPath, stepOfRequest } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { dependentsOf } from '#core/recovery/dependents';
import { addFacts, type Draft } from './draft.ts';

/**
 * Notes the fault of a step that a recovery has canceled (F-149). The fault leads to no exception: the step is undone, or runs again after
 * the recovery, and then its faults count.
 */
export function noteMasked(before: Draft, after: Draft, requestId: string, fault: Fault | undefined): Draft {
  const { activities, recovering } = before.instance.state;
  // Nearly every reply comes while no recovery runs.
  if (recovering === undefined || !fault || after === before || after.needs !== undefined) return after;
  const path = stepOfRequest(before.record.orderId, requestId);
  if (path === undefined || activities[path]?.status !== 'Canceling') return after;
  return addFacts(after, [{ type: 'FaultMasked', path, fault, maskedBy: recovering }]);
}

/** A recovery that is not over. */
export interface Mask {
  /** The path of the activity that is recovered. */
  readonly by: string;
  /** Whether the recovery undoes a step, or has it run again. */
  readonly covers: (path: string) => boolean;
}

/** Returns the recovery that is not over; undefined if there is none. */
export function maskIn({ instance: { state }, loaded: { program } }: Draft): Mask | undefined {
  const { recovering } = state;
  if (recovering === undefined) return undefined;
  const scope = recovering === rootPath ? undefined : new Set(dependentsOf(program, definitionPath(recovering)).scope);
  return { by: recovering, covers: (path) => scope?.has(definitionPath(path)) ?? true };
}

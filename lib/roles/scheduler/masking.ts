import type { Fault } from '#core/data/fault';
import { definitionPath, stepOfRequest } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { dependentsOf } from '#core/recovery/dependents';
import { addFacts, type Draft } from './draft.ts';

/**
 * Notes the fault of a step that a recovery has canceled (F-149). It leads to no exception: the step is undone, or runs again after the
 * recovery, and then its faults count.
 */
export function noteMasked(before: Draft, after: Draft, requestId: string, fault: Fault | undefined): Draft {
  const { state } = before.instance;
  const path = stepOfRequest(before.record.orderId, requestId);
  const isCanceled = path !== undefined && state.activities[path]?.status === 'Canceling';
  if (after === before || after.needs !== undefined || !fault || !isCanceled || state.recovering === undefined) return after;
  return addFacts(after, [{ type: 'FaultMasked', path, fault, maskedBy: state.recovering }]);
}

/** Returns the activity whose recovery undoes a step, or has it run again; undefined without such a recovery. */
export function maskOf({ instance: { state }, loaded: { program } }: Draft, path: string): string | undefined {
  const { recovering } = state;
  if (recovering === undefined || recovering === rootPath) return recovering;
  return dependentsOf(program, definitionPath(recovering)).scope.includes(definitionPath(path)) ? recovering : undefined;
}

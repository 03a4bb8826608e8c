import { engineFault, engineFaults } from '#core/data/fault';
import { attemptOf, isUndoPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { conflictAt } from '#core/exceptions/writers';
import { subjectOf } from '#ports/records';
import { applyEvent, type Draft } from './draft.ts';

/**
 * The monitor (WSEHF): stops an order in the write that leaves the normal course, although no step has failed. It sees a step that begins
 * to write an object on which another step of the order is at work.
 */
export function monitor(draft: Draft): Draft {
  const { loaded, instance, record } = draft;
  if (draft.needs !== undefined || instance.state.phase !== 'running' || instance.state.ending || record.suspended) return draft;
  // A step that is requested again was seen before.
  const begun = instance.tail.flatMap((fact) =>
    fact.seq > loaded.instance.seq && fact.type === 'StepRequested' && attemptOf(fact.attemptId) === 1 && !isUndoPath(fact.path)
      ? [fact.path]
      : [],
  );
  for (const path of begun) {
    const node = nodeAt(loaded.program, path);
    if (!isRemote(node) || !node.writes) continue;
    const conflict = conflictAt(loaded.program, subjectOf(loaded.order), instance.state, path);
    if (!conflict) continue;
    const message = `${path} and ${conflict.other} write ${conflict.object} at the same time. Decide which of the two writes counts, then resubmit the order.`;
    return applyEvent(draft, { type: 'reported', fault: engineFault(engineFaults.writersConflict, message, { source: path }) });
  }
  return draft;
}

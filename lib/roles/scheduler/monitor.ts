import { engineFault, engineFaults } from '#core/data/fault';
import { attemptOf, isUndoPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { conflictAt } from '#core/exceptions/writers';
import { subjectOf } from '#ports/records';
import { applyEvent, type Draft } from './draft.ts';

/**
 * The monitor (WSEHF): stops an order although no step has failed, if a step begins to write an object that another step at work writes,
 * too. The same write that requests the step stops the order.
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

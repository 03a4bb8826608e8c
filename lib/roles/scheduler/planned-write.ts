import type { CancelCommand, RequestCommand } from '#core/data/command';
import { type Fault, isQuestion } from '#core/data/fault';
import { requestIdOf } from '#core/data/ids';
import { stepAt } from '#core/definition/program';
import { violations } from '#core/engine/invariants';
import { isBeingUndone } from '#core/views/undo-progress';
import { InvariantError } from '#ports/errors';
import { announcedAs, type DetailType } from '#ports/records';
import { timesOf } from './deadlines.ts';
import { addFacts, addToOutbox, alert, announce, type Draft, failureCountOf, patchRecord, sendStatus, summaryIn } from './draft.ts';
import { withStandingAfter } from './given-instructions.ts';
import { handledReplyOf } from './handlers.ts';
import { callerReplyOf, processedId } from './order-messages.ts';
import { recordCauses } from './record-causes.ts';
import { recordFields } from './recorded-events.ts';
import { restartOf } from './restarts.ts';
import { judgeWatches } from './rule-watches.ts';
import { judgeInstructions } from './task-watches.ts';
import type { PlannedWrite } from './types.ts';
import { raiseMasked } from './unmasking.ts';

/** Turns a draft into one write: copies the core's phase to the record, and collects the messages that follow. */
export function plannedWrite(draft: Draft): PlannedWrite {
  const judged = judgeWatches(judgeInstructions(recordCauses(recordBlocked(raiseMasked(recordClosed(draft))))));
  const recorded = recordFields(judged);
  refuseViolations(recorded);
  const { loaded, record, commands, outbox, taken, wakeUps } = recorded;
  const requests = commands.filter((command): command is RequestCommand => command.type === 'request' && isOutstanding(recorded, command));
  const given = withStandingAfter(recorded.instance, loaded.instance.seq, record);
  const instance = { ...given, lastRequested: requests.map(({ path }) => path) };
  return {
    record: {
      ...record,
      ...timesOf(loaded.program, instance.state),
      failureCount: failureCountOf(recorded),
      undoing: isBeingUndone(instance.state) || undefined,
      lastBy: [...taken, ...wakeUps],
      outbox: [...record.outbox, ...outbox],
      updatedAt: draft.now,
    },
    instance,
    requests,
    cancels: commands.filter((command): command is CancelCommand => command.type === 'cancel'),
    wakeUps: commands.flatMap((command) => (command.type === 'wake' ? [command.at] : [])),
    outbox,
    taken,
    ...useOfRules(recorded),
    ...(recorded.reported === undefined ? {} : { reported: recorded.reported.seq }),
  };
}

function useOfRules({ hits, verdicts, stale }: Draft): Pick<PlannedWrite, 'ruleUse'> {
  if (!hits && !verdicts && !stale) return {};
  return { ruleUse: { ...(hits ? { hits } : {}), ...(verdicts ? { verdicts } : {}), ...(stale ? { stale } : {}) } };
}

/** Moves a closed order to Processed with the fault that led to its outcome, and reports the outcome to its client and its caller. */
function recordClosed(draft: Draft): Draft {
  const { phase, outcome = 'completed', cause } = draft.instance.state;
  if (phase !== 'closed' || draft.record.processState === 'Processed') return draft;
  const fault = cause && outcome !== 'completed' ? summaryIn(draft, cause) : null;
  const processed = patchRecord(draft, { processState: 'Processed', outcome, fault, lockedBy: null });
  const noted = addFacts(processed, [{ type: 'OrderProcessed', outcome }]);
  const { order } = draft.loaded;
  const announced = draft.settings.announceProcessed
    ? announce(noted, 'Order Processed', processedId(noted.record, order, outcome), { outcome })
    : noted;
  const reported = sendStatus(announced, outcome === 'completed' ? 'completed' : 'failed');
  return addToOutbox(reported, [
    ...callerReplyOf(reported.record, order, reported.instance.state, draft.now),
    ...restartOf(reported),
    ...handledReplyOf(reported.record, order, draft.now),
  ]);
}

/** Moves a blocked order to Error. An order that is in Error already gets the present fault. */
function recordBlocked(draft: Draft): Draft {
  const { blocked } = draft.instance.state;
  if (!blocked) return draft;
  const inError =
    draft.record.processState === 'Error'
      ? patchRecord(draft, { fault: summaryIn(draft, blocked.fault) })
      : enterError(draft, blocked.fault);
  return blocked === draft.loaded.instance.state.blocked ? inError : announceTerminated(inError, blocked.fault);
}

/** Moves the order to Error. The alert is part of the same write, so neither exists without the other. */
export function enterError(draft: Draft, fault: Fault): Draft {
  const errorGen = draft.record.errorGen + 1;
  const inError = patchRecord(draft, { processState: 'Error', errorGen, fault: summaryIn(draft, fault) });
  return alertBlocked(inError, 'Order In Error', `${announcedAs(inError.record)}#${errorGen}`, fault);
}

/**
 * Announces, one time for each fault, that no handler of the workflow takes it, even if the supervisor has moved the order to Error before.
 */
function announceTerminated(draft: Draft, fault: Fault): Draft {
  // A question to a person is part of the workflow, not a failure.
  if (isQuestion(fault)) return sendStatus(draft, 'delayed');
  const id = `${announcedAs(draft.record)}#${draft.record.errorGen}/terminated`;
  return sendStatus(alertBlocked(draft, 'Workflow Terminated', id, fault), 'delayed');
}

function alertBlocked(draft: Draft, detailType: DetailType, id: string, fault: Fault): Draft {
  const { instance, record } = draft.loaded;
  // The supervisor may have moved the record of a running order to Error already.
  const before = instance.state.phase === 'running' ? 'Processing' : record.processState;
  return alert(draft, detailType, { id, fault: summaryIn(draft, fault), before, after: 'Error', failureCount: failureCountOf(draft) });
}

/** Whether a request must be sent: a later event of this transition may have closed or repeated its step. */
function isOutstanding({ instance, record, loaded }: Draft, { path, requestId }: RequestCommand): boolean {
  const step = stepAt(loaded.program, instance.state, path);
  return step?.phase === 'requested' && requestIdOf(record.orderId, path, step) === requestId;
}

function refuseViolations({ loaded, instance, record }: Draft): void {
  const wrong = violations(loaded.program, instance.state);
  if (wrong.length > 0) throw new InvariantError(`Order ${record.orderId} would violate an invariant: ${wrong.join('; ')}.`);
}

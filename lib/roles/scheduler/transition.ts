import type { Program } from '#core/definition/program';
import { workflowRef } from '#core/definition/workflow-ref';
import type { StateRecord } from '#ports/records';
import { applyMessage } from './apply-message.ts';
import { claim } from './claiming.ts';
import { frozenDue, isStopped, nextDeadline, worklistEntry } from './deadlines.ts';
import { addFacts, applyEvent, failureCountOf, newDraft, sendStatus } from './draft.ts';
import { askAboutTimes, askAboutWrite } from './event-manager.ts';
import { askHandlersAgain, isAwaited } from './handlers.ts';
import { noteUndone } from './inconsistencies.ts';
import type { Instance } from './instance.ts';
import { monitor } from './monitor.ts';
import { noteObjects } from './note-objects.ts';
import { afterStandstill } from './order-lock.ts';
import { plannedWrite } from './planned-write.ts';
import { journalVersion } from './recorded-events.ts';
import { noteRuleTimes } from './rule-times.ts';
import { ruleUndos } from './ruled-undos.ts';
import { blockLikeRecord, requestOverdue, takeNotes, wake } from './supervisor-notes.ts';
import type { Incoming, Loaded, NeedsPage, PlannedWrite, Settings } from './types.ts';
import { needsMasked } from './unmasking.ts';

/**
 * Applies messages to an order; returns the page that must be read first, or undefined if the messages change nothing. Pure, like the core.
 */
export function transition(
  loaded: Loaded,
  incoming: readonly Incoming[],
  now: number,
  settings: Settings,
): PlannedWrite | NeedsPage | undefined {
  const upToDate = ruleUndos(blockLikeRecord(takeNotes(afterStandstill(askHandlersAgain(newDraft(loaded, now, settings))))));
  const applied = askAboutTimes(incoming.reduce(applyMessage, upToDate));
  const draft = needsMasked(noteRuleTimes(askAboutWrite(noteUndone(noteObjects(monitor(wake(requestOverdue(applied))))))));
  if (draft.needs !== undefined) return { needs: draft.needs };
  return draft.changed ? plannedWrite(draft) : undefined;
}

/** The start of a new order: in the write that creates it, at a later claim, or never. */
export type Beginning = 'now' | 'later' | 'never';

/** Plans a new order: claimed, left Pending, or canceled before it begins. */
export function newTransition(loaded: Loaded, begin: Beginning, now: number, settings: Settings): PlannedWrite {
  const workflow = workflowRef(loaded.order.workflow);
  const submitted = addFacts(newDraft(loaded, now, settings), [{ type: 'OrderSubmitted', workflow, v: journalVersion }]);
  const received = ruleUndos(sendStatus(submitted, 'received'));
  const begun = begin === 'now' ? claim(received) : received;
  const draft = begin === 'never' ? applyEvent(received, { type: 'canceled', outcome: 'canceled' }) : begun;
  return plannedWrite(noteRuleTimes(askAboutWrite(monitor(draft))));
}

/** Returns an otherwise unchanged order with the supervisor's notes. */
export function withNotes(loaded: Loaded, now: number, settings: Settings): Pick<PlannedWrite, 'record' | 'instance'> {
  const draft = takeNotes(newDraft(loaded, now, settings));
  return { record: { ...draft.record, failureCount: failureCountOf(draft) }, instance: draft.instance };
}

/** Sets the deadline and the worklist entry of a record. The outbox must be complete, because sending it may be what is due. */
export function withDeadline(program: Program, instance: Instance, record: StateRecord, now: number): StateRecord {
  const { state, rules } = instance;
  const awaitsHandler = rules?.handlers?.some(isAwaited) ?? false;
  const deadline = nextDeadline({ program, state, rulesAt: rules?.wakeAt, awaitsHandler }, record, now);
  const dueFor = deadline?.for ?? (isStopped(record) ? frozenDue(record) : null);
  return { ...record, nextDueAt: deadline?.at ?? null, nextDueFor: dueFor, ...worklistEntry(record, deadline) };
}

import { advance } from '#core/advance';
import type { Command } from '#core/data/command';
import type { Event, EventContent } from '#core/data/event';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import { attemptOf } from '#core/data/ids';
import { type Json, type JsonObject, utf8Bytes } from '#core/data/json';
import type { Blocked } from '#core/data/state';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { mostLate } from '#core/engine/lateness';
import type { ByteBudget } from '#core/engine/transition';
import type { StatusKind } from '#ports/messages';
import { announcedAs, type DetailType, type FaultSummary, type OutboxEntry, type StateRecord, subjectOf } from '#ports/records';
import type { PersonsDecision, TaskWishes } from '#roles/exceptions/causes';
import { type Instance, journal, type OrderFact } from './instance.ts';
import { announcementOf, type FaultAlert, faultAlert, statusOf } from './order-messages.ts';
import { recordEvent } from './recorded-events.ts';
import { outputWithoutSecrets, redactedFact, secretsOf, summaryOf } from './redaction.ts';
import { withoutSecrets } from './replies.ts';
import type { Loaded, NeedsPage, RuleHit, RuleVerdict, Settings, StaleRule } from './types.ts';

/** An order while messages are applied to it: its record and instance so far, and the messages that follow. */
export interface Draft {
  readonly loaded: Loaded;
  readonly now: number;
  readonly settings: Settings;
  readonly record: StateRecord;
  readonly instance: Instance;
  readonly commands: readonly Command[];
  /** Entries that this transition adds to the record's outbox. */
  readonly outbox: readonly OutboxEntry[];
  /** Ids of the messages that changed the order. */
  readonly taken: readonly string[];
  /** Ids of the wake-ups among the messages. */
  readonly wakeUps: readonly string[];
  /** The decision of a person that this transition carries out. */
  readonly decidedBy?: PersonsDecision;
  /** Whether the order must be written. A rebuilt instance is written even if the messages change nothing. */
  readonly changed: boolean;
  /** The page that must be read before the next event can be applied. */
  readonly needs?: NeedsPage['needs'];
  /** The diagnosis of the exception manager about the fault for which the order is blocked. */
  readonly diagnosis?: Diagnosis;
  /** Tasks that rules ask for, by their causes. */
  readonly wishes?: { readonly [cause: string]: TaskWishes };
  readonly hits?: readonly RuleHit[];
  readonly verdicts?: readonly RuleVerdict[];
  /** Rules that do not fit the version of the order's workflow. */
  readonly stale?: readonly StaleRule[];
  /** The number of rules in a row that have raised or signaled what happens now. */
  readonly rulesRound?: number;
  /** The rule whose action closes the open causes. */
  readonly ruledBy?: string;
  /** The report that this transition takes. `seq`: the number of its exception. */
  readonly reported?: { readonly seq: number; readonly by: string; readonly causedBy?: string };
  /** Numbers of the exceptions that `raiseMasked` has raised at the end of the order. They stay open, although the order ends. */
  readonly raised?: readonly number[];
}

/** A diagnosed exception that waits for a person. */
export interface Diagnosis {
  readonly blocked: Blocked;
  readonly wishes: TaskWishes;
  readonly causedBy?: string | undefined;
}

export const newDraft = (loaded: Loaded, now: number, settings: Settings): Draft => {
  const { record, instance, rebuilt: changed = false } = loaded;
  return { loaded, now, settings, record, instance, commands: [], outbox: [], taken: [], wakeUps: [], changed };
};

/** Changes attributes of the record. */
export const patchRecord = (draft: Draft, change: Partial<StateRecord>): Draft => ({
  ...draft,
  record: { ...draft.record, ...change },
  changed: true,
});

/** Adds facts to the journal. */
export const addFacts = (draft: Draft, facts: readonly OrderFact[]): Draft =>
  facts.length === 0 ? draft : { ...draft, instance: journal(draft.instance, facts, draft.now), changed: true };

export const addToOutbox = (draft: Draft, entries: readonly OutboxEntry[]): Draft => ({ ...draft, outbox: [...draft.outbox, ...entries] });

export const announce = (draft: Draft, detailType: DetailType, id: string, detail: JsonObject): Draft =>
  addToOutbox(draft, [announcementOf(draft.record, detailType, id, detail, draft.now)]);

/** Alerts a person about a fault of the order. */
export const alert = (draft: Draft, detailType: DetailType, about: FaultAlert): Draft =>
  addToOutbox(draft, [faultAlert(draft.record, detailType, about, draft.now)]);

/** Sends the client a status message if the client has a response queue. */
export function sendStatus(draft: Draft, status: StatusKind): Draft {
  const { responseChannel, statusSeq } = draft.record;
  if (responseChannel === null) return draft;
  const next = patchRecord(draft, { statusSeq: statusSeq + 1 });
  const output = outputWithoutSecrets(current(draft));
  return addToOutbox(next, [statusOf(next.record, draft.loaded.order, responseChannel, { status, output }, draft.now)]);
}

/** Claims the order for this host, without starting or continuing it. */
export function takeClaim(draft: Draft): Draft {
  const epoch = draft.record.epoch + 1;
  const claimed = patchRecord(draft, { epoch, lockedBy: draft.settings.hostId, processState: 'Processing' });
  return addFacts(claimed, [{ type: 'OrderClaimed', epoch }]);
}

/** Has the core apply an event. While an undo page is missing, no event is applied: the caller reads the page and begins again. */
export function applyEvent(draft: Draft, event: EventContent): Draft {
  if (draft.needs !== undefined) return draft;
  const { program, order, undoPages: pages = new Map() } = draft.loaded;
  const happened = { ...event, at: draft.now, epoch: draft.record.epoch } as Event;
  const before = draft.instance.state;
  const byteBudget = remainingByteBudget(draft);
  const { state, commands, facts, needs } = advance(program, subjectOf(order), before, happened, { pages, byteBudget });
  if (needs !== undefined) return { ...draft, needs };
  if (state === before && facts.length === 0) return draft;
  // Undos that rules give to steps become part of the order's program.
  const loaded = state.ruledUndos === before.ruledUndos ? draft.loaded : { ...draft.loaded, program: withRuledUndos(program, state) };
  const advanced: Draft = { ...draft, loaded, instance: { ...draft.instance, state }, changed: true };
  const secrets = secretsOf(current(advanced));
  const shown = facts.map((fact) => redactedFact(program, fact, secrets));
  const journaled = recordEvent(addFacts(advanced, shown), { event, before, facts: shown, budget: byteBudget });
  const next: Draft = { ...journaled, commands: [...journaled.commands, ...commands] };
  return facts.reduce<Draft>((each, fact) => (fact.type === 'UndoFailed' && fact.stuck ? announceStuck(each, fact) : each), next);
}

/** Returns the byte budget that is left for the next event. */
function remainingByteBudget({ settings: { byteBudget }, instance, loaded }: Draft): ByteBudget | undefined {
  if (!byteBudget) return undefined;
  const added = instance.tail.filter(({ seq }) => seq > loaded.instance.seq) as unknown as readonly Json[];
  return { ...byteBudget, journal: byteBudget.journal - utf8Bytes(added) };
}

/** Announces that an undo keeps failing, so that an operator looks for the reason. The scheduler continues to retry it. */
function announceStuck(draft: Draft, { path, attemptId, fault }: Extract<OrderFact, { type: 'UndoFailed' }>): Draft {
  const summary = summaryIn(draft, fault ?? engineFault(engineFaults.deadlineExceeded, 'The agent of the undo does not answer.'));
  const failureCount = attemptOf(attemptId);
  const id = `${announcedAs(draft.record)}/stuck/${path}/${attemptId}`;
  return alert(draft, 'Compensation Stuck', {
    id,
    fault: { ...summary, source: path },
    before: 'Compensating',
    after: 'Compensating',
    failureCount,
  });
}

/** Returns the order as the draft has it so far. */
export const current = ({ loaded, record, instance }: Draft): Loaded => ({ ...loaded, record, instance });

/** Returns a fault for the record and its alerts, without secrets. */
export const summaryIn = (draft: Draft, fault: Fault): FaultSummary => summaryOf(withoutSecrets(fault, secretsOf(current(draft))));

/** Returns the largest number of missed deadlines of one step. */
export const failureCountOf = ({ loaded, instance }: Draft): number => mostLate(loaded.program, instance.state);

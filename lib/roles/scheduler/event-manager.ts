import { decide } from '#core/rules/decide';
import { type RuleEventKind, troubleKinds } from '#core/rules/rule';
import { isAnyOutputRead, isAnyRuleAbout, stepsOfConstraints } from '#core/rules/rule-set';
import { actOnEvent } from './act-on-event.ts';
import type { Draft } from './draft.ts';
import { askRules } from './exception-manager.ts';
import { noteDecided } from './note-decided.ts';
import { type AskedSoFar, eventsOf, type Happened, isAnyRuleAboutWrites, orderStateOf } from './rule-events.ts';
import { asksAboutTimes, dueEvents, noteLate } from './rule-times.ts';
import { stepsAt, valuesAt } from './rule-values.ts';
import { noteDryUndos, noteRuledUndo } from './ruled-undos.ts';

/** The largest number of times that one write asks the rules about what they have done in the same write. */
const timesMax = 12;

/**
 * Asks the rules about the age of the order and about late steps, before the steps are requested again. An exception of the same write
 * comes first: the times are due again at the next write, and an action about a time must not hide the exception.
 */
export function askAboutTimes(draft: Draft): Draft {
  const { instance, loaded } = draft;
  const isNewlyBlocked = instance.state.blocked !== undefined && loaded.instance.state.blocked === undefined;
  if (isNewlyBlocked || !asksAboutTimes(draft)) return draft;
  const noted = noteLate(draft);
  return dueEvents(noted).reduce(ask, noted);
}

/**
 * Asks the rules about the exception that stops the order, and then about the other events of the write. An action of a rule
 * may be an event, too, about which the rules are asked.
 */
export function askAboutWrite(draft: Draft): Draft {
  let next = noteDryUndos(askRules(withoutTasksOfRules(draft)));
  const { rules } = next.settings;
  if (!rules || !isAnyRuleAboutWrites(rules, next.record.workflow.name)) return next;
  const { loaded } = draft;
  const isNew = loaded.record.rev === 0;
  let asked: AskedSoFar = { seq: loaded.instance.seq, state: isNew ? undefined : loaded.record.processState };
  for (let time = 0; time < timesMax && next.needs === undefined; time++) {
    const events = eventsOf(next, asked);
    if (events.length === 0) return next;
    asked = { seq: next.instance.seq, state: orderStateOf(next) };
    next = askRules(events.reduce(ask, next));
  }
  return next;
}

/** Ends the tasks of rules when the order ends: a finished order needs no decision of a person. */
function withoutTasksOfRules(draft: Draft): Draft {
  const { instance, loaded } = draft;
  if (!instance.rules?.tasks || instance.state.phase !== 'closed' || loaded.instance.state.phase === 'closed') return draft;
  const { tasks: _, ...rules } = instance.rules;
  return { ...draft, instance: { ...instance, rules } };
}

/** Asks the rules about one event, and carries out what they decide. */
function ask(draft: Draft, happened: Happened): Draft {
  const { rules } = draft.settings;
  const { workflow, orderId } = draft.record;
  const { event, path } = happened;
  if (draft.needs !== undefined || !rules || !isAnyRuleAbout(rules, event.kind, workflow.name)) return draft;
  if (needsJournal(draft, event.kind)) return { ...draft, needs: 'journal' };
  const ruled = draft.rulesRound === undefined ? event : { ...event, round: draft.rulesRound };
  const before = draft.instance.rules?.memory ?? {};
  const steps = event.kind === 'data' ? { steps: stepsAt(draft, stepsOfConstraints(rules, workflow.name)) } : {};
  const situation = { orderId, workflow, event: ruled, values: { ...valuesAt(draft, path), ...steps }, undosAreRuled: true } as const;
  const decided = decide(rules, situation, before);
  const noted = noteDecided(noteRuledUndo(draft, happened), decided, event.id);
  const main = decided.decisions.find(({ mode, action }) => mode === 'enforce' && action.kind !== 'announce');
  return main ? actOnEvent(noted, happened, main) : noted;
}

/** Whether the rules read outputs that only the journal has. Only rules about some kinds of events may do so: see `troubleKinds`. */
const needsJournal = ({ settings: { rules }, loaded, record }: Draft, kind: RuleEventKind): boolean =>
  rules !== undefined && !loaded.pages && troubleKinds.has(kind) && isAnyOutputRead(rules, kind, record.workflow.name);

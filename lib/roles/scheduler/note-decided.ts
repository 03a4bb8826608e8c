import type { Decided } from '#core/rules/decide';
import type { Decision } from '#core/rules/situation';
import { announcedAs } from '#ports/records';
import { addFacts, announce, type Draft } from './draft.ts';
import type { OrderFact } from './instance.ts';

/** Stores the memory of the rules, and carries out what rules note and announce beside the main decision. */
export function noteDecided(draft: Draft, { decisions, memory, facts }: Decided, eventId: string): Draft {
  const hits = decisions.map((decision) => ({ ruleId: decision.ruleId, acted: acts(decision) }));
  const stale = facts.flatMap((fact) => (fact.type === 'RuleStale' ? [{ ruleId: fact.ruleId, version: fact.version }] : []));
  const notes = [
    ...decisions.flatMap(({ mode, action, ruleId, version }): readonly OrderFact[] =>
      mode === 'dry-run' ? [{ type: 'RuleWouldHave', ruleId, version, action }] : [],
    ),
    ...facts.filter((fact) => fact.type === 'RuleEventForgotten'),
  ];
  const remembered = remember(addFacts(draft, notes), memory);
  const next: Draft = {
    ...remembered,
    ...(hits.length > 0 ? { hits: [...(draft.hits ?? []), ...hits] } : {}),
    ...(stale.length > 0 ? { stale: [...(draft.stale ?? []), ...stale] } : {}),
  };
  return decisions.filter(({ mode }) => mode === 'enforce').reduce((each, decision) => carriedOut(each, decision, eventId), next);
}

/** Whether a rule carries out its own action. If a rule fails or is stopped, the engine raises a fault for a person instead. */
const acts = ({ mode, action }: Decision): boolean => mode === 'enforce' && !(action.kind === 'raise' && action.toPerson);

function remember(draft: Draft, memory: Decided['memory']): Draft {
  const { instance } = draft;
  if (memory === instance.rules?.memory || (!instance.rules?.memory && Object.keys(memory).length === 0)) return draft;
  return { ...draft, instance: { ...instance, rules: { ...instance.rules, memory } }, changed: true };
}

/** Sends the announcement of a rule, and notes the round of a fault that it raises or a signal that it sends. */
function carriedOut(draft: Draft, { action, ruleId, version }: Decision, eventId: string): Draft {
  if (action.kind === 'raise' || action.kind === 'signal') return { ...draft, rulesRound: Math.max(draft.rulesRound ?? 0, action.round) };
  if (action.kind !== 'announce') return draft;
  const id = `${announcedAs(draft.record)}/rule/${ruleId}/${version}/${eventId}`;
  return announce(draft, 'Rule Announced', id, { type: 'RuleAnnounced', ruleId, text: action.text });
}

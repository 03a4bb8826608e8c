import { isJudged, judge, judgedAs, type Watch } from '#core/exceptions/verdict';
import type { Decision } from '#core/rules/situation';
import type { Draft } from './draft.ts';
import type { RuleVerdict } from './types.ts';

/** An action of a rule whose verdict is not known yet. */
export interface RuleWatch extends Watch {
  readonly rule: { readonly id: string; readonly version: number };
  /** The last line of the journal before the action. */
  readonly since: number;
}

/** One order has at most this many watches. Above that, the oldest watch is dropped without a verdict. */
const watchesMax = 8;

/** Watches what becomes of an action that a rule is about to carry out. */
export function watch(draft: Draft, { ruleId, version, action }: Decision, about: Omit<Watch, 'kind'>): Draft {
  const kind = judgedAs(action);
  if (!isJudged(kind)) return draft;
  const { instance } = draft;
  const one: RuleWatch = { kind, ...about, rule: { id: ruleId, version }, since: instance.seq };
  const watches = [...(instance.rules?.watches ?? []), one].slice(-watchesMax);
  return { ...draft, instance: { ...instance, rules: { ...instance.rules, watches } }, changed: true };
}

/** Judges the watched actions by what this write has added to the journal. */
export function judgeWatches(draft: Draft): Draft {
  const { loaded, instance } = draft;
  const { watches = [], ...others } = instance.rules ?? {};
  if (watches.length === 0) return draft;
  const left: RuleWatch[] = [];
  const verdicts: RuleVerdict[] = [...(draft.verdicts ?? [])];
  for (const { rule, since, ...one } of watches) {
    const facts = instance.tail.filter(({ seq }) => seq > since && seq > loaded.instance.seq);
    const found = judge(loaded.program, one, facts);
    if (typeof found === 'string') verdicts.push({ ruleId: rule.id, version: rule.version, verdict: found });
    else left.push({ ...found, rule, since });
  }
  const rules = left.length > 0 ? { ...others, watches: left } : others;
  const { rules: _, ...rest } = instance;
  return { ...draft, verdicts, instance: Object.keys(rules).length > 0 ? { ...rest, rules } : rest };
}

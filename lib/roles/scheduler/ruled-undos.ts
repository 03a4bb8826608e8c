import { isUndoPath } from '#core/data/ids';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { ruledUndoOf } from '#core/definition/ruled-undos';
import { decide } from '#core/rules/decide';
import { compileRules, isAnyRuleAbout, type RuleSet } from '#core/rules/rule-set';
import { undosOfRules } from '#core/rules/rules-of-undos';
import { addFacts, applyEvent, type Draft } from './draft.ts';
import { noteDecided } from './note-decided.ts';
import { type Happened, stepOf } from './rule-events.ts';
import { outputsIn, valuesAt } from './rule-values.ts';
import { wholeJournal } from './step-report.ts';

/** Tells the order which undos rules give to its steps, if these undos have changed since the last write of the order. */
export function ruleUndos(draft: Draft): Draft {
  const { settings, record, instance } = draft;
  if (!settings.rules || instance.state.phase === 'closed') return draft;
  const { undos, stale } = undosOfRules(settings.rules, record);
  const noted = stale.length > 0 ? { ...draft, stale: [...(draft.stale ?? []), ...stale] } : draft;
  const isNone = Object.keys(undos).length === 0 && !instance.state.ruledUndos;
  return isNone ? noted : applyEvent(noted, { type: 'undosRuled', undos });
}

/** Notes that a rule acts when the undo that it has given begins. */
export function noteRuledUndo(draft: Draft, { event, path }: Happened): Draft {
  if (event.type !== 'Compensating' || path === undefined || isUndoPath(path)) return draft;
  const ruled = ruledUndoOf(nodeAt(draft.loaded.program, path));
  if (!ruled) return draft;
  const { rule, agent, operation } = ruled;
  const input = draft.instance.state.undo?.find((entry) => entry.path === path)?.input ?? null;
  const action = { kind: 'compensate-with', agent, operation, input } as const;
  const hits = [...(draft.hits ?? []), { ruleId: rule.id, acted: true }];
  return { ...addFacts(draft, [{ type: 'RuleActed', ruleId: rule.id, version: rule.version, action }]), hits };
}

/** Cache: for each set of rules, those of its compensation rules that are in dry-run. */
const dryRuns = new WeakMap<RuleSet, RuleSet>();

function dryRunsOf(set: RuleSet): RuleSet {
  const known = dryRuns.get(set);
  if (known) return known;
  const all = [...set.byKind.values()].flatMap(({ general, ofWorkflow }) => [general, ...ofWorkflow.values()].flat());
  const rules = new Set(all.map(({ rule }) => rule));
  const dry = compileRules(
    [...rules].filter(({ action, mode }) => action.kind === 'compensate-with' && mode === 'dry-run'),
    set.world,
  );
  dryRuns.set(set, dry);
  return dry;
}

/** Notes which steps rules in dry-run would have undone, in the write that begins to undo the whole order. */
export function noteDryUndos(draft: Draft): Draft {
  const { settings, record, instance, loaded } = draft;
  const { workflow, orderId } = record;
  if (draft.needs !== undefined || !settings.rules || !instance.state.ending || loaded.instance.state.ending) return draft;
  const set = dryRunsOf(settings.rules);
  if (!isAnyRuleAbout(set, 'step-state', workflow.name)) return draft;
  if (!loaded.pages) return { ...draft, needs: 'journal' };
  const journal = wholeJournal(loaded.pages, instance.tail);
  const done = journal.flatMap((fact) => (fact.type === 'ActivityClosed' && fact.result === 'Succeeded' ? [fact.path] : []));
  const outputs = outputsIn(journal);
  return [...new Set(done)].reduce((next, path) => {
    if (!isRemote(nodeAt(loaded.program, path))) return next;
    const event = {
      id: `would-undo:${path}`,
      kind: 'step-state',
      at: draft.now,
      type: 'Compensating',
      ...stepOf(loaded.program, path),
    } as const;
    const values = { ...valuesAt(next, path), outputs };
    return noteDecided(next, decide(set, { orderId, workflow, event, values }, next.instance.rules?.memory), event.id);
  }, draft);
}

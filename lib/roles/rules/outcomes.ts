import { isHarmful, withOutcome } from '#core/rules/demotion';
import { collections, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import type { Rules } from './rules.ts';

/** Value of `by` when the engine changes a rule. */
export const byEngine = 'engine';

/**
 * Notes whether an action of a rule has helped: the order has passed the step of the exception. Demotes a rule that does harm: its mode
 * becomes dry-run. Returns whether the rule was demoted now, so that a person must be alerted.
 */
export async function noteOutcome(
  { store, rules }: { readonly store: Documents; readonly rules: Pick<Rules, 'rule' | 'put'> },
  { ruleId, version, hasPassed }: { readonly ruleId: string; readonly version: number; readonly hasPassed: boolean },
): Promise<boolean> {
  const harmful = await compareAndSet<boolean>(async () => {
    const found = await store.document(collections.ruleOutcomes, ruleId);
    // Another version of a rule is another rule. A late result of an older version must not replace those of the present one.
    const known = Number(found?.content['version'] ?? 0);
    if (known > version) return false;
    const before = known === version ? String(found?.content['outcomes']) : '';
    const outcomes = withOutcome(before, hasPassed);
    const document = { collection: collections.ruleOutcomes, id: ruleId, rev: (found?.rev ?? 0) + 1, content: { version, outcomes } };
    const { outcome } = await store.putDocument(document, found?.rev ?? 0);
    return outcome === 'written' ? isHarmful(outcomes) : 'lost';
  });
  if (harmful !== true) return false;
  const rule = await rules.rule(ruleId);
  if (rule?.version !== version || rule.mode !== 'enforce') return false;
  const reason = 'At least half of the last 20 actions of the rule failed again.';
  const written = await rules.put({ ...rule, mode: 'dry-run' }, { by: byEngine, reason, expected: version });
  return written.outcome === 'written';
}

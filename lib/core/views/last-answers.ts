import type { Fault } from '#core/data/fault';
import type { CoreFact } from '#core/data/journal';

/**
 * Returns the fault that the agent of each open step reported last, by path, from the journal. A new kind of fact about failed
 * attempts must be added here.
 */
export function lastAnswers(journal: readonly { readonly type: string }[]): ReadonlyMap<string, Fault> {
  const answers = new Map<string, Fault>();
  for (const fact of journal as readonly CoreFact[]) {
    if (fact.type === 'AttemptFailed') answers.set(fact.path, fact.fault);
    else if (fact.type === 'UndoFailed' && fact.fault) answers.set(fact.path, fact.fault);
    else if (fact.type === 'ActivityClosed') answers.delete(fact.path);
  }
  return answers;
}

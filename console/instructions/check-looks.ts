import type { Check } from '../api/types.ts';
import { definitionPath, type Look, ordinal } from '../graph/look.ts';
import type { IconName } from '../parts/icons.ts';

const look = (kind: string, icon: IconName, says: string, word = says): Look => ({ kind, icon, tone: '', word, says });

/**
 * Returns how each step looks in the graph of a check: steps that run, are undone or count as undone, are skipped or are canceled. All
 * other steps are pale.
 */
export function checkLooks(check: Check, now: ReadonlyMap<string, Look>): ReadonlyMap<string, Look> {
  const looks = new Map([...now].map(([path, each]) => [path, { ...each, kind: 'ghost', says: '', word: `stays as it is: ${each.word}` }]));
  if (!check.feasible) return looks;
  const undone = check.effects.undoes.map(({ path }) => definitionPath(path));
  const later = check.whenResumed.map(({ path }) => definitionPath(path));
  for (const path of later) looks.set(path, look('willundo', 'undo', 'after resume', 'will be undone when somebody resumes the order'));
  const requested = new Set(check.effects.requests.map(({ path }) => definitionPath(path)));
  for (const { path: at, changes } of check.graph) {
    const path = definitionPath(at);
    const place = undone.indexOf(path) + 1;
    const last = changes.at(-1);
    const before = changes.includes('undone') && last !== 'undone' ? 'undone, ' : '';
    if (last === 'runs') looks.set(path, look('will', 'play', requested.has(path) ? `${before}requested` : `${before}then runs`));
    if (last === 'undone') looks.set(path, look('willundo', 'undo', place > 0 ? `${ordinal(place)} undo` : 'undone', 'will be undone'));
    if (last === 'skipped') looks.set(path, look('willskip', 'skip', `${before}skipped`));
    if (last === 'marked') looks.set(path, look('undone', 'undo', 'by hand', 'will count as undone by hand'));
    if (last === 'canceled') looks.set(path, look('cancel', 'cancel', 'canceled'));
  }
  return looks;
}

import type { Mutant } from './mutant.ts';

const exact = 'lib/roles/repair/exact.ts';

/** Mistakes in rebuilding an order whose state cannot be read. */
export const rebuilding: readonly Mutant[] = [
  {
    name: 'an order continues without the last lines of its journal',
    why: 'the lines that were lost with the state are not missed, so that the order continues where it stood before them',
    file: exact,
    find: 'if (!whole || last === undefined) return',
    replace: 'if (lines.length === 0) return',
  },
  {
    name: 'the fold is not compared with the facts',
    why: 'an event counts as explained by the first guess, whatever the journal recorded of it',
    file: 'lib/roles/repair/fold.ts',
    find: 'if (difference !== undefined) {',
    replace: 'if (difference === undefined && result.facts.length === 0) {',
    suites: ['test/roles/rebuilding.test.ts'],
  },
  {
    name: 'a rebuilt order is not written',
    why: 'a message that changes nothing leaves the unreadable state as it is, and a person never hears of it',
    file: 'lib/roles/scheduler/draft.ts',
    find: 'const { record, instance, rebuilt: changed = false } = loaded;',
    replace: 'const { record, instance } = loaded; const changed = false;',
    suites: ['test/roles/rebuilding.test.ts'],
  },
];

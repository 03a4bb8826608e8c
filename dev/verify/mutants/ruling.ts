import type { Mutant } from './mutant.ts';

const decide = 'lib/core/rules/decide.ts';
const records = 'lib/roles/exceptions/store.ts';

/** Mistakes about rules and the records of exceptions: a dry run, a brake, a figure. */
export const ruling: readonly Mutant[] = [
  {
    name: 'a rule in dry-run acts',
    why: 'the mode of a rule is looked at too late',
    file: decide,
    find: "if (rule.mode === 'dry-run') {",
    replace: "if (rule.mode === 'dry-run' && rule.priority < 0) {",
  },
  {
    name: 'a dry run is noted at each event',
    why: 'the history of an order fills with the same line',
    file: decide,
    find: "if (isNoted(this.memory, 'wouldHave', key)) return;",
    replace: "if (isNoted(this.memory, 'wouldHave', '')) return;",
  },
  {
    name: 'a rule handles what the supervisor has opened, and leaves it open',
    why: 'two writers of three open an exception, and only one of them is closed by a rule',
    file: 'lib/roles/scheduler/exception-manager.ts',
    find: '  if (open) return closeCause(freed, open, handling);\n',
    replace: '',
  },
  {
    name: 'a changed rule announces under the id of its former version',
    why: 'a receiver that has seen the id ignores another text',
    file: 'lib/roles/scheduler/note-decided.ts',
    find: '/rule/${ruleId}/${version}/${eventId}`',
    replace: '/rule/${ruleId}/${eventId}`',
    suites: ['test/roles/rule-events.test.ts'],
  },
  {
    name: 'an exception that is opened late forgets that it was handled',
    why: 'the early closing is found and not read',
    file: records,
    find: 'const closing = current && isSame ? closedBeforeOpened(current) : {};',
    replace: 'const closing = current && isSame ? {} : {};',
    suites: ['test/roles/exceptions.test.ts'],
  },
  {
    name: 'an entry that comes twice opens its records again',
    why: 'only an early closing keeps a record from being opened',
    file: records,
    find: 'if (current && isSame && !isEarlyClosing(current)) return [];',
    replace: 'if (current && isSame && isEarlyClosing(current)) return [];',
  },
  {
    name: 'a handled exception stays open in its group',
    why: 'the addition to the group is not part of the write',
    file: records,
    find: ", add: groupAdd(exception, 'handled') }",
    replace: ' }',
  },
];

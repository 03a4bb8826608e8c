import type { Mutant } from './mutant.ts';

/** Mistakes about the recovery of a step, and about the orders that have read what it undoes. */
export const recovering: readonly Mutant[] = [
  {
    name: 'a recovery undoes nothing of the affected scope',
    why: 'the order goes on at the step, and what was done after it stays',
    file: 'lib/core/instructions/recover.ts',
    find: "({ kind: 'resume-at', path, undoBetween: true })",
    replace: "({ kind: 'resume-at', path, undoBetween: false })",
    suites: ['test/roles/recovery/recovering.test.ts'],
  },
  {
    name: 'an inconsistency counts twice',
    why: 'a message about an undone write that comes twice raises two exceptions',
    file: 'lib/roles/scheduler/inconsistency-report.ts',
    find: 'if (notes.length === 0) return uses;',
    replace: 'return uses;',
    suites: ['test/roles/recovery/inconsistencies.test.ts'],
  },
  {
    name: 'a rule that recovers an order tells nobody',
    why: 'the orders that have read what a rule undoes go on with it',
    file: 'lib/core/instructions/recover.ts',
    find: "{ type: 'canceled', outcome: 'compensated', recovers: true }",
    replace: "{ type: 'canceled', outcome: 'compensated' }",
    suites: ['test/roles/recovery/ruled.test.ts'],
  },
  {
    name: 'a recovery is found by the times of different clocks',
    why: 'an undo by a host whose clock is behind seems to come before its recovery',
    file: 'lib/roles/recovery/cause.ts',
    find: '(entry) => entry.seq < undo.seq && ',
    replace: '(entry) => entry.at <= undo.at && ',
    suites: ['test/roles/recovery/cause.test.ts'],
  },
  {
    name: 'a message about an undo by a damaged order is never processed',
    why: 'nobody can read what the order has written',
    file: 'lib/roles/recovery/inconsistencies.ts',
    find: 'const tail = found && readableTail(found.state);',
    replace: 'const tail = found && decodeInstance(found.state).tail;',
    suites: ['test/roles/recovery/damaged-writers.test.ts'],
  },
  {
    name: 'a use of an object begins after it ends',
    why: 'the clock of the host that requests a step may be ahead of the clock of the host that closes it',
    file: 'lib/roles/scheduler/note-objects.ts',
    find: 'return Math.min(found?.at ?? now, now);',
    replace: 'return found?.at ?? now;',
    suites: ['test/roles/recovery/objects.test.ts'],
  },
];

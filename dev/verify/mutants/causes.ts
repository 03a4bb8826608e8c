import type { Mutant } from './mutant.ts';

const recordCauses = 'lib/roles/scheduler/record-causes.ts';

/** Mistakes about exceptions and tasks: one for each cause, opened and closed once. */
export const causes: readonly Mutant[] = [
  {
    name: 'an order leaves Error with its task open',
    why: 'nobody closes the task of an order that goes on',
    file: recordCauses,
    find: 'reduce(open, gone.reduce(close, draft))',
    replace: 'reduce(open, gone.length > 99 ? gone.reduce(close, draft) : draft)',
  },
  {
    name: 'the supervisor opens no task',
    why: 'two writers of three open a task: a late order waits for a person whom nobody tells',
    file: 'lib/roles/supervisor/escalate.ts',
    find: '    ...cause?.change,\n',
    replace: '',
  },
  {
    name: 'a quarantine opens no task',
    why: 'an order that nobody can read waits for a person whom nobody tells',
    file: 'lib/roles/repair/quarantine.ts',
    find: '      ...(cause ? [cause.entry] : []),\n',
    replace: '',
  },
  {
    name: 'an entry of a cause counts as sent when it is stored',
    why: 'the exception is stored, and its announcement is lost when the event bus is away',
    file: 'lib/roles/scheduler/outbox.ts',
    find: "if (published.has(id) && (kind === 'announcement' || stored.has(id)))",
    replace: "if (stored.has(id) || (published.has(id) && kind === 'announcement'))",
  },
  {
    name: 'a verdict counts in no figure',
    why: 'a solution seems to have been used without any outcome',
    file: 'lib/roles/exceptions/store.ts',
    find: '...countedTask(verified, verdict, at), loadedRev',
    replace: 'document: taskDocument(verified), loadedRev',
  },
  {
    name: 'the use of a solution counts twice',
    why: 'a verdict that is known counts as another use',
    file: 'lib/roles/solutions/figures.ts',
    find: 'sums: { [counted]: 1 },',
    replace: 'sums: { used: 1, [counted]: 1 },',
  },
];

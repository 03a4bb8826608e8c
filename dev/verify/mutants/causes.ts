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
];

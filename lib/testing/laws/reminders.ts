import type { TaskRecord } from '#ports/tasks';
import { dayMs } from '#ports/util/days';
import { peopleRecordsIn } from '#testing/world/people-records';
import { type Law, on, type Setting } from './law.ts';

/** While no faults happen, a notifier counts a due reminder within this time. */
const looksWithinMs = 300_000;

/**
 * A task that is due and open has a reminder. Each later one comes after an interval that is twice as long as the one before, and every
 * second one goes to the next group (S43). A claim or a release starts the reminders again.
 */
export function reminders({ quietSince, now, toleranceMs }: Pick<Setting, 'quietSince' | 'now' | 'toleranceMs'>): Law {
  /** The tasks as they were last written, with the time of their last reminder. */
  const known = new Map<string, { readonly task: TaskRecord; readonly remindedAt: number | undefined }>();

  function wrongWith(task: TaskRecord): string | undefined {
    const before = known.get(task.id);
    const { reminders: count = 0 } = task;
    const { reminders: earlier = 0 } = before?.task ?? {};
    const isReminder = before !== undefined && count > earlier;
    known.set(task.id, { task, remindedAt: isReminder ? now() : count === 0 ? undefined : before?.remindedAt });
    if (!isReminder) return undefined;
    if (count !== earlier + 1) return `task ${task.id} goes from reminder ${earlier} to ${count}`;
    if (before.task.resolution) return `task ${task.id} has a reminder although it is resolved`;
    if (count % 2 === 0 && task.escalation?.level === before.task.escalation?.level)
      return `task ${task.id} is not handed to the next group with its reminder ${count}`;
    if (task.every === undefined || earlier === 0 || before.remindedAt === undefined) return undefined;
    const pause = now() - before.remindedAt;
    const least = Math.min(dayMs, task.every * 1000 * 2 ** (earlier - 1)) - toleranceMs;
    return pause < least ? `task ${task.id} has its reminder ${count} only ${pause} ms after the one before, expected ${least}` : undefined;
  }

  return {
    name: 'reminders',
    after: on(['people recorded'], (observation) => {
      for (const record of peopleRecordsIn(observation)) {
        const wrong = record.what === 'task' ? wrongWith(record.task) : undefined;
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    }),
    atEnd: () => {
      const looked = Math.max(quietSince() ?? now(), 0) + looksWithinMs;
      return [...known.values()].flatMap(({ task }) => {
        const { id, state, dueAt, nextReminderAt } = task;
        const at = nextReminderAt ?? dueAt;
        return state === 'open' && now() > Math.max(at, looked) + looksWithinMs
          ? [`nobody is reminded of task ${id}, which was due at ${at}`]
          : [];
      });
    },
  };
}

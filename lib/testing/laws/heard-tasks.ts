import type { TaskRecord } from '#ports/tasks';
import { peopleRecordsIn } from '#testing/world/people-records';
import { type Law, on, type Setting } from './law.ts';

/** While no faults happen, a notifier looks at each new task within this time. */
const looksWithinMs = 300_000;

/** Returns the key that alike tasks share: the fingerprint, or else the kind and the workflow. */
const keyOf = (task: { readonly fingerprint?: unknown; readonly kind?: unknown }, workflow: unknown): string =>
  typeof task.fingerprint === 'string' ? task.fingerprint : `${task.kind}#${workflow}`;

/**
 * People hear of each open task. The messages about alike tasks count at least as many new tasks as were open long enough for the notifier
 * to examine them, and the last message came after the last of these tasks (S42).
 */
export function heardTasks({ quietSince, now, toleranceMs }: Pick<Setting, 'quietSince' | 'now' | 'toleranceMs'>): Law {
  const tasks = new Map<string, { readonly task: TaskRecord; resolvedAt: number | undefined }>();
  const told = new Map<string, { count: number; lastAt: number }>();
  const seen = new Set<string>();
  return {
    name: 'heard tasks',
    after: on(['people recorded'], (observation) => {
      for (const record of peopleRecordsIn(observation)) {
        if (record.what === 'task') {
          const known = tasks.get(record.task.id) ?? { task: record.task, resolvedAt: undefined };
          if (record.task.resolution) known.resolvedAt ??= now();
          tasks.set(record.task.id, known);
        }
        if (record.what !== 'message' || seen.has(record.delivery.message.id)) continue;
        const { id, at, data } = record.delivery.message;
        seen.add(id);
        const key = keyOf(data, data['workflow']);
        const { count = 0, lastAt = 0 } = told.get(key) ?? {};
        told.set(key, { count: count + Number(data['new']), lastAt: Math.max(lastAt, at) });
      }
      return undefined;
    }),
    atEnd: () => {
      const since = quietSince();
      if (since === undefined || now() < since + looksWithinMs) return [];
      const open = [...tasks.values()].filter(({ resolvedAt, task }) => {
        const endedAt = resolvedAt ?? now();
        return endedAt > since + looksWithinMs && endedAt > task.openedAt + looksWithinMs;
      });
      const alike = Map.groupBy(open, ({ task }) => keyOf(task, task.workflow.name));
      return [...alike].flatMap(([key, each]) => {
        const { count, lastAt } = told.get(key) ?? { count: 0, lastAt: 0 };
        const newest = Math.max(...each.map(({ task }) => task.openedAt));
        return count >= each.length && lastAt >= newest - toleranceMs
          ? []
          : [
              `people heard of ${count} of ${each.length} tasks like ${each[0]?.task.id} (${key}), last at ${lastAt}; the newest task opened at ${newest}`,
            ];
      });
    },
  };
}

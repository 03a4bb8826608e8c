import type { ExceptionRecord } from '#core/exceptions/exception';
import type { Announcement } from '#ports/event-bus';
import { timeText } from '#ports/messages';
import { taskIdOf } from './ids.ts';
import type { CauseEntry } from './store.ts';

/** Returns the announcements of a cause (F-136): its exception with all parameters, and its task. */
export function announcementsOf(entry: CauseEntry): readonly Announcement[] {
  const { id } = entry;
  if (entry.kind === 'verified' || entry.kind === 'handed') return [];
  if (entry.kind === 'closed') {
    const { orderId, handling, hasException, hasNoTask } = entry;
    if (hasNoTask) return [];
    const { at, ...how } = handling;
    return [
      {
        id: `${id}/task`,
        detailType: 'Task Resolved',
        detail: {
          id: `${id}/task`,
          orderId,
          at: timeText(at),
          taskId: taskIdOf(orderId, entry.seq),
          ...(hasException ? { handling: how } : {}),
        },
      },
    ];
  }
  const { exception, task } = entry;
  const raisings = exception ? [raised(`${id}/exception`, exception)] : [];
  if (!task) return raisings;
  const { orderId, openedAt, dueAt, kind } = task;
  const about = { orderId, at: timeText(openedAt), taskId: task.id, kind, dueAt: timeText(dueAt) };
  return [
    ...raisings,
    {
      id: `${id}/task`,
      detailType: 'Task Opened',
      detail: {
        id: `${id}/task`,
        ...about,
        ...(task.group === undefined ? {} : { group: task.group }),
        ...(exception ? { exceptionId: exception.id, type: exception.type } : {}),
      },
    },
  ];
}

function raised(id: string, exception: ExceptionRecord): Announcement {
  const {
    id: exceptionId,
    orderId,
    at,
    class: faultClass,
    type,
    path,
    before,
    after,
    attempt,
    message,
    data,
    tags,
    fingerprint,
    workflow,
    handling,
    causedBy,
  } = exception;
  const detail = {
    id,
    exceptionId,
    orderId,
    at: timeText(at),
    class: faultClass,
    type,
    ...(path === null ? {} : { source: path }),
    before: before.processState,
    after: after.processState,
    statuses: { before: before.status, after: after.status },
    failureCount: attempt,
    message,
    tags,
    fingerprint,
    workflow: { ...workflow },
    ...(causedBy === undefined ? {} : { causedBy }),
    ...(handling ? { handling: { ...handling, at: timeText(handling.at) } } : {}),
    ...(data === undefined ? {} : { data }),
  };
  return { id, detailType: 'Exception Raised', detail };
}

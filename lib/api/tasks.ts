import type * as z from 'zod';
import type { JsonObject } from '#core/data/json';
import { timeText } from '#ports/messages';
import { hasOrder, type TaskRecord, type TaskResolution } from '#ports/tasks';
import { exceptionGroups } from '#roles/exceptions/groups';
import { readableHead } from '#roles/scheduler/load';
import type { Act } from '#roles/tasks/act';
import { isOverdue, type TaskFilter } from '#roles/tasks/list';
import { audited } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { conflict, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { KeyHeaders } from './schemas/instructions.ts';
import type { AssignBody, CommentBody, TaskQuery } from './schemas/tasks.ts';
import { suggestionsFor } from './suggestions.ts';

/** Lists tasks by the time at which they are due. */
export async function listAllTasks({ api, caller, query }: Call<z.output<typeof TaskQuery>>): Promise<Answer | Refusal> {
  const { limit, cursor, ...named } = query;
  const scope = { key: api.cursorKey, bound: ['tasks', caller.subject, [...caller.groups], named as JsonObject] };
  const opened = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!opened) return badCursor;
  const after = opened[0] === undefined ? undefined : String(opened[0]);
  const { items, next } = await api.tasks.list(filterOf(named, caller), after, limit);
  const now = api.clock.now();
  return json(200, { items: items.map((task) => taskView(task, now)), next: next === undefined ? null : sealCursor([next], scope) });
}

function filterOf(
  { assignee, group, overdue, ...filter }: Omit<z.output<typeof TaskQuery>, 'limit' | 'cursor'>,
  { subject, groups }: Call['caller'],
): TaskFilter {
  const person = assignee === 'me' ? subject : assignee === 'none' ? null : assignee;
  return {
    ...filter,
    ...(person === undefined ? {} : { assignee: person }),
    ...(group === undefined ? {} : { groups: group === 'mine' ? groups : [group] }),
    ...(overdue === undefined ? {} : { overdue: true }),
  };
}

export async function showTask(call: Call): Promise<Answer | Refusal> {
  const { api, id } = call;
  const task = await api.tasks.task(id);
  if (!task) return refuse('not-found');
  const head = await readableHead(task.orderId, api.store);
  return json(
    200,
    {
      ...taskView(task, api.clock.now()),
      orderRev: head?.rev ?? 0,
      suggestions: await suggestionsFor(call, task),
      objects: objectsOf(task),
      similar: await similarTo(task, api),
    },
    { orderId: task.orderId },
  );
}

function objectsOf(task: TaskRecord) {
  const { orderId, fault } = task;
  if (!hasOrder(task)) return [];
  const href = `/orders/${orderId}`;
  const order = { kind: 'order', id: orderId, name: orderId, href };
  return fault?.source === undefined ? [order] : [order, { kind: 'step', id: fault.source, name: fault.source, href }];
}

/** Counts the other exceptions of the same fingerprint. */
async function similarTo({ fingerprint, resolution }: TaskRecord, { store, clock }: Call['api']) {
  const group =
    fingerprint === undefined ? undefined : (await exceptionGroups(store, clock.now())).find((each) => each.fingerprint === fingerprint);
  const [open, resolved] = group ? [group.open, group.count - group.open] : [0, 0];
  return { open: Math.max(0, open - (resolution ? 0 : 1)), resolved: Math.max(0, resolved - (resolution ? 1 : 0)) };
}

type Acting<Body = unknown> = Call<unknown, z.output<typeof KeyHeaders>, Body>;

export const claimTask = (call: Acting): Promise<Answer | Refusal> => actOn(call, { action: 'claim' });
export const releaseTask = (call: Acting): Promise<Answer | Refusal> => actOn(call, { action: 'release' });
export const assignTask = (call: Acting<z.output<typeof AssignBody>>): Promise<Answer | Refusal> =>
  actOn(call, { action: 'assign', ...call.body });
export const commentOnTask = (call: Acting<z.output<typeof CommentBody>>): Promise<Answer | Refusal> =>
  actOn(call, { action: 'comment', ...call.body });

/** Carries out an act of a person on a task. The order does not change. */
export async function actOn(call: Acting, act: Act): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, headers } = call;
  const { subject: by, roles } = caller;
  const acted = await audited(
    call,
    { kind: 'task', target: id, action: act.action, reason: reasonOf(act) },
    (entry) =>
      api.tasks.act(id, {
        act,
        by,
        isAdmin: roles.has('admin'),
        key: headers['idempotency-key'],
        beside: (before, after) => entry(personsOf(before), personsOf(after)),
      }),
    ({ outcome }) => outcome === 'done',
  );
  switch (acted.outcome) {
    case 'not-found':
      return refuse('not-found');
    case 'key-reused':
      return refuse('idempotency-key-reused');
    case 'conflict':
      return conflict([acted.reason]);
    default: {
      const { task, outcome } = acted;
      const { orderId } = task;
      if (outcome === 'done') api.telemetry.log('info', 'task changed', { requestId, orderId, by, taskId: id, action: act.action });
      const replayed = outcome === 'replayed' ? { headers: { 'idempotent-replayed': 'true' } } : {};
      return json(200, taskView(task, api.clock.now()), { orderId, ...replayed });
    }
  }
}

function reasonOf(act: Act): string | null {
  if (act.action === 'comment') return act.text;
  return act.action === 'resolve' ? act.reason : null;
}

const personsOf = ({ state, assignee, group }: TaskRecord): JsonObject => ({ state, assignee: assignee ?? null, group: group ?? null });

/** Returns a task as people see it. */
export function taskView(task: TaskRecord, now: number) {
  const { submittedAt: _, seq: __, calls: ___, every: ____, escalateTo: _____, remindedFor: ______, ...known } = task;
  const { orderId: _______, workflow: ________, ...ofNoOrder } = known;
  const shown = hasOrder(task) ? known : ofNoOrder;
  const { claimedAt, openedAt, dueAt, comments = [], resolution, reminders = 0, nextReminderAt = dueAt, escalation } = task;
  return {
    ...shown,
    ...(claimedAt === undefined ? {} : { claimedAt: timeText(claimedAt) }),
    openedAt: timeText(openedAt),
    dueAt: timeText(dueAt),
    overdue: isOverdue(task, now),
    reminders,
    nextReminderAt: resolution || nextReminderAt === null ? null : timeText(nextReminderAt),
    escalation: escalation ?? { level: 0, to: null },
    comments: comments.map(({ at, ...comment }) => ({ at: timeText(at), ...comment })),
    ...(resolution ? { resolution: resolutionView(resolution) } : {}),
  };
}

const resolutionView = ({ at, solution, ...resolution }: TaskResolution) => ({
  ...resolution,
  at: timeText(at),
  ...(solution ? { solutionId: solution.id } : {}),
});

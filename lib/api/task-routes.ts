import { resolveTask } from './resolve.ts';
import { type Route, route } from './route.ts';
import { pageOf } from './schemas/common.ts';
import { InstructionHeaders, KeyHeaders } from './schemas/instructions.ts';
import * as tasks from './schemas/tasks.ts';
import { assignTask, claimTask, commentOnTask, listAllTasks, releaseTask, showTask } from './tasks.ts';

const acted = {
  answers: { 200: { description: 'The task as it is now. Its order has not changed.', schema: tasks.Task } },
  refusals: ['not-found', 'conflict', 'idempotency-key-reused'],
} as const;

/** The calls about the tasks of people. */
export const taskRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/tasks',
    roles: ['viewer', 'operator'],
    summary: 'List the tasks of people by the time at which they are due; resolved ones newest first',
    query: tasks.TaskQuery,
    answers: { 200: { description: 'A page of tasks; it may be short, or empty, and not be the last', schema: pageOf(tasks.Task) } },
    refusals: [],
    handle: listAllTasks,
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}',
    roles: ['viewer', 'operator'],
    summary: 'Show a task with its objects and the number of similar ones',
    answers: { 200: { description: 'The task', schema: tasks.WholeTask } },
    refusals: ['not-found'],
    handle: showTask,
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/claim',
    roles: ['operator'],
    summary: 'Claim a task; the answer to a second person names the first',
    headers: KeyHeaders,
    ...acted,
    handle: claimTask,
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/release',
    roles: ['operator'],
    summary: 'Release a task that you have claimed; an admin may release any',
    headers: KeyHeaders,
    ...acted,
    handle: releaseTask,
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/assign',
    roles: ['operator'],
    summary: 'Assign a task to a person, who has then claimed it, or to a group',
    headers: KeyHeaders,
    body: tasks.AssignBody,
    ...acted,
    handle: assignTask,
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/comment',
    roles: ['operator'],
    summary: 'Add a comment to a task',
    headers: KeyHeaders,
    body: tasks.CommentBody,
    ...acted,
    handle: commentOnTask,
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/resolve',
    roles: ['operator'],
    summary: 'Resolve a task with an instruction to its order',
    headers: InstructionHeaders,
    body: tasks.ResolveBody,
    answers: {
      200: { description: 'With dryRun: the check of the instruction. Nothing was changed.', schema: tasks.TaskCheck },
      202: {
        description: 'The instruction is carried out, and its write resolves the task. Of a task without an order: the resolved task.',
        schema: tasks.Resolved,
      },
    },
    refusals: ['not-found', 'infeasible', 'conflict', 'locked', 'stale', 'precondition-required', 'idempotency-key-reused'],
    handle: resolveTask,
  }),
];

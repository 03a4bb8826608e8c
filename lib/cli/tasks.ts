import type { Cli } from './command.ts';
import { FailedError, UsageError } from './errors.ts';
import type { Api } from './http.ts';
import { listed, resolveOrderId, severalMatch } from './orders.ts';
import { type SuggestionView, suggestionText } from './solutions.ts';
import { listedId, printable, table } from './text.ts';

/** A task in the API's response, with the fields that the command line reads. */
export interface TaskView {
  readonly id: string;
  readonly rev: number;
  /** Absent if the task is about a destination of messages. */
  readonly orderId?: string;
  readonly reference?: string;
  readonly workflow?: { readonly name: string; readonly version: number };
  readonly kind: string;
  readonly state: string;
  readonly group?: string;
  readonly assignee?: string;
  readonly openedAt: string;
  readonly dueAt: string;
  readonly overdue: boolean;
  readonly fault?: { readonly type: string; readonly message: string; readonly source?: string };
  readonly question?: { readonly text: string; readonly schema: unknown };
  readonly text?: string;
  readonly candidates?: readonly { readonly name: string; readonly why: string }[];
  readonly comments: readonly { readonly by: string; readonly at: string; readonly text: string }[];
  readonly verified?: string;
  readonly previousTaskId?: string;
  readonly nextTaskId?: string;
  readonly resolution?: {
    readonly by: string;
    readonly at: string;
    readonly reason: string | null;
    readonly instruction?: { readonly kind: string };
    readonly solutionId?: string;
  };
  /** Solutions that the API suggests. Only the response about a single task has them. */
  readonly suggestions?: readonly SuggestionView[];
}

export const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

/** The reason for a task, in a few words. */
export const aboutTask = ({ fault, question, text, kind }: TaskView): string => fault?.type ?? question?.text ?? text ?? kind;

export const tasksText = (tasks: readonly TaskView[], { paint, terminal }: Pick<Cli, 'paint' | 'terminal'>): string =>
  tasks.length === 0
    ? ''
    : table(
        ['due', 'state', 'kind', 'about', 'group', 'person', 'order', 'reference', 'task'],
        tasks.map((task) => [
          task.overdue ? `${task.dueAt} (overdue)` : task.dueAt,
          task.verified === undefined ? task.state : `${task.state}, ${task.verified}`,
          task.kind,
          aboutTask(task),
          task.group ?? '',
          task.assignee ?? '',
          task.orderId ? listedId(task.orderId, terminal) : '',
          task.reference ?? '',
          task.id,
        ]),
        paint,
      );

/** Returns a task as text, one fact in a line. */
export function taskText(task: TaskView): string {
  const {
    orderId,
    workflow,
    kind,
    state,
    group,
    assignee,
    dueAt,
    overdue,
    fault,
    question,
    text,
    candidates = [],
    comments,
    resolution,
    suggestions = [],
  } = task;
  const lines = [
    `${aboutTask(task)}${fault ? `: ${fault.message}` : ''}`,
    ...(orderId && workflow
      ? [`  of order      ${orderId}, ${workflow.name}@${workflow.version}${fault?.source === undefined ? '' : `, ${fault.source}`}`]
      : []),
    `  kind          ${kind}`,
    `  state         ${state}${assignee === undefined ? '' : `, by ${assignee}`}${task.verified === undefined ? '' : `, ${task.verified}`}`,
    ...(group === undefined ? [] : [`  group         ${group}`]),
    `  due           ${dueAt}${overdue ? ' (overdue)' : ''}`,
    ...(question?.schema ? [`  answer        ${JSON.stringify(question.schema)}`] : []),
    ...(text === undefined || !orderId ? [] : [`  a rule says   ${text}`]),
    ...candidates.map(({ name, why }) => `  rule          ${name} (${why})`),
    ...suggestions.map((each) => `  solution      ${suggestionText(each)}`),
    ...comments.map(({ by, at, text: said }) => `  comment       ${by} at ${at}: ${said}`),
    ...(resolution ? [`  resolved      ${resolvedText(resolution)}`] : []),
    ...(task.previousTaskId === undefined ? [] : [`  came after    ${task.previousTaskId}`]),
    ...(task.nextTaskId === undefined ? [] : [`  next task     ${task.nextTaskId}`]),
  ];
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
}

const resolvedText = ({ by, at, reason, instruction, solutionId }: NonNullable<TaskView['resolution']>): string =>
  `by ${by} at ${at}${instruction ? ` with ${instruction.kind}` : ''}${solutionId === undefined ? '' : ` (solution ${solutionId})`}${reason === null ? '' : `: ${reason}`}`;

/** The second form is of a task about a destination of messages: its number is a day. */
const wholeId = /^tsk_(?:[a-z2-7]{52}_\d+|notifications[a-z0-9]+_\d{5,})$/;

/**
 * Resolves a task's id, that of its order, or the beginning of either, to the full id of one task. `alsoResolved`: the id of an order
 * without an open task resolves to its newest resolved task.
 */
export async function resolveTaskId(cli: Cli, given: string, { alsoResolved = false } = {}): Promise<string> {
  const api = await cli.api('viewer');
  const text = given.replace(/…$/, '');
  if (wholeId.test(text)) return text;
  const tasks = await listed<TaskView>(api, '/tasks', {}, lookedAtMax);
  const matching = tasks.filter(({ id, orderId }) =>
    [id, id.slice('tsk_'.length), orderId].some((each) => text !== '' && each?.startsWith(text)),
  );
  const [only, ...others] = matching;
  const resolved = !only && alsoResolved ? await newestResolved(api, text) : undefined;
  if (resolved !== undefined) return resolved;
  if (!only) throw new FailedError(`No open task begins with ${text || 'nothing'}. List the tasks: redress task list`);
  if (others.length === 0) return only.id;
  throw new FailedError(
    severalMatch(
      text,
      'tasks',
      matching.map(({ id }) => id),
    ),
  );
}

const lookedAtMax = 1000;

/** Returns the id of the newest resolved task of the order whose id begins with the text. */
async function newestResolved(api: Api, text: string): Promise<string | undefined> {
  const orderId = await resolveOrderId(api, text).catch((error) => {
    if (error instanceof FailedError || error instanceof UsageError) return undefined;
    throw error;
  });
  if (orderId === undefined) return undefined;
  const tasks = await listed<TaskView>(api, '/tasks', { orderId, state: 'resolved' }, lookedAtMax);
  return tasks.toSorted((one, other) => other.openedAt.localeCompare(one.openedAt))[0]?.id;
}

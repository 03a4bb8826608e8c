import { failureText, isWait, statusText } from '#cli/changes';
import type { Cli, CliCommand } from '#cli/command';
import { decisionRows, failedWith, faultText } from '#cli/decision-rows';
import { type ExceptionTags, nextSteps } from '#cli/next-steps';
import {
  durationMs,
  failedStep,
  type OrderView,
  onlyStuck,
  orderPath,
  questionType,
  resolveOrderId,
  type StepView,
  secondText,
  stateText,
  stepLabel,
  type Time,
  timeOf,
} from '#cli/orders';
import { printable, spanText, table } from '#cli/text';
import { isUndoPath, undonePath } from '#core/data/ids';
import { workflowRef } from '#core/definition/workflow-ref';

/** Shows one order with its steps. */
export const orderGet: CliCommand = {
  name: 'order get',
  alias: 'show',
  summary: 'Show one order and its steps',
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    const { body: order } = await api.call<OrderView>('GET', orderPath(await resolveOrderId(api, id)));
    const { exceptionId } = order;
    const exception =
      exceptionId === undefined ? undefined : await api.call<Alike>('GET', `/exceptions/${encodeURIComponent(exceptionId)}`);
    cli.print(order, () => orderText(order, exception?.body, cli));
    if (!cli.json) for (const line of nextSteps(order, exception?.body)) cli.terminal.say(line);
  },
};

/** The time of an exception, and its fingerprint, which alike exceptions share. */
interface Alike extends ExceptionTags {
  readonly at: Time;
  readonly fingerprint: string;
}

function orderText(order: OrderView, exception: Alike | undefined, { paint, typed }: Pick<Cli, 'paint' | 'typed'>): string {
  const {
    orderId,
    processState,
    output,
    reference,
    workflow,
    submittedAt,
    updatedAt,
    exceptionId,
    taskId,
    failureCount,
    endBy,
    restartedAs,
    restartedFrom,
    explanation,
    steps = [],
  } = order;
  const facts = [
    ['state', `${processState}, ${stateText(order)}`],
    ...(explanation ? [['why', `${explanation}${waitsForPersonText(order)}`]] : []),
    ...(output === undefined ? [] : [['output', JSON.stringify(output)]]),
    ['workflow', workflowRef(workflow)],
    ...(reference ? [['reference', reference]] : []),
    ['submitted', new Date(submittedAt).toISOString()],
    ['updated', `${new Date(updatedAt).toISOString()}, ${spanText(timeOf(updatedAt) - timeOf(submittedAt))} later`],
    ...remainingRows(order),
    ...(endBy ? [['end by', new Date(endBy).toISOString()]] : []),
    ...(failureCount ? [['failures', String(failureCount)]] : []),
    ...faultRows(order, exception),
    ...inputOfFailed(order),
    ...(restartedFrom ? [['restart of', restartedFrom]] : []),
    ...(restartedAs ? [['restarted', `as ${restartedAs}`]] : []),
    ...undoRows(order),
    ...undoneRows(order),
    ...decisionRows(order),
    ...maskedRows(order),
    ...(exceptionId ? [['exception', exceptionId]] : []),
    ...(taskId ? [['task', taskId]] : []),
    ...(exception ? [['alike', typed(`redress exception list --state open --fingerprint ${exception.fingerprint}`)]] : []),
  ];
  const width = Math.max(10, ...facts.map(([name = '']) => name.length));
  const lines = facts.map(([name = '', value = '']) => `${paint('dim', name.padEnd(width))}  ${printable(value)}\n`);
  // `--token` or REDRESS_TOKEN may sign in a client. The API shows a client only the name, the status and the result of a step.
  const isShort = steps.every(({ path }) => path === undefined);
  const rows = steps.map((step) => [
    stepLabel(step, steps),
    ...(isShort ? [] : [operationText(step)]),
    statusText(step, order),
    ...(isShort ? [] : [step.attempts ? String(step.attempts) : '', durationText(step)]),
  ]);
  const headings = isShort ? ['step', 'status'] : ['step', 'operation', 'status', 'attempts', 'took'];
  return `${paint('bold', printable(orderId))}\n${lines.join('')}${rows.length > 0 ? `\n${table(headings, rows, paint)}` : ''}`;
}

/** Says that a blocked order waits for a person. For a question, the explanation of the order already says so. */
const waitsForPersonText = ({ processState, fault, taskId }: OrderView): string =>
  processState === 'Error' && taskId && fault?.type !== questionType ? ` It waits for a person: task ${taskId}.` : '';

/**
 * Returns the row of the fault of an order: with the time of its exception while the order is blocked, else the time at which its step
 * failed.
 */
function faultRows(order: OrderView, exception: Alike | undefined): readonly (readonly string[])[] {
  const { fault } = order;
  if (!fault) return [];
  const { result, answeredAt, closedAt } = failedStep(order) ?? {};
  const failedAt = result === 'Faulted' ? (answeredAt ?? closedAt) : undefined;
  const at = order.processState === 'Error' ? exception?.at : failedAt;
  return [['fault', `${faultText(fault)}${at ? `, ${secondText(at)}` : ''}`]];
}

/** Returns how much of a finished order was undone, and which steps a person has undone by hand. */
function undoneRows({ processState, steps = [] }: OrderView): readonly (readonly string[])[] {
  if (processState !== 'Processed') return [];
  const undone = steps.filter(({ path, result }) => path !== undefined && !isUndoPath(path) && result === 'Compensated');
  if (undone.length === 0) return [];
  const marked = steps.flatMap(({ path, skipped }) =>
    path !== undefined && isUndoPath(path) && skipped === 'done' ? [undonePath(path)] : [],
  );
  const hand = marked.length === 0 ? '' : `, ${marked.length} by hand (${marked.join(', ')})`;
  return [['undo', `${undone.length - marked.length} undone${hand}`]];
}

/**
 * Returns the time that a suspended order has left. If the order waits for nothing but the next try of one undo, this is the time until
 * that try. Once a person has marked that undo as done, the time has no meaning and is left out.
 */
function remainingRows({ remainingSeconds, undo }: OrderView): readonly (readonly string[])[] {
  if (typeof remainingSeconds !== 'number' || (undo && undo.now === null)) return [];
  const later = `${spanText(remainingSeconds * 1000)} after it is resumed`;
  const stuck = onlyStuck(undo);
  return [stuck === undefined ? ['time left', later] : ['next try', `of the undo of ${stuck} ${later}`]];
}

/** Returns the rows about an undo: how far it is, what is requested, and each undo that keeps failing. */
function undoRows({ undo, suspended }: OrderView): readonly (readonly string[])[] {
  if (!undo) return [];
  const { scope, done, left, now, stuck } = undo;
  const more = now === null ? `${left} left` : left > 1 ? `${left - 1} more to undo` : '';
  const place = now === null ? '' : suspended ? `stopped at ${now}` : `at ${now} now`;
  const stops = suspended ? '; nothing is requested until somebody resumes the order' : '';
  return [
    ['undo', `of ${scope}: ${[`${done} undone`, place, more].filter((part) => part !== '').join(', ')}${stops}`],
    ...stuck.map((each) => {
      const { path, lastFault, nextAt } = each;
      const permanent = lastFault?.permanent ? '; the fault is permanent' : '';
      const next = nextAt ? `; next request at ${secondText(nextAt)}` : '';
      return ['stuck', `${path} ${failureText(each, suspended === true)}${failedWith(lastFault)}${permanent}${next}`];
    }),
  ];
}

/** The most masked faults that are shown. */
const maskedMax = 3;

/** Returns the rows about faults that made no exception, because a recovery masked them. */
function maskedRows({ maskedFaults }: OrderView): readonly (readonly string[])[] {
  if (!maskedFaults) return [];
  const { count, newest } = maskedFaults;
  const shown = newest.slice(0, maskedMax);
  const more = count - shown.length;
  return [
    ...shown.map(({ path, type, message, maskedBy }) => [
      'masked',
      `${type}${path === null ? '' : ` at ${path}`} (${message}), while ${maskedBy} was recovered`,
    ]),
    ...(more > 0 ? [['', `and ${more} more: see redress order history`]] : []),
  ];
}

/** The most characters of an input that are shown. */
const inputCharactersMax = 600;

/** Returns the row of the input with which the failed step would be requested again. `replace-input` replaces the whole of it. */
function inputOfFailed(order: OrderView): readonly (readonly string[])[] {
  const { input, path } = failedStep(order) ?? {};
  if (input === undefined) return [];
  const text = `of ${path}: ${JSON.stringify(input)}`;
  return [['input', text.length > inputCharactersMax ? `${text.slice(0, inputCharactersMax)}…` : text]];
}

/** Returns the operation of a step, or what a wait waits for. A call also waits, for its order, but it is shown as a step. */
function operationText(step: StepView): string {
  const { agent, operation, waitsFor } = step;
  if (!isWait(step)) return waitsFor?.kind === 'order' ? `calls ${operation}` : `${agent}.${operation}`;
  switch (waitsFor?.kind) {
    case 'signal':
      return `signal ${waitsFor.name}`;
    case 'answer':
      return 'question to an operator';
    default:
      return 'pause';
  }
}

function durationText(step: StepView): string {
  const ms = durationMs(step);
  return ms === undefined ? '' : spanText(ms);
}

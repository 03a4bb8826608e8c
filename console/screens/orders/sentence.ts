import type { HistoryEntry, Order } from '../../api/types.ts';
import { isUndo } from '../../graph/look.ts';
import { stepName } from '../../parts/text.tsx';
import { lengthOf, shortTime } from '../../time.ts';

/** The reason why an order is where it is. */
export interface Reason {
  readonly tone: '' | 'stop' | 'undo' | 'warn';
  readonly big: string;
  readonly soft: string;
}

/** Says in a sentence why an order is where it is, and in a second one what is done, what stays, or what comes next. */
export function reasonOf(order: Order, entries: readonly HistoryEntry[]): Reason {
  const { processState, suspended, undo } = order;
  if (processState === 'Processed') return ended(order);
  if (undo && undo.stuck.length > 0) return stuckUndo(order, undo, entries);
  if (processState === 'Error' && order.fault) return blocked(order, order.fault);
  if (suspended) return suspendedReason(order, entries);
  if (undo) return undoing(order, undo);
  return {
    tone: order.waitsFor?.kind === 'outage' ? 'warn' : '',
    big: order.explanation ?? 'The order is at work.',
    soft: doneText(order),
  };
}

const named = (names: readonly string[]): string =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const doneSteps = ({ steps }: Order): readonly string[] =>
  steps.filter(({ result, path, activity }) => result === 'Succeeded' && !isUndo(path) && activity === 'step').map(({ name }) => name);

function doneText(order: Order): string {
  const done = doneSteps(order);
  if (done.length === 0) return 'No step is done yet.';
  return `${named(done)} ${done.length === 1 ? 'is' : 'are'} done.`;
}

function staysText(order: Order): string {
  const done = doneSteps(order);
  if (done.length === 0) return 'No step has been done so far, and none is requested until then.';
  return `${named(done)} ${done.length === 1 ? 'is done and stays as it is' : 'are done and stay as they are'}. No step is requested until then.`;
}

function blocked(order: Order, fault: NonNullable<Order['fault']>): Reason {
  const where = fault.source === null ? 'The order' : stepName(fault.source);
  if (fault.type === 'OperatorAsked')
    return { tone: 'warn', big: `The workflow asks: “${fault.message}” It waits for your answer.`, soft: staysText(order) };
  if (fault.type === 'OutcomeUnknown' || fault.type === 'InvalidReply')
    return { tone: 'stop', big: `Nobody knows whether ${where} was done: ${fault.type}. A person decides.`, soft: fault.message };
  const how = fault.permanent ? 'was refused' : 'failed';
  return { tone: 'stop', big: `${where} ${how}: ${fault.type}. A person decides how the order continues.`, soft: staysText(order) };
}

function stuckUndo(order: Order, { stuck, left }: NonNullable<Order['undo']>, entries: readonly HistoryEntry[]): Reason {
  const [first] = stuck;
  const behind = left - stuck.length;
  const others = behind <= 0 ? '' : ` ${behind === 1 ? 'One more undo waits' : `${behind} more undos wait`} behind it.`;
  const again = first?.nextAt ? `It is requested again at ${shortTime(first.nextAt)}. ` : '';
  const next = order.suspended ? `${suspendedText(entries)} Nothing is requested until somebody resumes the order. ` : again;
  const still = doneSteps(order);
  return {
    tone: 'stop',
    big: `${order.suspended ? 'The undo is stopped. ' : ''}The undo of ${stepName(first?.path ?? '')} is stuck${first?.lastFault ? `: ${first.lastFault.type}` : ''}.${others}`,
    soft: `${next}${still.length > 0 ? `Still done: ${named(still)}.` : ''}`,
  };
}

function undoing(order: Order, { done, left, now }: NonNullable<Order['undo']>): Reason {
  const what = now === null ? 'The order is being undone' : `${stepName(now)} is being undone`;
  return { tone: 'undo', big: `${what}: ${done} of ${done + left} undos are done.`, soft: order.explanation ?? '' };
}

function suspendedReason(order: Order, entries: readonly HistoryEntry[]): Reason {
  const left = order.remainingSeconds;
  return {
    tone: 'warn',
    big: suspendedText(entries),
    soft: `Its time stands still${left === null ? '' : `, ${lengthOf(left * 1_000)} are left`}. ${nothingMore(order)}`,
  };
}

function suspendedText(entries: readonly HistoryEntry[]): string {
  const given = entries.findLast(({ type, kind }) => type === 'InstructionGiven' && kind === 'suspend');
  return given ? `Suspended by ${String(given['by'])} at ${shortTime(given.at)}: “${String(given['reason'])}”.` : 'Suspended.';
}

/** Says that a suspended order requests nothing more. An undo that it requested before may still be answered. */
const nothingMore = ({ undo }: Order): string =>
  undo && undo.now !== null
    ? `The undo of ${stepName(undo.now)} had been requested before. Nothing more is requested until somebody resumes the order.`
    : 'Nothing is requested until somebody resumes the order.';

const endTexts: { readonly [outcome: string]: string } = {
  completed: 'The order is completed.',
  compensated: 'The order has ended: what was done is undone.',
  rejected: 'The order was rejected before anything was done.',
  canceled: 'The order was canceled.',
  terminated: 'The order was ended as it was.',
};

/** `3 of 3 undone, 1 by hand.` of an order that was undone; empty for others. */
export function undoneText({ steps, outcome }: Pick<Order, 'steps' | 'outcome'>): string {
  const undos = steps.filter(({ path }) => isUndo(path));
  if (undos.length === 0 || outcome === null || outcome === 'completed') return '';
  const byHand = undos.filter(({ skipped }) => skipped === 'done').length;
  const done = undos.filter(({ result, skipped }) => result === 'Compensated' || skipped === 'done').length;
  // `steps` has only the undos that have begun. A terminated order may leave others, so their total is not known here.
  const all = outcome === 'terminated' ? '' : ` of ${undos.length}`;
  return `${done}${all} undone${byHand > 0 ? `, ${byHand} by hand` : ''}.`;
}

function ended(order: Order): Reason {
  const { fault, outcome, updatedAt, submittedAt } = order;
  const took = `It took ${lengthOf(Date.parse(updatedAt) - Date.parse(submittedAt))}.`;
  const why = fault ? `${fault.type}${fault.source === null ? '' : ` at ${stepName(fault.source)}`}: ${fault.message}` : '';
  const undone = undoneText(order) || (outcome === 'terminated' ? 'Nothing was undone.' : '');
  return { tone: '', big: `${endTexts[outcome ?? ''] ?? 'The order has ended.'} ${undone}`.trimEnd(), soft: why === '' ? took : why };
}

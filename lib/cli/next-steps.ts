import type { Json } from '#core/data/json';
import { inconsistencyFault } from '#roles/exceptions/causes';
import { likelyPlace } from './input-places.ts';
import { failedStep, type OrderView, questionType } from './orders.ts';
import { printable } from './text.ts';

/** The part of an exception that decides which commands are suggested. */
export interface ExceptionTags {
  readonly tags: readonly string[];
}

/** Returns a hint at the command that resumes a suspended order. */
export const resumeHint = (orderId: string): string => `To let it go on: redress order resume ${printable(orderId)} --reason '…'`;

/** Returns what a person may do next about an order that does not go on by itself. It names no instruction that would be refused now. */
export function nextSteps(order: OrderView, exception?: ExceptionTags): readonly string[] {
  const { orderId, processState, suspended, fault, undo, taskId } = order;
  const typed = (command: string, more = '') => `redress order ${command} ${printable(orderId)}${more} --reason '…' --dry-run`;
  const marks = (undo?.stuck ?? []).map((each) => markStep(each, undo, typed));
  if (suspended) return [`To let it go on: ${typed('resume')}`, ...marks];
  if (processState !== 'Error') {
    const isPaused = undo?.stuck.some(({ nextAt }) => nextAt !== null) ?? false;
    const retry = isPaused ? [`To request the failing undo again now: ${typed('retry-undo')}`] : [];
    return marks.length === 0 ? [] : [...retry, `To stop the undo: ${typed('suspend')}`, ...marks];
  }
  if (taskId === undefined || fault?.type === questionType) return [];
  return [
    ...(isAboutInput(order, exception)
      ? [`To request the failed step with another input: ${typed('replace-input', ` --set ${placeOf(order)}=…`)}`]
      : []),
    ...(fault?.type === inconsistencyFault
      ? [`To undo the order and begin it again: ${typed('restart', ' --undo-first')}`, `To let it go on as it is: ${typed('resubmit')}`]
      : [`To request the failed step again as it is: ${typed('resubmit')}`]),
    `To go on at another step: ${typed('resume-at', ' --path PATH')}. Other ways: redress order --help`,
  ];
}

/** Whether the step would fail again with the same input: its fault is permanent, and about the input. */
function isAboutInput(order: OrderView, exception: ExceptionTags | undefined): boolean {
  const { fault } = order;
  if (!fault?.permanent || failedStep(order)?.input === undefined) return false;
  const isOfUser = exception?.tags.some((tag) => tag === 'user' || tag === 'semantic') ?? false;
  return isOfUser || fault.type === 'RequestRefused' || fault.type.endsWith('Invalid');
}

/** Returns the place of the failed step's input that the fault is most likely about. */
function placeOf(order: OrderView): string {
  const { type = '', message = '' } = order.fault ?? {};
  return likelyPlace(failedStep(order)?.input as Json | undefined, `${type} ${message}`) ?? 'PLACE';
}

type Undo = NonNullable<OrderView['undo']>;

/** Returns how to mark a stuck undo as done. If several undos are stuck, the command names its step. */
function markStep({ path }: Undo['stuck'][number], undo: Undo | undefined, typed: (command: string, more?: string) => string): string {
  const isOnly = undo?.stuck.length === 1;
  const command = typed('mark-compensated', isOnly ? '' : ` --path ${printable(path)}`);
  return `If ${printable(path)} was undone by hand: ${command}`;
}

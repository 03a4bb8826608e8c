import { failedStep, type OrderView, questionType } from './orders.ts';
import { printable } from './text.ts';

/** The facts that `order get` has about the exception of an order. */
export interface ExceptionTags {
  readonly tags: readonly string[];
}

/** Returns how to let a suspended order go on. */
export const resumeHint = (orderId: string): string => `To let it go on: redress order resume ${printable(orderId)} --reason '…'`;

/** Returns what a person may do next about an order that does not go on by itself. It names no instruction that would be refused now. */
export function nextSteps(order: OrderView, exception?: ExceptionTags): readonly string[] {
  const { orderId, processState, suspended, fault, undo, taskId } = order;
  const typed = (command: string, more = ' --dry-run') => `redress order ${command} ${printable(orderId)}${more}`;
  const marks = undo && undo.stuck.length > 0 ? markSteps(undo, typed) : [];
  if (suspended) return [`To let it go on: ${typed('resume')}`, ...marks];
  if (processState !== 'Error') {
    const isPaused = undo?.stuck.some(({ nextAt }) => nextAt !== null) ?? false;
    const retry = isPaused ? [`To request it again now: ${typed('retry-undo')}`] : [];
    return marks.length === 0 ? [] : [...retry, `To stop the undo: ${typed('suspend')}`, ...marks];
  }
  if (taskId === undefined || fault?.type === questionType) return [];
  return [
    ...(isAboutInput(order, exception)
      ? [`To request the failed step with another input: ${typed('replace-input', ' --set NAME=VALUE --dry-run')}`]
      : []),
    `To request the failed step again as it is: ${typed('resubmit')}`,
    `To go on at another step: ${typed('resume-at', ' --path PATH --dry-run')}. Other ways: redress order --help`,
  ];
}

/** Whether the step would fail again with the same input: its fault is permanent, and about what it was given. */
function isAboutInput(order: OrderView, exception: ExceptionTags | undefined): boolean {
  const { fault } = order;
  if (!fault?.permanent || failedStep(order)?.input === undefined) return false;
  const isOfUser = exception?.tags.some((tag) => tag === 'user' || tag === 'semantic') ?? false;
  return isOfUser || fault.type === 'RequestRefused' || fault.type.endsWith('Invalid');
}

type Typed = (command: string, more?: string) => string;

/** Returns how to mark a stuck undo as done. With several, the path says which. */
function markSteps({ stuck }: NonNullable<OrderView['undo']>, typed: Typed): readonly string[] {
  const path = stuck.length > 1 ? ' --path PATH' : '';
  return [`If ${stuck.length > 1 ? 'one' : 'it'} was undone by hand: ${typed('mark-compensated', `${path} --dry-run`)}`];
}

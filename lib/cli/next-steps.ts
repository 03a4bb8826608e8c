import { type OrderView, questionType } from './orders.ts';
import { printable } from './text.ts';

/** Returns what a person may do next about an order that does not go on by itself. It names no instruction that would be refused now. */
export function nextSteps(order: OrderView): readonly string[] {
  const { orderId, processState, suspended, fault, undo, taskId } = order;
  const typed = (command: string, more = ' --dry-run') => `redress order ${command} ${printable(orderId)}${more}`;
  const marks = undo && undo.stuck.length > 0 ? markSteps(undo, typed) : [];
  if (suspended) return [`To let it go on: ${typed('resume')}`, ...marks];
  if (processState !== 'Error') {
    const isPaused = undo?.stuck.some(({ nextAt }) => nextAt !== null) ?? false;
    return [...(isPaused ? [`To request it again now: ${typed('retry-undo')}`] : []), ...marks];
  }
  if (taskId === undefined || fault?.type === questionType) return [];
  return [
    `To request the failed step again: ${typed('resubmit')}`,
    `To go on at another step: ${typed('resume-at', ' --path PATH --dry-run')}. Other ways: redress order --help`,
  ];
}

type Typed = (command: string, more?: string) => string;

/** Returns how to mark a stuck undo as done. With several, the path says which. */
function markSteps({ stuck }: NonNullable<OrderView['undo']>, typed: Typed): readonly string[] {
  const path = stuck.length > 1 ? ' --path PATH' : '';
  return [`If ${stuck.length > 1 ? 'one' : 'it'} was undone by hand: ${typed('mark-compensated', `${path} --dry-run`)}`];
}

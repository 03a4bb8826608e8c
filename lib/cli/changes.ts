import { isUndoPath } from '#core/data/ids';
import { isEnded, type OrderView, questionType, type StepView, timeOf } from './orders.ts';
import { spanText } from './text.ts';

/** Returns the changes between two views of an order, one line each. `before` is undefined for the first view. */
export function changesBetween(before: OrderView | undefined, after: OrderView): readonly string[] {
  const steps = (after.steps ?? []).flatMap((step) => {
    const earlier = before?.steps?.find(({ path }) => path === step.path);
    const line = stepChange(earlier, step, after);
    return line === undefined ? [] : [line];
  });
  return [...orderChange(before, after), ...steps, ...(isEnded(after) && !(before && isEnded(before)) ? [endLine(after)] : [])];
}

function orderChange(before: OrderView | undefined, after: OrderView): readonly string[] {
  if (after.suspended && !before?.suspended) return ['suspended by an operator'];
  if (!after.suspended && before?.suspended) return ['resumed'];
  if (after.processState === before?.processState) return [];
  if (after.processState === 'Pending') return [before ? 'pending again: waits for a scheduler' : 'pending: waits for a scheduler'];
  return before?.processState === 'Error' && after.processState === 'Processing' ? ['running again'] : [];
}

function stepChange(before: StepView | undefined, after: StepView, order: OrderView): string | undefined {
  const attempt = after.attempts > 1 ? ` (attempt ${after.attempts})` : '';
  if (after.status === before?.status && after.attempts === before.attempts && after.result === before.result) return undefined;
  switch (after.status) {
    case 'Initialized':
      return undefined;
    case 'Executing':
      return after.attempts > 1 ? `${after.name} requested again${attempt}` : `${after.name} requested`;
    default:
      return `${after.name} ${statusText(after, order)}${took(after)}${attempt}`;
  }
}

/** Returns the status of a step in a few words, with the type of its fault if the order shows it. */
export function statusText({ status, result, path }: StepView, { fault }: Pick<OrderView, 'fault'>): string {
  if (result === 'Succeeded') return 'ok';
  if (result === 'Canceled') return 'canceled';
  // The original step was undone; its undo step succeeded.
  if (result === 'Compensated') return isUndoPath(path) ? 'ok' : 'undone';
  if (result === 'Faulted' || status === 'Faulting') return fault?.source === path ? `failed: ${fault.type}` : 'failed';
  return (
    { Initialized: 'not started', Executing: 'requested', Canceling: 'is being canceled', Compensating: 'is being undone' }[status] ??
    status
  );
}

const took = ({ startedAt, closedAt }: StepView): string =>
  startedAt && closedAt ? ` ${spanText(timeOf(closedAt) - timeOf(startedAt))}` : '';

function endLine(order: OrderView): string {
  const { processState, outcome, output, fault, submittedAt, updatedAt } = order;
  if (processState === 'Processed') {
    const result = output !== undefined ? `: ${JSON.stringify(output)}` : fault ? `: ${fault.type}` : '';
    return `${outcome ?? 'processed'} after ${spanText(timeOf(updatedAt) - timeOf(submittedAt))}${result}`;
  }
  if (fault?.type === questionType) return `waits for an answer: ${fault.message ?? ''}`;
  const what = fault ? `: ${fault.type}${fault.source ? ` at ${fault.source}` : ''}${fault.message ? `: ${fault.message}` : ''}` : '';
  return `waits for an operator${what}`;
}

import { isEnded, type OrderView, questionType, type StepView, timeOf } from './orders.ts';
import { spanText } from './text.ts';

/** What happened to an order between two looks at it, one line each; undefined before the first look. */
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
  if (after.processState === 'Pending') return [before ? 'given back: waits to be taken up again' : 'waits to be taken up'];
  return before?.processState === 'Error' && after.processState === 'Processing' ? ['at work again'] : [];
}

function stepChange(before: StepView | undefined, after: StepView, order: OrderView): string | undefined {
  const asked = after.attempts > 1 ? ` (attempt ${after.attempts})` : '';
  if (after.status === before?.status && after.attempts === before.attempts && after.result === before.result) return undefined;
  switch (after.status) {
    case 'Initialized':
      return undefined;
    case 'Executing':
      return after.attempts > 1 ? `${after.name} asked again${asked}` : `${after.name} asked`;
    default:
      return `${after.name} ${statusText(after, order)}${took(after)}${asked}`;
  }
}

/** How a step stands, in a word or two; a fault is named where the order tells it. */
export function statusText({ status, result, path }: StepView, { fault }: Pick<OrderView, 'fault'>): string {
  if (result === 'Succeeded') return 'ok';
  if (result === 'Canceled') return 'canceled';
  // The step that was undone says so; its undo has done what it was asked for.
  if (result === 'Compensated') return path.endsWith('/undo') ? 'ok' : 'undone';
  if (result === 'Faulted' || status === 'Faulting') return fault?.source === path ? `failed: ${fault.type}` : 'failed';
  return (
    { Initialized: 'not begun', Executing: 'asked', Canceling: 'is being canceled', Compensating: 'is being undone' }[status] ?? status
  );
}

const took = ({ startedAt, closedAt }: StepView): string =>
  startedAt && closedAt ? ` ${spanText(timeOf(closedAt) - timeOf(startedAt))}` : '';

function endLine(order: OrderView): string {
  const { processState, outcome, fault, submittedAt, updatedAt } = order;
  if (processState === 'Processed') return `${outcome ?? 'processed'} after ${spanText(timeOf(updatedAt) - timeOf(submittedAt))}`;
  if (fault?.type === questionType) return `waits for an answer: ${fault.message ?? ''}`;
  const what = fault ? `: ${fault.type}${fault.source ? ` at ${fault.source}` : ''}${fault.message ? `: ${fault.message}` : ''}` : '';
  return `waits for an operator${what}`;
}

import { isUndoPath, undonePath } from '#core/data/ids';
import {
  durationMs,
  endReason,
  type FaultView,
  isEnded,
  type OrderView,
  questionType,
  type StepView,
  type StuckUndoView,
  secondText,
  stepLabel,
  timeOf,
  waitText,
} from './orders.ts';
import { spanText } from './text.ts';

/** Returns the changes between two views of an order, one line each. `before` is undefined for the first view. */
export function changesBetween(before: OrderView | undefined, after: OrderView): readonly string[] {
  const labelled = (order: OrderView | undefined) => (order?.steps ?? []).map((step) => [stepLabel(step, order?.steps), step] as const);
  const earlier = labelled(before);
  const steps = labelled(after).flatMap(([label, step]) => {
    const [, known] = earlier.find(([name, { path }]) => (path === undefined ? name === label : path === step.path)) ?? [];
    const line = stepChange(known, step, label, after);
    return line === undefined ? [] : [line];
  });
  return [
    ...orderChange(before, after),
    ...steps,
    ...standstill(before, after),
    ...(isEnded(after) && !(before && isEnded(before)) ? [endLine(after)] : []),
  ];
}

function orderChange(before: OrderView | undefined, after: OrderView): readonly string[] {
  if (after.suspended && !before?.suspended) return ['suspended by an operator: nothing is requested until somebody resumes it'];
  if (!after.suspended && before?.suspended) return ['resumed'];
  if (after.processState === before?.processState) return [];
  if (after.processState === 'Pending') return [before ? 'pending again: waits for a scheduler' : 'pending: waits for a scheduler'];
  return before?.processState === 'Error' && after.processState === 'Processing' ? ['running again'] : [];
}

/** Returns the line about a new wait that no step shows: for a failing undo, for a confirmation, or for a service that is away. */
function standstill(before: OrderView | undefined, after: OrderView): readonly string[] {
  const line = standstillText(after);
  return line === undefined || (before && line === standstillText(before)) ? [] : [line];
}

function standstillText({ waitsFor, undo }: OrderView): string | undefined {
  if (!waitsFor || !['undo', 'confirmation', 'outage'].includes(waitsFor.kind)) return undefined;
  const { lastFault } = undo?.stuck.find(({ path }) => path === waitsFor.path) ?? {};
  return `${waitText(waitsFor)}${lastFault ? ` (${faultText(lastFault)})` : ''}`;
}

function stepChange(before: StepView | undefined, after: StepView, label: string, order: OrderView): string | undefined {
  const { attempts = 0 } = after;
  const attempt = attempts > 1 ? ` (attempt ${attempts})` : '';
  const isAlike = after.status === before?.status && after.attempts === before.attempts && after.result === before.result;
  if (isAlike && after.skipped === before.skipped) return undefined;
  switch (after.status) {
    case 'Initialized':
      return undefined;
    case 'Executing':
      if (isWait(after) || after.skipped) return `${label} ${statusText(after, order)}`;
      // A suspended order requests nothing.
      if (order.suspended) return `${label} ${statusText(after, order)}${attempt}`;
      return attempts > 1 ? `${label} requested again${attempt}` : `${label} requested`;
    default:
      return `${label} ${statusText(after, order)}${took(after)}${attempt}`;
  }
}

/** Whether a row of the steps is a wait, for which no agent works. The API shows no waits to a client. */
export const isWait = ({ agent, waitsFor }: StepView): boolean => waitsFor !== undefined && waitsFor !== null && agent === null;

/** Returns the status of a step in a few words, with the type of its fault if the order shows it. */
export function statusText(step: StepView, { fault, undo, suspended }: Pick<OrderView, 'fault' | 'undo' | 'suspended'>): string {
  const { status, result, skipped, path, waitsFor, completeBy } = step;
  // In a suspended order, an undo that a person has marked as done closes only when the order is resumed.
  const isUndo = path !== undefined && isUndoPath(path);
  const stuck = isUndo && status !== 'Closed' ? undo?.stuck.find((each) => each.path === undonePath(path)) : undefined;
  if (stuck) return failureText(stuck, suspended === true);
  if (skipped && (status === 'Closed' || isUndo)) return skipped === 'done' ? 'done by hand' : 'skipped, not done';
  if (result === 'Succeeded') return 'ok';
  if (result === 'Canceled') return 'canceled';
  // An undone step and the undo step that has undone it have the same result.
  if (result === 'Compensated') return isUndo ? 'ok' : 'undone';
  if (waitsFor?.kind === 'answer' && status === 'Faulting') return waitText(waitsFor);
  if (result === 'Faulted' || status === 'Faulting') {
    // A client sees no paths. In its view, the fault of the order is that of the blocked step.
    const isItsFault = path === undefined ? status === 'Faulting' : fault?.source === path;
    return fault && isItsFault ? `failed: ${fault.type}` : 'failed';
  }
  if (waitsFor && status === 'Executing')
    return `${waitText(waitsFor)}${isWait(step) && completeBy ? ` until ${secondText(completeBy)}` : ''}`;
  return (
    { Initialized: 'not started', Executing: 'requested', Canceling: 'is being canceled', Compensating: 'is being undone' }[status] ??
    status
  );
}

/** Returns how often an undo has failed: `failed once`. Gives no number for a suspended order, whose last request may have no reply yet. */
export function failureText({ attempts, nextAt }: StuckUndoView, isSuspended: boolean): string {
  if (attempts === 0) return 'cannot be requested';
  if (attempts > 1 && isSuspended) return 'keeps failing';
  const isRequested = nextAt === null && attempts > 1;
  const failures = isRequested ? attempts - 1 : attempts;
  return `${failures > 1 ? `failed ${failures} times` : 'failed once'}${isRequested ? ', requested again' : ''}`;
}

function took(step: StepView): string {
  const ms = durationMs(step);
  return ms === undefined ? '' : ` ${spanText(ms)}`;
}

function endLine(order: OrderView): string {
  const { processState, outcome, output, fault, submittedAt, updatedAt } = order;
  if (processState === 'Processed') {
    const result = output !== undefined ? `: ${JSON.stringify(output)}` : `${order.endedBy ? ',' : ''}${endReason(order)}`;
    return `${outcome ?? 'processed'} ${spanText(timeOf(updatedAt) - timeOf(submittedAt))} after its submission${result}`;
  }
  if (fault?.type === questionType) return `waits for an answer${fault.message === undefined ? '' : `: ${fault.message}`}`;
  return `blocked${fault ? `: ${faultText(fault)}` : ''}`;
}

const faultText = ({ type, source, message }: FaultView): string =>
  `${type}${source ? ` at ${source}` : ''}${message ? `: ${message}` : ''}`;

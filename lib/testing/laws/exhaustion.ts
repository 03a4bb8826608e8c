import type { StepState } from '#core/data/step-state';
import { rootPath } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** S15: how often a step may be late, and what becomes of it then, is what the workflow says, or else the deployment. */
export const exhaustion = ({ maxFailures }: Setting): Law => ({
  name: 'exhaustion',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    if (!order) return undefined;
    return pinnedOtherwise(order, maxFailures) ?? heldOtherwise(order) ?? dealtWithWrongly(order);
  }),
});

function pinnedOtherwise({ orderId, state, program }: Tracked, maxFailures: number): string | undefined {
  const definition = program?.definition;
  const wanted = [definition?.maxFailures ?? maxFailures, definition?.onExhausted ?? 'error', definition?.recover ?? 'step'].join(' ');
  const pinned = [state.maxFailures, state.onExhausted, state.recover].join(' ');
  return wanted === pinned ? undefined : `${orderId} has ${pinned} instead of ${wanted}`;
}

/** Whom the supervisor puts before a person for a step that is late for good is there for that. */
function heldOtherwise(order: Tracked): string | undefined {
  const { orderId, state, news } = order;
  const [first, next] = news;
  if (first?.type !== 'ThresholdExceeded' || next?.type !== 'OrderBlocked') return undefined;
  const { type, message } = next.fault;
  const told = state.processState !== 'Error' ? type : `Engine/${state.fault?.type}`;
  const isSo = (type === 'Engine/DeadlineExceeded' || isInDoubt(order, next.path, type)) && message.length > 8 && told === type;
  return isSo ? undefined : `${orderId} is late for good, and is held for ${type}`;
}

/** What may be asked for only once is not late: nobody knows whether it was done. */
function isInDoubt({ program }: Tracked, path: string, type: string): boolean {
  const node = program && nodeAt(program, path);
  return type === 'Engine/OutcomeUnknown' && node?.activity === 'step' && node.atMostOnce === true;
}

/** The write in which the instance hears of an expiry above the threshold: nothing else has answered or decided meanwhile. */
function dealtWithWrongly({ orderId, state, before, instance, news }: Tracked): string | undefined {
  if (news.some(({ type }) => type === 'InstructionGiven')) return undefined;
  const expired = news.findLast((fact) => fact.type === 'DeadlineExpired');
  const faults = news.flatMap((fact) => (fact.type === 'FaultRaised' && fact.fault.type === 'Engine/DeadlineExceeded' ? [fact] : []));
  const isTimeOver = before?.state.endBy !== undefined && before.state.endBy <= state.updatedAt;
  const isAbove = expired !== undefined && expired.failureCount > state.maxFailures;
  const late = faults.find(({ fault, path }) => fault.source === path && path !== rootPath);
  if (late && !isAbove && !isTimeOver && state.onExhausted !== 'error') return `${orderId} gives up ${late.path} before its threshold`;
  if (!isAbove || before?.state.ending || isTimeOver || state.lastBy.some((id) => id.startsWith(orderId))) return undefined;
  const { path } = expired;
  const own = path === undefined ? undefined : (instance.state.activities[path]?.local as StepState | undefined);
  // What nobody knows the outcome of is settled first.
  const goesOn = own?.phase === 'requested' && own.mode === undefined;
  if (state.onExhausted === 'fault' && goesOn) return `${orderId} does not give up ${path}`;
  const isUndone = instance.state.ending?.outcome === 'compensated' || state.outcome === 'compensated';
  return state.onExhausted === 'undo' && !isUndone ? `${orderId} is not undone though ${path ?? 'all of it'} is late for good` : undefined;
}

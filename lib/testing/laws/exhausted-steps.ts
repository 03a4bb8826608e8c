import type { StepState } from '#core/data/step-state';
import { rootPath } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { StateRecord } from '#ports/records';
import type { Instance } from '#roles/scheduler/instance';
import { hasLock } from '#roles/scheduler/lease';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/** The workflow, or else the deployment, decides how often a step may be late, and what happens then (S15). */
export const exhaustedSteps = ({ maxFailures }: Pick<Setting, 'maxFailures'>): Law => ({
  name: 'exhausted steps',
  after: on(['written'], (observation, history) => {
    const order = history.orders.get(observation.after.orderId);
    if (!order) return undefined;
    return wrongPolicy(order, maxFailures) ?? wrongBlock(order) ?? wrongReaction(order);
  }),
});

function wrongPolicy({ orderId, state, program }: Tracked, maxFailures: number): string | undefined {
  const definition = program?.definition;
  const expected = [definition?.maxFailures ?? maxFailures, definition?.onExhausted ?? 'error', definition?.recover ?? 'step'].join(' ');
  const pinned = [state.maxFailures, state.onExhausted, state.recover].join(' ');
  return expected === pinned ? undefined : `order ${orderId} has the policy "${pinned}", expected "${expected}"`;
}

/** Checks the fault of an order that the supervisor blocks because a step has exceeded its failure limit. */
function wrongBlock(order: Tracked): string | undefined {
  const { orderId, state, newFacts } = order;
  const [first, next] = newFacts;
  if (first?.type !== 'ThresholdExceeded' || next?.type !== 'OrderBlocked' || newFacts.some(({ type }) => type === 'RuleActed'))
    return undefined;
  const { type, message } = next.fault;
  // A person may decide in the same write, and something else may block the order then.
  const isLast = newFacts.findLast((fact) => fact.type === 'OrderBlocked') === next;
  const shown = state.processState !== 'Error' || !isLast ? type : `Engine/${state.fault?.type}`;
  const isRight = (type === 'Engine/DeadlineExceeded' || isOutcomeUnknown(order, next.path, type)) && message.length > 8 && shown === type;
  return isRight ? undefined : `order ${orderId} exceeded its failure limit, but was blocked for ${type}`;
}

/** Whether the fault says that the outcome of an at-most-once step is unknown. Such a step is not repeated. */
function isOutcomeUnknown({ program }: Tracked, path: string, type: string): boolean {
  const node = program && nodeAt(program, path);
  return type === 'Engine/OutcomeUnknown' && node?.activity === 'step' && node.atMostOnce === true;
}

/** Checks the write that applies an expiry above the limit, unless a reply, an instruction or an action of a rule came first. */
function wrongReaction({ orderId, state, before, instance, newFacts }: Tracked): string | undefined {
  if (newFacts.some(({ type }) => type === 'InstructionGiven' || type === 'RuleActed')) return undefined;
  const expired = newFacts.findLast((fact) => fact.type === 'DeadlineExpired');
  const faults = newFacts.flatMap((fact) => (fact.type === 'FaultRaised' && fact.fault.type === 'Engine/DeadlineExceeded' ? [fact] : []));
  const isTimeOver = before?.state.endBy !== undefined && before.state.endBy <= state.updatedAt;
  const isAbove = expired !== undefined && expired.failureCount > state.maxFailures;
  const late = faults.find(({ fault, path }) => fault.source === path && path !== rootPath);
  if (late && !isAbove && !wasAbove(late.path, before, state) && !isTimeOver && state.onExhausted !== 'error')
    return `order ${orderId}: step ${late.path} failed with DeadlineExceeded below its failure limit`;
  if (!isAbove || before?.state.ending || isTimeOver || state.lastBy.some((id) => id.startsWith(orderId))) return undefined;
  // The deadlines of a locked order stand still.
  if (hasLock(state)) return undefined;
  // An exception from outside has stopped the order first. The person who decides about it decides about the step.
  if (instance.state.blocked?.reported) return undefined;
  const { path } = expired;
  const local = path === undefined ? undefined : (instance.state.activities[path]?.local as StepState | undefined);
  // A step with an unknown outcome is confirmed first, in a mode of its own.
  const isStillRequested = local?.phase === 'requested' && local.mode === undefined;
  if (state.onExhausted === 'fault' && isStillRequested) return `order ${orderId}: step ${path} exceeded its failure limit but goes on`;
  const isUndone = instance.state.ending?.outcome === 'compensated' || state.outcome === 'compensated';
  return state.onExhausted === 'undo' && !isUndone
    ? `order ${orderId} is not compensated although ${path ?? 'its steps'} exceeded the failure limit`
    : undefined;
}

/** Whether an earlier write counted the step above its limit. A rule that suspended the order in that write has postponed the fault. */
const wasAbove = (path: string, before: Instance | undefined, { maxFailures }: StateRecord): boolean =>
  (before?.state.activities[path]?.late ?? 0) > maxFailures;

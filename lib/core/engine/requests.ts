import { requestCommand } from '#core/data/command';
import { attemptIdOf, idempotencyKeyOf, requestIdOf } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { inputOf } from '#core/definition/program';
import type { Attempt, Next } from './behavior.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Carries out the verbs of a step that sends a request, or waits before its next request. */
export function sendRequests(
  builder: TransitionBuilder,
  path: string,
  next: Extract<Next<unknown>, { verb: 'wait' | 'request' | 'requestAgain' }>,
): void {
  if (next.verb === 'request') return sendAttempt(builder, path, next.request);
  if (next.verb === 'requestAgain') return sendAgain(builder, path);
  if (next.undoFailed) builder.fact({ type: 'UndoFailed', path, attemptId: attemptIdOf(builder.step(path)), ...next.undoFailed });
}

function sendAttempt(builder: TransitionBuilder, path: string, { input, ...attempt }: Attempt): void {
  send(builder, path, { ...attempt, epoch: builder.event.epoch }, input);
}

function sendAgain(builder: TransitionBuilder, path: string): void {
  const input = inputOf(builder.program, builder.subject, builder.state, path);
  send(builder, path, builder.step(path), input.ok ? input.value : null);
}

type Sent = Pick<StepState, 'generation' | 'attempt' | 'epoch' | 'completeBy' | 'mode' | 'newKey'>;

function send(builder: TransitionBuilder, path: string, attempt: Sent, input: Json): void {
  const node = builder.node(path);
  if (!isRemote(node)) throw new Error(`${path} sends a request, but only a step or a call can.`);
  builder.commands.push(requestCommand(builder.subject.orderId, path, node, attempt, input));
  builder.fact({ type: 'StepRequested', path, attemptId: attemptIdOf(attempt), completeBy: attempt.completeBy });
}

/** Tells the agent that the order no longer needs the result of the request. */
export function requestCancel(builder: TransitionBuilder, path: string, local: StepState): void {
  const node = builder.node(path);
  if (!isRemote(node)) return;
  builder.fact({ type: 'CancelRequested', path, attemptId: attemptIdOf(local) });
  const { orderId } = builder.subject;
  const requestId = requestIdOf(orderId, path, local);
  const idempotencyKey = idempotencyKeyOf(orderId, path, local.generation);
  builder.commands.push({ type: 'cancel', path, agent: node.agent, requestId, idempotencyKey });
}

/**
 * Requests a wake-up for an activity's own time. The supervisor finds the deadlines of steps and
 * undos: a wake-up message for each would cost more than the seconds that it saves.
 */
export function requestWakeUp(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (activity?.status !== 'Executing' || isRemote(builder.node(path))) return;
  const at = builder.behavior(path).wakeAt?.(activity.local);
  if (at !== undefined) builder.commands.push({ type: 'wake', at });
}

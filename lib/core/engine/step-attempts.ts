import type { RemoteStep } from '#core/activities/step';
import { childCheckSeconds, workflowsAgent } from '#core/data/child-order';
import { deadlinePassed, engineFault, engineFaults, type Fault } from '#core/data/fault';
import { fits, type Json, utf8Bytes } from '#core/data/json';
import type { OperatingStep, StepState } from '#core/data/step-state';
import { limits } from '#core/definition/definition';
import { mayChange } from '#core/definition/template';
import { type Context, type Evaluated, type Next, raise, request } from './behavior.ts';
import { lastHeard } from './no-answer.ts';

/** Returns the milliseconds that one attempt may take. */
const timeOf = (
  { agent, completeWithinSeconds = agent === workflowsAgent ? childCheckSeconds : undefined }: RemoteStep,
  stepMs: number,
): number => (completeWithinSeconds === undefined ? stepMs : completeWithinSeconds * 1000);

/** Requests the open operation of a step again, with the same input under the same key. */
export const requestAgain = (step: RemoteStep, local: StepState, context: Context, endBy = Infinity) => {
  const { at, epoch, stepMs } = context;
  const completeBy = Math.min(at + timeOf(step, stepMs), endBy);
  const asked = { ...local, attempt: local.attempt + 1, epoch, since: at, completeBy, phase: 'requested' as const };
  return { verb: 'requestAgain' as const, state: asked };
};

/** Returns the input of a step: the one that a person gave it, or that of its definition. */
export const inputIn = ({ input }: RemoteStep, context: Context): Evaluated =>
  context.input === undefined ? context.evaluate(input) : { ok: true, value: context.input };

function refusedInput(input: Json): Fault | undefined {
  if (fits(input, limits.inputBytesMax)) return undefined;
  const message = `The input has ${utf8Bytes(input)} bytes; the maximum is ${limits.inputBytesMax}. Pass a reference to the data instead.`;
  return engineFault(engineFaults.inputTooLarge, message);
}

interface Before {
  /** The input of the earlier request under the same key. */
  readonly input?: Json | undefined;
  readonly newKey?: true;
  /** The failure that the agent reported last. */
  readonly reason?: string | undefined;
  /** The end of the time for all attempts of the step. Absent if that time starts with this attempt. */
  readonly limit?: number | undefined;
}

/** Requests the operation of a step. Raises a fault instead if the order's time is over, or if the input is missing or too large. */
export const requestAttempt = (
  step: RemoteStep,
  generation: number,
  attempt: number,
  context: Context,
  { input: before, limit: given, reason, ...local }: Before = {},
): Next<StepState> => {
  const { at, epoch, endBy } = context;
  const kept = before === undefined ? {} : { input: before };
  const limit = given ?? (step.withinSeconds === undefined ? Infinity : at + step.withinSeconds * 1000);
  const carried = { ...kept, ...local, ...(reason === undefined ? {} : { reason }) };
  const asked = { generation, attempt, epoch, since: at, ...carried, ...(limit === Infinity ? {} : { limit }) };
  const previous = { generation, attempt: attempt - 1, ...kept };

  if (endBy !== undefined && at >= endBy) return failWithoutRequest(deadlinePassed, previous, context);
  const input = before === undefined ? inputIn(step, context) : ({ ok: true, value: before } as const);
  if (!input.ok) return failWithoutRequest(input.fault, previous, context);
  // One key has one input, so a repeated request is sent whatever its size.
  const tooLarge = before === undefined ? refusedInput(input.value) : undefined;
  if (tooLarge) return failWithoutRequest(tooLarge, previous, context);

  const completeBy = Math.min(at + timeOf(step, context.stepMs), endBy ?? Infinity, limit);
  const attempted = { input: input.value, generation, attempt, completeBy, ...local };
  return request(attempted, { ...asked, ...(mayChange(step.input) ? { input: input.value } : {}), phase: 'requested', completeBy });
};

/** Raises the fault of a step whose time for all attempts is over. Its outcome is unknown, so it is confirmed before the step is undone. */
export const timeIsOver = ({ withinSeconds }: RemoteStep, local: OperatingStep): Next<StepState> => {
  const message = `The step was not done within ${withinSeconds} seconds. ${lastHeard(local)}`;
  return raise(engineFault(engineFaults.deadlineExceeded, message, { outcomeUnknown: true }), { ...local, phase: 'unknown' });
};

/** Raises a fault for a step that sends no request. */
export const failWithoutRequest = (
  fault: Fault,
  local: Pick<StepState, 'generation' | 'attempt' | 'input'>,
  { at, epoch }: Context,
): Next<StepState> => raise<StepState>(fault, { ...local, epoch, since: at, phase: 'unknown', completeBy: at });

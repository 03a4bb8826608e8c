import { problems } from '#core/checks/step-problems';
import { childCheckSeconds, workflowsAgent } from '#core/data/child-order';
import type { StepReply } from '#core/data/event';
import { deadlinePassed, engineFault, engineFaults, type Fault, shortType } from '#core/data/fault';
import { fits, type Json, utf8Bytes } from '#core/data/json';
import { type ActivityBase, limits, type Template } from '#core/definition/definition';
import { fingerprint } from '#core/definition/fingerprint';
import { mayChange } from '#core/definition/template';
import { type Behavior, type Context, close, type Next, raise, request, type StepMemo, succeeded } from '#core/engine/behavior';

export interface Step extends ActivityBase {
  readonly activity: 'step';
  readonly agent: string;
  readonly operation: string;
  readonly input: Template;
  /** What it does is meant to stay when a scope around it is compensated: it has no undo, and needs none. */
  readonly noUndo?: true;
  readonly completeWithinSeconds?: number;
  /** Seconds for all of its attempts together. */
  readonly withinSeconds?: number;
  /** Seconds over all heartbeats of one asking. */
  readonly longestSeconds?: number;
  /** It is never asked again blindly: the service does not know a key that comes again. */
  readonly atMostOnce?: boolean;
  /** The agent can look up by the key whether it was done. */
  readonly lookup?: boolean;
  /** Faults that the operation declares, with their ancestors: `Refused/CardDeclined`. */
  readonly faults?: readonly string[];
  /** JSON pointers into the output that nobody may see. */
  readonly secretOutput?: readonly string[];
}

/** All of a step but its kind: a call asks in the same way. */
type RemoteStep = Omit<Step, 'activity'>;

interface StepAttempt {
  /** Rises when the effect gets a new name: see `idempotencyKey`. */
  readonly generation: number;
  readonly attempt: number;
  /** The claim under which it was asked. */
  readonly epoch: number;
  readonly completeBy: number;
  /** When it was asked: the longest time counts from here. */
  readonly since: number;
  /**
   * What it is asked for, where that is not to be done: `undo`: until it succeeds; `settle`: whether it was done, under
   * the same key until the answer is definite; `cancel`: nothing any more, but its answer may still come.
   */
  readonly mode?: 'undo' | 'confirm' | 'cancel';
  /** What it was asked with, where evaluating that anew could yield something else: one key has one input. */
  readonly input?: Json;
  /** The first asking of an undo or a settling: delays grow from there. */
  readonly from?: number;
  /** Of a settling: what was asked before may still be done until then. */
  readonly until?: number;
  /** Of an undo or a settling: it has failed before. */
  readonly failed?: true;
  /** How often a person was told that it goes on failing, and when that is due again: milliseconds since 1970. */
  readonly reminders?: { readonly times: number; readonly nextAt: number };
  /** The effect of an earlier run with another input is confirmed and undone; then the step begins anew, unless it is canceled. */
  readonly replacesFormer?: true;
  /** Of what was answered "not now": what the answer said. */
  readonly reason?: string;
  /** Of what is canceled: its agent has answered, and does not know whether it was done. */
  readonly agentStopped?: true;
  /** When the time of all its attempts is over. */
  readonly limit?: number;
  /** The first asking under its key, although not the first of the step: nothing can have been done under it before. */
  readonly newKey?: true;
}

export type StepState = StepAttempt & {
  readonly phase:
    | 'requested'
    /** Answered "not now": the step waits for its time to pass, as if the agent had been silent. */
    | 'failedForNow'
    /** Answered "no": asking once more is a new effect. */
    | 'refused'
    /** Answered, but nobody knows whether the effect exists. */
    | 'unknown'
    /** An undo or a settling that failed, until it is asked again at `completeBy`. */
    | 'waitingToRetry'
    /** Done although it was canceled; its undo is at work. */
    | 'undoing'
    /** An undo whose input could not be evaluated: it is never asked, and waits until a person has seen to it. */
    | 'impossible';
};

/** Asks an agent to do one operation and waits for its answer. */
export const step: Behavior<Step, StepState> = {
  children: () => [],
  answers: true,
  problems,
  templates: ({ input }) => [input],

  execute: begin,

  repeat(step, local, context) {
    const { phase, generation, attempt, input } = local;
    if (phase === 'impossible') return { state: { ...local, epoch: context.epoch } };
    // Nothing was requested: what earlier runs came to still decides.
    if (attempt === 0 && context.memo) return begin(step, context);
    if (local.mode) return requestAgain(step, local, context);
    const limit = isOpen(local) ? local.limit : undefined;
    if (limit !== undefined && context.at >= limit) return timeIsOver(step, local);
    return phase === 'refused'
      ? requestAttempt(step, generation + 1, attempt + 1, context, { newKey: true })
      : requestAttempt(step, generation, attempt + 1, context, { input, limit });
  },

  replied(_, local, reply, context) {
    if (local.mode === 'undo' || local.mode === 'confirm') return repliedWhileCompensating(local, reply, context);
    // Blocked because nobody knew whether it was done: now it is known.
    const isDoneAfterAll = local.phase === 'unknown' && reply.status === 'succeeded';
    if (local.mode === 'cancel' || (local.phase !== 'requested' && !isDoneAfterAll)) return undefined;
    if (reply.status === 'rejected') {
      return raise(rejection(reply), { ...local, phase: reply.outcomeUnknown ? 'unknown' : 'refused' });
    }
    if (reply.status === 'succeeded') {
      const tooLarge = refusedOutput(reply.output);
      return tooLarge ? raise(tooLarge, { ...local, phase: 'unknown' }) : close(succeeded(reply.output));
    }
    if (reply.fault.permanent) return raise(reply.fault, { ...local, phase: reply.fault.outcomeUnknown ? 'unknown' : 'refused' });

    return { ...raise(reply.fault, { ...local, phase: 'failedForNow', reason: brief(reply.fault) }), onlyIfHandled: true };
  },

  woken(step, local, context) {
    if (local.limit !== undefined && local.mode === undefined && isOpen(local) && context.at >= local.limit) return timeIsOver(step, local);
    if (local.mode !== 'undo' && local.mode !== 'confirm') return undefined;
    if (context.at < local.completeBy || local.phase === 'impossible') return undefined;
    return local.phase === 'waitingToRetry' ? requestAgain(step, local, context) : pauseBeforeRetry(local, context);
  },
  wakeAt: ({ mode, phase, completeBy, limit }) => (mode ? (phase !== 'undoing' && phase !== 'impossible' ? completeBy : undefined) : limit),
  // Not `since` and `until`: what its agent still does with it does not stop.
  postponed: (local, byMs) => ({
    ...local,
    completeBy: local.completeBy + byMs,
    ...(local.limit === undefined ? {} : { limit: local.limit + byMs }),
  }),
};

/** In a later run of what is around it: what is done is not requested again, and what is unknown goes on under its key. */
function begin(step: Step, context: Context): Next<StepState> {
  const { memo } = context;
  if (!memo) return requestAttempt(step, context.firstGeneration, 1, context);
  if (memo.outcome === 'refused' || memo.outcome === 'undone') return requestAttempt(step, memo.generation + 1, 1, context);

  const input = context.evaluate(step.input);
  if (!input.ok) return failWithoutRequest(input.fault, { generation: memo.generation, attempt: 0 }, context);
  if (hasOtherInput(memo, input.value)) return replaceFormerRun(step, memo, context);
  if (memo.outcome === 'done') return close(succeeded(memo.output));
  return requestAttempt(step, memo.generation, memo.attempt + 1, context, { input: memo.input });
}

const hasOtherInput = ({ outcome, inputHash: of, input: asked }: StepMemo, input: Json): boolean => {
  const before = outcome === 'open' && asked !== undefined ? fingerprint(asked) : of;
  return before !== undefined && before !== fingerprint(input);
};

/** One key has one input: another input is another effect, once it is certain what became of the former one, and that is undone. */
function replaceFormerRun(step: Step, { outcome, generation, attempt }: StepMemo, context: Context): Next<StepState> {
  if (outcome === 'done' && step.noUndo) return requestAttempt(step, generation + 1, 1, context);
  if (outcome === 'done' && !step.undo) return failWithoutRequest(inputChanged(context.path), { generation, attempt: 0 }, context);
  const { epoch, at } = context;
  return { state: { generation, attempt, epoch, since: at, completeBy: at, phase: 'unknown' }, replacesFormer: true };
}

export const inputChanged = (path: string): Fault =>
  engineFault(
    engineFaults.inputChanged,
    `${path} was done with another input in an earlier run of what is around it, and can't be undone for itself. Give it an undo, .undo(…), or say that what it does is to stay each time: .noUndo().`,
  );

const reasonMax = 200;
const brief = ({ type, message }: Fault): string => `${shortType(type)}: ${message}`.slice(0, reasonMax);

/** Whether the operation was refused for certain, so that asking once more is another effect. */
export const isDefiniteRefusal = (reply: StepReply): boolean =>
  (reply.status === 'rejected' && !reply.outcomeUnknown) ||
  (reply.status === 'failed' && reply.fault.permanent && !reply.fault.outcomeUnknown);

const rejection = ({ message, deadLetter, outcomeUnknown }: Extract<StepReply, { status: 'rejected' }>): Fault =>
  engineFault(engineFaults.requestRejected, message, {
    ...(deadLetter === undefined ? {} : { data: { deadLetter } }),
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
  });

export const faultIn = (reply: Exclude<StepReply, { status: 'succeeded' }>): Fault =>
  reply.status === 'failed' ? reply.fault : rejection(reply);

/** An undo is repeated until it succeeds; a settling until it is known whether there is anything to undo (WSEHF). */
function repliedWhileCompensating(local: StepState, reply: StepReply, context: Context): Next<StepState> {
  if (reply.status === 'succeeded') return close(local.mode === 'undo' ? { result: 'Compensated' } : succeeded(reply.output));
  if (local.mode === 'confirm' && isDefiniteRefusal(reply)) return close({ result: 'Canceled' });
  return pauseBeforeRetry(local, context, faultIn(reply));
}

/** Whether the effect exists is looked up, instead of asking for it once more under its key. */
const isLookedUp = ({ agent, lookup }: RemoteStep): boolean => lookup === true || agent === workflowsAgent;

/** Whether to settle it is to run it once more. What is looked up begins nothing; nor does what may be asked for only once. */
export const isRunToConfirm = (step: RemoteStep): boolean => !isLookedUp(step) && !step.atMostOnce;

/** Until when an asking may still have its effect: its agent stops then, and may have had more time by heartbeats. */
export const possibleUntil = ({ longestSeconds = 0 }: Pick<Step, 'longestSeconds'>, { completeBy, since }: StepState): number =>
  Math.max(completeBy, since + longestSeconds * 1000);

const retryPauseMs = { first: 5_000, longest: 3_600_000 };
/** Failures after which a person is told; one that is refused for good is told at once. */
const stuckAfter = 3;
/** Then a person is reminded, at intervals that double. */
const remindMs = { first: 3_600_000, longest: 86_400_000 };

/** Delays grow with every asking; one that is refused for good goes on being tried, slowly. */
function pauseBeforeRetry(local: StepState, { at, jitter }: Context, fault?: Fault): Next<StepState> {
  const failures = local.attempt - (local.from ?? 1) + 1;
  const growing = fault?.permanent
    ? retryPauseMs.longest
    : Math.min(retryPauseMs.longest, retryPauseMs.first * 2 ** Math.min(failures - 1, 20));
  const pause = Math.round(growing * jitter(local.generation));
  const { times, nextAt } = local.reminders ?? { times: 0, nextAt: at };
  const stuck = at >= nextAt && (times > 0 || failures >= stuckAfter || fault?.permanent === true);
  const reminders = stuck
    ? { reminders: { times: times + 1, nextAt: at + Math.min(remindMs.longest, remindMs.first * 2 ** Math.min(times, 20)) } }
    : {};
  return {
    state: { ...local, phase: 'waitingToRetry', completeBy: at + pause, failed: true, ...reminders },
    undoFailed: { stuck, ...(fault ? { fault } : {}) },
  };
}

/** Milliseconds that an asking has. */
const timeOf = (
  { agent, completeWithinSeconds = agent === workflowsAgent ? childCheckSeconds : undefined }: RemoteStep,
  stepMs: number,
): number => (completeWithinSeconds === undefined ? stepMs : completeWithinSeconds * 1000);

export const requestAgain = (step: RemoteStep, local: StepState, context: Context, endBy = Infinity): Next<StepState> => {
  const { at, epoch, stepMs } = context;
  const completeBy = Math.min(at + timeOf(step, stepMs), endBy);
  const asked = { ...local, attempt: local.attempt + 1, epoch, since: at, completeBy, phase: 'requested' as const };
  return { state: asked, requestAgain: true };
};

/** The first asking of an undo, or of whether a step was done; the order's own time does not end it. */
export const beginConfirming = (
  step: RemoteStep,
  { mode, generation, attempt, until, input, replacesFormer }: Confirming,
  context: Context,
): Next<StepState> =>
  requestAgain(
    step,
    {
      generation,
      attempt: attempt - 1,
      epoch: context.epoch,
      completeBy: 0,
      since: 0,
      mode,
      from: attempt,
      ...(until === undefined || !isLookedUp(step) ? {} : { until }),
      ...(input === undefined ? {} : { input }),
      ...(replacesFormer ? { replacesFormer } : {}),
      phase: 'waitingToRetry',
    },
    context,
  );

type Confirming = Pick<StepState, 'generation' | 'attempt' | 'replacesFormer'> & {
  readonly mode: 'undo' | 'confirm';
  readonly until?: number | undefined;
  /** Where it was not kept beside what is to be undone. */
  readonly input?: Json | undefined;
};

/** The undo can't be asked, and nothing will change that: somebody is told at once. */
export const beginImpossible = (generation: number, fault: Fault, { at, epoch }: Context): Next<StepState> => ({
  state: { generation, attempt: 0, epoch, since: at, completeBy: at, mode: 'undo', from: 1, phase: 'impossible' },
  undoFailed: { stuck: true, fault },
});

export function refusedOutput(output: Json): Fault | undefined {
  if (fits(output, limits.outputBytesMax)) return undefined;
  const message = `The output has ${utf8Bytes(output)} bytes; at most ${limits.outputBytesMax} are kept. Answer with a reference to where it lies.`;
  return engineFault(engineFaults.outputTooLarge, message, { outcomeUnknown: true });
}

function refusedInput(input: Json): Fault | undefined {
  if (fits(input, limits.inputBytesMax)) return undefined;
  const message = `The input has ${utf8Bytes(input)} bytes; at most ${limits.inputBytesMax} are sent. Hand over a reference to where it lies.`;
  return engineFault(engineFaults.inputTooLarge, message);
}

interface Before {
  /** What it was asked with under the same key. */
  readonly input?: Json | undefined;
  readonly newKey?: true;
  /** When its time is over, where that has begun already. */
  readonly limit?: number | undefined;
}

const requestAttempt = (
  step: Step,
  generation: number,
  attempt: number,
  context: Context,
  { input: before, limit: given, ...local }: Before = {},
): Next<StepState> => {
  const { at, epoch, endBy } = context;
  const kept = before === undefined ? {} : { input: before };
  const limit = given ?? (step.withinSeconds === undefined ? Infinity : at + step.withinSeconds * 1000);
  const asked = { generation, attempt, epoch, since: at, ...kept, ...local, ...(limit === Infinity ? {} : { limit }) };
  const formerly = { generation, attempt: attempt - 1, ...kept };

  if (endBy !== undefined && at >= endBy) return failWithoutRequest(deadlinePassed, formerly, context);
  const input = before === undefined ? context.evaluate(step.input) : ({ ok: true, value: before } as const);
  if (!input.ok) return failWithoutRequest(input.fault, formerly, context);
  // What was asked under this key before is asked again, whatever it is.
  const tooLarge = before === undefined ? refusedInput(input.value) : undefined;
  if (tooLarge) return failWithoutRequest(tooLarge, formerly, context);

  const completeBy = Math.min(at + timeOf(step, context.stepMs), endBy ?? Infinity, limit);
  const attempted = { input: input.value, generation, attempt, completeBy, ...local };
  return request(attempted, { ...asked, ...(mayChange(step.input) ? { input: input.value } : {}), phase: 'requested', completeBy });
};

const isOpen = ({ phase }: StepState): boolean => phase === 'requested' || phase === 'failedForNow';

/** Whether its time is the supervisor's to count: where the time of all attempts ends with that of this one, the fault follows instead. */
export const isCounted = ({ mode, completeBy, limit }: StepState): boolean =>
  mode === undefined && (limit === undefined || completeBy < limit);

/** It may be done all the same: who undoes it finds that out first. */
const timeIsOver = ({ withinSeconds }: Step, local: StepState): Next<StepState> => {
  const message = `The step was not done within ${withinSeconds} seconds.`;
  return raise(engineFault(engineFaults.deadlineExceeded, message, { outcomeUnknown: true }), { ...local, phase: 'unknown' });
};

/** Nothing is requested. */
const failWithoutRequest = (
  fault: Fault,
  local: Pick<StepState, 'generation' | 'attempt' | 'input'>,
  { at, epoch }: Context,
): Next<StepState> => raise<StepState>(fault, { ...local, epoch, since: at, phase: 'unknown', completeBy: at });

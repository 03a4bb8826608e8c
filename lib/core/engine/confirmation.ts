import type { RemoteStep } from '#core/activities/step';
import { workflowsAgent } from '#core/data/child-order';
import type { StepReply } from '#core/data/event';
import { engineFaults, type Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { CompensatingStep, StepState } from '#core/data/step-state';
import { type Context, close, type Next, succeeded, wait } from './behavior.ts';
import { requestAgain } from './step-attempts.ts';
import { faultIn, isDefiniteRefusal } from './step-replies.ts';

/**
 * Handles the reply to an undo or a confirmation. An undo repeats until it succeeds, a confirmation until its answer is
 * definite (WSEHF).
 */
export function repliedWhileCompensating(local: CompensatingStep, reply: StepReply, context: Context): Next<StepState> {
  if (reply.status === 'succeeded') return close(local.mode === 'undo' ? { result: 'Compensated' } : succeeded(reply.output));
  if (local.mode === 'confirm' && isDefiniteRefusal(reply)) return close({ result: 'Canceled' });
  return pauseBeforeRetry(local, context, faultIn(reply));
}

/** Whether a lookup tells if the effect exists. Otherwise the operation is requested again under its key. */
const isLookedUp = ({ agent, lookup }: RemoteStep): boolean => lookup === true || agent === workflowsAgent;

/** Whether a confirmation runs the operation again. A lookup does not, nor does an operation that runs at most once. */
export const isRunToConfirm = (step: RemoteStep): boolean => !isLookedUp(step) && !step.atMostOnce;

/** Returns the time until which a request may have its effect, because its agent stops then. Heartbeats may have extended that time. */
export const possibleUntil = (
  { longestSeconds = 0 }: Pick<RemoteStep, 'longestSeconds'>,
  { completeBy, since }: Pick<StepState, 'completeBy' | 'since'>,
): number => Math.max(completeBy, since + longestSeconds * 1000);

const retryPauseMs = { first: 5_000, longest: 3_600_000 };
/** The number of failures after which a person is notified. After a permanent fault, a person is notified at once. */
const stuckAfter = 3;
/** The intervals of the reminders. They double from `first` to `longest`. */
const remindMs = { first: 3_600_000, longest: 86_400_000 };

/**
 * Waits before the next attempt of an undo or a confirmation. The pause grows with every attempt; after a permanent fault, other than a
 * programming error, it is the longest.
 */
export function pauseBeforeRetry(local: CompensatingStep, { at, jitter }: Context, fault?: Fault): Next<StepState> {
  const failures = local.attempt - (local.from ?? 1) + 1;
  // A programming error may be mended within minutes, and no service has refused.
  const isHopeless = fault?.permanent === true && fault.type !== engineFaults.programmingError;
  const growing = isHopeless ? retryPauseMs.longest : Math.min(retryPauseMs.longest, retryPauseMs.first * 2 ** Math.min(failures - 1, 20));
  const pause = Math.round(growing * jitter(local.generation));
  const { times, nextAt } = local.reminders ?? { times: 0, nextAt: at };
  const stuck = at >= nextAt && (times > 0 || failures >= stuckAfter || fault?.permanent === true);
  const reminders = stuck
    ? { reminders: { times: times + 1, nextAt: at + Math.min(remindMs.longest, remindMs.first * 2 ** Math.min(times, 20)) } }
    : {};
  return {
    ...wait<StepState>({ ...local, phase: 'waitingToRetry', completeBy: at + pause, failed: true, ...reminders }),
    undoFailed: { stuck, ...(fault ? { fault } : {}) },
  };
}

/** Sends the first request of an undo or a confirmation. The time limit of the order does not apply to this request. */
export const beginCompensating = (
  step: RemoteStep,
  { mode, generation, attempt, until, input, replacesFormer }: FirstRequest,
  context: Context,
) =>
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

type FirstRequest = Pick<StepState, 'generation' | 'attempt' | 'replacesFormer'> & {
  readonly mode: 'undo' | 'confirm';
  readonly until?: number | undefined;
  /** The input, if the undo list does not hold it. */
  readonly input?: Json | undefined;
};

/** Starts an undo that cannot be requested. A person is notified at once, because no retry can help. */
export const beginImpossibleUndo = (generation: number, fault: Fault, { at, epoch }: Context) => ({
  ...wait<StepState>({ generation, attempt: 0, epoch, since: at, completeBy: at, mode: 'undo', from: 1, phase: 'impossible' }),
  undoFailed: { stuck: true, fault },
});

import { workflowsAgent } from '#core/data/child-order';
import type { Event, StepReply } from '#core/data/event';
import { attemptIdOf, attemptOf, generationOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import type { CompensatingStep } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { answerCanceled } from './cancellation.ts';
import { endMarked } from './compensation.ts';
import { runJobs } from './jobs.ts';
import { recordable } from './size-limit.ts';
import { isDefiniteRefusal, refusedAnswer } from './step-replies.ts';
import { orderTime } from './suspension.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { apply } from './verbs.ts';

type Replied = Extract<Event, { type: 'replied' }>;

/**
 * Applies a reply to the step that requested it. A reply that was sent late counts only for a call, or as a late success (`lateSuccess`).
 */
export function reply(builder: TransitionBuilder, event: Replied): void {
  const donePath = lateSuccess(builder, event);
  if (donePath !== undefined) return takeReply(builder, donePath, event.reply);
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || (!isCalled(builder, path) && orderTime(builder, event.sentAt) > builder.step(path).completeBy)) return;

  const isStopped = builder.state.phase !== 'running';
  const step = builder.step(path);
  // An order that is blocked or suspended changes no step. The deadline of the lookup then leads to another lookup.
  if (step.mode === 'confirm' && isTooEarly(step, event))
    return isStopped ? undefined : builder.setStep(path, pausedUntil(step, builder.event.at, event));
  takeReply(builder, path, event.reply);
}

function takeReply(builder: TransitionBuilder, path: string, given: StepReply): void {
  if (builder.state.phase === 'running') answer(builder, path, given);
  else record(builder, path, recordable(builder, path, given));
}

/** Keeps the reply to a step of an order that is blocked or suspended. */
function record(builder: TransitionBuilder, path: string, reply: StepReply): void {
  builder.patch(path, { reply });
  builder.fact({ type: 'ReplyRecorded', path, attemptId: attemptIdOf(builder.step(path)), status: reply.status });
}

/** Whether a "not found" is too early to count: the last request may still have been on its way to the service at that time. */
const isTooEarly = ({ until }: CompensatingStep, { sentAt, clocksApartMs = 0, reply }: Replied): boolean =>
  until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);

/**
 * Returns the state of a step that repeats its lookup after the last request has had its time. If the clock of this host
 * already shows that time, the agent's clock is behind: the step waits as long as the agent's clock still needs.
 */
function pausedUntil(local: CompensatingStep, at: number, { sentAt, clocksApartMs = 0 }: Replied): CompensatingStep {
  const dueAt = (local.until ?? local.completeBy) + clocksApartMs;
  return { ...local, phase: 'waitingToRetry', completeBy: dueAt > at ? dueAt : at + dueAt - sentAt };
}

/** Hands a reply to the step. A reply to a canceled step only decides whether its work must be undone. */
export function answer(builder: TransitionBuilder, path: string, reply: StepReply): void {
  const activity = builder.activity(path);
  if (!activity) return;
  // The recorded reply is applied now, so it leaves the state.
  if (activity.reply) builder.setLocal(path, activity.local);
  if (builder.step(path).mode === 'cancel') return answerCanceled(builder, path, reply);
  apply(builder, path, builder.behavior(path).replied?.(builder.node(path), activity.local, reply, builder.context(path)));
  runJobs(builder);
}

/** Hands the replies that came while the order was blocked or suspended to their steps, and ends the undos that were marked meanwhile. */
export function answerRecorded(builder: TransitionBuilder): void {
  for (const [path, { reply: recorded, marked }] of Object.entries(builder.state.activities)) {
    if (marked && builder.continues() && builder.activity(path)?.marked) {
      endMarked(builder, path);
      runJobs(builder);
    } else if (recorded && builder.continues() && builder.activity(path)?.reply) answer(builder, path, recorded);
  }
}

/** Returns the path of the step whose open request has this id. Replies to other attempts, or to another epoch, are ignored. */
function requestedPath(builder: TransitionBuilder, requestId: string): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply) return undefined;
  const step = builder.stepAt(path);
  if (step?.phase !== 'requested') return undefined;
  // A called order ends one time, even if its caller has sent several requests: the reply belongs to the effect, not to
  // one attempt.
  if (isCalled(builder, path)) return generationOf(requestId) === step.generation ? path : undefined;
  return step.epoch === builder.event.epoch && requestIdOf(builder.subject.orderId, path, step) === requestId ? path : undefined;
}

/**
 * Returns the path of the step that this reply reports as done, whichever attempt it answers and however late it is. A late
 * success counts in two cases. First, if no later attempt can find out the outcome: the operation runs at most once, or the step is blocked
 * because its outcome is unknown. Second, if the order needs only the outcome: an undo, a confirmation, or a canceled
 * step.
 */
function lateSuccess(builder: TransitionBuilder, { requestId, reply: given }: Replied): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply || given.status !== 'succeeded') return undefined;
  const node = builder.node(path);
  if (isRemote(node) && refusedAnswer(node, given.output, builder.context(path))) return undefined;
  const step = builder.stepAt(path);
  if (!step) return undefined;
  // The order is blocked because this very output does not fit into the state.
  if (recordable(builder, path, given) !== given) return undefined;
  if (generationOf(requestId) !== step.generation || attemptOf(requestId) > step.attempt) return undefined;
  if (step.mode) return step.phase === 'requested' || step.phase === 'waitingToRetry' ? path : undefined;
  const isBlocked = step.phase === 'unknown' && activity.awaitsPerson === true;
  const isOnce = node.activity === 'step' && node.atMostOnce === true && step.phase === 'requested';
  return isBlocked || isOnce ? path : undefined;
}

/** Whether the engine itself answers: the step calls another order. */
const isCalled = (builder: TransitionBuilder, path: string): boolean => {
  const node = builder.node(path);
  return isRemote(node) && node.agent === workflowsAgent;
};

/**
 * Extends the wait for a step whose agent reports that it still works: at most to `longestSeconds`, and to the time limits of the step and
 * the order.
 */
export function extend(builder: TransitionBuilder, event: Extract<Event, { type: 'heartbeat' }>): void {
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || builder.state.phase === 'blocked') return;
  const step = nodeAt(builder.program, path);
  const local = builder.step(path);
  // A heartbeat does not extend the wait for a canceled attempt.
  if (local.mode === 'cancel') return;
  const longestMs = isRemote(step) ? (step.longestSeconds ?? 0) * 1000 : 0;
  const completeBy = Math.min(event.completeBy, local.since + longestMs, builder.state.endBy ?? Infinity, local.limit ?? Infinity);
  if (completeBy <= local.completeBy) return;

  builder.setStep(path, { ...local, completeBy });
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(local), completeBy });
}

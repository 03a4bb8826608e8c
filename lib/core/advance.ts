import { isDefiniteRefusal, refusedOutput, type StepState } from '#core/activities/step';
import { workflowsAgent } from '#core/data/child-order';
import type { Event, StepReply } from '#core/data/event';
import { type Fault, isQuestion } from '#core/data/fault';
import { attemptIdOf, attemptOf, generationOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import type { State } from '#core/data/state';
import { isRemote, limits, rootPath } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { markCompensated } from '#core/engine/compensation';
import { isHandled } from '#core/engine/fault-routing';
import { countLate, endWait, forgetLate } from '#core/engine/lateness';
import {
  answerCanceled,
  applyOutcome,
  askPerson,
  cancel,
  compensateForCaller,
  endOrder,
  leaveUnknown,
  notifyParent,
  propagateFault,
  raise,
  terminate,
} from '#core/engine/lifecycle';
import { withSignal } from '#core/engine/memory';
import { noAnswer } from '#core/engine/no-answer';
import { isKept, recordable, refused } from '#core/engine/size-limit';
import { orderTime, restoreTimes, suspend } from '#core/engine/suspension';
import type { Inputs, Subject, Transition } from '#core/engine/transition';
import { TransitionBuilder } from '#core/engine/transition-builder';

export type { Inputs, Subject, Transition } from '#core/engine/transition';

/**
 * Applies one event to one instance. Pure: it reads no clock, draws no random number, does no I/O and throws for no
 * fault. A repeated or late event returns the same state object, without commands or facts.
 */
export function advance(program: Program, subject: Subject, state: State, event: Event, inputs: Inputs = {}): Transition {
  const builder = new TransitionBuilder(program, subject, state, event, rules, inputs);
  applyEvent(builder, event);
  builder.drain();
  if (builder.blockingPath() !== undefined) blockOrContinue(builder);
  return builder.finish();
}

const rules = { applyOutcome, notifyParent, block: askPerson, refused };

function applyEvent(builder: TransitionBuilder, event: Event): void {
  const { state } = builder;
  switch (event.type) {
    case 'started':
      return state.phase === 'initialized' ? start(builder, event) : undefined;
    case 'replied':
      return reply(builder, event);
    case 'heartbeat':
      return extend(builder, event);
    case 'woken':
      return state.phase === 'running' ? wakeAll(builder) : undefined;
    case 'counted':
      return state.phase === 'running' ? countLate(builder, event.path, event.waitsUntil) : undefined;
    case 'expired':
      return state.phase === 'running' ? repeatWhere(builder, (local) => !local.mode && local.completeBy <= event.at) : undefined;
    case 'reclaimed':
      return state.phase === 'running' ? reclaim(builder) : undefined;
    case 'exhausted':
      return state.phase === 'running' ? exhaust(builder, event) : undefined;
    case 'overdue':
      return state.phase === 'running' ? overdue(builder, event.path) : undefined;
    case 'resubmitted':
      return state.blocked ? resubmit(builder, state.blocked.path, event.completeWithinSeconds) : undefined;
    case 'signaled':
      return state.phase === 'closed' ? undefined : signal(builder, event);
    case 'markedCompensated':
      if (state.phase === 'running') forgetLate(builder);
      return state.phase === 'running' ? markCompensated(builder, event.path) : undefined;
    case 'compensatedByCaller':
      return state.phase === 'closed' && state.outcome === 'completed' && state.called ? compensateForCaller(builder) : undefined;
    case 'canceled':
      if (state.phase === 'initialized') return builder.end(event.outcome);
      return isOpen(state) ? endFromOutside(builder, event.outcome) : undefined;
    case 'terminated':
      restoreTimes(builder);
      return state.phase === 'closed' ? undefined : terminate(builder);
    case 'suspended':
      return state.phase === 'running' ? suspend(builder) : undefined;
    case 'resumed':
      return state.phase === 'suspended' ? resume(builder) : undefined;
  }
}

const isOpen = ({ phase, ending }: State): boolean => phase !== 'initialized' && phase !== 'closed' && !ending;

function start(builder: TransitionBuilder, { stepMs, called }: Extract<Event, { type: 'started' }>): void {
  const { completeWithinSeconds } = builder.program.definition;
  builder.set({
    phase: 'running',
    stepMs,
    ...(called ? { called } : {}),
    ...(completeWithinSeconds ? { endBy: builder.event.at + completeWithinSeconds * 1000 } : {}),
  });
  builder.execute(rootPath);
}

function reply(builder: TransitionBuilder, event: Extract<Event, { type: 'replied' }>): void {
  const donePath = lateSuccess(builder, event);
  if (donePath !== undefined) return takeReply(builder, donePath, event.reply);
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || (!isCalled(builder, path) && orderTime(builder, event.sentAt) > (builder.local(path) as StepState).completeBy))
    return;

  const isBlocked = builder.state.phase !== 'running';
  if (isTooEarly(builder, path, event))
    return isBlocked ? undefined : builder.setLocal(path, pausedUntil(builder.local(path) as StepState, builder.event.at, event));
  takeReply(builder, path, event.reply);
}

function takeReply(builder: TransitionBuilder, path: string, given: StepReply): void {
  if (builder.state.phase === 'running') answer(builder, path, given);
  else builder.record(path, recordable(builder, path, given));
}

type Replied = Extract<Event, { type: 'replied' }>;

/** Whether a "not found" is too early to count: the last request may still have been on its way to the service at that time. */
function isTooEarly(builder: TransitionBuilder, path: string, { sentAt, clocksApartMs = 0, reply }: Replied): boolean {
  const { mode, until } = builder.local(path) as StepState;
  return mode === 'confirm' && until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);
}

/**
 * Returns the state of a step that repeats its lookup once the last request has had its time. If our clock already
 * shows that time, the agent's clock is behind: the step waits as long as the agent's clock still needs.
 */
function pausedUntil(local: StepState, at: number, { sentAt, clocksApartMs = 0 }: Replied): StepState {
  const dueAt = (local.until ?? local.completeBy) + clocksApartMs;
  return { ...local, phase: 'waitingToRetry', completeBy: dueAt > at ? dueAt : at + dueAt - sentAt };
}

function answer(builder: TransitionBuilder, path: string, reply: StepReply): void {
  const activity = builder.activity(path);
  if (!activity) return;
  if (activity.reply) builder.setLocal(path, activity.local);
  if ((activity.local as StepState).mode === 'cancel') return answerCanceled(builder, path, reply);
  builder.apply(path, builder.behavior(path).replied?.(builder.node(path), activity.local, reply, builder.context(path)));
  builder.drain();
}

/** Returns the path of the step whose open request has this id. Replies to other attempts, or to another epoch, are ignored. */
function requestedPath(builder: TransitionBuilder, requestId: string): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply) return undefined;
  const local = activity.local as StepState | undefined;
  if (local?.phase !== 'requested') return undefined;
  // A called order ends once, however often its caller has requested it: the reply belongs to the effect, not to one
  // attempt.
  if (isCalled(builder, path)) return generationOf(requestId) === local.generation ? path : undefined;
  return local.epoch === builder.event.epoch && requestIdOf(builder.subject.orderId, path, local) === requestId ? path : undefined;
}

/**
 * Returns the path of a step that any of its attempts has done, however late the reply. A late success counts in two
 * cases. First, if no later attempt can find out the outcome: the operation runs at most once, or the step is blocked
 * because its outcome is unknown. Second, if the order needs only the outcome: an undo, a confirmation, or a canceled
 * step.
 */
function lateSuccess(builder: TransitionBuilder, { requestId, reply: given }: Replied): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply || given.status !== 'succeeded' || refusedOutput(given.output)) return undefined;
  const local = activity.local as StepState | undefined;
  const node = builder.node(path);
  if (!local || !isRemote(node)) return undefined;
  // The order is blocked because this very output does not fit into the state.
  if (recordable(builder, path, given) !== given) return undefined;
  if (generationOf(requestId) !== local.generation || attemptOf(requestId) > local.attempt) return undefined;
  if (local.mode) return local.phase === 'requested' || local.phase === 'waitingToRetry' ? path : undefined;
  const isBlocked = local.phase === 'unknown' && activity.awaitsPerson === true;
  const isOnce = node.activity === 'step' && node.atMostOnce === true && local.phase === 'requested';
  return isBlocked || isOnce ? path : undefined;
}

/** Whether the engine itself answers: the step calls another order. */
const isCalled = (builder: TransitionBuilder, path: string): boolean => {
  const node = builder.node(path);
  return isRemote(node) && node.agent === workflowsAgent;
};

function extend(builder: TransitionBuilder, event: Extract<Event, { type: 'heartbeat' }>): void {
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || builder.state.phase === 'blocked') return;
  const step = nodeAt(builder.program, path);
  const local = builder.local(path) as StepState;
  // A heartbeat does not extend the wait for a canceled attempt.
  if (local.mode === 'cancel') return;
  const longestMs = isRemote(step) ? (step.longestSeconds ?? 0) * 1000 : 0;
  const completeBy = Math.min(event.completeBy, local.since + longestMs, builder.state.endBy ?? Infinity, local.limit ?? Infinity);
  if (completeBy <= local.completeBy) return;

  builder.setLocal(path, { ...local, completeBy });
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(local), completeBy });
}

/** Delivers a signal to the oldest activity that waits for it. Otherwise the state keeps it, as long as there is room. */
function signal(builder: TransitionBuilder, { name, payload }: Extract<Event, { type: 'signaled' }>): void {
  const waiting =
    builder.state.phase === 'running' ? Object.keys(builder.state.activities).find((path) => awaits(builder, path, name)) : undefined;
  if (waiting === undefined && ((builder.state.signals ?? []).length >= limits.signalsMax || !isKept(builder, payload))) return;
  builder.fact({ type: 'SignalReceived', name, ...(waiting === undefined ? {} : { path: waiting }) });
  if (waiting === undefined) return builder.replaceState(withSignal(builder.state, { name, payload }));
  builder.apply(
    waiting,
    builder.behavior(waiting).signaled?.(builder.node(waiting), builder.local(waiting), payload, builder.context(waiting)),
  );
}

function awaits(builder: TransitionBuilder, path: string, name: string): boolean {
  const node = builder.node(path);
  const { status, local } = builder.activity(path) ?? {};
  return node.activity === 'waitFor' && node.signal === name && status === 'Executing' && local !== undefined;
}

/** Delivers the signals that came while the order was blocked or suspended. */
function deliverSignals(builder: TransitionBuilder): void {
  for (const kept of builder.state.signals ?? []) {
    const waiting = Object.keys(builder.state.activities).find((path) => awaits(builder, path, kept.name));
    // An activity that continues may have taken the next signal itself.
    if (waiting === undefined || !builder.continues() || !builder.state.signals?.includes(kept)) continue;
    const next = builder
      .behavior(waiting)
      .signaled?.(builder.node(waiting), builder.local(waiting), kept.payload, builder.context(waiting));
    builder.apply(waiting, { ...next, takeSignal: kept });
    builder.drain();
  }
}

function wakeAll(builder: TransitionBuilder): void {
  for (const path of Object.keys(builder.state.activities)) wake(builder, path);
}

function wake(builder: TransitionBuilder, path: string): void {
  const activity = builder.activity(path);
  if (!activity || !builder.continues()) return;
  const local = activity.local as StepState;
  if (activity.waitsUntil !== undefined && !local.mode) {
    if (!waitsLong(builder, path) && !activity.awaitsPerson) repeat(builder, path);
  } else if (isRemote(builder.node(path)) && local?.mode === 'cancel') {
    if (local.phase === 'requested' && builder.event.at >= local.completeBy) leaveUnknown(builder, path, local);
  } else if (activity.status === 'Executing' || local?.mode) {
    builder.apply(path, builder.behavior(path).woken?.(builder.node(path), activity.local, builder.context(path)));
  }
  builder.drain();
}

function repeatWhere(builder: TransitionBuilder, isDue: (local: StepState) => boolean): void {
  for (const [path, activity] of Object.entries(builder.state.activities)) {
    if (!isRemote(nodeAt(builder.program, path)) || activity.reply || activity.local === undefined) continue;
    if (builder.event.type === 'expired' && waitsLong(builder, path)) continue;
    if (builder.continues() && builder.activity(path) && !builder.activity(path)?.awaitsPerson && isDue(activity.local as StepState))
      repeat(builder, path);
  }
}

/** Whether a step over its failure limit is still in its pause. The pause never exceeds the step's own time limit. */
function waitsLong(builder: TransitionBuilder, path: string): boolean {
  const { limit = Infinity } = (builder.local(path) ?? {}) as Partial<StepState>;
  return Math.min(builder.activity(path)?.waitsUntil ?? 0, limit) > builder.event.at;
}

/** After a new claim, repeats every step that the former claim left open, under the same idempotency keys. */
function reclaim(builder: TransitionBuilder): void {
  repeatWhere(builder, ({ epoch, mode }) => epoch !== builder.event.epoch && mode !== 'cancel');
  if (builder.state.phase === 'running') wakeAll(builder);
}

/** Blocks the order. It is in Error already, so a person decides, whatever its handlers say. */
function exhaust(builder: TransitionBuilder, { path, fault }: Extract<Event, { type: 'exhausted' }>): void {
  const late =
    path !== undefined && builder.state.activities[path]
      ? path
      : Object.keys(builder.state.activities).find((each) => isRemote(nodeAt(builder.program, each)));
  const at = late ?? rootPath;
  const local = builder.local(at) as StepState | undefined;
  const raised = { ...(fault ?? noAnswerTo(builder, at)), source: at };
  // An undo, a confirmation or a cancellation continues after the resubmission, as do waits and handlers. They keep
  // their state.
  if (isRemote(builder.node(at)) && builder.activity(at)?.status === 'Executing' && !local?.mode) builder.faulting(at, raised, true);
  builder.block(at, raised);
}

function overdue(builder: TransitionBuilder, path: string): void {
  const local = builder.local(path) as StepState | undefined;
  // A step whose agent replied "not now" is treated as if the agent had not replied.
  const waits = local?.phase === 'requested' || local?.phase === 'failedForNow';
  if (waits && !local.mode && local.completeBy <= builder.event.at) raise(builder, path, noAnswerTo(builder, path));
}

function noAnswerTo(builder: TransitionBuilder, path: string): Fault {
  const node = builder.node(path);
  return noAnswer(node.activity === 'step' ? node : {}, (builder.local(path) ?? {}) as Partial<StepState>);
}

/**
 * Repeats the failed activity first, unless a late success has arrived. Then come the events recorded meanwhile, and
 * then the expired steps. If the activity fails again at once, the others still run as far as they can before the order
 * is blocked again.
 */
function resubmit(builder: TransitionBuilder, path: string, completeWithinSeconds: number | undefined): void {
  const { at, epoch } = builder.event;
  forgetLate(builder);
  const failed = builder.activity(path);
  builder.unblock(path, completeWithinSeconds);
  builder.continuesWhileBlocked = true;
  const { mode } = (failed?.local ?? {}) as Partial<StepState>;
  if (failed?.awaitsPerson && failed.reply?.status === 'succeeded') answer(builder, path, failed.reply);
  else if (failed?.awaitsPerson || (!failed?.reply && (mode === 'undo' || mode === 'confirm'))) repeat(builder, path, failed?.reply);

  const waits = ({ phase }: StepState) => phase === 'requested' || phase === 'failedForNow';
  continueAll(builder, (local) => !local.mode && waits(local) && (local.completeBy <= at || local.epoch !== epoch));
}

/** Resumes a suspended order. Late steps stay with the supervisor: it has not counted them yet, or its next event repeats them. */
function resume(builder: TransitionBuilder): void {
  restoreTimes(builder);
  builder.continuesWhileBlocked = true;
  continueAll(builder, () => false);
}

/** Applies the recorded replies and signals, then repeats open requests, then wakes whatever is due. */
function continueAll(builder: TransitionBuilder, isRequestedAgain: (local: StepState) => boolean): void {
  answerRecorded(builder);
  deliverSignals(builder);
  repeatWhere(builder, isRequestedAgain);
  if (builder.state.phase === 'running') wakeAll(builder);
  builder.continuesWhileBlocked = false;
  blockOrContinue(builder);
}

function answerRecorded(builder: TransitionBuilder): void {
  for (const [path, { reply: recorded }] of Object.entries(builder.state.activities)) {
    if (recorded && builder.continues() && builder.activity(path)?.reply) answer(builder, path, recorded);
  }
}

/**
 * Executes an activity again. `late` is the reply that arrived while the order was blocked: after a definite refusal
 * the next attempt is a new effect.
 */
function repeat(builder: TransitionBuilder, path: string, late?: StepReply): void {
  endWait(builder, path);
  const behavior = builder.behavior(path);
  const node = builder.node(path);
  const refused = late !== undefined && isDefiniteRefusal(late);
  const local = refused ? { ...(builder.local(path) as StepState), phase: 'refused' } : builder.local(path);
  const context = builder.context(path);
  builder.apply(path, local === undefined ? behavior.execute(node, context) : behavior.repeat?.(node, local, context));
  builder.drain();
}

/** Blocks for the first of several simultaneous faults. The others wait until a person has dealt with it. */
function blockOrContinue(builder: TransitionBuilder): void {
  for (const path of [builder.blockingPath() ?? rootPath, ...Object.keys(builder.state.activities)]) {
    const { fault, awaitsPerson: waits } = builder.activity(path) ?? {};
    if (!fault || !waits || builder.state.phase !== 'running') continue;
    if (isQuestion(fault) || !isHandled(builder, path, fault)) return builder.block(path, fault);
    propagateFault(builder, path, fault);
    builder.drain();
  }
}

/** Ends the order. Whatever blocked it is given up first; replies that came meanwhile then count as the work of its steps. */
function endFromOutside(builder: TransitionBuilder, outcome: 'canceled' | 'compensated'): void {
  restoreTimes(builder);
  forgetLate(builder);
  const { blocked, activities } = builder.state;
  const waiting = Object.keys(activities).filter((path) => activities[path]?.awaitsPerson);
  if (blocked) builder.unblock(blocked.path);
  endOrder(builder, outcome);
  // An activity that cleans up continues, but without the steps that waited for a person.
  for (const path of waiting) cancel(builder, path);
  builder.drain();
  answerRecorded(builder);
  deliverSignals(builder);
}

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
import { type Inputs, type Subject, type Transition, TransitionBuilder } from '#core/engine/transition-builder';

export type { Inputs, Subject, Transition } from '#core/engine/transition-builder';

/**
 * The whole engine: what an event does to an instance. Pure: no clock, no chance, no I/O, and no exception for a fault.
 * An event that is a repetition, or that comes too late, leaves the very same state and asks for nothing.
 */
export function advance(program: Program, subject: Subject, state: State, event: Event, handed: Inputs = {}): Transition {
  const builder = new TransitionBuilder(program, subject, state, event, rules, handed);
  happen(builder, event);
  builder.drain();
  if (builder.blockingPath() !== undefined) blockOrContinue(builder);
  return builder.finish();
}

const rules = { applyOutcome, notifyParent, block: askPerson, refused };

function happen(builder: TransitionBuilder, event: Event): void {
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
  const done = lateSuccess(builder, event);
  if (done !== undefined) return takeAnswer(builder, done, event.reply);
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || (!isCalled(builder, path) && orderTime(builder, event.sentAt) > (builder.local(path) as StepState).completeBy))
    return;

  const isBlocked = builder.state.phase !== 'running';
  if (isTooEarly(builder, path, event))
    return isBlocked ? undefined : builder.setLocal(path, pausedUntil(builder.local(path) as StepState, builder.event.at, event));
  takeAnswer(builder, path, event.reply);
}

function takeAnswer(builder: TransitionBuilder, path: string, given: StepReply): void {
  if (builder.state.phase === 'running') answer(builder, path, given);
  else builder.record(path, recordable(builder, path, given));
}

type Replied = Extract<Event, { type: 'replied' }>;

/** Not found is not "never": what was asked last may still have been on its way to the service when it was looked for. */
function isTooEarly(builder: TransitionBuilder, path: string, { sentAt, clocksApartMs = 0, reply }: Replied): boolean {
  const { mode, until } = builder.local(path) as StepState;
  return mode === 'confirm' && until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);
}

/** Where it is past that time already, by a clock that is ahead of the one that answered, as long as that one still has to go. */
function pausedUntil(local: StepState, at: number, { sentAt, clocksApartMs = 0 }: Replied): StepState {
  const then = (local.until ?? local.completeBy) + clocksApartMs;
  return { ...local, phase: 'waitingToRetry', completeBy: then > at ? then : at + then - sentAt };
}

function answer(builder: TransitionBuilder, path: string, reply: StepReply): void {
  const activity = builder.activity(path);
  if (!activity) return;
  if (activity.reply) builder.setLocal(path, activity.local);
  if ((activity.local as StepState).mode === 'cancel') return answerCanceled(builder, path, reply);
  builder.apply(path, builder.behavior(path).replied?.(builder.node(path), activity.local, reply, builder.context(path)));
  builder.drain();
}

/** The path whose outstanding asking has this id. Any other asking of the step, older or of another epoch, is void. */
function requestedPath(builder: TransitionBuilder, requestId: string): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply) return undefined;
  const local = activity.local as StepState | undefined;
  if (local?.phase !== 'requested') return undefined;
  // A child ends once, however often it was asked for: its answer belongs to the effect, not to one asking.
  if (isCalled(builder, path)) return generationOf(requestId) === local.generation ? path : undefined;
  return local.epoch === builder.event.epoch && requestIdOf(builder.subject.orderId, path, local) === requestId ? path : undefined;
}

/**
 * The path of a step that any attempt has done, as its answer says now, however late. It counts where no later attempt can find
 * that out: the operation runs at most once, or the step is blocked because its outcome is unknown. It counts as well where only
 * that is wanted: the step is canceled or confirmed. What has been undone is undone, too.
 */
function lateSuccess(builder: TransitionBuilder, { requestId, reply: given }: Replied): string | undefined {
  const path = stepOfRequest(builder.subject.orderId, requestId);
  const activity = path === undefined ? undefined : builder.state.activities[path];
  if (path === undefined || !activity || activity.reply || given.status !== 'succeeded' || refusedOutput(given.output)) return undefined;
  const local = activity.local as StepState | undefined;
  const node = builder.node(path);
  if (!local || !isRemote(node)) return undefined;
  // The order is blocked because the state has no room for this very answer.
  if (recordable(builder, path, given) !== given) return undefined;
  if (generationOf(requestId) !== local.generation || attemptOf(requestId) > local.attempt) return undefined;
  if (local.mode) return local.phase === 'requested' || local.phase === 'waitingToRetry' ? path : undefined;
  const isBlocked = local.phase === 'unknown' && activity.awaitsPerson === true;
  const isOnce = node.activity === 'step' && node.atMostOnce === true && local.phase === 'requested';
  return isBlocked || isOnce ? path : undefined;
}

/** Whether it is the engine itself that answers. */
const isCalled = (builder: TransitionBuilder, path: string): boolean => {
  const node = builder.node(path);
  return isRemote(node) && node.agent === workflowsAgent;
};

function extend(builder: TransitionBuilder, event: Extract<Event, { type: 'heartbeat' }>): void {
  const path = requestedPath(builder, event.requestId);
  if (path === undefined || builder.state.phase === 'blocked') return;
  const step = nodeAt(builder.program, path);
  const local = builder.local(path) as StepState;
  // An asking that was canceled is not waited for any longer than it was.
  if (local.mode === 'cancel') return;
  const longestMs = isRemote(step) ? (step.longestSeconds ?? 0) * 1000 : 0;
  const completeBy = Math.min(event.completeBy, local.since + longestMs, builder.state.endBy ?? Infinity, local.limit ?? Infinity);
  if (completeBy <= local.completeBy) return;

  builder.setLocal(path, { ...local, completeBy });
  builder.fact({ type: 'StepExtended', path, attemptId: attemptIdOf(local), completeBy });
}

/** The oldest activity that waits for it; with none, it is kept. */
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

/** What came while the order was held or suspended. */
function deliverSignals(builder: TransitionBuilder): void {
  for (const kept of builder.state.signals ?? []) {
    const waiting = Object.keys(builder.state.activities).find((path) => awaits(builder, path, kept.name));
    // What goes on may have taken the next one itself.
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

function repeatWhere(builder: TransitionBuilder, which: (local: StepState) => boolean): void {
  for (const [path, activity] of Object.entries(builder.state.activities)) {
    if (!isRemote(nodeAt(builder.program, path)) || activity.reply || activity.local === undefined) continue;
    if (builder.event.type === 'expired' && waitsLong(builder, path)) continue;
    if (builder.continues() && builder.activity(path) && !builder.activity(path)?.awaitsPerson && which(activity.local as StepState))
      repeat(builder, path);
  }
}

/** Not beyond its own time limit. */
function waitsLong(builder: TransitionBuilder, path: string): boolean {
  const { limit = Infinity } = (builder.local(path) ?? {}) as Partial<StepState>;
  return Math.min(builder.activity(path)?.waitsUntil ?? 0, limit) > builder.event.at;
}

/** A new claim takes up every step that the former one left open, under the same idempotency keys. */
function reclaim(builder: TransitionBuilder): void {
  repeatWhere(builder, ({ epoch, mode }) => epoch !== builder.event.epoch && mode !== 'cancel');
  if (builder.state.phase === 'running') wakeAll(builder);
}

/** The order is in Error already: whatever its handlers say, a person decides. */
function exhaust(builder: TransitionBuilder, { path, fault }: Extract<Event, { type: 'exhausted' }>): void {
  const late =
    path !== undefined && builder.state.activities[path]
      ? path
      : Object.keys(builder.state.activities).find((each) => isRemote(nodeAt(builder.program, each)));
  const at = late ?? rootPath;
  const local = builder.local(at) as StepState | undefined;
  const raised = { ...(fault ?? noAnswerTo(builder, at)), source: at };
  // What undoes, settles or is being canceled goes on with that afterwards, as do waits and handlers.
  if (isRemote(builder.node(at)) && builder.activity(at)?.status === 'Executing' && !local?.mode) builder.faulting(at, raised, true);
  builder.block(at, raised);
}

function overdue(builder: TransitionBuilder, path: string): void {
  const local = builder.local(path) as StepState | undefined;
  // What was answered "not now" waits for its time to pass, as if the agent had been silent.
  const waits = local?.phase === 'requested' || local?.phase === 'failedForNow';
  if (waits && !local.mode && local.completeBy <= builder.event.at) raise(builder, path, noAnswerTo(builder, path));
}

function noAnswerTo(builder: TransitionBuilder, path: string): Fault {
  const node = builder.node(path);
  return noAnswer(node.activity === 'step' ? node : {}, (builder.local(path) ?? {}) as Partial<StepState>);
}

/**
 * The failed activity first, unless its answer came after all; then what waited meanwhile, and what has expired. Where it
 * fails again at once, the others still go as far as they can before the order is held anew.
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
  takeUp(builder, (local) => !local.mode && waits(local) && (local.completeBy <= at || local.epoch !== epoch));
}

/** What is late is left to the supervisor, as ever: it has not been counted yet, or the next event asks again. */
function resume(builder: TransitionBuilder): void {
  restoreTimes(builder);
  builder.continuesWhileBlocked = true;
  takeUp(builder, () => false);
}

/** What came while nothing went on; then what is to be asked again, and what is due. */
function takeUp(builder: TransitionBuilder, isRequestedAgain: (local: StepState) => boolean): void {
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

/** `late` is what came after all while the order was held; a definite "no" makes the next asking a new effect. */
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

/** Of several faults in one instant the others wait until a person has dealt with the first. */
function blockOrContinue(builder: TransitionBuilder): void {
  for (const path of [builder.blockingPath() ?? rootPath, ...Object.keys(builder.state.activities)]) {
    const { fault, awaitsPerson: waits } = builder.activity(path) ?? {};
    if (!fault || !waits || builder.state.phase !== 'running') continue;
    if (isQuestion(fault) || !isHandled(builder, path, fault)) return builder.block(path, fault);
    propagateFault(builder, path, fault);
    builder.drain();
  }
}

/** What a held order could not go on with is given up first; what came meanwhile is what its steps did. */
function endFromOutside(builder: TransitionBuilder, outcome: 'canceled' | 'compensated'): void {
  restoreTimes(builder);
  forgetLate(builder);
  const { blocked: held, activities } = builder.state;
  const waiting = Object.keys(activities).filter((path) => activities[path]?.awaitsPerson);
  if (held) builder.unblock(held.path);
  endOrder(builder, outcome);
  // What cleans up goes on, but not with that.
  for (const path of waiting) cancel(builder, path);
  builder.drain();
  answerRecorded(builder);
  deliverSignals(builder);
}

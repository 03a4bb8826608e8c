import { isDefiniteRefusal, refusedOutput, type StepState } from '#core/activities/step';
import { workflowsAgent } from '#core/data/child-order';
import type { Event, StepReply } from '#core/data/event';
import { type Fault, isQuestion } from '#core/data/fault';
import { askingOf, attemptOf, generationOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import type { State } from '#core/data/state';
import { asks, limits, rootPath } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { markCompensated } from '#core/engine/compensation';
import { isTaken } from '#core/engine/fault-routing';
import { countLate, endWait, forgetLate } from '#core/engine/lateness';
import {
  answerCanceled,
  ask,
  cancel,
  closed,
  endOrder,
  leaveUnknown,
  raise,
  recall,
  terminate,
  unwind,
  wind,
} from '#core/engine/lifecycle';
import { withSignal } from '#core/engine/memory';
import { noAnswer } from '#core/engine/no-answer';
import { isKept, recordable, refused } from '#core/engine/size-limit';
import { orderTime, restoreTimes, suspend } from '#core/engine/suspension';
import { Draft, type Handed, type Subject, type Transition } from '#core/engine/transition-builder';

export type { Handed, Subject, Transition } from '#core/engine/transition-builder';

/**
 * The whole engine: what an event does to an instance. Pure: no clock, no chance, no I/O, and no exception for a fault.
 * An event that is a repetition, or that comes too late, leaves the very same state and asks for nothing.
 */
export function advance(program: Program, subject: Subject, state: State, event: Event, handed: Handed = {}): Transition {
  const draft = new Draft(program, subject, state, event, rules, handed);
  happen(draft, event);
  draft.drain();
  if (draft.waitsFor() !== undefined) holdOrGoOn(draft);
  return draft.finish();
}

const rules = { wind, closed, hold: ask, refused };

function happen(draft: Draft, event: Event): void {
  const { state } = draft;
  switch (event.type) {
    case 'started':
      return state.phase === 'initialized' ? start(draft, event) : undefined;
    case 'replied':
      return reply(draft, event);
    case 'heartbeat':
      return extend(draft, event);
    case 'woken':
      return state.phase === 'running' ? wakeAll(draft) : undefined;
    case 'counted':
      return state.phase === 'running' ? countLate(draft, event.path, event.waitsUntil) : undefined;
    case 'expired':
      return state.phase === 'running' ? repeatWhere(draft, (asked) => !asked.mode && asked.completeBy <= event.at) : undefined;
    case 'reclaimed':
      return state.phase === 'running' ? reclaim(draft) : undefined;
    case 'exhausted':
      return state.phase === 'running' ? exhaust(draft, event) : undefined;
    case 'overdue':
      return state.phase === 'running' ? overdue(draft, event.path) : undefined;
    case 'resubmitted':
      return state.held ? resubmit(draft, state.held.path, event.completeWithinSeconds) : undefined;
    case 'signalled':
      return state.phase === 'closed' ? undefined : signal(draft, event);
    case 'markedCompensated':
      if (state.phase === 'running') forgetLate(draft);
      return state.phase === 'running' ? markCompensated(draft, event.path) : undefined;
    case 'recalled':
      return state.phase === 'closed' && state.outcome === 'completed' && state.called ? recall(draft) : undefined;
    case 'canceled':
      if (state.phase === 'initialized') return draft.end(event.outcome);
      return isOpen(state) ? endFromOutside(draft, event.outcome) : undefined;
    case 'terminated':
      restoreTimes(draft);
      return state.phase === 'closed' ? undefined : terminate(draft);
    case 'suspended':
      return state.phase === 'running' ? suspend(draft) : undefined;
    case 'resumed':
      return state.phase === 'suspended' ? resume(draft) : undefined;
  }
}

const isOpen = ({ phase, ending }: State): boolean => phase !== 'initialized' && phase !== 'closed' && !ending;

function start(draft: Draft, { stepMs, called }: Extract<Event, { type: 'started' }>): void {
  const { completeWithinSeconds } = draft.program.definition;
  draft.set({
    phase: 'running',
    stepMs,
    ...(called ? { called } : {}),
    ...(completeWithinSeconds ? { endBy: draft.event.at + completeWithinSeconds * 1000 } : {}),
  });
  draft.execute(rootPath);
}

function reply(draft: Draft, event: Extract<Event, { type: 'replied' }>): void {
  const done = doneAfterAll(draft, event);
  if (done !== undefined) return takeAnswer(draft, done, event.reply);
  const path = askedPath(draft, event.requestId);
  if (path === undefined || (!isCalled(draft, path) && orderTime(draft, event.sentAt) > (draft.own(path) as StepState).completeBy)) return;

  const isHeld = draft.state.phase !== 'running';
  if (isTooEarly(draft, path, event))
    return isHeld ? undefined : draft.keep(path, untilThen(draft.own(path) as StepState, draft.event.at, event));
  takeAnswer(draft, path, event.reply);
}

function takeAnswer(draft: Draft, path: string, given: StepReply): void {
  if (draft.state.phase === 'running') answer(draft, path, given);
  else draft.record(path, recordable(draft, path, given));
}

type Replied = Extract<Event, { type: 'replied' }>;

/** Not found is not "never": what was asked last may still have been on its way to the service when it was looked for. */
function isTooEarly(draft: Draft, path: string, { sentAt, clocksApartMs = 0, reply }: Replied): boolean {
  const { mode, until } = draft.own(path) as StepState;
  return mode === 'settle' && until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);
}

/** Where it is past that time already, by a clock that is ahead of the one that answered, as long as that one still has to go. */
function untilThen(own: StepState, at: number, { sentAt, clocksApartMs = 0 }: Replied): StepState {
  const then = (own.until ?? own.completeBy) + clocksApartMs;
  return { ...own, phase: 'resting', completeBy: then > at ? then : at + then - sentAt };
}

function answer(draft: Draft, path: string, reply: StepReply): void {
  const activity = draft.activity(path);
  if (!activity) return;
  if (activity.reply) draft.keep(path, activity.own);
  if ((activity.own as StepState).mode === 'cancel') return answerCanceled(draft, path, reply);
  draft.apply(path, draft.behavior(path).replied?.(draft.node(path), activity.own, reply, draft.context(path)));
  draft.drain();
}

/** The path whose outstanding asking has this id. Any other asking of the step, older or of another epoch, is void. */
function askedPath(draft: Draft, requestId: string): string | undefined {
  const path = stepOfRequest(draft.subject.orderId, requestId);
  const activity = path === undefined ? undefined : draft.state.activities[path];
  if (path === undefined || !activity || activity.reply) return undefined;
  const own = activity.own as StepState | undefined;
  if (own?.phase !== 'asked') return undefined;
  // A child ends once, however often it was asked for: its answer belongs to the effect, not to one asking.
  if (isCalled(draft, path)) return generationOf(requestId) === own.generation ? path : undefined;
  return own.epoch === draft.event.epoch && requestIdOf(draft.subject.orderId, path, own) === requestId ? path : undefined;
}

/**
 * The path of a step that any attempt has done, as its answer says now, however late. It counts where no later attempt can find
 * that out: the operation runs at most once, or the step is blocked because its outcome is unknown. It counts as well where only
 * that is wanted: the step is canceled or confirmed. What has been undone is undone, too.
 */
function doneAfterAll(draft: Draft, { requestId, reply: given }: Replied): string | undefined {
  const path = stepOfRequest(draft.subject.orderId, requestId);
  const activity = path === undefined ? undefined : draft.state.activities[path];
  if (path === undefined || !activity || activity.reply || given.status !== 'succeeded' || refusedOutput(given.output)) return undefined;
  const own = activity.own as StepState | undefined;
  const node = draft.node(path);
  if (!own || !asks(node)) return undefined;
  // The order is blocked because the state has no room for this very answer.
  if (recordable(draft, path, given) !== given) return undefined;
  if (generationOf(requestId) !== own.generation || attemptOf(requestId) > own.attempt) return undefined;
  if (own.mode) return own.phase === 'asked' || own.phase === 'resting' ? path : undefined;
  const isBlocked = own.phase === 'unknown' && activity.waits === true;
  const isOnce = node.activity === 'step' && node.atMostOnce === true && own.phase === 'asked';
  return isBlocked || isOnce ? path : undefined;
}

/** Whether it is the engine itself that answers. */
const isCalled = (draft: Draft, path: string): boolean => {
  const node = draft.node(path);
  return asks(node) && node.agent === workflowsAgent;
};

function extend(draft: Draft, event: Extract<Event, { type: 'heartbeat' }>): void {
  const path = askedPath(draft, event.requestId);
  if (path === undefined || draft.state.phase === 'held') return;
  const step = nodeAt(draft.program, path);
  const own = draft.own(path) as StepState;
  // An asking that was canceled is not waited for any longer than it was.
  if (own.mode === 'cancel') return;
  const longestMs = asks(step) ? (step.longestSeconds ?? 0) * 1000 : 0;
  const completeBy = Math.min(event.completeBy, own.since + longestMs, draft.state.endBy ?? Infinity, own.limit ?? Infinity);
  if (completeBy <= own.completeBy) return;

  draft.keep(path, { ...own, completeBy });
  draft.fact({ type: 'StepExtended', path, asking: askingOf(own), completeBy });
}

/** The oldest activity that waits for it; with none, it is kept. */
function signal(draft: Draft, { name, payload }: Extract<Event, { type: 'signalled' }>): void {
  const waiting =
    draft.state.phase === 'running' ? Object.keys(draft.state.activities).find((path) => awaits(draft, path, name)) : undefined;
  if (waiting === undefined && ((draft.state.signals ?? []).length >= limits.signalsMax || !isKept(draft, payload))) return;
  draft.fact({ type: 'SignalReceived', name, ...(waiting === undefined ? {} : { path: waiting }) });
  if (waiting === undefined) return draft.remember(withSignal(draft.state, { name, payload }));
  draft.apply(waiting, draft.behavior(waiting).signalled?.(draft.node(waiting), draft.own(waiting), payload, draft.context(waiting)));
}

function awaits(draft: Draft, path: string, name: string): boolean {
  const node = draft.node(path);
  const { status, own } = draft.activity(path) ?? {};
  return node.activity === 'waitFor' && node.signal === name && status === 'Executing' && own !== undefined;
}

/** What came while the order was held or suspended. */
function deliverSignals(draft: Draft): void {
  for (const kept of draft.state.signals ?? []) {
    const waiting = Object.keys(draft.state.activities).find((path) => awaits(draft, path, kept.name));
    // What goes on may have taken the next one itself.
    if (waiting === undefined || !draft.goesOn() || !draft.state.signals?.includes(kept)) continue;
    const next = draft.behavior(waiting).signalled?.(draft.node(waiting), draft.own(waiting), kept.payload, draft.context(waiting));
    draft.apply(waiting, { ...next, takeSignal: kept });
    draft.drain();
  }
}

function wakeAll(draft: Draft): void {
  for (const path of Object.keys(draft.state.activities)) wake(draft, path);
}

function wake(draft: Draft, path: string): void {
  const activity = draft.activity(path);
  if (!activity || !draft.goesOn()) return;
  const own = activity.own as StepState;
  if (activity.waitsUntil !== undefined && !own.mode) {
    if (!waitsLong(draft, path) && !activity.waits) repeat(draft, path);
  } else if (asks(draft.node(path)) && own?.mode === 'cancel') {
    if (own.phase === 'asked' && draft.event.at >= own.completeBy) leaveUnknown(draft, path, own);
  } else if (activity.status === 'Executing' || own?.mode) {
    draft.apply(path, draft.behavior(path).woken?.(draft.node(path), activity.own, draft.context(path)));
  }
  draft.drain();
}

function repeatWhere(draft: Draft, which: (asked: StepState) => boolean): void {
  for (const [path, activity] of Object.entries(draft.state.activities)) {
    if (!asks(nodeAt(draft.program, path)) || activity.reply || activity.own === undefined) continue;
    if (draft.event.type === 'expired' && waitsLong(draft, path)) continue;
    if (draft.goesOn() && draft.activity(path) && !draft.activity(path)?.waits && which(activity.own as StepState)) repeat(draft, path);
  }
}

/** Not beyond its own time limit. */
function waitsLong(draft: Draft, path: string): boolean {
  const { limit = Infinity } = (draft.own(path) ?? {}) as Partial<StepState>;
  return Math.min(draft.activity(path)?.waitsUntil ?? 0, limit) > draft.event.at;
}

/** A new claim takes up every step that the former one left open, under the same idempotency keys. */
function reclaim(draft: Draft): void {
  repeatWhere(draft, ({ epoch, mode }) => epoch !== draft.event.epoch && mode !== 'cancel');
  if (draft.state.phase === 'running') wakeAll(draft);
}

/** The order is in Error already: whatever its handlers say, a person decides. */
function exhaust(draft: Draft, { path, fault }: Extract<Event, { type: 'exhausted' }>): void {
  const late =
    path !== undefined && draft.state.activities[path]
      ? path
      : Object.keys(draft.state.activities).find((each) => asks(nodeAt(draft.program, each)));
  const at = late ?? rootPath;
  const own = draft.own(at) as StepState | undefined;
  const raised = { ...(fault ?? noAnswerTo(draft, at)), source: at };
  // What undoes, settles or is being canceled goes on with that afterwards, as do waits and handlers.
  if (asks(draft.node(at)) && draft.activity(at)?.status === 'Executing' && !own?.mode) draft.faulting(at, raised, true);
  draft.hold(at, raised);
}

function overdue(draft: Draft, path: string): void {
  const own = draft.own(path) as StepState | undefined;
  // What was answered "not now" waits for its time to pass, as if the agent had been silent.
  const waits = own?.phase === 'asked' || own?.phase === 'failedForNow';
  if (waits && !own.mode && own.completeBy <= draft.event.at) raise(draft, path, noAnswerTo(draft, path));
}

function noAnswerTo(draft: Draft, path: string): Fault {
  const node = draft.node(path);
  return noAnswer(node.activity === 'step' ? node : {}, (draft.own(path) ?? {}) as Partial<StepState>);
}

/**
 * The failed activity first, unless its answer came after all; then what waited meanwhile, and what has expired. Where it
 * fails again at once, the others still go as far as they can before the order is held anew.
 */
function resubmit(draft: Draft, path: string, completeWithinSeconds: number | undefined): void {
  const { at, epoch } = draft.event;
  forgetLate(draft);
  const failed = draft.activity(path);
  draft.release(path, completeWithinSeconds);
  draft.goesOnRegardless = true;
  const { mode } = (failed?.own ?? {}) as Partial<StepState>;
  if (failed?.waits && failed.reply?.status === 'succeeded') answer(draft, path, failed.reply);
  else if (failed?.waits || (!failed?.reply && (mode === 'undo' || mode === 'settle'))) repeat(draft, path, failed?.reply);

  const waits = ({ phase }: StepState) => phase === 'asked' || phase === 'failedForNow';
  takeUp(draft, (own) => !own.mode && waits(own) && (own.completeBy <= at || own.epoch !== epoch));
}

/** What is late is left to the supervisor, as ever: it has not been counted yet, or the next event asks again. */
function resume(draft: Draft): void {
  restoreTimes(draft);
  draft.goesOnRegardless = true;
  takeUp(draft, () => false);
}

/** What came while nothing went on; then what is to be asked again, and what is due. */
function takeUp(draft: Draft, isAskedAgain: (asked: StepState) => boolean): void {
  answerRecorded(draft);
  deliverSignals(draft);
  repeatWhere(draft, isAskedAgain);
  if (draft.state.phase === 'running') wakeAll(draft);
  draft.goesOnRegardless = false;
  holdOrGoOn(draft);
}

function answerRecorded(draft: Draft): void {
  for (const [path, { reply: recorded }] of Object.entries(draft.state.activities)) {
    if (recorded && draft.goesOn() && draft.activity(path)?.reply) answer(draft, path, recorded);
  }
}

/** `late` is what came after all while the order was held; a definite "no" makes the next asking a new effect. */
function repeat(draft: Draft, path: string, late?: StepReply): void {
  endWait(draft, path);
  const behavior = draft.behavior(path);
  const node = draft.node(path);
  const refused = late !== undefined && isDefiniteRefusal(late);
  const own = refused ? { ...(draft.own(path) as StepState), phase: 'refused' } : draft.own(path);
  const context = draft.context(path);
  draft.apply(path, own === undefined ? behavior.execute(node, context) : behavior.repeat?.(node, own, context));
  draft.drain();
}

/** Of several faults in one instant the others wait until a person has dealt with the first. */
function holdOrGoOn(draft: Draft): void {
  for (const path of [draft.waitsFor() ?? rootPath, ...Object.keys(draft.state.activities)]) {
    const { fault, waits } = draft.activity(path) ?? {};
    if (!fault || !waits || draft.state.phase !== 'running') continue;
    if (isQuestion(fault) || !isTaken(draft, path, fault)) return draft.hold(path, fault);
    unwind(draft, path, fault);
    draft.drain();
  }
}

/** What a held order could not go on with is given up first; what came meanwhile is what its steps did. */
function endFromOutside(draft: Draft, outcome: 'canceled' | 'compensated'): void {
  restoreTimes(draft);
  forgetLate(draft);
  const { held, activities } = draft.state;
  const waiting = Object.keys(activities).filter((path) => activities[path]?.waits);
  if (held) draft.release(held.path);
  endOrder(draft, outcome);
  // What cleans up goes on, but not with that.
  for (const path of waiting) cancel(draft, path);
  draft.drain();
  answerRecorded(draft);
  deliverSignals(draft);
}

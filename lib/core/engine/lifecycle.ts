import { faultIn, isDefiniteRefusal, isRunToSettle, possibleUntil, type StepState } from '#core/activities/step';
import type { StepReply } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import { askingOf, idempotencyKeyOf, requestIdOf } from '#core/data/ids';
import { asks, rootPath } from '#core/definition/definition';
import type { Closing, Next } from './behavior.ts';
import { succeeded } from './behavior.ts';
import {
  begunAnew,
  canBeUndone,
  goOnUndoing,
  isUndoing,
  noteDone,
  noteRefused,
  noteUndone,
  noteUnknown,
  noteWhole,
  replaceFormer,
  settle,
  undoLate,
  undoNext,
} from './compensation.ts';
import { absorbs, handlerFor, isTaken } from './fault-routing.ts';
import { withoutOutputsIn } from './memory.ts';
import type { Draft } from './transition-builder.ts';

/** How activities come to an end: by closing, by a fault, by being canceled. Windows Workflow's rules (WF). */
export function wind(draft: Draft, path: string, next: Next<unknown>): void {
  if (next.raise) raise(draft, path, next.raise);
  if (next.close) close(draft, path, next.close);
  if (next.cancelChildren) {
    draft.stop(path);
    for (const child of draft.children(path)) cancel(draft, child);
  }
  if (next.undoNext) undoNext(draft, path);
  if (next.replaces) replaceFormer(draft, path);
  if (next.terminate) terminate(draft);
}

/** What a step did is noted before it is taken out of the state. */
export function close(draft: Draft, path: string, closing: Closing): void {
  const own = asks(draft.node(path)) ? (draft.own(path) as StepState | undefined) : undefined;
  if (own?.mode === 'settle') return closeSettled(draft, path, own, closing);
  if (own?.mode === 'undo') noteUndone(draft, path);
  if (own?.mode === undefined && own && closing.result === 'Succeeded') noteDone(draft, path, own, closing.output);
  if (!asks(draft.node(path)) && closing.result === 'Succeeded') noteWhole(draft, path);
  draft.close(path, closing);
}

/** It is definite by now whether the step was done: whoever asked goes on, and a step that nobody wants any more is undone. */
function closeSettled(draft: Draft, path: string, own: StepState, closing: Closing): void {
  const done = closing.result === 'Succeeded';
  if (done && canBeUndone(draft, path) && draft.activity(path)?.status === 'Canceling')
    return undoLate(draft, path, own, closing.output ?? null);
  if (done) noteDone(draft, path, own, closing.output);
  else noteRefused(draft, path, own);
  if (!begunAnew(draft, path)) draft.close(path, { result: 'Canceled' });
}

/**
 * A fault goes to whoever takes it. With nobody up to the root, nothing is unwound: the order is held as it is. A fault
 * that comes in the same instant waits until a person has dealt with the first.
 */
export function raise(draft: Draft, path: string, fault: Fault): void {
  const raised: Fault = { ...fault, source: fault.source ?? path };
  if (draft.state.phase === 'running' && draft.waitsFor() === undefined && isTaken(draft, path, raised)) return unwind(draft, path, raised);
  draft.faulting(path, raised, true);
  draft.holdFor(path);
}

/** A question to a person: the order is held for it, whatever faults are handled around it. */
export function ask(draft: Draft, path: string, question: Fault): void {
  draft.faulting(path, { ...question, source: path }, true);
  draft.holdFor(path);
}

/** First what runs inside is canceled and closed, then the handlers are looked at (WF). */
export function unwind(draft: Draft, path: string, fault: Fault): void {
  draft.fact({ type: 'FaultRaised', path, fault });
  fail(draft, path, fault);
}

/** Its own fault, or that of a child: it cleans up, and what runs inside is canceled. */
function fail(draft: Draft, path: string, fault: Fault): void {
  const node = draft.node(path);
  const cleanUp = draft.behavior(path).handleFault?.(node, draft.own(path), fault, draft.context(path));
  if (asks(node)) return closeFaulted(draft, path, fault);
  draft.faulting(path, fault);
  if (cleanUp) draft.patch(path, { cleanUp: cleanUp.run });
  windUp(draft, path);
}

/** What is known of a step that failed decides what a later run of it may do, and whether there is something to undo. */
function closeFaulted(draft: Draft, path: string, fault: Fault): void {
  const own = draft.own(path) as StepState | undefined;
  if (own && own.attempt > 0) {
    if (own.phase === 'refused') noteRefused(draft, path, own);
    else noteUnknown(draft, path, own);
  }
  draft.close(path, { result: 'Faulted', fault });
}

/** Cancels all that is alive inside; whichever closes last goes on with what its parent wanted. */
function windUp(draft: Draft, path: string): void {
  const children = draft.children(path);
  // What cleans up is not stopped in the middle of it.
  if (!draft.isCleaningUp(path)) for (const child of children) cancel(draft, child);
  if (children.length === 0) draft.later(() => woundUp(draft, path));
}

/** Nothing inside is alive any more. */
function woundUp(draft: Draft, path: string): void {
  const activity = draft.activity(path);
  if (!activity || draft.hasChildren(path) || draft.cleanUp(path)) return;
  if (activity.status === 'Canceling') return close(draft, path, { result: 'Canceled' });
  if (activity.status !== 'Faulting' || activity.handling || !activity.fault) return;

  const { fault } = activity;
  const waiter = draft.waiterFor(path);
  // While a retry around it will run it again, its own handlers are not looked at (WF).
  const handler = waiter !== undefined && absorbs(draft, waiter, fault) ? undefined : handlerFor(draft, path, fault);
  if (!handler) return draft.close(path, { result: 'Faulted', fault });
  draft.patch(path, { handling: true });
  draft.fact({ type: 'FaultHandled', path, handler: handler.do.name, fault });
  draft.execute(`${path}/${handler.do.name}`);
}

export function cancel(draft: Draft, path: string): void {
  const activity = draft.activity(path);
  if (!activity || activity.status === 'Canceling' || activity.status === 'Compensating') return;
  const node = draft.node(path);
  if (asks(node)) return cancelStep(draft, path);
  // What is to clean up takes its part as begun: it must not be lost in between.
  if (draft.behavior(path).cancel && draft.isStarting(path)) return draft.later(() => cancel(draft, path));

  const cleanUp = activity.status === 'Executing' ? draft.behavior(path).cancel?.(node, activity.own, draft.context(path)) : undefined;
  draft.canceling(path);
  if (cleanUp) draft.patch(path, { cleanUp: cleanUp.run });
  windUp(draft, path);
}

/** Its agent is told; the step stays until its answer or its time, for what was done must be known and undone. */
function cancelStep(draft: Draft, path: string): void {
  const own = draft.own(path) as StepState | undefined;
  const { reply } = draft.activity(path) ?? {};
  // An undo that has begun goes on to its end, as does the question whether there is anything to undo.
  if (own?.mode && !own.replaces) return;
  draft.canceling(path);
  if (own?.mode) return;
  if (!own || own.attempt === 0) return draft.close(path, { result: 'Canceled' });
  if (reply) return answerCanceled(draft, path, reply);
  if (own.phase === 'asked' && own.completeBy > draft.event.at) {
    draft.keep(path, { ...own, mode: 'cancel' });
    return cancelAsking(draft, path, own);
  }
  if (own.phase === 'refused') return closeRefused(draft, path, own);
  leaveUnknown(draft, path, own);
}

function closeRefused(draft: Draft, path: string, own: StepState): void {
  noteRefused(draft, path, own);
  draft.close(path, { result: 'Canceled' });
}

function cancelAsking(draft: Draft, path: string, own: StepState): void {
  const node = draft.node(path);
  if (!asks(node)) return;
  draft.fact({ type: 'CancelAsked', path, asking: askingOf(own) });
  const { orderId } = draft.subject;
  const requestId = requestIdOf(orderId, path, own);
  const idempotencyKey = idempotencyKeyOf(orderId, path, own.generation);
  draft.commands.push({ type: 'cancel', path, agent: node.agent, requestId, idempotencyKey });
}

/** The answer to a step that is not wanted any more: what it did is undone before it closes. */
export function answerCanceled(draft: Draft, path: string, reply: StepReply): void {
  const own = draft.own(path) as StepState;
  if (reply.status === 'succeeded') {
    draft.fact({ type: 'LateResult', path, asking: askingOf(own) });
    if (canBeUndone(draft, path)) return undoLate(draft, path, own, reply.output);
    noteDone(draft, path, own, reply.output);
    return draft.close(path, { result: 'Canceled' });
  }
  if (isDefiniteRefusal(reply)) return closeRefused(draft, path, own);
  const node = draft.node(path);
  const runsAgain = canBeUndone(draft, path) && asks(node) && isRunToSettle(node);
  if (runsAgain && own.mode === 'cancel' && own.completeBy > draft.event.at) return waitForItsTime(draft, path, own, reply);
  leaveUnknown(draft, path, own);
}

/** What was told to stop is not begun again while it may still be at work somewhere. */
function waitForItsTime(draft: Draft, path: string, own: StepState, reply: StepReply): void {
  if (own.gaveUp) return;
  if (reply.status !== 'succeeded') draft.fact({ type: 'AttemptFailed', path, asking: askingOf(own), fault: faultIn(reply) });
  draft.keep(path, { ...own, gaveUp: true });
}

/** Its time is over, or its answer says nothing: whether it was done is found out where that matters. */
export function leaveUnknown(draft: Draft, path: string, own: StepState): void {
  const node = draft.node(path);
  if (canBeUndone(draft, path) && asks(node)) return settle(draft, path, { ...own, until: possibleUntil(node, own) });
  draft.fact({ type: 'OutcomeUnknown', path, asking: askingOf(own) });
  noteUnknown(draft, path, own);
  draft.close(path, { result: 'Canceled' });
}

/** Whoever waits for a closed activity goes on, each as its own state says. */
export function closed(draft: Draft, path: string, waiter: string | undefined, closing: Closing): void {
  if (waiter === undefined) return finish(draft, closing);
  draft.later(() => childClosed(draft, waiter, path, closing));
  if (draft.state.undo && asks(draft.node(path))) draft.later(() => goOnUndoing(draft));
}

function childClosed(draft: Draft, path: string, child: string, closing: Closing): void {
  const activity = draft.activity(path);
  if (!activity) return;
  const turn = /^(.*\[\d+\]\/)[^/]+$/.exec(child)?.[1];
  if (turn?.startsWith(`${path}[`)) draft.later(() => draft.remember(withoutOutputsIn(draft.state, turn)));
  if (activity.status === 'Compensating') return undoNext(draft, path);
  if (asks(draft.node(path))) return lateUndone(draft, path, closing);
  if (activity.status === 'Canceling') return isUndoing(draft, path) ? undoNext(draft, path) : woundUp(draft, path);
  if (activity.status === 'Faulting' && activity.handling) return handled(draft, path, child, closing);
  if (activity.status === 'Faulting' && !activity.waits) return woundUp(draft, path);

  const node = draft.node(path);
  const behavior = draft.behavior(path);
  // What a loop asks after a turn, it asks in that turn: it may read what the turn's steps answered.
  const context = behavior.repeats ? draft.context(path, child) : draft.context(path);
  if (closing.result !== 'Faulted') return draft.apply(path, behavior.childClosed?.(node, activity.own, closing, context));
  if (absorbs(draft, path, closing.fault)) {
    draft.fact({ type: 'RunFailed', path, attempt: (activity.own as { attempt?: number }).attempt ?? 1, fault: closing.fault });
    return draft.apply(path, behavior.childFaulted?.(node, activity.own, closing.fault, context));
  }
  draft.fact({ type: 'ActivityFaulting', path, child });
  fail(draft, path, closing.fault);
}

function lateUndone(draft: Draft, path: string, closing: Closing): void {
  if (closing.result === 'Compensated' && !begunAnew(draft, path)) draft.close(path, { result: 'Canceled' });
}

/** It goes on behind the composite whose handler has dealt with the fault; a fault inside the handler goes further up. */
function handled(draft: Draft, path: string, child: string, closing: Closing): void {
  // Of branches that close in the same instant, the last is heard of when the handler has begun.
  if (!draft.node(path).faultHandlers?.some((handler) => `${path}/${handler.do.name}` === child)) return;
  draft.close(path, closing.result === 'Faulted' || closing.result === 'Canceled' ? closing : succeeded());
}

function finish(draft: Draft, closing: Closing): void {
  // What a called order can't deal with goes to its caller once nothing is left of what it did.
  if (closing.result === 'Faulted') draft.set({ ending: { outcome: 'compensated', fault: closing.fault } });
  const { ending, compensated, undone } = draft.state;
  if (ending) {
    draft.put(rootPath, { status: 'Compensating', own: { scope: rootPath } });
    return undoNext(draft, rootPath);
  }
  if (closing.result === 'Canceled') return draft.end('terminated');
  draft.end(!compensated ? 'completed' : undone ? 'compensated' : 'rejected');
}

/** It ends as it is: nobody hears the answers to what is still asked. An undo that has been asked for is better done than half done. */
export function terminate(draft: Draft): void {
  for (const [path, { own, reply }] of Object.entries(draft.state.activities)) {
    const { phase, mode, completeBy } = (own ?? {}) as Partial<StepState>;
    const isOutstanding = phase === 'asked' && !reply && (completeBy ?? 0) > draft.event.at;
    if (asks(draft.node(path)) && isOutstanding && mode !== 'undo' && mode !== 'cancel') cancelAsking(draft, path, own as StepState);
  }
  draft.end('terminated');
}

/** Everything that is alive is canceled; once the root has closed, all that was done is undone (see `finish`). */
export function endOrder(draft: Draft, outcome: 'canceled' | 'compensated'): void {
  draft.set({ ending: { outcome } });
  if (draft.activity(rootPath)) cancel(draft, rootPath);
  else finish(draft, { result: 'Canceled' });
  draft.drain();
}

/** What a completed order has done is undone for the order that called it. */
export function recall(draft: Draft): void {
  const { outcome: _, ...state } = draft.state;
  draft.remember({ ...state, phase: 'running', recalled: true, ending: { outcome: 'compensated' } });
  finish(draft, { result: 'Canceled' });
  draft.drain();
}

import assert from 'node:assert/strict';
import { stepOf } from '#core/activities/index';
import { advance, type Transition } from '#core/advance';
import { workflowsAgent } from '#core/data/child-order';
import type { RequestCommand } from '#core/data/command';
import type { Event, EventContent, StepReply } from '#core/data/event';
import { engineFaults } from '#core/data/fault';
import { requestIdOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { initialState, type State, type UndoPage } from '#core/data/state';
import type { StepState } from '#core/data/step-state';
import { isRemote, type WorkflowDefinition } from '#core/definition/definition';
import { nodeAt, type Program, programOf } from '#core/definition/program';
import { violations } from '#core/engine/invariants';
import { pageOut } from '#core/engine/undo-pages';
import { createHistory, requestsIn } from './history.ts';
import { deepFreeze, throughJson } from './workflows.ts';

/** One instance under test. Every event is checked against the laws of the core. */
export interface Run {
  readonly program: Program;
  readonly orderId: string;
  state: State;
  /** Milliseconds since 1970. */
  now: number;
  epoch: number;
  /** Whether the order was ended as a whole: from outside, for its caller, or by a fault that goes to its caller. */
  wasEnded: boolean;
  /** All requests, oldest first. */
  readonly requests: RequestCommand[];
  /** Each event, with its facts. */
  readonly turns: { readonly at: number; readonly event: Event; readonly facts: readonly CoreFact[] }[];
  /** Applies an event. The run adds its time and its epoch. */
  happen(happening: EventContent): Transition;
  /** Returns the newest request of a step. */
  latestRequest(path: string): RequestCommand;
  /** Applies the agent's reply to that request, sent now; or to another request, sent at another time. */
  reply(path: string, reply: StepReply, options?: { readonly ask?: RequestCommand | undefined; readonly sentAt?: number }): Transition;
}

export const stepMs = 30_000;

export interface RunOptions {
  readonly order?: Json;
  readonly orderId?: string;
  /** Pages out as much of the undo list as possible, with this many characters a page. */
  readonly undoPage?: number | undefined;
  /** Byte budget of its state, and of the facts of one event. */
  readonly byteBudget?: number | undefined;
}

export function startRun(definition: WorkflowDefinition, { order = {}, orderId = 'o1', undoPage, byteBudget }: RunOptions = {}): Run {
  const program = programOf(deepFreeze(definition));
  const subject = deepFreeze({ orderId, order });
  const pages = new Map<number, UndoPage>();
  const advanceWith: Advance = (state, event) =>
    advance(program, subject, state, event, {
      pages,
      byteBudget: byteBudget === undefined ? undefined : { state: byteBudget, journal: byteBudget },
    });
  const pagedOut = (before: State, after: State): State => {
    if (undoPage === undefined) return after;
    const put = pageOut(program, before, after, run.turns.length + 1, { keptMax: 0, pageMax: undoPage });
    if (put) pages.set(run.turns.length + 1, deepFreeze(throughJson(put.page)) as UndoPage);
    return put ? deepFreeze(put.state) : after;
  };
  const law = createHistory(program, orderId);
  const run: Run = {
    program,
    orderId,
    state: initialState,
    now: Date.UTC(2026, 0, 1),
    epoch: 1,
    wasEnded: false,
    requests: [],
    turns: [],
    happen(happening) {
      const event = { ...happening, at: run.now, epoch: run.epoch } as Event;
      const before = run.state;
      const transition = lawful(advanceWith, before, event);
      if (transition.state !== before) {
        assert.deepEqual(violations(program, transition.state), [], 'the state is valid');
        checkStaleReplies(run, transition.state, event, advanceWith);
      }
      checkSilence(before, event, transition);
      law({ before, event, after: transition });
      run.state = pagedOut(before, transition.state);
      run.wasEnded = run.state.phase === 'closed' ? run.wasEnded && run.state.outcome !== 'terminated' : run.state.ending !== undefined;
      run.requests.push(...requestsIn(transition.commands));
      run.turns.push({ at: run.now, event, facts: transition.facts });
      return transition;
    },
    latestRequest(path) {
      const ask = run.requests.findLast((each) => each.path === path);
      if (!ask) throw new Error(`${path} has never been requested.`);
      return ask;
    },
    reply: (path, reply, { ask = run.latestRequest(path), sentAt = run.now } = {}) =>
      run.happen({ type: 'replied', requestId: ask.requestId, sentAt, reply }),
  };
  return run;
}

export const ok = (output: Json = {}): StepReply => ({ status: 'succeeded', output });
export const fault = (type: string, { permanent = true, unknown = false } = {}): StepReply => ({
  status: 'failed',
  fault: { type, class: 'expected', permanent, message: `the agent reports ${type}`, ...(unknown ? { outcomeUnknown: true } : {}) },
});
export const rejected: StepReply = { status: 'rejected', message: 'Unable to process message.' };

type Advance = (state: State, event: Event) => Transition;

/** Asserts the laws of one event: it changes no input, has one result, plain data, and no effect the second time. */
function lawful(advanceWith: Advance, before: State, event: Event): Transition {
  const transition = advanceWith(before, deepFreeze(event));
  assert.deepEqual(advanceWith(before, event), transition, 'the same state and event give the same result');
  if (transition.state === before) return unchanged(transition);
  assert.deepEqual(throughJson(transition.state), transition.state, 'the state survives JSON');
  deepFreeze(transition.state);

  // A second signal is another signal: its receiver must detect duplicates.
  if (event.type === 'signaled') return transition;
  // The order was resubmitted without effect and is blocked again: a second resubmission is a new decision.
  if (event.type === 'resubmitted' && transition.state.phase === 'blocked') return transition;
  // An output that was too large was not kept: its second delivery may confirm the step that the first one left open.
  const hadNoRoom = transition.facts.some((fact) => 'fault' in fact && fact.fault?.type === engineFaults.stateTooLarge);
  if (event.type === 'replied' && hadNoRoom) return transition;
  changesNothing(advanceWith, transition.state, event, 'a second delivery');
  return transition;
}

function unchanged(transition: Transition): Transition {
  assert.deepEqual(transition.commands, [], 'an event without a change sends no command');
  assert.deepEqual(transition.facts, [], 'an event without a change adds no fact');
  return transition;
}

function changesNothing(advanceWith: Advance, state: State, event: Event, what: string): void {
  const again = advanceWith(state, event);
  assert.deepEqual(again.commands, [], `${what} sends no command`);
  assert.deepEqual(again.facts, [], `${what} adds no fact`);
  assert.equal(again.state, state, `${what} leaves the very same state`);
}

/** Asserts that a blocked order begins no activity, and that a closed order ignores every event. */
function checkSilence(before: State, event: Event, { state, commands }: Transition): void {
  if (before.phase === 'closed' && event.type !== 'compensatedByCaller') assert.equal(state, before, 'a closed order stays as it is');
  if (before.phase === 'blocked' && !['resubmitted', 'canceled', 'instructed'].includes(event.type))
    assert.deepEqual(event.type === 'terminated' ? requestsIn(commands) : commands, [], 'a blocked order starts nothing');
  if (before.phase === 'suspended' && event.type !== 'resumed' && event.type !== 'canceled')
    assert.deepEqual(event.type === 'terminated' ? requestsIn(commands) : commands, [], 'a suspended order starts nothing');
  for (const ask of requestsIn(commands)) {
    assert.ok(ask.completeBy > event.at && Number.isFinite(ask.completeBy), `${ask.path} has a time by which it must be complete`);
    assert.equal(ask.epoch, event.epoch);
  }
}

/**
 * Asserts that only the newest attempt of a step counts, under the current claim and in time. While an outcome is
 * unknown, any success under the same key counts.
 */
function checkStaleReplies({ program, orderId }: Run, state: State, { at, epoch }: Event, advanceWith: Advance): void {
  for (const [path, activity] of Object.entries(state.activities)) {
    const node = nodeAt(program, path);
    const own = stepOf(node, activity);
    if (!isRemote(node) || !own) continue;
    const wantsToKnow = own.mode !== undefined;
    const replied = (attempt: StepState, change: { sentAt?: number; epoch?: number; order?: string; reply?: StepReply } = {}): Event => ({
      type: 'replied',
      at,
      epoch: change.epoch ?? epoch,
      sentAt: change.sentAt ?? Math.min(at, own.completeBy),
      requestId: requestIdOf(change.order ?? orderId, path, attempt),
      reply: change.reply ?? ok(),
    });
    const reply = wantsToKnow ? fault('Odd') : ok();
    changesNothing(advanceWith, state, replied({ ...own, generation: own.generation + 1 }), 'a reply of another generation');
    changesNothing(advanceWith, state, replied(own, { order: 'o2' }), 'a reply of another order');
    // A called order ends once, however often it was requested.
    if (node.agent === workflowsAgent) continue;
    // No other reply can confirm the step: a success of an older attempt counts.
    const isOnce = node.activity === 'step' && node.atMostOnce === true && own.phase === 'requested';
    if (!own.mode && !activity.reply && (isOnce || (own.phase === 'unknown' && activity.awaitsPerson))) continue;
    changesNothing(advanceWith, state, replied({ ...own, attempt: own.attempt - 1 }, { reply }), 'a reply of an older attempt');
    changesNothing(advanceWith, state, replied({ ...own, epoch: own.epoch - 1 }, { reply }), 'a reply of a former claim');
    changesNothing(advanceWith, state, replied(own, { epoch: own.epoch + 1, reply }), 'a reply after a reset');
    // While the order is suspended, a reply that was in time before is not too late.
    if (state.suspendedAt !== undefined && state.suspendedAt <= own.completeBy) continue;
    changesNothing(advanceWith, state, replied(own, { sentAt: own.completeBy + 1, reply }), 'a reply that was sent too late');
  }
}

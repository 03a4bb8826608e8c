import type { Event } from '#core/data/event';
import type { State } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { blockForReport, blockOrContinue, exhaust, overdue } from '#core/engine/blocking';
import { markCompensated } from '#core/engine/compensation';
import { carryOutAt, carryOutDecision } from '#core/engine/decisions';
import { compensateForCaller, terminate } from '#core/engine/ending';
import { afterHandler } from '#core/engine/handlers';
import { runJobs } from '#core/engine/jobs';
import { countLate, forgetLate } from '#core/engine/lateness';
import { reclaim, repeatWhere, wakeAll } from '#core/engine/repetition';
import { extend, reply } from '#core/engine/reply';
import { endFromOutside, resubmit, resume } from '#core/engine/resumption';
import { ruleUndos } from '#core/engine/ruled-undos';
import { signal } from '#core/engine/signal';
import { beginStandstill, endStandstill, endSuspension, suspend } from '#core/engine/suspension';
import type { Inputs, Subject, Transition } from '#core/engine/transition';
import { TransitionBuilder } from '#core/engine/transition-builder';
import { execute } from '#core/engine/verbs';
import { kindOf } from '#core/instructions/index';

export type { Inputs, Subject, Transition } from '#core/engine/transition';

/**
 * Applies one event to one instance. Pure: it reads no clock, draws no random number and does no I/O. It does not throw
 * when an activity faults. A repeated or late event returns the same state object, without commands or facts.
 */
export function advance(program: Program, subject: Subject, state: State, event: Event, inputs: Inputs = {}): Transition {
  const builder = new TransitionBuilder(withRuledUndos(program, state), subject, state, event, inputs);
  applyEvent(builder, event);
  runJobs(builder);
  if (builder.blockingPath() !== undefined) blockOrContinue(builder);
  return builder.finish();
}

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
    case 'reported':
      return state.phase === 'running' && !state.ending ? blockForReport(builder, event.fault) : undefined;
    case 'overdue':
      return state.phase === 'running' ? overdue(builder, event.path) : undefined;
    case 'resubmitted':
      return state.blocked ? resubmit(builder, state.blocked.path, event.completeWithinSeconds) : undefined;
    case 'signaled':
      return state.phase === 'closed' ? undefined : signal(builder, event);
    case 'markedCompensated':
      if (state.phase === 'running') forgetLate(builder);
      return state.phase === 'running' || state.phase === 'suspended' ? markCompensated(builder, event.path) : undefined;
    case 'instructed':
      return state.phase === 'closed' ? undefined : kindOf(event.instruction).apply?.(builder, event.instruction);
    case 'compensatedByCaller':
      return state.phase === 'closed' && state.outcome === 'completed' && state.called ? compensateForCaller(builder) : undefined;
    case 'canceled':
      if (state.phase === 'initialized') return builder.end(event.outcome);
      if (event.recovers && isOpen(state)) builder.set({ recovering: rootPath });
      return isOpen(state) ? endFromOutside(builder, event.outcome, event.late) : undefined;
    case 'terminated':
      endSuspension(builder);
      return state.phase === 'closed' ? undefined : terminate(builder);
    case 'handlerEnded':
      return isOpen(state) ? afterHandler(builder, event) : undefined;
    case 'undosRuled':
      return state.phase === 'closed' ? undefined : ruleUndos(builder, event.undos);
    case 'decided':
      return decided(builder, event);
    case 'suspended':
      return state.phase === 'running' ? suspend(builder) : undefined;
    case 'resumed':
      return state.phase === 'suspended' ? resume(builder) : undefined;
    case 'locked':
      return state.phase === 'closed' ? undefined : beginStandstill(builder);
    case 'stoodStill':
      return endStandstill(builder, event);
  }
}

function decided(builder: TransitionBuilder, { action, path }: Extract<Event, { type: 'decided' }>): void {
  const { blocked, phase } = builder.state;
  if (blocked) carryOutDecision(builder, blocked, action);
  else if (phase === 'running' && path !== undefined) carryOutAt(builder, path, action);
}

/** Whether the order has begun, has not closed, and is not being undone as a whole. */
const isOpen = ({ phase, ending }: State): boolean => phase !== 'initialized' && phase !== 'closed' && !ending;

function start(builder: TransitionBuilder, { stepMs, called }: Extract<Event, { type: 'started' }>): void {
  const { completeWithinSeconds } = builder.program.definition;
  builder.set({
    phase: 'running',
    stepMs,
    ...(called ? { called } : {}),
    ...(completeWithinSeconds && !builder.state.amended?.endBy ? { endBy: builder.event.at + completeWithinSeconds * 1000 } : {}),
  });
  execute(builder, rootPath);
}

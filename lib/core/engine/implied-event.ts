import type { EventContent } from '#core/data/event';
import { attemptIdOf, requestIdFrom, stepOfRequest } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { type Program, stepAt } from '#core/definition/program';

/** What is known of an order beside its journal. */
export interface Known {
  readonly orderId: string;
  readonly program: Program;
  readonly stepMs: number;
  /** Another order called this one. */
  readonly called: boolean;
}

/**
 * Returns the event that the first of its facts already tells, so that the journal need not keep the event. `state`: before the event. The
 * answer is a guess that the writer has checked: the journal keeps each event that differs from it.
 */
export function impliedEvent(known: Known, state: State, fact: CoreFact): EventContent {
  if (state.phase === 'initialized') return { type: 'started', stepMs: known.stepMs, ...(known.called ? { called: true } : {}) };
  switch (fact.type) {
    case 'ActivityClosed':
      if (fact.attemptId === undefined) break;
      return replied(known, fact.path, fact.attemptId, { status: 'succeeded', output: fact.output ?? {} });
    case 'AttemptFailed':
      return replied(known, fact.path, fact.attemptId, { status: 'failed', fault: fact.fault });
    case 'FaultRaised': {
      const step = stepAt(known.program, state, fact.path);
      if (!step) break;
      return replied(known, fact.path, attemptIdOf(step), { status: 'failed', fault: fact.fault });
    }
    case 'StepExtended':
      return { type: 'heartbeat', requestId: requestIdFrom(known.orderId, fact.path, fact.attemptId), completeBy: fact.completeBy };
  }
  return { type: 'woken' };
}

type Replied = Extract<EventContent, { type: 'replied' }>;

const replied = ({ orderId }: Known, path: string, attemptId: string, reply: Replied['reply']): Replied => ({
  type: 'replied',
  requestId: requestIdFrom(orderId, path, attemptId),
  sentAt: 0,
  reply,
});

/**
 * Returns an event that has changed the order, without what made no difference: when a reply in time was sent, what an undo has answered,
 * and how much longer an agent has asked to work than it may.
 */
export function essentialEvent({ program, orderId }: Known, state: State, event: EventContent, first: CoreFact | undefined): EventContent {
  if (event.type === 'heartbeat' && first?.type === 'StepExtended') return { ...event, completeBy: first.completeBy };
  if (event.type !== 'replied') return event;
  const step = stepAt(program, state, stepOfRequest(orderId, event.requestId) ?? '');
  // The answer of a service that looks for an effect counts only if it was sent late enough.
  if (step?.mode === 'confirm' && event.reply.status !== 'succeeded') return event;
  const { clocksApartMs: _, ...rest } = event;
  const isUndone = first?.type === 'ActivityClosed' && first.result === 'Compensated';
  return { ...rest, sentAt: 0, reply: isUndone ? { status: 'succeeded', output: {} } : event.reply };
}

import type { EventContent } from '#core/data/event';
import { attemptIdOf, requestIdFrom, stepOfRequest } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { type Program, stepAt } from '#core/definition/program';

/** The knowledge about an order that its journal does not have. */
export interface Known {
  readonly orderId: string;
  readonly program: Program;
  readonly stepMs: number;
  /** Another order called this one. */
  readonly called: boolean;
}

/**
 * Guesses an event from the first fact that followed from it. `state`: the state before the event. The writer of the journal has made the
 * same guess: it keeps only the events that differ from their guess.
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
 * Returns an event that has changed the order, without the parts that made no difference: the time at which a reply was sent, the output of
 * an undo, and the time that a heartbeat requested beyond the limit.
 */
export function essentialEvent({ program, orderId }: Known, state: State, event: EventContent, first: CoreFact | undefined): EventContent {
  if (event.type === 'heartbeat' && first?.type === 'StepExtended') return { ...event, completeBy: first.completeBy };
  if (event.type !== 'replied') return event;
  const step = stepAt(program, state, stepOfRequest(orderId, event.requestId) ?? '');
  // The reply of a confirmation that finds no effect counts only if it was sent late enough, so its time stays.
  if (step?.mode === 'confirm' && event.reply.status !== 'succeeded') return event;
  const { clocksApartMs: _, ...rest } = event;
  const isUndone = first?.type === 'ActivityClosed' && first.result === 'Compensated';
  return { ...rest, sentAt: 0, reply: isUndone ? { status: 'succeeded', output: {} } : event.reply };
}

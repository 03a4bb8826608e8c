import type { EventContent } from '#core/data/event';
import { attemptIdOf, requestIdFrom } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { stepAt } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import type { Known } from '#core/engine/implied-event';
import type { OrderFact, StoredEntry } from '#roles/scheduler/instance';

/*
 * Journals that an older release began. It kept facts, but no events. Most events follow from their facts alone; the others are refused,
 * because the facts would fit several states.
 */

/** Lines from which the content of their event does not follow. */
const untold: ReadonlySet<OrderFact['type']> = new Set([
  'SignalReceived',
  'LateResult',
  'ReplyRecorded',
  'OrderLocked',
  'OrderUnlocked',
  'ExceptionHandled',
  'RuleActed',
  'RuleWouldHave',
  'RuleEventForgotten',
  'HandlerStarted',
  'ThresholdExceeded',
]);

/** The events of instructions that say nothing but their kind. */
const contents: { readonly [kind: string]: EventContent } = {
  suspend: { type: 'suspended' },
  resume: { type: 'resumed' },
  cancel: { type: 'canceled', outcome: 'canceled' },
  compensate: { type: 'canceled', outcome: 'compensated' },
  terminate: { type: 'terminated' },
};

/**
 * Returns the event of an instruction that says nothing but its kind, if the line did not store the event; undefined for any other line.
 */
export const givenBy = (line: StoredEntry): EventContent | undefined =>
  line.type === 'InstructionGiven' && !hasEvent(line) ? contents[line.kind] : undefined;

/** Returns why a line of an older release does not tell its event; undefined if it does. */
export function untoldBy({ program }: Known, state: State, line: StoredEntry): string | undefined {
  const isUntold = untold.has(line.type) || (line.type === 'InstructionGiven' && contents[line.kind] === undefined);
  if (isUntold && !hasEvent(line)) return 'was written by an older release, which did not store the event of this line.';
  // Some answers to a confirmation change the step without a line.
  const asks = Object.keys(state.activities).some((path) => stepAt(program, state, path)?.mode === 'confirm');
  return asks
    ? 'follows a question to a service whether an effect exists. An older release did not keep all answers to such questions.'
    : undefined;
}

const hasEvent = ({ event, further }: StoredEntry): boolean => event !== undefined || further !== undefined;

/** Returns the events that a line may tell besides the implied one. */
export function otherEvents({ program, orderId }: Known, state: State, line: CoreFact): readonly EventContent[] {
  const timed: readonly EventContent[] = [{ type: 'woken' }, { type: 'expired' }, { type: 'reclaimed' }];
  const step = line.type === 'OrderBlocked' ? stepAt(program, state, line.path) : undefined;
  const attemptId = line.type === 'UndoFailed' ? line.attemptId : step && attemptIdOf(step);
  if (!('path' in line && 'fault' in line && line.fault) || attemptId === undefined) return timed;
  const requestId = requestIdFrom(orderId, line.path, attemptId);
  return [...timed, { type: 'replied', requestId, sentAt: 0, reply: { status: 'failed', fault: line.fault } }];
}

/** Whether the event is a reply with a masked secret. An older release kept no other copy of the reply, so the secret is lost. */
export const isHidden = (event: EventContent): boolean =>
  event.type === 'replied' && event.reply.status === 'succeeded' && JSON.stringify(event.reply.output).includes(mask);

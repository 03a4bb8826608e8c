import { timeText } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import { failingUndosOf, type Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on, type Setting } from './law.ts';

type Instructed = Extract<Observation, { type: 'instructed' }>;

/** A refused instruction gets every reason that applies at that moment, with a remedy (L10, X-41). */
export const refusalReasons = ({ now, toleranceMs, signals }: Pick<Setting, 'now' | 'toleranceMs' | 'signals'>): Law => ({
  name: 'refusal reasons',
  after: on(['instructed'], (observation, history) => {
    if (!observation.isUnchanged || observation.outcome !== 'infeasible') return undefined;
    const order = history.orders.get(observation.orderId);
    if (!order || order.damagedAt !== undefined) return undefined;
    // The answering host may have another clock, and may stand still before its answer. If the time limit passed during the call or within
    // the tolerance, the answer of the host decides.
    const { endBy = 0 } = order.instance.state;
    const isUnsure = endBy >= observation.startedAt - toleranceMs && endBy <= now() + toleranceMs;
    const isExpired = isUnsure ? observation.reasons.some(saysExpired) : endBy < now();
    const expected = reasonsFor(observation, order, { isExpired, signals });
    const isRight = expected === undefined || JSON.stringify(expected) === JSON.stringify(observation.reasons);
    return isRight
      ? undefined
      : `order ${observation.orderId}: the instruction given for the reason "${observation.reason}" was refused with "${observation.reasons.join(' ')}", expected "${expected.join(' ')}"`;
  }),
});

const saysExpired = (reason: string): boolean => reason.startsWith('The time limit of the order passed');

interface Known extends Pick<Setting, 'signals'> {
  /** Whether the time limit of the order has passed. */
  readonly isExpired: boolean;
}

/** Returns the expected reasons; undefined if the law does not know them. */
function reasonsFor(observation: Instructed, order: Tracked, { isExpired, signals }: Known): readonly string[] | undefined {
  const { decision } = observation;
  const { processState, suspended, outcome } = order.state;
  const { ending } = order.instance.state;
  if (decision.kind === 'acknowledge') return whyNotAcknowledged(order.state);
  if (processState === 'Processed') return [`The order is finished (${outcome}). Submit a new one instead.`];
  if (decision.kind === 'mark-compensated') return whyNotMarked(decision.path, failingUndosOf(order), order);
  if (decision.kind === 'resume') return ['The order is not suspended: there is nothing to resume.'];
  if (decision.kind === 'suspend') return whyNotSuspended(order.state);
  if (decision.kind === 'resubmit' && processState === 'Error' && suspended)
    return ['The order was suspended before it went into Error. Resume it first.'];
  if (ending) return whileUndoing(ending.outcome, processState, observation);
  if (decision.kind === 'signal') return whyNotSignaled(observation, order, signals);
  if (processState !== 'Error' && decision.kind === 'compensate')
    return [`Only an order in Error can be compensated; this one is ${processState}. Cancel it instead.`];
  if (decision.kind !== 'resubmit') return undefined;
  if (processState !== 'Error') return [`Only an order in Error can be resubmitted; this one is ${processState}.`];
  return whyNotResubmitted(decision.answer !== undefined, order, isExpired);
}

function whyNotResubmitted(answers: boolean, { instance }: Tracked, isExpired: boolean): readonly string[] {
  const { blocked, endBy } = instance.state;
  const isAsked = blocked?.fault.type === 'OperatorAsked';
  return [
    ...(isAsked && !answers ? [`The order waits for an answer to: ${blocked?.fault.message} Send it as "answer".`] : []),
    ...(!isAsked && answers ? ['The order has no open question: it is in Error because of a fault. Leave out "answer".'] : []),
    ...(endBy === undefined || !isExpired
      ? []
      : [`The time limit of the order passed at ${timeText(endBy)}. Extend it with "completeWithinSeconds".`]),
  ];
}

function whileUndoing(outcome: string, processState: string, { decision }: Instructed): readonly string[] {
  if (processState !== 'Error') return [`The order is already being undone, and will end as ${outcome}.`];
  if (decision.kind !== 'resubmit')
    return [`The order is already being undone, but is in Error. Resubmit it: the undo continues, and the order ends as ${outcome}.`];
  return ['The order has no open question. Leave out "answer".'];
}

/** Returns the reasons to refuse a signal. Whether an order still waits for the signal of its workflow is not checked. */
function whyNotSignaled(
  { decision, reasons: [reason = ''] }: Instructed,
  { state }: Tracked,
  signals: Setting['signals'],
): readonly string[] | undefined {
  if (!signals) return undefined;
  const name = decision.kind === 'signal' ? decision.name : '';
  const begin = `The order will not wait for the signal "${name}". `;
  const nothing = `${begin}It waits for no other signals.`;
  const known = signals[state.workflow.name];
  const another = `${begin}It may still wait for: ${known}.`;
  return [known !== undefined && name !== known && reason === another ? another : nothing];
}

const whyNotAcknowledged = ({ processState, outcome }: StateRecord): readonly string[] =>
  processState === 'Processed'
    ? [`The order is finished (${outcome}) and has no open exception: there is nothing to acknowledge.`]
    : ['The order has no open exception: there is nothing to acknowledge.'];

const whyNotSuspended = ({ suspended, processState }: StateRecord): readonly string[] => [
  ...(suspended ? ['The order is already suspended.'] : []),
  ...(processState === 'Error' ? ['The order is in Error, where no new work begins: there is nothing to suspend.'] : []),
];

function whyNotMarked(path: string | undefined, failing: readonly string[], { state, instance }: Tracked): readonly string[] {
  const { processState, suspended } = state;
  const known = failing.length === 0 ? 'No undo of this order has failed.' : `Failed undos: ${failing.join(', ')}.`;
  const blocking = [
    ...(processState === 'Error' ? ['The order is in Error. Resubmit or compensate it; then its undos continue.'] : []),
    // In the phase `suspended` the order accepts a mark and keeps it until it is resumed. Before that phase, a suspension refuses the mark.
    ...(suspended && instance.state.phase !== 'suspended' ? ['The order is suspended. Resume it; then its undos continue.'] : []),
  ];
  if (path === undefined && failing.length === 1) return blocking;
  if (path === undefined) return [...blocking, failing.length > 1 ? `Several undos have failed: choose one with "path". ${known}` : known];
  const isMeant = failing.some((each) => each === path || `${each}/undo` === path);
  return isMeant ? blocking : [...blocking, `The undo of ${path} is not running, or has not failed yet. ${known}`];
}

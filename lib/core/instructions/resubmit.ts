import { isQuestion } from '#core/data/fault';
import type { Json } from '#core/data/json';
import {
  firstOf,
  type InstructionKind,
  type InstructionRefusal,
  type Judged,
  refusal,
  whenFinished,
  whenSuspendedInError,
  whenUndone,
} from './kind.ts';

/** Runs the failed step of a blocked order again, or answers its question. */
export interface Resubmit {
  readonly kind: 'resubmit';
  /** A new time limit for the whole order, from now. */
  readonly completeWithinSeconds?: number;
  /** The answer to the question that blocks the order. */
  readonly answer?: Json;
}

export const resubmit: InstructionKind<Resubmit> = {
  refusals: (order, { answer, completeWithinSeconds }) =>
    firstOf(
      () => whenFinished(order),
      () => whenSuspendedInError(order),
      // An order that is in Error while being undone continues its undo.
      () => (order.processState === 'Error' ? [] : whenUndone(order)),
      () => whenNotInError(order),
      () => [...ofQuestion(order, answer), ...(order.state.ending ? [] : ofTimeLimit(order, completeWithinSeconds))],
    ),
  event: (_, { answer, completeWithinSeconds }) => ({
    type: 'resubmitted',
    ...(answer === undefined ? {} : { answer }),
    ...(completeWithinSeconds === undefined ? {} : { completeWithinSeconds }),
  }),
};

const whenNotInError = ({ processState }: Judged): readonly InstructionRefusal[] =>
  processState === 'Error' ? [] : [refusal('not-blocked', `Only an order in Error can be resubmitted; this one is ${processState}.`)];

function ofQuestion({ state: { blocked, ending } }: Judged, answer: Json | undefined): readonly InstructionRefusal[] {
  if (ending)
    return answer === undefined
      ? []
      : [refusal('no-question', 'The order has no open question. Leave out "answer".', { pointer: '/answer' })];
  const question = blocked && isQuestion(blocked.fault) ? blocked : undefined;
  if (question && answer === undefined)
    return [
      refusal('answer-missing', `The order waits for an answer to: ${question.fault.message} Send it as "answer".`, {
        path: question.path,
      }),
    ];
  if (question || answer === undefined) return [];
  const detail = 'The order has no open question: it is in Error because of a fault. Leave out "answer".';
  return [refusal('no-question', detail, { pointer: '/answer' })];
}

const ofTimeLimit = ({ state: { endBy }, now }: Judged, completeWithinSeconds: number | undefined): readonly InstructionRefusal[] =>
  endBy !== undefined && endBy <= now && completeWithinSeconds === undefined
    ? [
        refusal(
          'time-limit-passed',
          `The time limit of the order passed at ${new Date(endBy).toISOString()}. Extend it with "completeWithinSeconds".`,
        ),
      ]
    : [];

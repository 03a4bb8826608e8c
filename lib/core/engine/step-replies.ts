import type { RemoteStep } from '#core/activities/step';
import type { EventContent, StepReply } from '#core/data/event';
import { engineFault, engineFaults, type Fault, isKindOf, shortType } from '#core/data/fault';
import { fits, type Json, utf8Bytes } from '#core/data/json';
import { limits } from '#core/definition/definition';
import type { Context } from './behavior.ts';

/** The most characters of a fault that the state of a step keeps. */
const reasonMax = 200;
/** Types that say no more than the message. */
const plainTypes: ReadonlySet<string> = new Set([engineFaults.serviceUnavailable, 'UnexpectedError']);

/** Returns a fault in a few words, for the state of a step. */
export const brief = ({ type, message }: Fault): string => {
  const text = plainTypes.has(type) ? message : `${shortType(type)}: ${message}`;
  return text.length > reasonMax ? `${text.slice(0, reasonMax)}…` : text;
};

/** Whether the reply proves that the operation was not done. Another request is then a new effect. */
export const isDefiniteRefusal = (reply: StepReply): boolean =>
  (reply.status === 'rejected' && !reply.outcomeUnknown) ||
  (reply.status === 'failed' && reply.fault.permanent && !reply.fault.outcomeUnknown);

/** Permanent faults that the engine raises without an answer of the service to the last request. */
const withoutService: readonly string[] = [
  engineFaults.deadlineExceeded,
  engineFaults.expressionFailed,
  engineFaults.expressionTooLarge,
  engineFaults.inputChanged,
  engineFaults.stateTooLarge,
];

/** Events that give a step a fault of their own: that of a rule, of a lateness, or of a handler that did not complete. */
const withFault: ReadonlySet<string> = new Set(['decided', 'exhausted', 'handlerEnded'] satisfies EventContent['type'][]);

/** Whether the fault in a line of the journal proves that the service refused the last request of its step. */
export const provesRefusal = ({ event }: { readonly event?: EventContent }, { type, permanent, outcomeUnknown }: Fault): boolean =>
  permanent && !outcomeUnknown && !(event && withFault.has(event.type)) && !withoutService.some((each) => isKindOf(type, each));

/** Returns the fault of a request that its agent rejected. */
export const rejection = ({ message, deadLetter, outcomeUnknown }: Extract<StepReply, { status: 'rejected' }>): Fault =>
  engineFault(engineFaults.requestRejected, message, {
    ...(deadLetter === undefined ? {} : { data: { deadLetter } }),
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
  });

/** Returns the fault of a reply that is not a success. */
export const faultIn = (reply: Exclude<StepReply, { status: 'succeeded' }>): Fault =>
  reply.status === 'failed' ? reply.fault : rejection(reply);

/** Returns a fault if an output is too large, or is not what the workflow expects of it (F-137). */
export function refusedAnswer(
  { expects }: Pick<RemoteStep, 'expects'>,
  output: Json,
  { evaluateWith }: Pick<Context, 'evaluateWith'>,
): Fault | undefined {
  const tooLarge = refusedOutput(output);
  if (tooLarge || !expects) return tooLarge;
  const met = evaluateWith(expects.condition, output);
  if (!met.ok) return { ...met.fault, outcomeUnknown: true };
  if (met.value === true) return undefined;
  return engineFault(engineFaults.invalidReply, `The answer is not what the workflow expects: ${expects.what}.`, { outcomeUnknown: true });
}

/** Returns a fault if an output is larger than the state may store. */
export function refusedOutput(output: Json): Fault | undefined {
  if (fits(output, limits.outputBytesMax)) return undefined;
  const message = `The output has ${utf8Bytes(output)} bytes; the maximum is ${limits.outputBytesMax}. Return a reference to the data instead.`;
  return engineFault(engineFaults.outputTooLarge, message, { outcomeUnknown: true });
}

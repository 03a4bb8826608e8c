import type { AnyOperation } from '#authoring/agent';
import { type Failed, type FaultType, type PermanentFailure, TransientFailure } from '#authoring/fault';
import { issuesOf } from '#authoring/schema';
import { isTransient } from '#core/data/fault';
import { isObject, type Json } from '#core/data/json';
import { reasonOf } from '#core/data/thrown';
import { limits } from '#core/definition/definition';
import { faultName, type Reply } from '#ports/messages';
import { inLinearTime } from '#ports/util/validation';

export type Result = Reply['result'];

export const failed = (fault: Extract<Result, { status: 'failed' }>['fault']): Result => ({ status: 'failed', fault });

/** The result of a canceled operation that did not state that it had no effect. */
export const givenUp = failed({
  type: 'Canceled',
  message: 'The operation was canceled before it gave an answer.',
  permanent: false,
  outcomeUnknown: true,
});

export const nobodyWaits = failed({ type: 'DeadlineExceeded', message: 'nobody waits any longer', permanent: false });

/** Returns the failure of an at-most-once operation that may have had its effect. */
export const outcomeUnknown = (message: string): Result =>
  failed({ type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });

/** Returns the result for an operation's return value, which must match the operation's schema. */
export function resultOf(returned: unknown, operation: AnyOperation): Result {
  if (isFailed(returned))
    return failed({
      type: returned.failed.name,
      message: returned.message,
      permanent: !isTransient(returned.failed.path),
      ...(returned.data ? { data: returned.data } : {}),
    });
  const output = inLinearTime(operation.output).safeParse(returned);
  if (!output.success)
    return failed({
      type: 'InvalidReply',
      message: `The output does not match its schema: ${issuesOf(output.error)}.`,
      permanent: true,
      outcomeUnknown: true,
    });

  const value = (output.data ?? null) as Json;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.outputBytesMax) return { status: 'succeeded', output: value };
  return failed({
    type: 'OutputTooLarge',
    message: `The output has ${bytes} bytes; the maximum is ${limits.outputBytesMax}. Return a reference to the data instead.`,
    permanent: true,
    outcomeUnknown: true,
  });
}

const refusedByAgent: ReadonlySet<string> = new Set(['InvalidReply', 'OutputTooLarge', 'RequestRefused']);

/** Whether the agent itself has refused the input or the output of the operation. */
export const isRefusedByAgent = (result: Result): boolean => result.status === 'failed' && refusedByAgent.has(result.fault.type);

/** Whether a result is a transient fault that the operation declares. */
export const isTransientFault = (result: Result): boolean => result.status === 'failed' && !result.fault.permanent;

/** Returns the result for a permanent failure that an operation threw. */
export const refusalOf = (error: PermanentFailure, { outcomeUnknown }: { readonly outcomeUnknown: boolean } = error): Result =>
  failed({
    ...named(error),
    permanent: true,
    ...(outcomeUnknown ? { outcomeUnknown: true } : {}),
    ...(error.data ? { data: error.data } : {}),
  });

/** Returns the result of a request whose last try has failed. */
export const exhausted = (error: unknown, { faults = [] }: AnyOperation): Result =>
  failed({
    type: error instanceof TransientFailure ? (declaredIn(error, faults) ?? 'ServiceUnavailable') : 'UnexpectedError',
    message: reasonOf(error),
    permanent: false,
  });

/** Returns the result for a programming error that keeps coming. The operation may have failed after its effect. */
export const programmingError = (error: unknown): Result =>
  failed({ type: 'ProgrammingError', message: reasonOf(error), permanent: true, outcomeUnknown: true });

const declaredIn = ({ fault }: TransientFailure, faults: readonly FaultType[]): string | undefined =>
  faults.find(({ path }) => path === fault?.path)?.name;

/** Replaces a type that is not a valid fault name: the scheduler would not accept such a reply. */
const named = ({ type, message }: PermanentFailure): { readonly type: string; readonly message: string } =>
  faultName.test(type) ? { type, message } : { type: 'UnexpectedError', message: `${type}: ${message}` };

const isFailed = (value: unknown): value is Failed<string> =>
  isObject(value) &&
  isObject(value['failed']) &&
  typeof value['message'] === 'string' &&
  typeof (value['failed'] as { name?: unknown })['name'] === 'string' &&
  typeof (value['failed'] as { path?: unknown })['path'] === 'string';

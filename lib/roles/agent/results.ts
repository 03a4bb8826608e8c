import type { AnyOperation } from '#authoring/agent';
import { type Failed, type FaultType, type PermanentFailure, TransientFailure } from '#authoring/fault';
import { isTransient } from '#core/data/fault';
import { isObject, type Json } from '#core/data/json';
import { limits } from '#core/definition/definition';
import { faultName, type Reply } from '#ports/messages';

export type Result = Reply['result'];

export const failed = (fault: Extract<Result, { status: 'failed' }>['fault']): Result => ({ status: 'failed', fault });

/** The operation has stopped, or was not begun here, and does not say that nothing was done. */
export const givenUp = failed({
  type: 'Canceled',
  message: 'It was canceled before it gave an answer.',
  permanent: false,
  outcomeUnknown: true,
});

export const nobodyWaits = failed({ type: 'DeadlineExceeded', message: 'nobody waits any longer', permanent: false });

/** Of an operation that may be asked for only once. */
export const outcomeUnknown = (message: string): Result =>
  failed({ type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });

/** What an operation returned, against its own schema: a service's answer is not trusted further than that. */
export function resultOf(returned: unknown, operation: AnyOperation): Result {
  if (isFailed(returned))
    return failed({
      type: returned.failed.name,
      message: returned.message,
      permanent: !isTransient(returned.failed.path),
      ...(returned.data ? { data: returned.data } : {}),
    });
  const output = operation.output.safeParse(returned);
  if (!output.success)
    return failed({
      type: 'InvalidReply',
      message: `The answer is not what it should be: ${issuesOf(output.error)}.`,
      permanent: true,
      outcomeUnknown: true,
    });

  const value = (output.data ?? null) as Json;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.outputBytesMax) return { status: 'succeeded', output: value };
  return failed({
    type: 'OutputTooLarge',
    message: `The output has ${bytes} bytes; at most ${limits.outputBytesMax} are kept. Answer with a reference to where it lies.`,
    permanent: true,
    outcomeUnknown: true,
  });
}

/** The service says that it cannot now, under a fault that the operation declares. */
export const isBusy = (result: Result): boolean => result.status === 'failed' && !result.fault.permanent;

/** A permanent failure, as an operation threw it. */
export const refusalOf = (error: PermanentFailure, { outcomeUnknown }: { readonly outcomeUnknown: boolean } = error): Result =>
  failed({
    ...named(error),
    permanent: true,
    ...(outcomeUnknown ? { outcomeUnknown: true } : {}),
    ...(error.data ? { data: error.data } : {}),
  });

/** What may pass did not pass in all tries. */
export const exhausted = (error: unknown, { faults = [] }: AnyOperation): Result =>
  failed({
    type: error instanceof TransientFailure ? (declaredIn(error, faults) ?? 'ServiceUnavailable') : 'UnexpectedError',
    message: messageOf(error),
    permanent: false,
  });

const declaredIn = ({ fault }: TransientFailure, faults: readonly FaultType[]): string | undefined =>
  faults.find(({ path }) => path === fault?.path)?.name;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const issuesOf = ({ issues }: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ');

/** Under another name than a fault may have, its answer would be none. */
const named = ({ type, message }: PermanentFailure): { readonly type: string; readonly message: string } =>
  faultName.test(type) ? { type, message } : { type: 'UnexpectedError', message: `${type}: ${message}` };

const isFailed = (value: unknown): value is Failed<string> =>
  isObject(value) &&
  isObject(value['failed']) &&
  typeof value['message'] === 'string' &&
  typeof (value['failed'] as { name?: unknown })['name'] === 'string' &&
  typeof (value['failed'] as { path?: unknown })['path'] === 'string';

import { AssertionError } from 'node:assert';
import { ZodError } from 'zod';
import { UnprocessableMessage } from '#authoring/fault';
import { NewerMessageError, StoreRefusesError, UnreadableMessageError } from '#ports/errors';

/**
 * Class of a failure to process a message. `unreadable`: no version can decode it. `content`: the handler fails on its content.
 * `newer`: only a newer version can process it. `passing`: an outage, throttling or a lost race, which the message did not cause.
 */
export type Failure = 'unreadable' | 'content' | 'newer' | 'passing';

const slips = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError, AssertionError, ZodError];

export function failureOf(error: unknown): Failure {
  if (error instanceof UnreadableMessageError) return 'unreadable';
  if (error instanceof NewerMessageError) return 'newer';
  if (error instanceof UnprocessableMessage || error instanceof StoreRefusesError) return 'content';
  return slips.some((kind) => error instanceof kind) && !isFromOutside(error as Error) ? 'content' : 'passing';
}

/** Whether an error comes from `fetch` or the SDK. Both also throw built-in error types, but with a cause or the response. */
const isFromOutside = (error: Error): boolean => error.cause !== undefined || '$metadata' in error || '$response' in error;

/** Returns the name of an error for logs: its text may quote the message. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** Returns the text of an error, for the attempts that a dead letter keeps. */
export const errorText = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, charactersMax);

const charactersMax = 1000;

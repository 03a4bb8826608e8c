import { AssertionError } from 'node:assert';
import { ZodError } from 'zod';
import { UnprocessableMessage } from '#authoring/fault';
import { NewerMessageError, StoreRefusesError, UnreadableMessageError } from '#ports/errors';

/**
 * Why a message was not processed. `unreadable`: it is no message, whoever reads it. `content`: what it says can't be handled, as
 * far as anybody knows. `newer`: only a newer version can. `passing`: an outage, throttling, a lost race: not its own fault.
 */
export type Failure = 'unreadable' | 'content' | 'newer' | 'passing';

const slips = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError, AssertionError, ZodError];

export function failureOf(error: unknown): Failure {
  if (error instanceof UnreadableMessageError) return 'unreadable';
  if (error instanceof NewerMessageError) return 'newer';
  if (error instanceof UnprocessableMessage || error instanceof StoreRefusesError) return 'content';
  return slips.some((kind) => error instanceof kind) && !isFromOutside(error as Error) ? 'content' : 'passing';
}

/** `fetch` and the SDK throw errors of the language, too, where a service is away or answers nonsense: with a cause, or with what came. */
const isFromOutside = (error: Error): boolean => error.cause !== undefined || '$metadata' in error || '$response' in error;

/** Its name: what it says may quote the message. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** For the story that is kept with the message itself. */
export const errorText = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, charactersMax);

const charactersMax = 1000;

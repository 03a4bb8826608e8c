import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Clock } from '#ports/clock';
import { StoreRefusesError, StoreUnavailableError } from '#ports/errors';

/**
 * Two transactions, or a transaction and a write, met at one item: DynamoDB lets one of them through. The SDK repeats
 * throttled calls by itself, within its retry budget, but no conflicts: each new try is a call of its own.
 */
const conflictsMax = 8;
const pauseMs = { first: 20, longest: 500 };

/** Another cause than these makes trying again pointless. */
const passing = new Set(['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const conflicts = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** A person must mend these: no table, no right to it, no valid credentials. */
const lasting = new Set(['ResourceNotFoundException', 'AccessDeniedException', 'UnrecognizedClientException', 'InvalidSignatureException']);
const throttledItems = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
const throttles = new Set(['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded']);
const network = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

export interface RetryOptions {
  readonly clock: Clock;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Does the work, again where it met somebody else's transaction.
 *
 * @throws StoreRefusesError when DynamoDB will never take the write.
 * @throws StoreUnavailableError when DynamoDB is not to be had: `fatal` where it won't come back by itself.
 */
export async function withRetries<T>(work: () => Promise<T>, { clock, random = Math.random }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || attempt >= conflictsMax) throw unavailable(error);
      await clock.sleep(random() * Math.min(pauseMs.longest, pauseMs.first * 2 ** attempt));
    }
  }
}

/** A transaction of which a condition did not hold. */
export const isRefused = (error: unknown): error is TransactionCanceledException =>
  error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ConditionalCheckFailed');

function isConflict(error: unknown): boolean {
  if (conflicts.has(nameOf(error))) return true;
  return error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).every(({ Code = 'None' }) => passing.has(Code));
}

/** What is no failure of the store (a bug, a record that makes no sense) goes by as it came. */
function unavailable(error: unknown): unknown {
  const name = nameOf(error);
  if (isInvalid(error, name)) return new StoreRefusesError(`DynamoDB refuses the write: ${messageOf(error)}.`, { cause: error });
  const refuses = lasting.has(name);
  if (!refuses && !isPassing(error, name)) return error;
  // The key of a table refuses in the same words, and that passes: keys are changed under way.
  const fatal = refuses && !/\bkms\b/i.test(messageOf(error));
  return new StoreUnavailableError(`DynamoDB ${refuses ? 'refuses this program' : 'is not to be had'}: ${messageOf(error)}.`, {
    fatal,
    cause: error,
    throttled: isThrottle(error, name),
  });
}

/** Too large for an item, most of all. A transaction says it of each of its items. */
const isInvalid = (error: unknown, name: string): boolean =>
  name === 'ValidationException' ||
  (error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ValidationError'));

/** A transaction says it of each of its items. */
const isThrottle = (error: unknown, name: string): boolean =>
  throttles.has(name) ||
  (error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code = '' }) => throttledItems.has(Code)));

const isPassing = (error: unknown, name: string): boolean => {
  const { code, $fault } = error as { code?: string; $fault?: string };
  return (
    throttles.has(name) || name === 'TimeoutError' || isConflict(error) || $fault === 'server' || (code !== undefined && network.has(code))
  );
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const messageOf = (error: unknown): string => `${nameOf(error)}: ${(error as Error).message.replace(/\.$/, '')}`;

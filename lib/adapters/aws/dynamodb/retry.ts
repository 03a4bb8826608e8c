import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Clock } from '#ports/clock';
import { StoreRefusesError, StoreUnavailableError } from '#ports/errors';
import { type Backoff, backoffMs } from '#ports/util/backoff';

/**
 * The most attempts after conflicts. If two transactions, or a transaction and a write, meet at one item, DynamoDB accepts one. The SDK
 * retries throttled calls within its retry budget, but neither conflicts nor transactions that were canceled, so each retry here is a new
 * call.
 */
const conflictsMax = 8;
const pauseMs: Backoff = { first: 20, longest: 500, jitter: [0, 1] };

/** Reasons for a canceled transaction that a retry may overcome. With any other reason, a retry is pointless. */
const transient = new Set(['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const conflicts = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** Errors that a person must fix: no table, no permission, no valid credentials. */
const permanentErrors = new Set([
  'ResourceNotFoundException',
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
]);
const throttledItems = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
const throttles = new Set(['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded']);
const network = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

export interface RetryOptions {
  readonly clock: Clock;
  /** Returns a number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Does the work, and repeats it after a conflict with another transaction, or after a transaction was canceled by throttling.
 *
 * @throws StoreRefusesError if DynamoDB will never accept the write.
 * @throws StoreUnavailableError if DynamoDB is unavailable: `fatal` if a person must fix it.
 */
export async function withRetries<T>(work: () => Promise<T>, { clock, random = Math.random }: RetryOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || attempt >= conflictsMax) throw storeErrorOf(error);
      await clock.sleep(backoffMs(pauseMs, attempt, random()));
    }
  }
}

/** Whether a transaction failed because a condition did not hold. */
export const isRefused = (error: unknown): error is TransactionCanceledException =>
  error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ConditionalCheckFailed');

function isConflict(error: unknown): boolean {
  if (conflicts.has(nameOf(error))) return true;
  return (
    error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).every(({ Code = 'None' }) => transient.has(Code))
  );
}

/** Converts failures of the store. Other errors, such as bugs and invalid records, stay as they are. */
function storeErrorOf(error: unknown): unknown {
  const name = nameOf(error);
  if (isInvalid(error, name)) return new StoreRefusesError(`DynamoDB refuses the write: ${messageOf(error)}.`, { cause: error });
  const refuses = permanentErrors.has(name);
  if (!refuses && !isTemporary(error, name)) return error;
  // Errors of the table's KMS key look the same but are temporary, for example during a key change.
  const fatal = refuses && !/\bkms\b/i.test(messageOf(error));
  return new StoreUnavailableError(`DynamoDB ${refuses ? 'refuses this program' : 'is unavailable'}: ${messageOf(error)}.`, {
    fatal,
    cause: error,
    throttled: isThrottle(error, name),
  });
}

/** Whether DynamoDB rejects the input itself, mostly because an item is too large. A transaction reports it for each item. */
const isInvalid = (error: unknown, name: string): boolean =>
  name === 'ValidationException' ||
  (error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ValidationError'));

/** Whether DynamoDB throttled the call. A transaction reports it for each item. */
const isThrottle = (error: unknown, name: string): boolean =>
  throttles.has(name) ||
  (error instanceof TransactionCanceledException && (error.CancellationReasons ?? []).some(({ Code = '' }) => throttledItems.has(Code)));

const isTemporary = (error: unknown, name: string): boolean => {
  const { code, $fault } = error as { code?: string; $fault?: string };
  return (
    throttles.has(name) || name === 'TimeoutError' || isConflict(error) || $fault === 'server' || (code !== undefined && network.has(code))
  );
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const messageOf = (error: unknown): string => `${nameOf(error)}: ${(error as Error).message.replace(/\.$/, '')}`;

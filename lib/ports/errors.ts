import type { OrderRecord } from './records.ts';

/** Another host, or a person, holds the lease of this instance. The message names neither: a client may read it (F-15). */
export class InstanceLockedError extends Error {
  override readonly name = 'InstanceLockedError';
  readonly orderId: string;
  /** The time at which the lease expires unless its holder renews it: milliseconds since 1970. */
  readonly heldUntil: number;

  /** The person who holds it; absent for a host. */
  readonly person: string | undefined;

  constructor(orderId: string, heldUntil: number, person?: string) {
    const holder = person === undefined ? 'a host that works on it' : 'a person who works on it';
    super(`Order ${orderId} is locked by ${holder}, until ${new Date(heldUntil).toISOString()}. Try again then.`);
    this.person = person;
    this.orderId = orderId;
    this.heldUntil = heldUntil;
  }
}

/** A stored record that cannot be decoded: it is damaged, or a newer version wrote it. Other orders are not affected. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly orderId: string;
  readonly reason: string;
  /**
   * Milliseconds since 1970. Until then a rollout may explain that this process is older than the record. After that time, or if it is 0,
   * an operator must deploy another version. Undefined if no version can read the record.
   */
  readonly newerUntil: number | undefined;
  /** The order as submitted, if that part is readable. */
  readonly order: OrderRecord | undefined;

  constructor(orderId: string, reason: string, newerUntil?: number, order?: OrderRecord) {
    super(`The record of order ${orderId} cannot be read: ${reason}.`);
    this.orderId = orderId;
    this.reason = reason;
    this.newerUntil = newerUntil;
    this.order = order;
  }
}

/** Whether a record is damaged. A record of another program version is not damaged: that version may be deployed again at any time. */
export const isDamage = (error: unknown): error is UnreadableRecordError =>
  error instanceof UnreadableRecordError && error.newerUntil === undefined;

/** Returns the state of this order, as `read` decodes it. Adds the order to an UnreadableRecordError. */
export function decodeStateOf<T>(order: OrderRecord, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    throw new UnreadableRecordError(error.orderId, error.reason, error.newerUntil, order);
  }
}

/** The longest time that a rollout may take. For this time after a write, older processes may meet a version that they do not know. */
export const rolloutMs = 3_600_000;

/** Returns the error for a record of another schema version. `writtenAt`: milliseconds since 1970, if readable. */
export function unknownVersion(orderId: string, version: unknown, writtenAt: unknown): UnreadableRecordError {
  const isNewer = typeof version === 'number' && version > 1 && typeof writtenAt === 'number';
  const reason = `it has schema version ${String(version).slice(0, 40)}, expected 1`;
  return new UnreadableRecordError(orderId, reason, isNewer ? writtenAt + rolloutMs : undefined);
}

/** A message that only a newer version of the program or of the app can process. `message` says why. */
export class NewerMessageError extends Error {
  override readonly name = 'NewerMessageError';
}

/** A message that no version can decode: not JSON, of an unknown type, or not valid for its type. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** The store, or the technology under it, is unavailable. The system neither accepts nor processes anything until it is back. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** Whether the store recovers only with the help of a person, so that the host must stop. */
  readonly fatal: boolean;
  /** Instruction for the operator, if the cause implies one. */
  readonly remedy: string | undefined;
  /** Whether the store throttles. It then wrote nothing, and an immediate retry would add to the load. */
  readonly throttled: boolean;

  constructor(
    message: string,
    { fatal, cause, remedy, throttled = false }: { fatal: boolean; cause?: unknown; remedy?: string | undefined; throttled?: boolean },
  ) {
    super(message, { cause });
    this.fatal = fatal;
    this.remedy = remedy;
    this.throttled = throttled;
  }
}

/** Whether an error must stop the host, so that no code may catch it and continue. */
export const isFatal = (error: unknown): boolean => error instanceof Error && 'fatal' in error && error.fatal === true;

/** The store will never accept this write: the item is too large or malformed. The store wrote nothing. */
export class StoreRefusesError extends Error {
  override readonly name = 'StoreRefusesError';
}

/** A fault in the setup that a person must correct; `remedy` says how. It ends the program with exit code 2. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** The state of an order, or the history of one write, exceeds the size limit of the store. The scheduler wrote nothing. */
export class StateTooLargeError extends Error {
  override readonly name = 'StateTooLargeError';
}

/** A write would violate an invariant, so it was not sent to the store. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

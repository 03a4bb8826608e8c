import type { OrderRecord } from './records.ts';

/** Another host has this instance to itself. It does not say who: that is nobody else's business (LOCK). */
export class InstanceLockedError extends Error {
  override readonly name = 'InstanceLockedError';
  readonly orderId: string;
  /** Milliseconds since 1970: then the lease runs out, unless its holder renews it. */
  readonly heldUntil: number;

  constructor(orderId: string, heldUntil: number) {
    super(
      `The order ${orderId} is held by someone at work on it, until ${new Date(heldUntil).toISOString()} at the latest. Try again then.`,
    );
    this.orderId = orderId;
    this.heldUntil = heldUntil;
  }
}

/** A stored record that makes no sense: damaged, or written by a newer version. It concerns this order alone. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly orderId: string;
  readonly reason: string;
  /**
   * Milliseconds since 1970: until then it may only be that this process is older than the record. Later, and where it is
   * 0, another version must be deployed. Undefined of what no version can read.
   */
  readonly newerUntil: number | undefined;
  /** What was submitted, where that much can be read. */
  readonly order: OrderRecord | undefined;

  constructor(orderId: string, reason: string, newerUntil?: number, order?: OrderRecord) {
    super(`The record of order ${orderId} cannot be read: ${reason}.`);
    this.orderId = orderId;
    this.reason = reason;
    this.newerUntil = newerUntil;
    this.order = order;
  }
}

/** Reads a state; where that cannot be done, the error knows the order that it belongs to. */
export function stateBehind<T>(order: OrderRecord, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    throw new UnreadableRecordError(error.orderId, error.reason, error.newerUntil, order);
  }
}

/** So long after it was written, whoever does not know a version may only not be replaced yet by a newer process. */
export const rolloutMs = 3_600_000;

/** For a record of another schema version. `writtenAt`: milliseconds since 1970, where that can be read. */
export function unknownVersion(orderId: string, version: unknown, writtenAt: unknown): UnreadableRecordError {
  const isNewer = typeof version === 'number' && version > 1 && typeof writtenAt === 'number';
  const reason = `it has the schema version ${String(version).slice(0, 40)}, and this program reads 1`;
  return new UnreadableRecordError(orderId, reason, isNewer ? writtenAt + rolloutMs : undefined);
}

/** A message that only a newer version of the program, or of the app, can process; `message` says why. */
export class NewerMessageError extends Error {
  override readonly name = 'NewerMessageError';
}

/** A message that nobody can make sense of: undecodable, of a type that there never was, or not what its type must be. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** The store, or what carries it, is gone: nothing can be accepted or done until it is back. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** True when it won't come back by itself, so that the host must stop. */
  readonly fatal: boolean;
  /** What a person must do, where that follows from what happened. */
  readonly remedy: string | undefined;
  /** True when the store takes no more at the moment: nothing was written, and trying at once makes it worse. */
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

/** The store takes this neither now nor later: it is larger than an item may be, or not in a form that it knows. Nothing was written. */
export class StoreRefusesError extends Error {
  override readonly name = 'StoreRefusesError';
}

/** Something about the surroundings that a person must mend first; `remedy` says how. Ends the program with exit code 2. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** The state of an order, or its history in one write, would be larger than can be stored. Nothing is stored. */
export class StateTooLargeError extends Error {
  override readonly name = 'StateTooLargeError';
}

/** What was about to be written breaks what must hold: nothing of it is stored. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

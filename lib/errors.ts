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

  constructor(orderId: string, reason: string) {
    super(`The record of order ${orderId} cannot be read: ${reason}.`);
    this.orderId = orderId;
    this.reason = reason;
  }
}

/** A record that a newer version of the program wrote. That version can read it: whoever cannot leaves it alone. */
export class NewerRecordError extends UnreadableRecordError {
  constructor(orderId: string, version: number, reads: number) {
    super(orderId, `it has the schema version ${version}, and this program reads ${reads}`);
  }
}

/** An order of a workflow that this app does not have, or not yet in that version: perhaps the app is being changed just now. */
export class NewerWorkflowError extends UnreadableRecordError {}

/** A message that only a newer version of the program, or of the app, can process; `message` says why. */
export class NewerMessageError extends Error {
  override readonly name = 'NewerMessageError';
}

/** The store, or what carries it, is gone: nothing can be accepted or done until it is back. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  /** True when it won't come back by itself, so that the host must stop. */
  readonly fatal: boolean;

  constructor(message: string, { fatal, cause }: { fatal: boolean; cause?: unknown }) {
    super(message, { cause });
    this.fatal = fatal;
  }
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

/** What was about to be written breaks what must hold: nothing of it is stored. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

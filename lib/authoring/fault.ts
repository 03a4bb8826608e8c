import { anyFault, operatorAsked, transient } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';

/** A declared fault. Its path names its ancestors too, most general first: `Refused/CardDeclined`. */
export interface FaultType<P extends string = string> {
  readonly path: P;
  readonly name: string;
}

/** Declares a fault, or a kind of another one: `fault('CardDeclined', Refused)`. */
export const fault = <const N extends string, P extends string = never>(
  name: N,
  kindOf?: FaultType<P>,
): FaultType<[P] extends [never] ? N : `${P}/${N}`> => {
  if (!/^[A-Z][A-Za-z0-9]{0,63}$/.test(name))
    throw new TypeError(`"${name}" is no name for a fault: a capital letter, then letters and digits, at most 64.`);
  if (name === operatorAsked) throw new TypeError(`"${name}" is no fault: it says that a person is asked. Call yours something else.`);
  if (name === 'Engine') throw new TypeError('"Engine" is the kind of the engine\'s own faults: handle it as EngineFault.');
  if (name === transient)
    throw new TypeError('"Transient" is the kind of the faults that may pass: declare yours as fault(\'BankBusy\', TransientFault).');
  return { name, path: kindOf ? `${kindOf.path}/${name}` : name } as FaultType<[P] extends [never] ? N : `${P}/${N}`>;
};

/**
 * The kind of declared faults that may pass: `fault('BankBusy', TransientFault)`. A retry around the step tries again after one, and
 * a handler may take it; with neither, the step is requested again when its time is over.
 */
export const TransientFault: FaultType<'Transient'> = { name: transient, path: transient };

/** The root of all faults, those that nobody declared included: `.on(AnyFault, …)` stands last. */
export const AnyFault: FaultType<'*'> = { name: 'AnyFault', path: anyFault };

/** What an operation answers when the service said no. Made by `call.failed(…)`. */
export interface Failed<F extends string> {
  readonly failed: FaultType<F>;
  readonly message: string;
  readonly data?: JsonObject;
}

/** Thrown by an operation for a failure that asking again can't mend, under a type that need not be declared. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
  readonly type: string;
  readonly data: JsonObject | undefined;
  /** The effect may exist although no usable answer came. */
  readonly outcomeUnknown: boolean;

  constructor(
    type: string,
    message: string,
    { data, outcomeUnknown = false, cause }: { data?: JsonObject; outcomeUnknown?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.type = type;
    this.data = data;
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** Thrown by an operation for a failure that may pass. Anything else that is thrown is taken for one, too. */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure';
  /** The service asked to be left alone for so long. */
  readonly retryAfterMs: number | undefined;
  /** The service was not even reached (no connection): it is certain that nothing was done. */
  readonly nothingSent: boolean;
  /** What the step fails with when the tries are used up, where the operation declares it: instead of `ServiceUnavailable`. */
  readonly fault: FaultType<`Transient/${string}`> | undefined;

  constructor(
    message: string,
    {
      retryAfterMs,
      nothingSent = false,
      fault,
      cause,
    }: { retryAfterMs?: number; nothingSent?: boolean; fault?: FaultType<`Transient/${string}`>; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.nothingSent = nothingSent;
    this.fault = fault;
  }
}

/**
 * Thrown by an operation that has done nothing, because what it was given can't be processed as it is, and perhaps can later: an
 * order before its new customer. It is given the same again until the channel's `maxFailures`; then the message is dead-lettered
 * for a person, and its step fails.
 */
export class UnprocessableMessage extends Error {
  override readonly name = 'UnprocessableMessage';
}

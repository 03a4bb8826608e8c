import { anyFault, type FaultDetails, type FaultTag, operatorAsked, transient } from '#core/data/fault';
import type { JsonObject } from '#core/data/json';

export type { FaultDetails, FaultTag } from '#core/data/fault';

/** A declared fault. Its path contains its ancestors, most general first: `Refused/CardDeclined`. */
export interface FaultType<P extends string = string> {
  readonly path: P;
  readonly name: string;
  readonly details?: FaultDetails;
}

type Path<N extends string, P extends string> = [P] extends [never] ? N : `${P}/${N}`;

/**
 * Declares a fault, or a kind of another fault: `fault('CardDeclined', Refused)`. Details describe it for operators:
 * `fault('OutOfStock', { tags: ['user', 'semantic'] })`. A kind of a fault has the details of that fault unless it names its own.
 *
 * @throws TypeError for an invalid name, for tags that exclude each other, and for an unknown `groupBy`.
 */
export function fault<const N extends string, P extends string = never>(
  name: N,
  kindOf?: FaultType<P>,
  details?: FaultDetails,
): FaultType<Path<N, P>>;
export function fault<const N extends string>(name: N, details: FaultDetails): FaultType<N>;
export function fault(name: string, second?: FaultType | FaultDetails, third?: FaultDetails): FaultType {
  const kindOf = second && 'path' in second ? second : undefined;
  const own = kindOf || !second ? third : (second as FaultDetails);
  checkName(name);
  if (own) checkDetails(name, own);
  const details = kindOf?.details || own ? { ...kindOf?.details, ...own } : undefined;
  return { name, path: kindOf ? `${kindOf.path}/${name}` : name, ...(details ? { details } : {}) };
}

function checkName(name: string): void {
  if (!/^[A-Z][A-Za-z0-9]{0,63}$/.test(name))
    throw new TypeError(`Invalid fault name "${name}": begin with a capital letter, and use at most 64 letters and digits.`);
  if (name === operatorAsked) throw new TypeError(`"${name}" is reserved for questions to an operator. Choose another fault name.`);
  if (name === 'Engine') throw new TypeError('"Engine" is the kind of the engine\'s own faults. Handle it as EngineFault.');
  if (name === transient)
    throw new TypeError('"Transient" is the kind of all transient faults. Declare yours as fault(\'BankBusy\', TransientFault).');
}

const causes: readonly FaultTag[] = ['technical', 'user'];
const kinds: readonly FaultTag[] = ['system', 'semantic'];

function checkDetails(name: string, { tags, groupBy }: FaultDetails): void {
  const isPair =
    tags === undefined || (tags.length === 2 && [causes, kinds].every((pair) => tags.filter((tag) => pair.includes(tag)).length === 1));
  if (!isPair)
    throw new TypeError(
      `Invalid tags of the fault "${name}": ${JSON.stringify(tags)}. Give one of "technical" and "user", and one of "system" and "semantic".`,
    );
  if (groupBy !== undefined && groupBy !== 'message')
    throw new TypeError(`Invalid groupBy of the fault "${name}": ${JSON.stringify(groupBy)}. Expected "message", or nothing.`);
}

/**
 * The kind of declared faults that are temporary: `fault('BankBusy', TransientFault)`. A retry or a handler may take one. Without either,
 * the step is requested again after its deadline.
 */
export const TransientFault: FaultType<'Transient'> = { name: transient, path: transient };

/** The root of all faults, undeclared ones included. Declare `.on(AnyFault, …)` last. */
export const AnyFault: FaultType<'*'> = { name: 'AnyFault', path: anyFault };

/** The result of an operation that the service refused. Created by `call.failed(…)`. */
export interface Failed<F extends string> {
  readonly failed: FaultType<F>;
  readonly message: string;
  readonly data?: JsonObject;
}

/** An error for operations to throw when a new attempt cannot help. Its type need not be declared. */
export class PermanentFailure extends Error {
  override readonly name = 'PermanentFailure';
  readonly type: string;
  readonly data: JsonObject | undefined;
  /** Whether the effect may exist although no usable answer came. */
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

/**
 * An error for operations to throw after a temporary failure. Any other exception counts as one, too, except `PermanentFailure` and
 * `UnprocessableMessage`. If tries keep throwing the same programming error, the step fails as `ProgrammingError`.
 */
export class TransientFailure extends Error {
  override readonly name = 'TransientFailure';
  /** The time for which the service asked its clients to wait. */
  readonly retryAfterMs: number | undefined;
  /** Whether it is certain that the service was not reached, so that no effect exists. */
  readonly nothingSent: boolean;
  /** The declared fault with which the step fails after its last try. The default is `ServiceUnavailable`. */
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
 * An error for operations to throw when they did nothing, and the same message may succeed later, for example because the customer of an
 * order is not known yet. The message is redelivered up to the channel's `maxFailures`. Then it becomes a dead letter, and its step fails.
 */
export class UnprocessableMessage extends Error {
  override readonly name = 'UnprocessableMessage';
}

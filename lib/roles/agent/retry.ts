import type { AnyOperation, Call } from '#authoring/agent';
import { type Failed, type FaultType, PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import type { JsonObject } from '#core/data/json';
import { isProgrammingError } from '#core/data/thrown';
import type { Clock } from '#ports/clock';
import { isRepeated, type Request } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { type Backoff, backoffMs } from '#ports/util/backoff';
import type { CircuitGuard, Permit } from './circuit-guard.ts';
import type { Deadline } from './deadline.ts';
import type { ErrorRepeats } from './error-repeats.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { CalledFor } from './outcomes.ts';
import { exhausted, givenUp, nobodyWaits, programmingError, type Result, refusalOf } from './results.ts';
import { withoutSecretsIn } from './secrets.ts';
import type { AfterError, ReportTrouble } from './trouble.ts';

/** A request that the agent is serving. */
export interface Work {
  readonly agent: string;
  /** The request, with the secrets of its input decrypted. */
  readonly request: Request;
  /** The texts of these secrets. */
  readonly secrets: readonly string[];
  readonly operation: AnyOperation;
  /** The client of the order, as its message group. */
  readonly client: string | undefined;
  readonly deadline: Deadline;
  /** Undefined if the operation has no longest time. */
  readonly heartbeat: Heartbeat | undefined;
  /** The queue has delivered this message before, so the effect may exist. */
  readonly redelivered: boolean;
  /** Aborted when the host stops. */
  readonly stopping: AbortSignal | undefined;
  readonly canceled: AbortSignal;
  /** Returns a credential, and remembers its value as a secret of this work. */
  readonly credential: (name: string) => Promise<string>;
}

export interface Tools {
  /** Circuit breaker of the service. */
  readonly guard: CircuitGuard;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly repeats: ErrorRepeats;
  readonly report: ReportTrouble;
}

/** The agent may not call the service now: there is no reply, and the request is requeued. */
export const busy = Symbol('not now');

const attemptsMaxDefault = 8;
/** The number of equal programming errors in a row after which further tries are useless. */
const alikeMax = 3;
const pauseMs: Backoff = { first: 100, longest: 5_000, jitter: [0, 1] };

/** Whether the effect may exist under the idempotency key already. */
export const mayBeDone = ({ request, redelivered }: Pick<Work, 'request' | 'redelivered'>): boolean => redelivered || isRepeated(request);

/** Tries until the answer is definite, the tries are used up, the next pause would pass the deadline, or the guard gives no permit. */
export async function withRetries(
  work: Work,
  tryOnce: (permit: Permit, repeated: boolean) => Promise<Result>,
  tools: Tools,
): Promise<Result | typeof busy> {
  const { agent, request, deadline, stopping, canceled } = work;
  const { guard, clock, telemetry } = tools;
  let wasSent = mayBeDone(work);
  for (let tried = 1; ; tried++) {
    if (canceled.aborted) return givenUp;
    if (deadline.isOver()) return nobodyWaits;
    stopping?.throwIfAborted();
    const repeated = tried > 1 || request.requeued !== undefined;
    const permit = guard.isClosed && !repeated ? guard.enter(calledFor(work)) : await guard.acquirePermit(calledFor(work), { repeated });
    if (!permit) return busy;
    // While the guard read the store, the deadline may have passed or a cancellation may have arrived.
    if (deadline.signal.aborted) {
      permit.release();
      stopping?.throwIfAborted();
      return canceled.aborted ? givenUp : nobodyWaits;
    }
    try {
      const result = await tryOnce(permit, wasSent);
      await permit.answered();
      tools.repeats.forget(request.idempotencyKey);
      return result;
    } catch (error) {
      const isStopped = stopping?.aborted === true;
      const isGivenUp = isStopped || (canceled.aborted && !(error instanceof PermanentFailure));
      if (isGivenUp) permit.release();
      // The host stops. Without a reply the message is redelivered to another host.
      if (isStopped) throw error;
      if (isGivenUp) return givenUp;
      const { orderId, requestId } = request;
      // The service's message may quote secrets of its input, so the log has only the kind. The journal redacts the message.
      telemetry.log('debug', 'attempt failed', { orderId, requestId, agent, operation: request.operation, tried, kind: kindOf(error) });
      await reportToGuard(permit, error);
      const next = afterError(error, work, tried, tools);
      reportError(error, work, next, tools);
      if (next.does === 'replies') return next.result;
      // The message itself is at fault. It is redelivered, and the failure policy counts the failures.
      if (next.does === 'gives the message back') throw error;
      wasSent ||= !(error instanceof TransientFailure && error.nothingSent);
      await clock.sleep(next.pauseMs, deadline.signal);
    }
  }
}

/** Decides what follows an error of an operation. */
function afterError(error: unknown, work: Work, tried: number, { repeats, random, clock }: Tools): AfterError {
  const { request, operation, deadline, heartbeat } = work;
  if (error instanceof UnprocessableMessage) return { does: 'gives the message back' };
  if (error instanceof PermanentFailure) return { does: 'replies', result: refusalOf(error) };
  const key = request.idempotencyKey;
  if (!isProgrammingError(error)) repeats.forget(key);
  else if (repeats.add(key, error) >= alikeMax) return { does: 'replies', result: programmingError(error) };
  if (tried >= (operation.attemptsMax ?? attemptsMaxDefault)) return { does: 'replies', result: exhausted(error, operation) };
  const asked = error instanceof TransientFailure ? error.retryAfterMs : undefined;
  const pause = Math.round(Math.max(asked ?? 0, backoffMs(pauseMs, tried - 1, random())));
  // After the deadline nobody would hear of this error. A reply before the deadline tells the order why its step is late.
  const endsAt = heartbeat?.keepsUntil ?? deadline.at();
  return clock.now() + pause < endsAt ? { does: 'tries again', pauseMs: pause } : { does: 'replies', result: exhausted(error, operation) };
}

/** Returns the order and the client for which the service is called. */
export const calledFor = ({ request: { orderId }, client }: Pick<Work, 'request' | 'client'>): CalledFor => ({ orderId, client });

/** Reports an error of an operation to its developer. */
export function reportError(error: unknown, work: Work, next: AfterError, { report }: Pick<Tools, 'report'>): void {
  const { agent, request, secrets, operation, deadline } = work;
  const where = request.confirming && operation.lookup ? 'lookup' : 'run';
  const isLate = deadline.isOver();
  report({ agent, operation, request, secrets, ...(isLate ? { what: 'was silent' } : { what: 'threw', in: where, error, next }) });
}

/** Reports a failed try to the circuit breaker. A programming error says nothing about the service. */
async function reportToGuard(permit: Permit, error: unknown): Promise<void> {
  if (error instanceof PermanentFailure || error instanceof UnprocessableMessage) await permit.answered();
  else if (isProgrammingError(error)) permit.release();
  else await permit.failed();
}

export const kindOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error);

/** Rejects at the deadline even if the operation ignores its abort signal, so that the operation does not delay other requests. */
export const inTime = <T>(work: Promise<T>, { passed }: Deadline): Promise<T> => Promise.race([work, passed]);

/** Runs code of an operation. Its errors come without the secrets of the request: they go to faults, logs and dead letters. */
export async function withoutSecrets<T>({ secrets }: Pick<Work, 'secrets'>, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw withoutSecretsIn(error, secrets);
  }
}

/** Returns the description of a request that an operation receives. */
export const callOf = (
  work: Work,
  { signal = work.deadline.signal, repeated = mayBeDone(work) }: { readonly signal?: AbortSignal; readonly repeated?: boolean } = {},
): Call<string> => ({
  orderId: work.request.orderId,
  path: work.request.path,
  requestId: work.request.requestId,
  idempotencyKey: work.request.idempotencyKey,
  attempt: work.request.attempt,
  repeated,
  heartbeat: async () => work.heartbeat?.beat(),
  completeBy: new Date(work.deadline.at()),
  credential: work.credential,
  signal,
  faults: work.operation.faults ?? [],
  output: work.operation.output,
  failed: <P extends string>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P> => ({
    failed: fault,
    message,
    ...(data ? { data } : {}),
  }),
});

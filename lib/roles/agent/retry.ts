import type { AnyOperation, Call } from '#authoring/agent';
import { type Failed, type FaultType, PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import { isRepeated, type Request } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import { type Backoff, backoffMs } from '#ports/util/backoff';
import type { CircuitGuard, Permit } from './circuit-guard.ts';
import type { Deadline } from './deadline.ts';
import type { Heartbeat } from './heartbeat.ts';
import { exhausted, givenUp, nobodyWaits, type Result, refusalOf } from './results.ts';

/** A request that the agent is serving. */
export interface Work {
  readonly agent: string;
  readonly request: Request;
  readonly operation: AnyOperation;
  readonly deadline: Deadline;
  /** Undefined if the operation has no longest time. */
  readonly heartbeat: Heartbeat | undefined;
  /** The queue has delivered this message before, so the effect may exist. */
  readonly redelivered: boolean;
  /** Aborted when the host stops. */
  readonly stopping: AbortSignal | undefined;
  readonly canceled: AbortSignal;
}

export interface Tools {
  /** Circuit breaker of the service. */
  readonly guard: CircuitGuard;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
}

/** The agent may not call the service now: there is no reply, and the request is requeued. */
export const busy = Symbol('not now');

const attemptsMaxDefault = 8;
const pauseMs: Backoff = { first: 100, longest: 5_000, jitter: [0, 1] };

/** Whether the effect may exist under the idempotency key already. */
export const mayBeDone = ({ request, redelivered }: Work): boolean => redelivered || isRepeated(request);

/** Tries until the answer is definite, the attempts are used up, or the deadline has passed. */
export async function withRetries(
  work: Work,
  tryOnce: (permit: Permit, repeated: boolean) => Promise<Result>,
  { guard, clock, telemetry, random }: Tools,
): Promise<Result | typeof busy> {
  const { agent, request, operation, deadline, stopping, canceled } = work;
  const attemptsMax = operation.attemptsMax ?? attemptsMaxDefault;
  let wasSent = mayBeDone(work);
  for (let tried = 1; ; tried++) {
    if (canceled.aborted) return givenUp;
    if (deadline.isOver()) return nobodyWaits;
    stopping?.throwIfAborted();
    const repeated = tried > 1 || request.requeued !== undefined;
    const permit = guard.isClosed && !repeated ? guard.enter() : await guard.acquirePermit({ repeated });
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
      if (error instanceof PermanentFailure || error instanceof UnprocessableMessage) await permit.answered();
      // The message itself is at fault. It is redelivered, and the failure policy counts the failures.
      if (error instanceof UnprocessableMessage) throw error;
      if (error instanceof PermanentFailure) return refusalOf(error);
      await permit.failed(orderId);
      wasSent ||= !(error instanceof TransientFailure && error.nothingSent);
      if (tried >= attemptsMax) return exhausted(error, operation);

      const asked = error instanceof TransientFailure ? error.retryAfterMs : undefined;
      await clock.sleep(Math.round(Math.max(asked ?? 0, backoffMs(pauseMs, tried - 1, random()))), deadline.signal);
    }
  }
}

export const kindOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error);

/** Rejects at the deadline even if the operation ignores its signal, so that it does not delay other requests. */
export const inTime = <T>(work: Promise<T>, { passed }: Deadline): Promise<T> => Promise.race([work, passed]);

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
  signal,
  faults: work.operation.faults ?? [],
  output: work.operation.output,
  failed: <P extends string>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P> => ({
    failed: fault,
    message,
    ...(data ? { data } : {}),
  }),
});

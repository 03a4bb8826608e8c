import type { AnyOperation, Call } from '#authoring/agent';
import { type Failed, type FaultType, PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import { isRepeated, type Request } from '#ports/messages';
import type { Telemetry } from '#ports/telemetry';
import type { CircuitGuard, Permit } from './circuit-guard.ts';
import type { Deadline } from './deadline.ts';
import type { Heartbeat } from './heartbeat.ts';
import { exhausted, givenUp, nobodyWaits, type Result, refusalOf } from './results.ts';

/** One request that is being served. */
export interface Work {
  readonly agent: string;
  readonly request: Request;
  readonly operation: AnyOperation;
  readonly deadline: Deadline;
  /** Absent where the operation says no longest time. */
  readonly heartbeat: Heartbeat | undefined;
  /** The queue has delivered this very message before: somebody may have done what it asks for. */
  readonly redelivered: boolean;
  /** Aborted when the host stops. */
  readonly stopping: AbortSignal | undefined;
  readonly canceled: AbortSignal;
}

export interface Tools {
  /** What stands before the service. */
  readonly guard: CircuitGuard;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
}

/** The service is away, or tried too often: not an answer, the request is to come again. */
export const busy = Symbol('not now');

const attemptsMaxDefault = 8;
const pauseMs = { first: 100, longest: 5_000 };

/** Whether something may have been done under the key already. */
export const mayBeDone = ({ request, redelivered }: Work): boolean => redelivered || isRepeated(request);

/** Tries until there is a definite answer, the attempts are used up, or the time is over. */
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
    // While the store was asked its time may have passed, or nobody may want it any more.
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
      // The host stops: without an answer the message comes back, and another host takes it.
      if (isStopped) throw error;
      if (isGivenUp) return givenUp;
      const { orderId, requestId } = request;
      // What the service said may quote what it was sent: that is for the journal, which knows what is secret.
      telemetry.log('debug', 'attempt failed', { orderId, requestId, agent, operation: request.operation, tried, kind: kindOf(error) });
      if (error instanceof PermanentFailure || error instanceof UnprocessableMessage) await permit.answered();
      // The message itself is at fault, and comes again: whoever feeds this counts.
      if (error instanceof UnprocessableMessage) throw error;
      if (error instanceof PermanentFailure) return refusalOf(error);
      await permit.failed(orderId);
      wasSent ||= !(error instanceof TransientFailure && error.nothingSent);
      if (tried >= attemptsMax) return exhausted(error, operation);

      const asked = error instanceof TransientFailure ? error.retryAfterMs : undefined;
      await clock.sleep(
        Math.round(Math.max(asked ?? 0, random() * Math.min(pauseMs.longest, pauseMs.first * 2 ** (tried - 1)))),
        deadline.signal,
      );
    }
  }
}

export const kindOf = (error: unknown): string => (error instanceof Error ? error.constructor.name : typeof error);

/** What does not listen to its signal is left to itself when its time is over: others wait behind it. */
export const inTime = <T>(work: Promise<T>, { passed }: Deadline): Promise<T> => Promise.race([work, passed]);

/** What an operation is told of the asking. */
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
  failed: <P extends string>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P> => ({
    failed: fault,
    message,
    ...(data ? { data } : {}),
  }),
});

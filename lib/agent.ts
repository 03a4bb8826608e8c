import type { AgentDefinition, AnyOperation, Call } from './authoring/agent.ts';
import { type Failed, type FaultType, PermanentFailure, TransientFailure } from './authoring/fault.ts';
import type { Channel } from './channel.ts';
import type { Clock } from './clock.ts';
import { limits } from './core/definition.ts';
import { isObject, type Json, type JsonObject } from './core/json.ts';
import { type Cancel, faultName, queues, type Reply, type Request, timeText } from './messages.ts';
import type { Telemetry } from './telemetry.ts';

export interface AgentOptions {
  readonly channel: Pick<Channel, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly chance?: () => number;
}

/** Serves one request. It answers on the reply queue before `completeBy`, or not at all. */
export interface Agent {
  (request: Request, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** An asking is not wanted any more: where it is at work here, it is given up, and says so. */
  cancel(cancel: Cancel): void;
}

type Result = Reply['result'];

const attemptsMaxDefault = 8;
const pauseMs = { first: 100, longest: 5_000 };

/** The role around a user's operations: deadlines, retries of what may pass, schema checks, one reply. */
export function createAgent(
  { name, operations }: AgentDefinition,
  { channel, clock, telemetry, chance = Math.random }: AgentOptions,
): Agent {
  const reply = async (request: Request, result: Result): Promise<void> => {
    const { requestId, orderId, path, attempt, epoch } = request;
    const body: Reply = { v: 1, type: 'reply', requestId, orderId, path, attempt, epoch, sentAt: timeText(clock.now()), result };
    await channel.send([{ queue: queues.replies(name), body: JSON.stringify(body) }]);
  };

  /** What is at work in this process, by the id of its asking. */
  const atWork = new Map<string, AbortController>();

  const serve = async (request: Request, { signal: stopping }: { readonly signal?: AbortSignal } = {}): Promise<void> => {
    const { orderId, requestId } = request;
    const operation = Object.hasOwn(operations, request.operation) ? operations[request.operation] : undefined;
    if (!operation)
      return reply(
        request,
        failed({ type: 'RequestRefused', message: `The agent ${name} has no operation "${request.operation}".`, permanent: true }),
      );
    const input = operation.input.safeParse(request.input);
    if (!input.success)
      return reply(
        request,
        failed({
          type: 'RequestRefused',
          message: `The input of ${name}.${request.operation} is not what it takes: ${issuesOf(input.error)}.`,
          permanent: true,
        }),
      );

    const cancelling = new AbortController();
    atWork.set(requestId, cancelling);
    const deadline = startDeadline(request, clock, stopping, cancelling.signal);
    const beat =
      operation.longestSeconds === undefined ? undefined : heartbeat(request, operation.longestSeconds, deadline, name, { channel, clock });
    try {
      const result = await attempt(input.data, request, operation, deadline, { stopping, cancelled: cancelling.signal });
      // Silence after the deadline: another asking may be at work by now, and only its answer counts (SAS).
      if (deadline.isOver()) return logExpired();
      await reply(request, result);
    } finally {
      atWork.delete(requestId);
      beat?.stop();
      deadline.stop();
    }

    function logExpired(): void {
      telemetry.count('expired');
      telemetry.log('info', 'expired: stopped without an answer', { orderId, requestId, agent: name });
    }
  };

  return Object.assign(serve, { cancel: ({ requestId }: Cancel) => atWork.get(requestId)?.abort() });

  /** Tries until it has a definite answer, its attempts are used up, or its time is over. */
  async function attempt(
    input: unknown,
    request: Request,
    operation: AnyOperation,
    deadline: Deadline,
    { stopping, cancelled }: { readonly stopping: AbortSignal | undefined; readonly cancelled: AbortSignal },
  ): Promise<Result> {
    const attemptsMax = operation.attemptsMax ?? attemptsMaxDefault;
    for (let tried = 1; ; tried++) {
      if (cancelled.aborted) return givenUp;
      if (deadline.isOver()) return nobodyWaits;
      try {
        // An operation that does not listen to its signal is left to itself when its time is over: others wait behind it.
        return resultOf(
          await Promise.race([operation.run(input as never, callOf(request, operation, deadline) as never), deadline.passed]),
          operation,
        );
      } catch (error) {
        // The host stops: without an answer the message comes back, and another host takes it.
        if (stopping?.aborted) throw error;
        if (cancelled.aborted) return givenUp;
        const { orderId, requestId } = request;
        // What the service said may quote what it was sent: that is for the journal, which knows what is secret.
        telemetry.log('debug', 'attempt failed', {
          orderId,
          requestId,
          agent: name,
          operation: request.operation,
          tried,
          kind: error instanceof Error ? error.constructor.name : typeof error,
        });
        if (error instanceof PermanentFailure)
          return failed({
            ...named(error),
            permanent: true,
            ...(error.outcomeUnknown ? { outcomeUnknown: true } : {}),
            ...(error.data ? { data: error.data } : {}),
          });
        const message = error instanceof Error ? error.message : String(error);
        if (tried >= attemptsMax)
          return failed({ type: error instanceof TransientFailure ? 'ServiceUnavailable' : 'UnexpectedError', message, permanent: false });

        const asked = error instanceof TransientFailure ? error.retryAfterMs : undefined;
        await clock.sleep(
          Math.round(Math.max(asked ?? 0, chance() * Math.min(pauseMs.longest, pauseMs.first * 2 ** (tried - 1)))),
          deadline.signal,
        );
      }
    }
  }
}

/** Under another name than a fault may have, its answer would be none. */
const named = ({ type, message }: PermanentFailure): { readonly type: string; readonly message: string } =>
  faultName.test(type) ? { type, message } : { type: 'UnexpectedError', message: `${type}: ${message}` };

/** What was under way may have been done. */
const givenUp: Result = {
  status: 'failed',
  fault: { type: 'Canceled', message: 'It was cancelled while it was at work.', permanent: false, outcomeUnknown: true },
};

const nobodyWaits: Result = { status: 'failed', fault: { type: 'DeadlineExceeded', message: 'nobody waits any longer', permanent: false } };

const failed = (fault: Extract<Result, { status: 'failed' }>['fault']): Result => ({ status: 'failed', fault });

/** What an operation returned, against its own schema: a service's answer is not trusted further than that. */
function resultOf(returned: unknown, operation: AnyOperation): Result {
  if (isFailed(returned))
    return failed({
      type: returned.failed.name,
      message: returned.message,
      permanent: true,
      ...(returned.data ? { data: returned.data } : {}),
    });
  const output = operation.output.safeParse(returned);
  if (!output.success)
    return failed({
      type: 'InvalidReply',
      message: `The answer is not what it should be: ${issuesOf(output.error)}.`,
      permanent: true,
      outcomeUnknown: true,
    });

  const value = (output.data ?? null) as Json;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.outputBytesMax) return { status: 'succeeded', output: value };
  return failed({
    type: 'OutputTooLarge',
    message: `The output has ${bytes} bytes; at most ${limits.outputBytesMax} are kept. Answer with a reference to where it lies.`,
    permanent: true,
    outcomeUnknown: true,
  });
}

const isFailed = (value: unknown): value is Failed<string> =>
  isObject(value) &&
  isObject(value['failed']) &&
  typeof value['message'] === 'string' &&
  typeof (value['failed'] as { name?: unknown })['name'] === 'string';

const issuesOf = ({ issues }: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ');

const callOf = (request: Request, { faults = [] }: AnyOperation, deadline: Deadline): Call<string> => ({
  orderId: request.orderId,
  path: request.path,
  requestId: request.requestId,
  idempotencyKey: request.idempotencyKey,
  attempt: request.attempt,
  completeBy: new Date(deadline.at()),
  signal: deadline.signal,
  faults,
  failed: <P extends string>(fault: FaultType<P>, message: string, data?: JsonObject): Failed<P> => ({
    failed: fault,
    message,
    ...(data ? { data } : {}),
  }),
});

/** A reason of its own: without one, every abort makes an exception with a stack that nobody reads. */
const answered = 'answered';

interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects when the signal is aborted. */
  readonly passed: Promise<never>;
  at(): number;
  isOver(): boolean;
  extend(until: number): void;
  stop(): void;
}

/** The smaller of the absolute deadline and the time that was left: one of two clocks may be wrong. */
function startDeadline(
  { completeBy, remainingMs }: Request,
  clock: Clock,
  stopping: AbortSignal | undefined,
  cancelled: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const stopped = new AbortController();
  let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);
  const passed = new Promise<never>((_, reject) =>
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true }),
  );
  passed.catch(() => undefined);
  const abort = () => controller.abort(new Error('The time for this request is over.'));
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted && clock.now() < at) await clock.sleep(at - clock.now(), stopped.signal);
    if (!stopped.signal.aborted) abort();
  };
  stopping?.addEventListener('abort', abort, { once: true });
  cancelled.addEventListener('abort', abort, { once: true });
  void watch();
  return {
    signal: controller.signal,
    passed,
    at: () => at,
    isOver: () => clock.now() >= at,
    extend: (until) => {
      at = Math.max(at, until);
    },
    stop: () => {
      stopped.abort(answered);
      stopping?.removeEventListener('abort', abort);
    },
  };
}

/** Asks for more time before a third of it is over, as long as the operation may take at the most. */
function heartbeat(
  request: Request,
  longestSeconds: number,
  deadline: Deadline,
  agent: string,
  { channel, clock }: Pick<AgentOptions, 'channel' | 'clock'>,
): { stop(): void } {
  const stopped = new AbortController();
  const started = clock.now();
  const window = deadline.at() - started;
  // The longest time counts from the asking, not from when it came out of the queue.
  const last = Math.min(started, Date.parse(request.completeBy) - request.remainingMs) + longestSeconds * 1000;
  const beat = async (): Promise<void> => {
    while (!stopped.signal.aborted && deadline.at() < last) {
      await clock.sleep(window * 0.3, stopped.signal);
      if (stopped.signal.aborted || deadline.isOver()) return;
      const completeBy = Math.min(clock.now() + window, last);
      const { requestId, orderId, path, attempt, epoch } = request;
      const body = {
        v: 1,
        type: 'heartbeat',
        requestId,
        orderId,
        path,
        attempt,
        epoch,
        sentAt: timeText(clock.now()),
        completeBy: timeText(completeBy),
      };
      await channel.send([{ queue: queues.replies(agent), body: JSON.stringify(body) }]);
      deadline.extend(completeBy);
    }
  };
  // A heartbeat that could not be sent costs time, not the order: the supervisor asks again.
  beat().catch(() => undefined);
  return { stop: () => stopped.abort(answered) };
}

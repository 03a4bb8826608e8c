import type { AgentDefinition } from '#authoring/agent';
import type { Breakers } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Credentials } from '#ports/credentials';
import type { Keys } from '#ports/keys';
import { queueNames, type Reply, type Request, timeText } from '#ports/messages';
import { inGroup, type Outgoing, type Queues } from '#ports/queues';
import type { IntentLog } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { type Backoff, backoffMs } from '#ports/util/backoff';
import { CircuitGuard } from './circuit-guard.ts';
import { credentialsFor } from './credentials.ts';
import { startDeadline } from './deadline.ts';
import { createErrorRepeats } from './error-repeats.ts';
import { type ExecuteTools, execute, unknownOperation } from './execute.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type AtWork, createRequestsAtWork, type RequestsAtWork } from './requests-at-work.ts';
import { isRefusedByAgent, type Result } from './results.ts';
import { busy, calledFor, mayBeDone, type Work } from './retry.ts';
import { notOpened, type OpenedRequest, openRequest } from './secrets.ts';
import type { ReportTrouble } from './trouble.ts';

export interface AgentOptions {
  readonly queues: Pick<Queues, 'send'>;
  /** Holds the intents of at-most-once operations and the circuit breakers. */
  readonly store: IntentLog & Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Decrypts the secrets of orders. An agent that gets no secrets needs no keys. */
  readonly keys?: Keys | undefined;
  readonly credentials: Credentials;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
  /** Receives the troubles of the operations, for their developers. */
  readonly report?: ReportTrouble;
}

interface ServeOptions {
  /** Aborts when the process stops. */
  readonly signal?: AbortSignal;
  /** Message group of the request. Its reply and its heartbeats carry the same group. */
  readonly group?: string;
  /** Whether the queue has delivered the request before. */
  readonly redelivered?: boolean;
}

/** Server of one agent's requests. It replies on the reply queue before the deadline of the request, or not at all. */
export interface Agent {
  (request: Request, options?: ServeOptions): Promise<void>;
  /** Notes that a batch of messages has arrived: see `CircuitGuard`. */
  arrived(): void;
  readonly cancel: RequestsAtWork['cancel'];
}

/** Pauses before a request is sent to its own queue again. */
const requeueMs: Backoff = { first: 1_000, longest: 30_000, jitter: [0.5, 1.5] };

/** Returns an agent that runs a user's operations: with deadlines, retries of transient failures, schema checks and one reply. */
export function createAgent(
  { name, operations }: AgentDefinition,
  { queues, store, clock, telemetry, keys, credentials, random = Math.random, report = () => {} }: AgentOptions,
): Agent {
  const { reportError, isReported } = createErrorReports(report);
  const guard = new CircuitGuard(name, { breakers: store, clock, telemetry, random });
  const tools: ExecuteTools = { intents: store, guard, clock, telemetry, random, repeats: createErrorRepeats(), report: reportError };
  const atWork = createRequestsAtWork({ clock, telemetry, report });

  async function reply(request: Request, result: Result, to: Pick<Queues, 'send'>): Promise<void> {
    const { requestId, orderId, path, attempt, epoch } = request;
    const body: Reply = { v: 1, type: 'reply', requestId, orderId, path, attempt, epoch, sentAt: timeText(clock.now()), result };
    await to.send([{ queue: queueNames.replies(name), body: JSON.stringify(body) }]);
  }

  async function requeue(request: Request, to: Pick<Queues, 'send'>): Promise<void> {
    const again = requeued(request, clock.now(), random());
    telemetry.count(again ? 'putBack' : 'leftWaiting');
    if (again) await to.send([{ queue: queueNames.requests(name), ...again }]);
  }

  async function serve(request: Request, options: ServeOptions = {}): Promise<void> {
    const operation = Object.hasOwn(operations, request.operation) ? operations[request.operation] : undefined;
    const to = inGroup(queues, options.group);
    if (!operation) return reply(request, unknownOperation(request, name), to);
    const opened = await openRequest(request, operation, keys);
    if (!('problem' in opened)) return serveOpened(opened, operation, options, request);
    const { redelivered = false } = options;
    return reply(request, notOpened(opened.problem, mayBeDone({ request, redelivered })), to);
  }

  /** Serves a request with its secrets decrypted. `request`: the message, which is requeued as it came. */
  async function serveOpened(opened: OpenedRequest, operation: Work['operation'], options: ServeOptions, request: Request): Promise<void> {
    const { orderId, requestId } = request;
    const to = inGroup(queues, options.group);
    const work = begin(opened, operation, options, { name, queues, clock, credentials, atWork });
    const { deadline, heartbeat } = work;
    try {
      const result = !guard.isClosed && (await guard.isShut(calledFor(work))) ? busy : await execute(work, tools);
      // The agent does not reply after the deadline (SAS): a later attempt may have begun, and then only the reply of that attempt counts.
      if (deadline.isOver()) {
        telemetry.count('expired');
        telemetry.log('info', 'stopped expired request without a reply', { orderId, requestId, agent: name });
      } else if (result === busy) await requeue(request, to);
      else if (result) {
        if (isRefusedByAgent(result) && !isReported(result))
          report({ agent: name, operation, request: work.request, secrets: work.secrets, what: 'was refused', result });
        await reply(request, opened.closed(result), to);
      }
    } finally {
      atWork.remove(work);
      deadline.stop();
      await heartbeat?.stop();
    }
  }

  return Object.assign(serve, { arrived: () => guard.arrived(), cancel: atWork.cancel });
}

interface BeginPorts {
  readonly name: string;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly atWork: RequestsAtWork;
}

/** Begins to work on a request. From now on its deadline is watched, and a cancellation aborts its operation. */
function begin(
  { request, secrets }: OpenedRequest,
  operation: Work['operation'],
  { signal: stopping, redelivered = false, group }: ServeOptions,
  { name, queues, clock, credentials, atWork }: BeginPorts,
): AtWork {
  const canceling = atWork.cancelingOf(request.requestId);
  const deadline = startDeadline(request, clock, stopping, canceling.signal);
  const { longestSeconds, heartbeats } = operation;
  const beating = { isAutomatic: heartbeats !== 'manual', agent: name, queues: inGroup(queues, group), clock };
  const heartbeat = longestSeconds === undefined ? undefined : startHeartbeat(request, deadline, { ...beating, longestSeconds });
  const work = {
    agent: name,
    request,
    secrets,
    operation,
    client: group,
    deadline,
    heartbeat,
    redelivered,
    stopping,
    canceling,
    canceled: canceling.signal,
    credential: credentialsFor(request, credentials, secrets),
  };
  atWork.add(work);
  return work;
}

/** Returns `reportError` to report errors, and `isReported`: whether a result follows from such an error and needs no report itself. */
function createErrorReports(report: ReportTrouble) {
  const reported = new WeakSet<Result>();
  const reportError: ReportTrouble = (trouble) => {
    if (trouble.what === 'threw' && trouble.next.does === 'replies') reported.add(trouble.next.result);
    report(trouble);
  };
  return { reportError, isReported: (result: Result): boolean => reported.has(result) };
}

/**
 * Returns a request for its own queue, with a growing delay. Returns undefined if the delay would end after the request's deadline: the
 * supervisor then moves the order's deadline because of the outage, and later has the step requested again.
 */
function requeued(request: Request, now: number, random: number): Pick<Outgoing, 'body' | 'delayMs'> | undefined {
  const times = (request.requeued ?? 0) + 1;
  const delayMs = Math.round(backoffMs(requeueMs, times - 1, random));
  const remainingMs = Math.min(Date.parse(request.completeBy) - now, request.remainingMs) - delayMs;
  if (remainingMs <= 0) return undefined;
  const { givenMs = request.remainingMs } = request;
  return { body: JSON.stringify({ ...request, remainingMs, givenMs, requeued: times }), delayMs };
}

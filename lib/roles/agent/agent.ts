import type { AgentDefinition } from '#authoring/agent';
import type { Breakers } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { type Cancel, queueNames, type Reply, type Request, timeText } from '#ports/messages';
import { inGroup, type Queues } from '#ports/queues';
import type { IntentLog } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { type Backoff, backoffMs } from '#ports/util/backoff';
import { CircuitGuard } from './circuit-guard.ts';
import { startDeadline } from './deadline.ts';
import { type ExecuteTools, execute, notHere } from './execute.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { Result } from './results.ts';
import { busy, callOf, kindOf, type Work } from './retry.ts';

export interface AgentOptions {
  readonly queues: Pick<Queues, 'send'>;
  /** Holds the intents of at-most-once operations and the circuit breakers. */
  readonly store: IntentLog & Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

interface ServeOptions {
  /** Aborts when the process stops. */
  readonly signal?: AbortSignal;
  /** Message group of the request. Its reply and its heartbeats carry the same group. */
  readonly group?: string;
  /** The queue has delivered the request before. */
  readonly redelivered?: boolean;
}

/** Server of one agent's requests. It replies on the reply queue before `completeBy`, or not at all. */
export interface Agent {
  (request: Request, options?: ServeOptions): Promise<void>;
  /** Cancels a request. Aborts its operation if it runs in this process, and refuses the request if it arrives later. */
  cancel(cancel: Cancel): Promise<void>;
}

/** Number of cancellations that a process remembers, for requests that are delivered later. */
const canceledKept = 1_000;
const requeueMs: Backoff = { first: 1_000, longest: 30_000, jitter: [0.5, 1.5] };

/** A request at work in this process, with the controller that cancels it. */
interface AtWork extends Work {
  readonly canceling: AbortController;
}

/** Returns an agent that runs a user's operations: with deadlines, retries of transient failures, schema checks and one reply. */
export function createAgent(
  { name, operations }: AgentDefinition,
  { queues, store, clock, telemetry, random = Math.random }: AgentOptions,
): Agent {
  const guard = new CircuitGuard(name, { breakers: store, clock, telemetry, random });
  const tools: ExecuteTools = { intents: store, guard, clock, telemetry, random };
  const reply = async (request: Request, result: Result, to: Pick<Queues, 'send'>): Promise<void> => {
    const { requestId, orderId, path, attempt, epoch } = request;
    const body: Reply = { v: 1, type: 'reply', requestId, orderId, path, attempt, epoch, sentAt: timeText(clock.now()), result };
    await to.send([{ queue: queueNames.replies(name), body: JSON.stringify(body) }]);
  };

  /** Requests at work, by request id. */
  const atWork = new Map<string, AtWork>();
  /** Ids of canceled requests, oldest first. */
  const canceled = new Set<string>();

  function begin(request: Request, operation: Work['operation'], { signal: stopping, redelivered = false, group }: ServeOptions): AtWork {
    const canceling = new AbortController();
    if (canceled.has(request.requestId)) canceling.abort();
    const deadline = startDeadline(request, clock, stopping, canceling.signal);
    const { longestSeconds, heartbeats } = operation;
    const beating = { isAutomatic: heartbeats !== 'manual', agent: name, queues: inGroup(queues, group), clock };
    const heartbeat = longestSeconds === undefined ? undefined : startHeartbeat(request, deadline, { ...beating, longestSeconds });
    const work = { agent: name, request, operation, deadline, heartbeat, redelivered, stopping, canceling, canceled: canceling.signal };
    // If the queue delivers a request twice, a cancellation goes to the first delivery.
    if (!atWork.has(request.requestId)) atWork.set(request.requestId, work);
    return work;
  }

  const serve = async (request: Request, options: ServeOptions = {}): Promise<void> => {
    const { orderId, requestId } = request;
    const operation = Object.hasOwn(operations, request.operation) ? operations[request.operation] : undefined;
    const to = inGroup(queues, options.group);
    if (!operation) return reply(request, notHere(request, name), to);
    const work = begin(request, operation, options);
    const { deadline, heartbeat } = work;
    try {
      const result = !guard.isClosed && (await guard.isShut()) ? busy : await execute(work, tools);
      // The agent does not reply after the deadline: another request may be at work by now, and only its reply counts (SAS).
      if (deadline.isOver()) {
        telemetry.count('expired');
        telemetry.log('info', 'stopped expired request without a reply', { orderId, requestId, agent: name });
      } else if (result === busy) await requeue(request, to);
      else if (result) await reply(request, result, to);
    } finally {
      if (atWork.get(requestId) === work) atWork.delete(requestId);
      deadline.stop();
      await heartbeat?.stop();
    }
  };

  /**
   * Sends a request to its own queue again, with a growing delay, until its deadline. After that the supervisor takes over: it
   * knows of the outage, moves the order's deadline and has the request sent again in its turn.
   */
  async function requeue(request: Request, to: Pick<Queues, 'send'>): Promise<void> {
    const now = clock.now();
    const times = (request.requeued ?? 0) + 1;
    const delayMs = Math.round(backoffMs(requeueMs, times - 1, random()));
    const remainingMs = Math.min(Date.parse(request.completeBy) - now, request.remainingMs) - delayMs;
    telemetry.count(remainingMs > 0 ? 'putBack' : 'leftWaiting');
    if (remainingMs <= 0) return;
    const body = JSON.stringify({ ...request, remainingMs, requeued: times });
    await to.send([{ queue: queueNames.requests(name), body, delayMs }]);
  }

  async function cancel({ requestId }: Cancel): Promise<void> {
    remember(requestId);
    const work = atWork.get(requestId);
    if (!work) return;
    const notified = notifyOperation(work);
    work.canceling.abort();
    await notified;
  }

  /** Remembers a cancellation: its request may arrive later, be requeued, or be redelivered. */
  function remember(requestId: string): void {
    canceled.add(requestId);
    const [oldest] = canceled;
    if (canceled.size > canceledKept && oldest !== undefined) canceled.delete(oldest);
  }

  /** Calls the operation's `cancel` hook with a separate signal, because the signal of the work is aborted next. */
  async function notifyOperation(work: AtWork): Promise<void> {
    const { request, operation, deadline } = work;
    if (!operation.cancel) return;
    const over = new AbortController();
    const notifying = async () => operation.cancel?.(callOf(work, { signal: over.signal }) as never);
    try {
      await Promise.race([notifying(), clock.sleep(Math.max(0, deadline.at() - clock.now()), over.signal)]);
    } catch (error) {
      const { orderId, requestId } = request;
      telemetry.log('warn', 'failed to cancel operation', {
        orderId,
        requestId,
        agent: name,
        operation: request.operation,
        kind: kindOf(error),
      });
    } finally {
      over.abort();
    }
  }

  return Object.assign(serve, { cancel });
}

import type { AgentDefinition } from '#authoring/agent';
import type { Breakers } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import { type Cancel, queueNames, type Reply, type Request, timeText } from '#ports/messages';
import { inGroup, type Queues } from '#ports/queues';
import type { IntentLog } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { CircuitGuard } from './circuit-guard.ts';
import { startDeadline } from './deadline.ts';
import { type ExecuteTools, execute, notHere } from './execute.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { Result } from './results.ts';
import { busy, callOf, kindOf, type Work } from './retry.ts';

export interface AgentOptions {
  readonly queues: Pick<Queues, 'send'>;
  /** Where it notes what may be asked for only once, and that its service is away. */
  readonly store: IntentLog & Breakers;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

interface ServeOptions {
  /** Aborts when the process stops. */
  readonly signal?: AbortSignal;
  /** Whose work the request is: what is said to it is his, too. */
  readonly group?: string;
  /** Its queue has delivered it before. */
  readonly redelivered?: boolean;
}

/** Serves one request. It answers on the reply queue before `completeBy`, or not at all. */
export interface Agent {
  (request: Request, options?: ServeOptions): Promise<void>;
  /** An asking is not wanted any more: where it is at work here, it is told to stop; where it still lies in the queue, it is not begun. */
  cancel(cancel: Cancel): Promise<void>;
}

/** So many cancellations are remembered in one process, for requests that come out of the queue later. */
const canceledKept = 1_000;
const requeueMs = { first: 1_000, longest: 30_000 };

/** What is at work in this process, and how it is given up. */
interface AtWork extends Work {
  readonly canceling: AbortController;
}

/** The role around a user's operations: deadlines, retries of what may pass, schema checks, one reply. */
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

  /** By the id of the asking. */
  const atWork = new Map<string, AtWork>();
  /** Ids of what is not to be begun any more, oldest first. */
  const canceled = new Set<string>();

  function begin(request: Request, operation: Work['operation'], { signal: stopping, redelivered = false, group }: ServeOptions): AtWork {
    const canceling = new AbortController();
    if (canceled.has(request.requestId)) canceling.abort();
    const deadline = startDeadline(request, clock, stopping, canceling.signal);
    const { longestSeconds, heartbeats } = operation;
    const beating = { isAutomatic: heartbeats !== 'manual', agent: name, queues: inGroup(queues, group), clock };
    const heartbeat = longestSeconds === undefined ? undefined : startHeartbeat(request, deadline, { ...beating, longestSeconds });
    const work = { agent: name, request, operation, deadline, heartbeat, redelivered, stopping, canceling, canceled: canceling.signal };
    // Of two deliveries the first is at work.
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
      // Silence after the deadline: another asking may be at work by now, and only its answer counts (SAS).
      if (deadline.isOver()) {
        telemetry.count('expired');
        telemetry.log('info', 'expired: stopped without an answer', { orderId, requestId, agent: name });
      } else if (result === busy) await requeue(request, to);
      else if (result) await reply(request, result, to);
    } finally {
      if (atWork.get(requestId) === work) atWork.delete(requestId);
      deadline.stop();
      await heartbeat?.stop();
    }
  };

  /**
   * Onto the queue again, each time for longer, as long as somebody waits for it. After that the order itself waits: the
   * supervisor knows that its service is away, moves its deadline, and has it asked again in its turn.
   */
  async function requeue(request: Request, to: Pick<Queues, 'send'>): Promise<void> {
    const now = clock.now();
    const times = (request.requeued ?? 0) + 1;
    const delayMs = Math.round(Math.min(requeueMs.longest, requeueMs.first * 2 ** (times - 1)) * (0.5 + random()));
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
    const told = tell(work);
    work.canceling.abort();
    await told;
  }

  /** A request may come after its cancellation, again after it was put back, or a second time. */
  function remember(requestId: string): void {
    canceled.add(requestId);
    const [oldest] = canceled;
    if (canceled.size > canceledKept && oldest !== undefined) canceled.delete(oldest);
  }

  /** Tells the operation that it is not wanted any more. Its own signal: that of the work is aborted next. */
  async function tell(work: AtWork): Promise<void> {
    const { request, operation, deadline } = work;
    if (!operation.cancel) return;
    const over = new AbortController();
    const telling = async () => operation.cancel?.(callOf(work, { signal: over.signal }) as never);
    try {
      await Promise.race([telling(), clock.sleep(Math.max(0, deadline.at() - clock.now()), over.signal)]);
    } catch (error) {
      const { orderId, requestId } = request;
      telemetry.log('warn', 'canceling failed', { orderId, requestId, agent: name, operation: request.operation, kind: kindOf(error) });
    } finally {
      over.abort();
    }
  }

  return Object.assign(serve, { cancel });
}

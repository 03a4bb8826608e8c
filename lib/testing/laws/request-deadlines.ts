import type { AgentEvent, AgentObservation } from '#testing/world/agent-event';
import type { Observation } from '#testing/world/observation';
import { type Law, lawOfSteadyProcesses, on, operationIn, type Setting } from './law.ts';

/** Share of the remaining time after which an agent sends a heartbeat. */
const heartbeatAfter = 0.3;
/** Rounding error: times and timers have whole milliseconds. */
const roundingMs = 2;
/** Longest time between the receipt of a request and the call of its service, unless the process stands still. */
const soonMs = 100;

/** Time limits of one request over all its copies. The clock of the process that requests differs from that of the agent's process. */
interface Limits {
  /** Earliest and latest deadline that its agent may apply. */
  readonly least: number;
  readonly most: number;
  /** Time of the request, by the clock of the process that requested. */
  readonly since: number;
}

/** The work of one process on one request. */
interface Work {
  /** Number of deliveries of the request. */
  deliveries: number;
  hasHeartbeat: boolean;
  /** Whether the request was requeued since the last call of its service. */
  isRequeued: boolean;
  /** Deadline of the last heartbeat that was sent. */
  until: number;
  /** The value of `until` before a copy of the request was requeued. It holds if the process tries its other copy again. */
  untilBefore: number;
  /** Time left at the first call. */
  leftMs: number;
  /** Up to this deadline, a heartbeat may certainly request more time. */
  last: number;
}

/** A time by the clock of the process (`now`) and by that of the world (`at`). */
interface Moment {
  readonly now: number;
  readonly at: number;
}

type CallStarted = Extract<AgentEvent, { what: 'calls' }>;
type CallEnded = Extract<AgentEvent, { what: 'call ended' }>;
interface Call extends Omit<CallStarted, 'what' | 'call'>, Moment {}

/** Checks one process and one agent. */
class Process {
  private readonly calls = new Map<number, Call>();
  private readonly work = new Map<string, Work>();
  private readonly limits: ReadonlyMap<string, Limits>;
  private readonly canceled: ReadonlySet<string>;
  private readonly setting: Pick<Setting, 'agents'>;
  /** The last read of the circuit breaker: its beginning by the clock of the process, and its end by that of the world. */
  private read = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

  constructor(limits: ReadonlyMap<string, Limits>, canceled: ReadonlySet<string>, setting: Pick<Setting, 'agents'>) {
    this.limits = limits;
    this.canceled = canceled;
    this.setting = setting;
  }

  /** Returns the longest duration of an operation; undefined if it has no heartbeats. */
  private longestSecondsOf(operation: string): number | undefined {
    const { longestSeconds, heartbeats } = operationIn(this.setting, operation) ?? {};
    // Operations that send their own heartbeats may send none.
    return heartbeats === 'manual' ? undefined : longestSeconds;
  }

  observe({ now, event }: AgentObservation, at: number): string | undefined {
    switch (event.what) {
      case 'reads breaker':
        this.read = { from: now, until: Number.POSITIVE_INFINITY };
        return undefined;
      case 'store answered':
        this.read = { ...this.read, until: at };
        return undefined;
      case 'calls':
        return this.callStarted(event, { now, at });
      case 'call ended':
        return this.callEnded(event, now);
      case 'sends heartbeat':
        return this.sendsHeartbeat(event, { now, at });
      // A requeued request has the deadline of its message again, and not the one of an earlier heartbeat.
      case 'requeues': {
        const work = this.workOn(event.requestId);
        Object.assign(work, { until: 0, untilBefore: Math.max(work.until, work.untilBefore), isRequeued: true });
        return undefined;
      }
      case 'heartbeat sent': {
        const work = this.workOn(event.requestId);
        const changed = work.isRequeued ? 'untilBefore' : 'until';
        work[changed] = Math.max(work[changed], Date.parse(event.completeBy));
        return undefined;
      }
      default:
        return undefined;
    }
  }

  private workOn(requestId: string): Work {
    const known = this.work.get(requestId) ?? {
      deliveries: 0,
      hasHeartbeat: false,
      isRequeued: false,
      until: 0,
      untilBefore: 0,
      leftMs: 0,
      last: Number.NaN,
    };
    this.work.set(requestId, known);
    return known;
  }

  private callStarted({ call, ...started }: CallStarted, { now, at }: Moment): string | undefined {
    const { requestId, operation, tries, completeBy, stoodStillUntil } = started;
    this.calls.set(call, { ...started, now, at });
    const work = this.workOn(requestId);
    const { least = Number.NaN, most = Number.NaN, since = Number.NaN } = this.limits.get(requestId) ?? {};
    if (tries === 1) {
      work.isRequeued = false;
      work.deliveries += 1;
      work.leftMs = completeBy - now;
      // Whether the longest duration counts from the request or from its receipt is not visible. The earlier of the two is the safe limit.
      const isSoon = stoodStillUntil + soonMs < at;
      // A request that has waited for the store was received when the process began to read the circuit breaker, or later.
      const receivedAt = Math.min(now, this.read.until + soonMs >= at ? this.read.from : now) - soonMs;
      const last = Math.min(since, isSoon ? receivedAt : Number.NaN) + 1000 * (this.longestSecondsOf(operation) ?? 0);
      work.last = work.deliveries === 1 ? last : Math.min(work.last, last);
    }
    // If two deliveries are processed at the same time, it is not visible which of them sent a heartbeat.
    const from = work.deliveries === 1 ? Math.max(least, work.until) : least;
    // A requeued request begins with its first try. So a later try may be one of another copy, which this process has had all the time.
    const to = Math.max(most, work.until, tries > 1 ? work.untilBefore : 0);
    if (completeBy >= from - roundingMs && completeBy <= to + roundingMs) return undefined;
    return `calls its service for request ${requestId} with the deadline ${completeBy}, expected ${from} to ${to}`;
  }

  private callEnded({ call, how, isStopping, stoodStillUntil }: CallEnded, now: number): string | undefined {
    const started = this.calls.get(call);
    this.calls.delete(call);
    if (!started) return undefined;
    const { requestId, completeBy, isAbandoned, at } = started;
    const { deliveries, until } = this.workOn(requestId);
    const deadline = deliveries === 1 ? Math.max(completeBy, until) : completeBy;
    if (how === 'abandoned' && now < deadline - roundingMs && !isStopping && !isAbandoned && !this.canceled.has(requestId))
      return `abandons request ${requestId} ${deadline - now} ms before its deadline`;
    // A process that stands still may wake too late for a heartbeat.
    const missesHeartbeat = stoodStillUntil <= at && this.missesHeartbeat(started, now);
    return missesHeartbeat ? `has sent no heartbeat for request ${requestId} after ${now - started.now} ms` : undefined;
  }

  private missesHeartbeat({ requestId, operation, tries, completeBy, now: from }: Call, now: number): boolean {
    const { hasHeartbeat, last } = this.workOn(requestId);
    if (this.longestSecondsOf(operation) === undefined || tries > 1 || hasHeartbeat) return false;
    return now > from + heartbeatAfter * (completeBy - from) + roundingMs && completeBy < last - roundingMs;
  }

  private sendsHeartbeat(
    { requestId, completeBy, stoodStillUntil }: Extract<AgentEvent, { what: 'sends heartbeat' }>,
    { now, at }: Moment,
  ): string | undefined {
    const work = this.workOn(requestId);
    work.hasHeartbeat = true;
    const until = Math.min(now + work.leftMs, work.last);
    const requested = Date.parse(completeBy);
    // The heartbeat may be for a late copy of the request, for which the service was not called yet.
    const isForThis = work.deliveries === 1 && stoodStillUntil + soonMs < at && requested - now > 10 * soonMs;
    return isForThis && requested < until - roundingMs
      ? `requests time for request ${requestId} until ${completeBy}, but may have it until ${until}`
      : undefined;
  }
}

/**
 * An operation gets the whole time limit of its request, unless it is canceled or its process stops (S8). The agent of a long operation
 * sends a heartbeat before a third of the time has passed, for the same time again (S16).
 */
export function requestDeadlines(setting: Pick<Setting, 'now' | 'toleranceMs' | 'agents'>): Law {
  const { now, toleranceMs } = setting;
  const limits = new Map<string, Limits>();
  const canceled = new Set<string>();
  const steady = lawOfSteadyProcesses('request deadlines', () => new Process(limits, canceled, setting), { now });
  const sent = ({ queue, body }: Extract<Observation, { type: 'sent' }>): undefined => {
    if (!queue.endsWith('-requests') || queue.startsWith('workflows-')) return;
    const { type, requestId, completeBy, remainingMs } = JSON.parse(body) as { readonly [field: string]: string };
    if (requestId === undefined) return;
    if (type === 'cancel') canceled.add(requestId);
    if (type !== 'request') return;
    const by = Date.parse(`${completeBy}`);
    const requestedAt = by - Number(remainingMs);
    const { least, most, since } = limits.get(requestId) ?? { least: by, most: by, since: requestedAt };
    limits.set(requestId, {
      // The clock of its agent's process may be behind by half of the tolerance.
      least: Math.min(least, now() - toleranceMs / 2 + Number(remainingMs)),
      most: Math.max(most, by),
      since: Math.min(since, requestedAt),
    });
  };
  return {
    name: 'request deadlines',
    after: on(['sent', 'agent event', 'clock jumps'], (observation, history) =>
      observation.type === 'sent' ? sent(observation) : steady.after?.wrongWith(observation, history),
    ),
  };
}

import { PermanentFailure } from '#authoring/fault';
import { isProgrammingError } from '#core/data/thrown';
import type { Breaker, Breakers } from '#ports/circuit-breaker';
import { agentOfReplies, agentOfRequests } from '#ports/messages';
import { RequestCanceled } from '#roles/agent/deadline';
import type { AgentEvent } from './agent-event.ts';
import type { Timeline } from './timeline.ts';

/** The process whose agents are watched. */
export interface WatchedProcess {
  readonly timeline: Timeline;
  /** The time by which its clock is ahead. */
  readonly skewMs: number;
  /** The time until which it stands still, or last stood still. */
  readonly frozenUntil: number;
  /** Whether it, or one of its runs, is to stop. */
  readonly isStopping: boolean;
  record(agent: string, event: AgentEvent): void;
  /** Resumes now, or once the process no longer stands still; never in a dead process. */
  goOn(resume: () => void): void;
}

/** One call of an operation. */
interface ServiceCall {
  readonly orderId: string;
  readonly requestId: string;
  readonly operation: string;
  readonly completeBy: Date;
  /** All tries of one request share it. */
  readonly signal: AbortSignal;
}

interface Tried {
  readonly requestId: string;
  readonly tries: number;
}

/** Observes how the agents of one process treat their services, their circuit breakers and their requests. */
export class AgentWatch {
  private readonly process: WatchedProcess;
  private readonly tried = new WeakMap<AbortSignal, Tried>();
  /** The extended deadlines, by request. */
  private readonly extendedUntil = new Map<string, number>();
  private calls = 0;
  private accesses = 0;

  constructor(process: WatchedProcess) {
    this.process = process;
  }

  /** Returns the request whose tries share a signal, and how many there were. */
  triedFor(signal: AbortSignal | undefined): Tried | undefined {
    return signal && this.tried.get(signal);
  }

  /** Counts a try of a request. */
  tries({ requestId, signal }: Pick<ServiceCall, 'requestId' | 'signal'>): void {
    const { tries } = this.tried.get(signal) ?? { tries: 0 };
    this.tried.set(signal, { requestId, tries: tries + 1 });
  }

  /**
   * Observes a call and its end. An agent that gives up learns nothing more about its call. A canceled request is not given up: the agent
   * waits for its answer until the deadline.
   */
  async call<T>(agent: string, made: ServiceCall, work: () => Promise<T>): Promise<T> {
    const { process } = this;
    const { requestId, orderId, operation, signal } = made;
    const call = ++this.calls;
    const completeBy = made.completeBy.getTime();
    let isOver = false;
    const ends = (how: 'answered' | 'failed' | 'abandoned'): void => {
      if (isOver) return;
      isOver = true;
      process.record(agent, { what: 'call ended', call, how, isStopping: process.isStopping, stoodStillUntil: process.frozenUntil });
    };
    const until = () => Math.max(completeBy, this.extendedUntil.get(requestId) ?? 0);
    const leftMs = () => until() - (process.timeline.now + process.skewMs);
    // The agent may have extended the deadline meanwhile. A process that stands still does not notice its deadline.
    const endsAtDeadline = (): void =>
      process.timeline.after(leftMs(), 'the time of a canceled call is over', () =>
        isOver ? undefined : process.goOn(() => (leftMs() <= 0 ? ends('abandoned') : endsAtDeadline())),
      );
    const onAbort = () => (signal.reason instanceof RequestCanceled ? endsAtDeadline() : ends('abandoned'));
    const isTooLate = () => signal.aborted && leftMs() <= 0;
    const { tries } = this.tried.get(signal) ?? { tries: 1 };
    const about = { call, orderId, requestId, operation, tries, completeBy };
    process.record(agent, { what: 'calls', ...about, isAbandoned: signal.aborted, stoodStillUntil: process.frozenUntil });
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const answer = await work();
      ends(isTooLate() ? 'abandoned' : 'answered');
      return answer;
    } catch (error) {
      // A permanent failure is an answer of the service.
      const isAbandoned = isTooLate() || (signal.aborted && !(error instanceof PermanentFailure));
      // A programming error says nothing about the service either.
      if (isAbandoned || isProgrammingError(error)) ends('abandoned');
      else ends(error instanceof PermanentFailure ? 'answered' : 'failed');
      throw error;
    }
  }

  async readsBreaker(agent: string, read: () => Promise<Breaker | undefined>): Promise<Breaker | undefined> {
    const record = (event: AgentEvent) => this.process.record(agent, event);
    const access = ++this.accesses;
    record({ what: 'reads breaker', access });
    try {
      const breaker = await read();
      record({ what: 'store answered', access, breaker });
      return breaker;
    } catch (error) {
      record({ what: 'store failed' });
      throw error;
    }
  }

  async writesBreaker(
    [breaker, loadedRev]: Parameters<Breakers['putBreaker']>,
    write: () => ReturnType<Breakers['putBreaker']>,
  ): ReturnType<Breakers['putBreaker']> {
    const record = (event: AgentEvent) => this.process.record(breaker.agent, event);
    const access = ++this.accesses;
    record({ what: 'writes breaker', access, breaker, loadedRev });
    try {
      const answer = await write();
      const isWritten = answer.outcome === 'written';
      record({ what: 'store answered', access, breaker: isWritten ? breaker : (answer.current ?? undefined), isWritten });
      return answer;
    } catch (error) {
      record({ what: 'store failed', isWritten: false });
      throw error;
    }
  }

  /** Observes what an agent sends: requests that it requeues, and extensions of deadlines, once they are sent. */
  sends(messages: readonly { readonly queue: string; readonly body: string }[], sent: Promise<unknown>): void {
    const { process } = this;
    for (const { queue, body } of messages) {
      const requeuedBy = body.includes('"requeued":') ? agentOfRequests(queue) : undefined;
      if (requeuedBy !== undefined) process.record(requeuedBy, { what: 'requeues', requestId: requestIn(body).requestId });
      const extendedBy = body.startsWith('{"v":1,"type":"heartbeat"') ? agentOfReplies(queue) : undefined;
      if (extendedBy === undefined) continue;
      const { requestId, completeBy } = requestIn(body);
      process.record(extendedBy, { what: 'sends heartbeat', requestId, completeBy, stoodStillUntil: process.frozenUntil });
      sent.then(
        () => {
          this.extendedUntil.set(requestId, Date.parse(completeBy));
          process.record(extendedBy, { what: 'heartbeat sent', requestId, completeBy });
        },
        () => undefined,
      );
    }
  }
}

const requestIn = (body: string) => JSON.parse(body) as { readonly requestId: string; readonly completeBy: string };

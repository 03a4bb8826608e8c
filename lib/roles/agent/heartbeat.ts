import type { Clock } from '#ports/clock';
import { queueNames, type Request, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { answered, type Deadline } from './deadline.ts';

/** Heartbeats of one request: each extends the deadline of the request, up to the operation's longest time. */
export interface Heartbeat {
  /**
   * The time from which automatic heartbeats no longer extend the deadline: milliseconds since 1970. Undefined if the operation sends them.
   */
  readonly keepsUntil: number | undefined;
  /** Reports progress, so that the request has its full time again. */
  beat(): Promise<void>;
  /** Stops and waits for heartbeats that are being sent, because Lambda may freeze the process after the reply. */
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly longestSeconds: number;
  /** Whether heartbeats are sent automatically, before a third of the time is over. Otherwise the operation sends them. */
  readonly isAutomatic: boolean;
  readonly agent: string;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
}

const automaticAfter = 0.3;
/** Shortest interval between heartbeats, as a share of the time that each one gives: each costs a write of the order. */
const notBefore = 0.1;

export function startHeartbeat(
  request: Request,
  deadline: Deadline,
  { longestSeconds, isAutomatic, agent, queues, clock }: HeartbeatOptions,
): Heartbeat {
  const stopped = new AbortController();
  const started = clock.now();
  // A copy of the request that arrives shortly before its deadline has little time left. Heartbeats that give so little would be sent every
  // few milliseconds.
  const window = Math.max(deadline.at() - started, request.givenMs ?? request.remainingMs);
  // The longest time counts from when the request was sent, not from when it was received.
  const last = Math.min(started, Date.parse(request.completeBy) - request.remainingMs) + longestSeconds * 1000;
  const hasTime = (): boolean => !stopped.signal.aborted && !deadline.isOver() && deadline.at() < last;
  let beatenAt = Number.NEGATIVE_INFINITY;
  const send = async (): Promise<void> => {
    beatenAt = clock.now();
    const completeBy = Math.min(beatenAt + window, last);
    const { requestId, orderId, path, attempt, epoch } = request;
    const body = {
      v: 1,
      type: 'heartbeat',
      requestId,
      orderId,
      path,
      attempt,
      epoch,
      sentAt: timeText(beatenAt),
      completeBy: timeText(completeBy),
    };
    await queues.send([{ queue: queueNames.replies(agent), body: JSON.stringify(body) }]);
    deadline.extend(completeBy);
  };
  const automatically = async (): Promise<void> => {
    while (hasTime()) {
      await clock.sleep((deadline.at() - clock.now()) * automaticAfter, stopped.signal);
      if (stopped.signal.aborted || deadline.isOver()) return;
      await send();
    }
  };
  // A heartbeat that cannot be sent only costs time: the supervisor has the request sent again.
  let beating = isAutomatic ? automatically().catch(() => undefined) : Promise.resolve();
  return {
    keepsUntil: isAutomatic ? Math.max(last, deadline.at()) : undefined,
    async beat() {
      if (!hasTime() || clock.now() - beatenAt < window * notBefore) return;
      const sent = send().catch(() => undefined);
      beating = Promise.all([beating, sent]).then(() => undefined);
      await sent;
    },
    stop: () => {
      stopped.abort(answered);
      return beating;
    },
  };
}

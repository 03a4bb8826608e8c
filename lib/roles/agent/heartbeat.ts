import type { Clock } from '#ports/clock';
import { queueNames, type Request, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { answered, type Deadline } from './deadline.ts';

/** Asks for more time, as long as the operation may take at the most. */
export interface Heartbeat {
  /** The operation says itself that it gets on: it has its whole time anew. */
  beat(): Promise<void>;
  /** Waits for what is being sent: whoever answers may be frozen at once. */
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  readonly longestSeconds: number;
  /** Whether it beats by itself before a third of the time is over; otherwise the operation does. */
  readonly isAutomatic: boolean;
  readonly agent: string;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
}

const automaticAfter = 0.3;
/** An operation may beat as often as it likes: each message is a write of the order. */
const notBefore = 0.1;

export function startHeartbeat(
  request: Request,
  deadline: Deadline,
  { longestSeconds, isAutomatic, agent, queues, clock }: HeartbeatOptions,
): Heartbeat {
  const stopped = new AbortController();
  const started = clock.now();
  const window = deadline.at() - started;
  // The longest time counts from the asking, not from when it came out of the queue.
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
      await clock.sleep(window * automaticAfter, stopped.signal);
      if (stopped.signal.aborted || deadline.isOver()) return;
      await send();
    }
  };
  // A heartbeat that could not be sent costs time, not the order: the supervisor asks again.
  let beating = isAutomatic ? automatically().catch(() => undefined) : Promise.resolve();
  return {
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

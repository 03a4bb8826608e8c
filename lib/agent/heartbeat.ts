import type { Channel } from '../channel.ts';
import type { Clock } from '../clock.ts';
import { queues, type Request, timeText } from '../messages.ts';
import { answered, type Deadline } from './deadline.ts';

/**
 * Asks for more time before a third of it is over, as long as the operation may take at the most. `stop` waits for what is
 * being sent: whoever answers may be frozen at once.
 */
export function startHeartbeat(
  request: Request,
  longestSeconds: number,
  deadline: Deadline,
  agent: string,
  { channel, clock }: { readonly channel: Pick<Channel, 'send'>; readonly clock: Clock },
): { stop(): Promise<void> } {
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
  const beating = beat().catch(() => undefined);
  return {
    stop: () => {
      stopped.abort(answered);
      return beating;
    },
  };
}

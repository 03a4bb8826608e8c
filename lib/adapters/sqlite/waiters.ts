import type { Clock } from '#ports/clock';
import type { Queues, Received } from '#ports/queues';
import type { Database } from './database.ts';

/** A receiver of this process that waits for messages of one queue. */
export interface Waiter {
  readonly max: number;
  readonly visibilityMs: number;
  /** Messages that the open transaction marks as received by this waiter. */
  readonly handed: Received[];
  readonly deliver: (messages: readonly Received[]) => void;
}

/** The waiting receivers of this process. */
export interface Waiters {
  readonly byQueue: ReadonlyMap<string, readonly Waiter[]>;
  /** Resolves with the messages of the next commit for this receiver, or with none after `waitMs` or after an abort. */
  readonly wait: Queues['receive'];
  /** Forgets a queue for which nobody waits. */
  forget(queue: string): void;
}

/** A constant abort reason. Without one, every abort creates an exception with an unused stack. */
const delivered = 'delivered';

export function waitersFor(database: Database, clock: Clock): Waiters {
  const byQueue = new Map<string, Waiter[]>();

  const remove = (queue: string, waiter: Waiter): boolean => {
    const list = byQueue.get(queue);
    if (!list?.includes(waiter)) return false;
    byQueue.set(
      queue,
      list.filter((each) => each !== waiter),
    );
    return true;
  };

  /** After the commit, all messages that its writes handed to waiters are on disk, and can be delivered. */
  database.onCommit(() => {
    for (const [queue, list] of byQueue) {
      const ready = list.filter(({ handed }) => handed.length > 0);
      if (ready.length === 0) continue;
      byQueue.set(
        queue,
        list.filter(({ handed }) => handed.length === 0),
      );
      for (const waiter of ready) waiter.deliver(waiter.handed);
    }
  });
  database.onRollback(() => {
    for (const list of byQueue.values()) for (const { handed } of list) handed.length = 0;
  });

  return {
    byQueue,
    wait: (queue, { max, visibilityMs, waitMs, signal }) =>
      new Promise((resolve) => {
        const ended = new AbortController();
        const waiter: Waiter = {
          max,
          visibilityMs,
          handed: [],
          deliver: (messages) => {
            ended.abort(delivered);
            signal?.removeEventListener('abort', giveUp);
            resolve(messages);
          },
        };
        const giveUp = () => {
          if (remove(queue, waiter)) waiter.deliver([]);
        };
        byQueue.set(queue, [...(byQueue.get(queue) ?? []), waiter]);
        signal?.addEventListener('abort', giveUp, { once: true });
        void clock.sleep(waitMs, ended.signal).then(giveUp);
      }),
    forget: (queue) => void byQueue.delete(queue),
  };
}

import type { Clock } from '#ports/clock';
import type { Database } from './database.ts';
import type { Messages } from './messages.ts';
import type { Waiters } from './waiters.ts';

interface PollingOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly messages: Messages;
  readonly waiters: Waiters;
}

/** The interval at which a waiter looks for a delayed message, or one from another process. */
const pollEveryMs = 50;

/**
 * Returns a function that starts to poll for messages that became visible after a delay, or that another process sent. Polling ends with
 * the last waiter.
 */
export function pollingFor({ database, clock, messages, waiters }: PollingOptions): () => Promise<void> {
  const { byQueue } = waiters;
  let isPolling = false;

  async function pollOnce(): Promise<void> {
    for (const [queue, list] of byQueue) {
      if (list.length === 0) waiters.forget(queue);
      const next = messages.nextVisibleAt(queue);
      const [waiter] = list;
      if (!waiter || next === null || next > clock.now()) continue;
      await database.write(() => {
        // Sends of the same commit may have filled this waiter, or it may have stopped waiting.
        const wanted = byQueue.get(queue)?.includes(waiter) ? waiter.max - waiter.handed.length : 0;
        if (wanted > 0) waiter.handed.push(...messages.receive(queue, wanted, waiter.visibilityMs));
      });
    }
  }

  return async () => {
    if (isPolling) return;
    isPolling = true;
    while (byQueue.size > 0) {
      await clock.sleep(pollEveryMs);
      try {
        await pollOnce();
      } catch (error) {
        // Polling survives temporary errors, such as a full disk. If the store is gone, the next call reports it.
        if ((error as { fatal?: boolean }).fatal !== false) break;
      }
    }
    isPolling = false;
  };
}

import type { Clock } from '#ports/clock';
import type { Outgoing, Queues, Redrive } from '#ports/queues';
import { bodiesAtRest } from './bodies-at-rest.ts';
import type { Database } from './database.ts';
import { keysInMemory, type LocalKeys } from './keys.ts';
import { messagesIn } from './messages.ts';
import { pollingFor } from './polling.ts';
import { waitersFor } from './waiters.ts';

/** Queues that can also send within an open transaction. */
export interface SqliteQueues extends Queues {
  /** Sends messages within the open transaction. A waiter receives them after the commit. */
  sendWithin(messages: readonly Outgoing[]): void;
}

/**
 * Queues in one SQLite table. If this process already waits for a message, the message is stored as received and handed over after the
 * commit. It then costs one insert and one delete.
 */
export function sqliteQueues(
  database: Database,
  clock: Clock,
  redriveOf: (queue: string) => Redrive | undefined = () => undefined,
  keys: LocalKeys = keysInMemory(clock),
): SqliteQueues {
  const messages = messagesIn(database, clock, redriveOf, bodiesAtRest(keys));
  const waiters = waitersFor(database, clock);
  const poll = pollingFor({ database, clock, messages, waiters });

  const sendWithin = (outgoing: readonly Outgoing[]): void => {
    const now = clock.now();
    for (const message of outgoing) {
      const isDelayed = (message.delayMs ?? 0) > 0;
      const waiter = isDelayed ? undefined : waiters.byQueue.get(message.queue)?.find(({ handed, max }) => handed.length < max);
      if (waiter) waiter.handed.push(messages.addReceived(message, now, waiter.visibilityMs));
      else messages.add(message, now);
    }
  };

  return {
    sendWithin,

    async send(outgoing) {
      if (outgoing.length > 0) await database.write(() => sendWithin(outgoing));
    },

    async receive(queue, options) {
      const { max, visibilityMs, waitMs, signal } = options;
      const next = messages.nextVisibleAt(queue);
      if (next !== null && next <= clock.now()) {
        const received = await database.write(() => messages.receive(queue, max, visibilityMs));
        if (received.length > 0) return received;
      }
      if (waitMs === 0 || signal?.aborted) return [];
      const handed = waiters.wait(queue, options);
      void poll();
      return handed;
    },

    acknowledge: (queue, receipts) =>
      database.write(() => {
        for (const receipt of receipts) messages.remove(queue, receipt);
      }),

    release: (queue, receipts, afterMs) =>
      database.write(() => {
        for (const receipt of receipts) messages.showAgain(queue, receipt, clock.now() + afterMs);
      }),

    depth: async (queue) => messages.depth(queue),
  };
}

import type { Clock } from '#ports/clock';
import { groupOf, type Outgoing, type Queues, type Received, type Redrive } from '#ports/queues';
import type { Database } from './database.ts';
import { type VisibleMessage, visibleMessages } from './fair-turns.ts';

interface Waiter {
  readonly max: number;
  readonly visibilityMs: number;
  /** Messages that the open transaction marks as received by this waiter. */
  readonly handed: Received[];
  readonly deliver: (messages: readonly Received[]) => void;
}

/** Queues that can also send within an open transaction. */
export interface SqliteQueues extends Queues {
  /** Sends messages within the open transaction. A waiter receives them after the commit. */
  sendWithin(messages: readonly Outgoing[]): void;
}

/** A constant abort reason. Without one, every abort creates an exception with an unused stack. */
const delivered = 'delivered';

/** How soon a waiter notices a delayed message, or one from another process. */
const lookEveryMs = 50;

/**
 * Queues in one SQLite table. If this process already waits for a message, the message is stored as received and handed over after the
 * commit. It then costs one insert and one delete.
 */
export function sqliteQueues(
  database: Database,
  clock: Clock,
  redriveOf: (queue: string) => Redrive | undefined = () => undefined,
): SqliteQueues {
  const insert = database.prepare('INSERT INTO messages (queue, visibleAt, sentAt, receiveCount, body, grp) VALUES (?, ?, ?, ?, ?, ?)');
  const visible = visibleMessages(database);
  const selectNext = database.prepare('SELECT min(visibleAt) AS at FROM messages WHERE queue = ?');
  const take = database.prepare('UPDATE messages SET visibleAt = ?, receiveCount = receiveCount + 1 WHERE id = ?');
  const moveTo = database.prepare('UPDATE messages SET queue = ?, visibleAt = ?, receiveCount = 0 WHERE id = ?');
  const remove = database.prepare('DELETE FROM messages WHERE queue = ? AND id = ? AND receiveCount = ?');
  const showAgain = database.prepare('UPDATE messages SET visibleAt = ? WHERE queue = ? AND id = ? AND receiveCount = ?');
  const selectDepth = database.prepare(
    'SELECT count(*) FILTER (WHERE visibleAt <= ?) AS visible, count(*) FILTER (WHERE visibleAt > ? AND receiveCount > 0) AS inFlight, count(*) FILTER (WHERE visibleAt > ? AND receiveCount = 0) AS delayed, min(sentAt) AS oldest FROM messages WHERE queue = ?',
  );
  const waiters = new Map<string, Waiter[]>();
  let looking = false;

  const sendWithin = (messages: readonly Outgoing[]): void => {
    const now = clock.now();
    for (const { queue, body, delayMs = 0, group } of messages) {
      const waiter = delayMs > 0 ? undefined : waiters.get(queue)?.find(({ handed, max }) => handed.length < max);
      const { lastInsertRowid } = insert.run(queue, now + (waiter ? waiter.visibilityMs : delayMs), now, waiter ? 1 : 0, body, group ?? '');
      waiter?.handed.push(receivedOf({ id: Number(lastInsertRowid), body, receiveCount: 0, sentAt: now, grp: group ?? '' }));
    }
  };

  /** After the commit, everything that the group handed to waiters is stored. */
  database.onCommit(() => {
    for (const [queue, list] of waiters) {
      const ready = list.filter(({ handed }) => handed.length > 0);
      if (ready.length === 0) continue;
      waiters.set(
        queue,
        list.filter(({ handed }) => handed.length === 0),
      );
      for (const waiter of ready) waiter.deliver(waiter.handed);
    }
  });
  database.onRollback(() => {
    for (const list of waiters.values()) for (const { handed } of list) handed.length = 0;
  });

  const forgetWaiter = (queue: string, waiter: Waiter): boolean => {
    const list = waiters.get(queue);
    if (!list?.includes(waiter)) return false;
    waiters.set(
      queue,
      list.filter((each) => each !== waiter),
    );
    return true;
  };

  const receiveWithin = (queue: string, max: number, visibilityMs: number): Received[] => {
    const now = clock.now();
    const redrive = redriveOf(queue);
    return visible(queue, now, max).flatMap((row) => {
      const { id, receiveCount } = row;
      if (redrive && receiveCount >= redrive.maxReceiveCount) {
        moveTo.run(redrive.deadLetterQueue, now, id);
        return [];
      }
      take.run(now + visibilityMs, id);
      return [receivedOf(row)];
    });
  };

  /** Polls for messages that became visible without this process, while anyone waits. */
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    while (waiters.size > 0) {
      await clock.sleep(lookEveryMs);
      try {
        await lookOnce();
      } catch (error) {
        // Polling survives temporary errors, such as a full disk. If the store is gone, the next call reports it.
        if ((error as { fatal?: boolean }).fatal !== false) break;
      }
    }
    looking = false;
  };

  const lookOnce = async (): Promise<void> => {
    for (const [queue, list] of waiters) {
      if (list.length === 0) waiters.delete(queue);
      const next = (selectNext.get(queue) as { at: number | null }).at;
      const [waiter] = list;
      if (!waiter || next === null || next > clock.now()) continue;
      await database.write(() => {
        // Sends of the same commit may have filled this waiter, or it may have stopped waiting.
        const free = waiters.get(queue)?.includes(waiter) ? waiter.max - waiter.handed.length : 0;
        if (free > 0) waiter.handed.push(...receiveWithin(queue, free, waiter.visibilityMs));
      });
    }
  };

  return {
    sendWithin,

    async send(messages) {
      if (messages.length > 0) await database.write(() => sendWithin(messages));
    },

    async receive(queue, { max, visibilityMs, waitMs, signal }) {
      const next = (selectNext.get(queue) as { at: number | null }).at;
      if (next !== null && next <= clock.now()) {
        const received = await database.write(() => receiveWithin(queue, max, visibilityMs));
        if (received.length > 0) return received;
      }
      if (waitMs === 0 || signal?.aborted) return [];

      return new Promise((resolve) => {
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
          if (forgetWaiter(queue, waiter)) waiter.deliver([]);
        };
        waiters.set(queue, [...(waiters.get(queue) ?? []), waiter]);
        signal?.addEventListener('abort', giveUp, { once: true });
        void clock.sleep(waitMs, ended.signal).then(giveUp);
        void look();
      });
    },

    acknowledge: (queue, receipts) =>
      database.write(() => {
        for (const receipt of receipts) remove.run(queue, ...partsOf(receipt));
      }),

    release: (queue, receipts, afterMs) =>
      database.write(() => {
        for (const receipt of receipts) showAgain.run(clock.now() + afterMs, queue, ...partsOf(receipt));
      }),

    async depth(queue) {
      const now = clock.now();
      const { oldest, ...counts } = selectDepth.get(now, now, now, queue) as {
        visible: number;
        inFlight: number;
        delayed: number;
        oldest: number | null;
      };
      return { ...counts, oldestAgeMs: oldest === null ? 0 : Math.max(0, now - oldest) };
    },
  };
}

const receivedOf = ({ id, body, receiveCount, sentAt, grp }: VisibleMessage): Received => ({
  messageId: String(id),
  body,
  receiveCount: receiveCount + 1,
  sentAt,
  ...groupOf({ group: grp || undefined }),
  receipt: `${id}:${receiveCount + 1}`,
});

const partsOf = (receipt: string): [number, number] => {
  const [id, count] = receipt.split(':');
  return [Number(id), Number(count)];
};

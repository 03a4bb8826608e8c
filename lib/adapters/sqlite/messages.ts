import type { Clock } from '#ports/clock';
import { groupOf, type Outgoing, type QueueDepth, type Received, type Redrive } from '#ports/queues';
import type { BodiesAtRest } from './bodies-at-rest.ts';
import type { Database } from './database.ts';
import { type VisibleMessage, visibleMessages } from './fair-turns.ts';

/** The table of messages. Its writes run within the open transaction. */
export interface Messages {
  /** Stores a message that becomes visible after its delay. */
  add(message: Outgoing, now: number): void;
  /** Stores a message as received already, and returns it. */
  addReceived(message: Outgoing, now: number, visibilityMs: number): Received;
  /** Receives visible messages. Those with too many deliveries move to the dead-letter queue of the queue's redrive policy. */
  receive(queue: string, max: number, visibilityMs: number): Received[];
  /** Returns the time at which the next message becomes visible; null if the queue is empty. */
  nextVisibleAt(queue: string): number | null;
  remove(queue: string, receipt: string): void;
  showAgain(queue: string, receipt: string, visibleAt: number): void;
  depth(queue: string): QueueDepth;
}

export function messagesIn(
  database: Database,
  clock: Clock,
  redriveOf: (queue: string) => Redrive | undefined,
  bodies: BodiesAtRest,
): Messages {
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

  return {
    add: ({ queue, body, delayMs = 0, group = '' }, now) =>
      void insert.run(queue, now + delayMs, now, 0, bodies.stored(queue, body), group),

    addReceived({ queue, body, group = '' }, now, visibilityMs) {
      const { lastInsertRowid } = insert.run(queue, now + visibilityMs, now, 1, bodies.stored(queue, body), group);
      return receivedOf({ id: Number(lastInsertRowid), body, receiveCount: 0, sentAt: now, grp: group });
    },

    receive(queue, max, visibilityMs) {
      const now = clock.now();
      const redrive = redriveOf(queue);
      return visible(queue, now, max).flatMap((row) => {
        const { id, receiveCount } = row;
        if (redrive && receiveCount >= redrive.maxReceiveCount) {
          moveTo.run(redrive.deadLetterQueue, now, id);
          return [];
        }
        take.run(now + visibilityMs, id);
        return [receivedOf({ ...row, body: bodies.read(row.body) })];
      });
    },

    nextVisibleAt: (queue) => (selectNext.get(queue) as { at: number | null }).at,
    remove: (queue, receipt) => void remove.run(queue, ...partsOf(receipt)),
    showAgain: (queue, receipt, visibleAt) => void showAgain.run(visibleAt, queue, ...partsOf(receipt)),

    depth(queue) {
      const now = clock.now();
      const row = selectDepth.get(now, now, now, queue);
      const { oldest, ...counts } = row as { visible: number; inFlight: number; delayed: number; oldest: number | null };
      return { ...counts, oldestAgeMs: oldest === null ? 0 : Math.max(0, now - oldest) };
    },
  };
}

/** Returns a row as the message that this delivery hands over. */
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

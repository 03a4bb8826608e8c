import type { Database } from '#adapters/sqlite/database';
import { visibleMessages } from '#adapters/sqlite/fair-turns';
import type { Outgoing, Received } from '#ports/queues';
import type { Timeline } from '#testing/world/timeline';
import type { Chance } from '../simulation/random.ts';
import { Queues } from './queues.ts';

/**
 * The table of the embedded channel, with its own code for the order of delivery; only time is simulated. Messages are
 * not redriven.
 */
export class FairQueues extends Queues {
  private readonly time: Timeline;
  private readonly luck: Chance;
  private readonly database: Database;
  private readonly next: ReturnType<typeof visibleMessages>;

  constructor(timeline: Timeline, chance: Chance, database: Database) {
    super(timeline, chance);
    this.time = timeline;
    this.luck = chance;
    this.database = database;
    this.next = visibleMessages(database);
  }

  override send({ queue, body, delayMs = 0, group = '' }: Outgoing): void {
    const { now } = this.time;
    const afterMs = delayMs + this.luck.between(1, 20);
    this.sent.set(queue, (this.sent.get(queue) ?? 0) + 1);
    this.database
      .prepare('INSERT INTO messages (queue, visibleAt, sentAt, receiveCount, body, grp) VALUES (?, ?, ?, 0, ?, ?)')
      .run(queue, now + afterMs, now, body, group);
    this.lookAfter(queue, afterMs);
  }

  override receive(queue: string, max: number, visibilityMs: number): readonly Received[] {
    const { now } = this.time;
    const take = this.database.prepare('UPDATE messages SET visibleAt = ?, receiveCount = receiveCount + 1 WHERE id = ?');
    return this.next(queue, now, max).map(({ id, body, receiveCount, sentAt, grp }) => {
      take.run(now + visibilityMs, id);
      this.lookAfter(queue, visibilityMs);
      const [messageId, group] = [String(id), grp === '' ? {} : { group: grp }];
      return { messageId, body, receiveCount: receiveCount + 1, sentAt, senderId: 'local', receipt: messageId, ...group };
    });
  }

  override acknowledge(queue: string, ids: readonly string[]): void {
    const remove = this.database.prepare('DELETE FROM messages WHERE queue = ? AND id = ?');
    for (const id of ids) remove.run(queue, Number(id));
  }

  override release(queue: string, ids: readonly string[], afterMs: number): void {
    const show = this.database.prepare('UPDATE messages SET visibleAt = ? WHERE queue = ? AND id = ?');
    for (const id of ids) show.run(this.time.now + afterMs, queue, Number(id));
    this.lookAfter(queue, afterMs);
  }

  private lookAfter(queue: string, afterMs: number): void {
    this.time.after(afterMs, `visible ${queue}`, () => this.onVisible(queue));
  }
}

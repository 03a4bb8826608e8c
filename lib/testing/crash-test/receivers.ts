import type { Embedded } from '#adapters/sqlite/open';
import type { Queues, Received } from '#ports/queues';
import type { Timeline } from '#testing/world/timeline';
import type { Host } from './host.ts';

export type ReceiveOptions = Parameters<Queues['receive']>[1];

interface Parked extends ReceiveOptions {
  readonly host: Host;
  readonly resolve: (messages: readonly Received[]) => void;
}

interface Surroundings {
  readonly timeline: Timeline;
  readonly embedded: Embedded;
  /** Runs a receive call on behalf of a host. */
  receive(host: Host, queue: string, apply: () => Promise<readonly Received[]>): Promise<readonly Received[]>;
}

/** The receivers of all queues. They wait without polling, until a message is visible. */
export class Receivers {
  private readonly around: Surroundings;
  private readonly parked = new Map<string, Parked[]>();
  private readonly receiving = new Set<string>();
  private readonly wakeUps = new Set<string>();

  constructor(around: Surroundings) {
    this.around = around;
  }

  wait(host: Host, queue: string, options: ReceiveOptions): Promise<readonly Received[]> {
    return new Promise((resolve) => {
      const list = this.parked.get(queue) ?? [];
      this.parked.set(queue, list);
      list.push({ ...options, host, resolve });
    });
  }

  /** Forgets all receivers: every process has died. */
  clear(): void {
    this.parked.clear();
    this.receiving.clear();
  }

  /** Delivers visible messages to waiting receivers. */
  pump(): void {
    const { embedded, timeline } = this.around;
    const rows = embedded.database.prepare('SELECT queue, min(visibleAt) AS at FROM messages GROUP BY queue').all() as {
      queue: string;
      at: number;
    }[];
    for (const { queue, at } of rows) {
      if (this.receiving.has(queue) || !this.parked.get(queue)?.length) continue;
      if (at <= timeline.now) this.deliver(queue);
      else this.wakeUpAt(queue, at);
    }
  }

  private wakeUpAt(queue: string, at: number): void {
    const { timeline } = this.around;
    const key = `${queue} ${at}`;
    if (this.wakeUps.has(key)) return;
    this.wakeUps.add(key);
    // The main loop delivers after each event, so this event only clears the mark.
    timeline.after(at - timeline.now, `visible ${queue}`, () => void this.wakeUps.delete(key));
  }

  private deliver(queue: string): void {
    const waiter = this.parked.get(queue)?.shift();
    if (!waiter) return;
    const { embedded, receive } = this.around;
    const { host, resolve, ...options } = waiter;
    this.receiving.add(queue);
    void receive(host, queue, () => embedded.queues.receive(queue, { ...options, waitMs: 0 })).then((messages) => {
      this.receiving.delete(queue);
      if (messages.length > 0) resolve(messages);
      else this.parked.get(queue)?.unshift(waiter);
    });
  }
}

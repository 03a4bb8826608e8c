import type { Outgoing, QueueDepth, Received } from '#ports/queues';
import type { Timeline } from '#testing/world/timeline';
import type { Chance } from '../simulation/random.ts';

interface Message {
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  readonly sentAt: number;
  receiveCount: number;
  visibleAt: number;
}

/** Queues like those of SQS, without faults: delays, visibility, no order, dead letters. */
export class Queues {
  readonly sent = new Map<string, number>();
  onVisible: (queue: string) => void = () => {};
  private readonly timeline: Timeline;
  private readonly chance: Chance;
  private readonly messages = new Map<string, Map<string, Message>>();
  /** Ids of visible messages, by queue. */
  private readonly visible = new Map<string, string[]>();
  private ids = 0;

  constructor(timeline: Timeline, chance: Chance) {
    this.timeline = timeline;
    this.chance = chance;
  }

  send({ queue, body, delayMs = 0 }: Outgoing): void {
    const { now } = this.timeline;
    const message: Message = { id: `m${++this.ids}`, queue, body, sentAt: now, receiveCount: 0, visibleAt: now };
    this.in(queue).set(message.id, message);
    this.sent.set(queue, (this.sent.get(queue) ?? 0) + 1);
    this.show(message, delayMs + this.chance.between(1, 20));
  }

  /** Returns up to the given number of visible messages. */
  receive(queue: string, max: number, visibilityMs: number, maxReceiveCount: number): readonly Received[] {
    const ready = this.visible.get(queue) ?? [];
    const received: Received[] = [];
    while (received.length < max && ready.length > 0) {
      const message = this.in(queue).get(this.takeOne(ready));
      if (!message || message.visibleAt > this.timeline.now) continue;
      if (message.receiveCount >= maxReceiveCount && !queue.endsWith('-dead')) {
        this.in(queue).delete(message.id);
        this.send({ queue: `${queue}-dead`, body: message.body });
        continue;
      }
      message.receiveCount += 1;
      this.show(message, visibilityMs);
      const { id, body, receiveCount, sentAt } = message;
      received.push({ messageId: id, body, receiveCount, sentAt, senderId: 'local', receipt: id });
    }
    return received;
  }

  acknowledge(queue: string, ids: readonly string[]): void {
    for (const id of ids) this.in(queue).delete(id);
  }

  release(queue: string, ids: readonly string[], afterMs: number): void {
    for (const id of ids) {
      const message = this.in(queue).get(id);
      if (message) this.show(message, afterMs);
    }
  }

  depth(queue: string): QueueDepth {
    const { now } = this.timeline;
    const list = [...this.in(queue).values()];
    const hidden = list.filter(({ visibleAt }) => visibleAt > now);
    const inFlight = hidden.filter(({ receiveCount }) => receiveCount > 0).length;
    // Like SQS, it does not know ages.
    return { visible: list.length - hidden.length, inFlight, delayed: hidden.length - inFlight, oldestAgeMs: 0 };
  }

  bodies(queue: string): readonly string[] {
    return [...this.in(queue).values()].map(({ body }) => body);
  }

  get names(): readonly string[] {
    return [...this.messages.keys()];
  }

  private in(queue: string): Map<string, Message> {
    const messages = this.messages.get(queue) ?? new Map<string, Message>();
    this.messages.set(queue, messages);
    return messages;
  }

  private show(message: Message, afterMs: number): void {
    const { timeline } = this;
    const { id, queue } = message;
    message.visibleAt = timeline.now + afterMs;
    timeline.after(afterMs, `visible ${queue}`, () => {
      if (!this.in(queue).has(id) || message.visibleAt > timeline.now) return;
      this.visible.set(queue, [...(this.visible.get(queue) ?? []), id]);
      this.onVisible(queue);
    });
  }

  /** Mostly the oldest message, as in SQS; this is never promised. */
  private takeOne(ready: string[]): string {
    const at = this.chance.between(0, Math.min(ready.length, 20) - 1);
    const [id = ''] = ready.splice(at, 1);
    return id;
  }
}

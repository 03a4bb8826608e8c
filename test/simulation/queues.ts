import type { Outgoing, Received } from '../../lib/channel.ts';
import { queues as names } from '../../lib/messages.ts';
import type { SimulatedHost } from './host.ts';
import type { Sight } from './sight.ts';

interface Message {
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  readonly sentAt: number;
  receiveCount: number;
  visibleAt: number;
  gone: boolean;
}

const lateMaxMs = 45_000;
const copyMaxMs = 1_800_000;
/** What may be lost on its way: all that the system sends to itself. */
const mayBeLost = /-(requests|replies)$|^wake-ups$/;

/** It waits for a newer version of the program. */
const isPutBack = (body: string): boolean => body.startsWith('{"waitsSince"');

/**
 * Queues in the manner of SQS: at least once, in no order, perhaps twice, late, or never. What is received and not
 * acknowledged comes again after its visibility, until it goes to the dead letters.
 */
export class SimulatedQueues {
  private readonly sight: Sight;
  private readonly messages = new Map<string, Message[]>();
  private ids = 0;
  /** What became visible on a queue that has a function behind it. */
  onVisible: (queue: string) => void = () => {};

  constructor(sight: Sight) {
    this.sight = sight;
  }

  send(sent: readonly Outgoing[]): void {
    for (const message of sent) this.sendOne(message);
  }

  private sendOne({ queue, body, delayMs = 0 }: Outgoing): void {
    const { faults, chance } = this.sight;
    this.sight.saw({ type: 'sent', queue, body });
    // What means nothing here nobody would ask for again; whether it reaches a person is what must be seen.
    const isMissed = mayBeLost.test(queue) && !isPutBack(body);
    if (isMissed && faults.hits('message lost', queue)) return this.sight.tell(() => `a message to ${queue} is lost`);
    for (let copy = 1; copy === 1 || (copy <= 3 && faults.hits('message twice', queue)); copy++) {
      const late = faults.hits('message late', queue) ? chance.between(1000, lateMaxMs) : chance.between(1, 20);
      // A copy may also come when everything is over.
      const muchLater = copy > 1 && chance.happens(0.2) ? chance.between(60_000, copyMaxMs) : 0;
      this.put(queue, body, delayMs + late + muchLater);
    }
  }

  /** Without any of what may befall a message on its way. */
  put(queue: string, body: string, delayMs: number): void {
    const { now } = this.sight.timeline;
    const message = { id: `m${++this.ids}`, queue, body, sentAt: now, receiveCount: 0, visibleAt: now + delayMs, gone: false };
    const list = this.messages.get(queue) ?? [];
    this.messages.set(queue, [...list, message]);
    this.announce(message);
  }

  private announce(message: Message): void {
    const { timeline } = this.sight;
    timeline.after(message.visibleAt - timeline.now, `visible ${message.queue}`, () => {
      if (!message.gone && message.visibleAt <= timeline.now) this.onVisible(message.queue);
    });
  }

  /** Up to so many visible ones, in no order. */
  receive(queue: string, max: number, visibilityMs: number, maxReceiveCount: number): readonly Received[] {
    const { timeline, chance } = this.sight;
    const visible = (this.messages.get(queue) ?? []).filter(({ visibleAt }) => visibleAt <= timeline.now);
    const received: Received[] = [];
    while (received.length < max && visible.length > 0) {
      const [message] = visible.splice(chance.between(0, visible.length - 1), 1);
      if (!message) break;
      if (message.receiveCount >= maxReceiveCount && !queue.endsWith('-dead')) {
        this.remove(message);
        this.put(`${queue}-dead`, message.body, 0);
        continue;
      }
      message.receiveCount += 1;
      message.visibleAt = timeline.now + visibilityMs;
      this.announce(message);
      const { id, body, receiveCount, sentAt } = message;
      received.push({ messageId: id, body, receiveCount, sentAt, senderId: 'local', receipt: id });
    }
    return received;
  }

  acknowledge(queue: string, ids: readonly string[], host: SimulatedHost): void {
    if (this.sight.faults.hits('acknowledgement lost', queue)) return this.sight.tell(() => `${host.id} acknowledges ${queue} in vain`);
    for (const message of this.messages.get(queue) ?? []) if (ids.includes(message.id)) this.remove(message);
  }

  private remove(message: Message): void {
    message.gone = true;
    this.messages.set(
      message.queue,
      (this.messages.get(message.queue) ?? []).filter((each) => each !== message),
    );
  }

  /** Queues on which something lies, visible or not; what only waits for its time does not count. */
  occupied(): readonly string[] {
    const { now } = this.sight.timeline;
    return [...this.messages].flatMap(([queue, list]) =>
      list.some(({ receiveCount, visibleAt, body }) => receiveCount > 0 || visibleAt <= now || queue !== names.wakeUps || isPutBack(body))
        ? [queue]
        : [],
    );
  }
}

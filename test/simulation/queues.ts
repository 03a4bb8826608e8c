import { queueNames as names } from '#ports/messages';
import type { Outgoing, QueueDepth, Received } from '#ports/queues';
import type { Victim } from './faults.ts';
import { roleBehind, type SimulatedHost } from './host.ts';
import type { Chance } from './random.ts';
import type { Surroundings } from './surroundings.ts';

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
/** The number of old messages that may be found again. */
const oldMax = 60;
const oldDelayMaxMs = 600_000;
const copyMaxMs = 1_800_000;
const hourMs = 3_600_000;
export const daysLateMaxMs = 96 * hourMs;
/** The share of messages that come days late, in worlds with such messages. */
const daysLateShare = 0.12;
/** Returns the longest delay: a message that calls an order may arrive after its caller has stopped waiting. */
const longestOn = (queue: string, chance: Chance): number => (queue === names.calls && chance.happens(0.5) ? copyMaxMs : lateMaxMs);
/** Queues whose messages may be lost: all that the system sends to itself. */
const mayBeLost = /-(requests|replies)$|^wake-ups$/;

/** Whether the message waits for a newer version of the program. */
const isPutBack = (body: string): boolean => body.startsWith('{"waitsSince"');

/**
 * Queues with the guarantees of SQS: at-least-once delivery, in any order, with duplicates, delays and losses. An
 * unacknowledged message becomes visible again after its visibility timeout, and finally goes to the dead-letter queue.
 */
export class SimulatedQueues {
  private readonly around: Surroundings;
  private readonly messages = new Map<string, Message[]>();
  /** Recently sent messages, whether or not they arrived. */
  private readonly old: Outgoing[] = [];
  private ids = 0;
  /** A separate random sequence, in worlds with messages that come hours or days late, or whose copies do. */
  daysLate: Chance | undefined;
  /** In worlds whose orders share objects: whether the next message about an undone write is lost. */
  losesNews: (() => boolean) | undefined;
  /** Called when a message becomes visible on a queue with a consumer. */
  onVisible: (queue: string) => void = () => {};

  constructor(around: Surroundings) {
    this.around = around;
  }

  send(sent: readonly Outgoing[]): void {
    for (const message of sent) this.sendOne(message);
  }

  private sendOne(message: Outgoing): void {
    const { queue, body, delayMs = 0 } = message;
    const { faults, chance } = this.around;
    this.around.record({ type: 'sent', queue, body, delayMs });
    this.remember(message);
    const victim = () => this.victimOn(queue, body);
    // No sender repeats a message that no role understands yet (`isPutBack`). It is never lost: the laws check that it reaches a person.
    const isMissed = mayBeLost.test(queue) && !isPutBack(body);
    if (isMissed && !faults.over && !faults.calm && this.daysLate?.happens(daysLateShare)) this.putDaysLate(queue, body, this.daysLate);
    if (isMissed && (faults.hits('message lost', queue, victim) || this.isLostNews(queue, body, victim)))
      return this.around.narrate(() => `a message to ${queue} is lost`);
    for (let copy = 1; copy === 1 || (copy <= 3 && faults.hits('message twice', queue, victim)); copy++) {
      const late = faults.hits('message late', queue, victim) ? chance.between(1000, longestOn(queue, chance)) : chance.between(1, 20);
      // A copy may also arrive long after its order has ended.
      const muchLater = copy > 1 && chance.happens(0.2) ? chance.between(60_000, copyMaxMs) : 0;
      this.put(queue, body, delayMs + late + muchLater);
    }
  }

  private isLostNews(queue: string, body: string, victim: () => Victim): boolean {
    const { faults } = this.around;
    if (!this.losesNews || faults.calm || !body.includes('"inconsistency":') || !this.losesNews()) return false;
    faults.lands('message lost', queue, victim());
    this.around.carriedOut('emitted lost message about an undone write');
    return true;
  }

  /** Delivers one more copy, possibly after the end of the order. If the original is lost, this copy is the only one. */
  private putDaysLate(queue: string, body: string, chance: Chance): void {
    this.around.carriedOut('emitted message days late');
    this.put(queue, body, chance.between(hourMs, daysLateMaxMs));
  }

  /** Returns the role that consumes a message, and the order that the message concerns. */
  victimOn(queue: string, body: string | undefined): Victim {
    const [orderId] = /ord_[A-Za-z0-9_-]+/.exec(body ?? '') ?? [];
    return { role: queue.startsWith('redress-response-') ? 'client' : roleBehind(queue), orderId };
  }

  private remember(message: Outgoing): void {
    if (!mayBeLost.test(message.queue)) return;
    this.old.push(message);
    if (this.old.length > oldMax) this.old.shift();
  }

  /** Removes all messages of one queue. */
  purge(): void {
    const { faults, chance } = this.around;
    const full = this.internal().filter((queue) => (this.messages.get(queue) ?? []).length > 0);
    if (full.length === 0) return;
    this.empty(chance.pick(full), (queue, body) => faults.lands('queue purged', queue, this.victimOn(queue, body)));
  }

  /** Removes all messages that the system has sent to itself, beyond recovery. */
  purgeAll(): void {
    for (const queue of this.internal()) this.empty(queue);
    this.old.length = 0;
  }

  private internal(): readonly string[] {
    return [...this.messages.keys()].filter((queue) => mayBeLost.test(queue));
  }

  private empty(queue: string, each?: (queue: string, body: string) => void): void {
    this.around.narrate(() => `all that lies on ${queue} is gone`);
    for (const message of this.messages.get(queue) ?? []) {
      each?.(queue, message.body);
      this.around.record({ type: 'purged', body: message.body });
      message.gone = true;
    }
    this.messages.set(queue, []);
  }

  /** An operator finds an old message in the dead-letter queue, and redrives it. */
  repeatOld(): void {
    const { faults, chance } = this.around;
    if (this.old.length === 0) return;
    const { queue, body } = chance.pick(this.old);
    faults.lands('old message again', queue, this.victimOn(queue, body));
    this.put(queue, body, chance.between(0, oldDelayMaxMs));
  }

  /** Adds the message without any fault on its way. */
  put(queue: string, body: string, delayMs: number): void {
    const { now } = this.around.timeline;
    const message = { id: `m${++this.ids}`, queue, body, sentAt: now, receiveCount: 0, visibleAt: now + delayMs, gone: false };
    const list = this.messages.get(queue) ?? [];
    list.push(message);
    this.messages.set(queue, list);
    this.announce(message);
  }

  private announce(message: Message): void {
    const { timeline } = this.around;
    timeline.after(message.visibleAt - timeline.now, `visible ${message.queue}`, () => {
      if (!message.gone && message.visibleAt <= timeline.now) this.onVisible(message.queue);
    });
  }

  /** Returns at most `max` visible messages, in random order. */
  receive(queue: string, max: number, visibilityMs: number, maxReceiveCount: number): readonly Received[] {
    const { timeline, chance } = this.around;
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
      received.push({ messageId: id, body, receiveCount, sentAt, senderId: 'local', receipt: `${id}/${receiveCount}` });
    }
    return received;
  }

  acknowledge(queue: string, ids: readonly string[], host: SimulatedHost): void {
    const { faults } = this.around;
    for (const message of this.messages.get(queue) ?? []) {
      if (!ids.includes(message.id)) continue;
      if (faults.hits('acknowledgement lost', queue, () => this.victimOn(queue, message.body))) {
        this.around.narrate(() => `${host.id} acknowledges ${message.id} of ${queue} in vain`);
        continue;
      }
      this.remove(message);
      this.around.record({ type: 'acknowledged', queue, messageId: message.id, body: message.body });
    }
  }

  /** Changes the visibility; the receipt of an earlier delivery has no effect. */
  release(queue: string, receipts: readonly string[], afterMs: number): void {
    for (const message of this.messages.get(queue) ?? []) {
      if (!receipts.includes(`${message.id}/${message.receiveCount}`)) continue;
      message.visibleAt = this.around.timeline.now + afterMs;
      this.announce(message);
    }
  }

  depth(queue: string): QueueDepth {
    const { now } = this.around.timeline;
    const list = this.messages.get(queue) ?? [];
    const hidden = list.filter(({ visibleAt }) => visibleAt > now);
    const inFlight = hidden.filter(({ receiveCount }) => receiveCount > 0).length;
    const oldestAgeMs = Math.max(0, ...list.map(({ sentAt }) => now - sentAt));
    return { visible: list.length - hidden.length, inFlight, delayed: hidden.length - inFlight, oldestAgeMs };
  }

  private remove(message: Message): void {
    message.gone = true;
    this.messages.set(
      message.queue,
      (this.messages.get(message.queue) ?? []).filter((each) => each !== message),
    );
  }

  /** Returns the queues with messages, visible or not. Wake-ups for a later time do not count. */
  occupied(): readonly string[] {
    const { now } = this.around.timeline;
    return [...this.messages].flatMap(([queue, list]) =>
      list.some(({ receiveCount, visibleAt, body }) => receiveCount > 0 || visibleAt <= now || queue !== names.wakeUps || isPutBack(body))
        ? [queue]
        : [],
    );
  }
}

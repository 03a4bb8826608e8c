import { PermanentFailure, UnprocessableMessage } from 'redress';
import type { OwnFailureCount } from '#authoring/consumer';
import { collections, type Document } from '#ports/documents';
import { queueNames as names } from '#ports/messages';
import { openChannel } from '#roles/channels/operate';
import type { ChannelState } from '#roles/channels/state';
import type { Observation } from '#testing/world/observation';
import { batchAtWork } from './at-work.ts';
import type { Clients, Reach } from './clients.ts';
import { type ConsumerBody, type Handlers, manners, messageTypes, shortLived } from './consumer-app.ts';
import { type Site, Unavailable } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import { type Chance, isIn, restoredIn } from './random.ts';
import type { Surroundings } from './surroundings.ts';

const theme = 17;
/** The number of bursts for each consumer, the number of messages in a burst, and the time until the last burst. */
const bursts = [3, 6] as const;
const burst = [1, 9] as const;
const brokenBurst = 7;
const sentWithinMs = 150_000;
/** Conversations with good messages only. A message without a conversation is one by itself. */
const conversations = ['one', 'two', 'three'];
/** The share of bad messages outside these conversations; of them, the malformed and the deadly ones. Of all messages, some come twice. */
const badShare = 0.6;
const malformedShare = 0.15;
const deadlyShare = 0.2;
const twiceShare = 0.15;
/** The time that a handler takes, in milliseconds: less than the two seconds for which a message of a failed batch runs alone. */
const handledInMs = [1, 1200] as const;
const earlyMs = [5_000, 90_000] as const;
const looksEveryMs = 5_000;
const opensAfterMs = [0, 60_000] as const;
const canaryShare = 0.7;

/** Returns the random sequence of a world with consumers; undefined if it has none. A restored table would lose their counts. */
export const consumersIn = (seed: number): Chance | undefined => (restoredIn(seed) ? undefined : isIn(seed, theme));

/** The services behind the handlers of consumers, the senders of their messages, and the operators of their channels. */
export class ConsumerDesk {
  private readonly around: Surroundings;
  private readonly chance: Chance;
  /** The time from which each early message can be handled, by its id. */
  private readonly ready = new Map<string, number>();
  /** Bursts of messages that are still to come. */
  private bursts = 0;
  private readonly counts = new Map<string, OwnFailureCount>();

  constructor(around: Surroundings, chance: Chance) {
    this.around = around;
    this.chance = chance;
  }

  handlersOn(host: SimulatedHost): Handlers {
    const site: Site = { name: 'service receipts.counts', faults: ['throttled', 'answer lost'] };
    return {
      handled: (consumer, body, { messageId }) => this.handle(host, consumer, body, messageId),
      counts: {
        read: (conversation) => host.call(site, () => this.counts.get(conversation)),
        write: (conversation, count, loadedRev) => host.call(site, () => this.writes(conversation, count, loadedRev)),
      },
    };
  }

  private writes(conversation: string, count: OwnFailureCount | undefined, loadedRev: number): boolean {
    if ((this.counts.get(conversation)?.rev ?? 0) !== loadedRev) return false;
    if (count) this.counts.set(conversation, count);
    else this.counts.delete(conversation);
    this.around.record({ type: 'failures counted', channel: 'receipts', conversation, failures: count?.failures ?? 0 });
    return true;
  }

  private async handle(host: SimulatedHost, consumer: string, { id, does }: ConsumerBody, messageId: string): Promise<void> {
    const { faults, timeline } = this.around;
    const batch = batchAtWork() ?? '';
    const tell = (step: 'began' | 'handled' | 'failed' | 'outage' | 'killed') =>
      this.around.record({ type: 'handler', queue: names.messages(consumer), messageId, batch, step });
    tell('began');
    if (does === 'deadly' && !faults.over) {
      tell('killed');
      this.around.carriedOut('emitted process killed by a message');
      host.crash(`at the message ${id}`);
    }
    await host.call(
      { name: `service ${consumer}.handle`, faults: [] },
      () => {
        const isDown = faults.isDown('service is down', consumer, { now: timeline.now });
        if (isDown || faults.hits('service fails', `${consumer}.handle`)) {
          tell('outage');
          throw new Unavailable(`The books of ${consumer} do not answer.`);
        }
        const wrong = this.wrongWith(id, does);
        tell(wrong ? 'failed' : 'handled');
        if (wrong) throw wrong;
      },
      { latencyMs: this.chance.between(...handledInMs) },
    );
  }

  /** Returns the error that the content of a message causes; undefined if the message can be handled. */
  private wrongWith(id: string, does: ConsumerBody['does']): Error | undefined {
    if (does === 'never') return new PermanentFailure('NoSuchThing', `${id} is about nothing.`);
    if (does === 'poison' || (does === 'early' && this.around.timeline.now < (this.ready.get(id) ?? 0)))
      return new UnprocessableMessage(`${id} cannot be handled.`);
    return does === 'bug' ? new TypeError(`Cannot read properties of undefined (reading '${id}')`) : undefined;
  }

  /** Sends messages to all consumers, and has operators open their channels. */
  play(reach: Reach, clients: Clients): void {
    this.around.carriedOut('emitted worlds with consumers');
    for (const consumer of Object.keys(messageTypes)) {
      let number = 0;
      for (let times = this.chance.between(...bursts); times > 0; times--) {
        this.bursts += 1;
        this.around.timeline.after(this.chance.between(0, sentWithinMs), `a program sends to ${consumer}`, () => {
          this.bursts -= 1;
          for (let size = this.chance.between(...burst); size > 0; size--) this.send(reach, consumer, `${consumer}-${++number}`);
        });
      }
      // The program breaks once: all its messages are bad, so the channel is closed.
      this.bursts += 1;
      this.around.timeline.after(this.chance.between(0, sentWithinMs), `a broken program sends to ${consumer}`, () => {
        this.bursts -= 1;
        for (let size = consumer === 'levels' ? brokenBurst : 0; size > 0; size--)
          this.send(reach, consumer, `${consumer}-${++number}`, 'poison');
      });
      this.look(reach, clients, consumer);
    }
  }

  /** Sends one message, and sometimes the same once more. A conversation is good as a whole, or has bad messages too. */
  private send({ queues }: Reach, consumer: string, id: string, broken?: ConsumerBody['does']): void {
    const { chance, around } = this;
    const queue = names.messages(consumer);
    const conversation = broken === undefined ? chance.pick([...conversations, 'mixed', 'none']) : 'none';
    const isBad = broken !== undefined || (!conversations.includes(conversation) && chance.happens(badShare));
    const type = chance.pick(messageTypes[consumer] ?? []);
    const does = broken ?? (isBad ? this.badManner(consumer) : 'good');
    if (does === 'early') this.ready.set(id, around.timeline.now + chance.between(...earlyMs));
    const message = { v: 1, type, ...(conversation === 'none' ? {} : { conversation }), body: { id, does } };
    const isMalformed = isBad && broken === undefined && chance.happens(malformedShare);
    const body = isMalformed ? this.malformed(message) : JSON.stringify(message);
    if (isMalformed) around.faults.lands('poison', queue, { role: 'consumer' });
    const isShortLived = shortLived.some((each) => body.includes(`"type":"${each}"`));
    around.record({ type: 'entrusted', queue, body, isGood: does === 'good', isShortLived });
    for (let copy = chance.happens(twiceShare) ? 2 : 1; copy > 0; copy--) queues.send([{ queue, body }]);
  }

  /** Returns the effect of a bad message on its handler. Only two of the consumers get messages that end the process. */
  private badManner(consumer: string): ConsumerBody['does'] {
    const isDeadly = (consumer === 'reports' || consumer === 'statuses') && this.chance.happens(deadlyShare);
    return isDeadly ? 'deadly' : this.chance.pick(manners.filter((each) => each !== 'good' && each !== 'deadly'));
  }

  private malformed(message: { readonly body: { readonly id: string } }): string {
    const { id } = message.body;
    return this.chance.pick([
      `nothing ${id}`,
      JSON.stringify({ ...message, type: `no-type-${id}` }),
      JSON.stringify({ ...message, body: { id, does: 7 } }),
      JSON.stringify({ ...message, body: id }),
    ]);
  }

  /** An operator looks at the channel of a consumer, and opens it some time after the engine has closed it. */
  private look(reach: Reach, clients: Clients, consumer: string, opensAt?: number): void {
    const { timeline } = this.around;
    timeline.after(looksEveryMs, `an operator looks at ${consumer}`, () => {
      const isClosed = reach.shared.channels.closedForMs(consumer) !== undefined;
      const at = isClosed ? (opensAt ?? timeline.now + this.chance.between(...opensAfterMs)) : undefined;
      const isDue = at !== undefined && timeline.now >= at;
      if (isDue) this.open(clients, consumer);
      // No more messages will come, so the channel cannot close again, and the operator stops looking.
      if (this.bursts === 0 && !reach.queues.occupied().includes(names.messages(consumer))) return;
      this.look(reach, clients, consumer, isDue ? undefined : at);
    });
  }

  private open(clients: Clients, consumer: string): void {
    const canary = this.chance.happens(canaryShare);
    const reason = canary ? withCanary : 'it is well';
    clients.persist('operator', `open ${consumer}`, async ({ system: { store, clock } }) => {
      const { outcome } = await openChannel(consumer, { by: 'operator', reason, now: clock.now(), canary }, store);
      this.around.carriedOut(`emitted consumer opened${canary ? ' with a canary' : ''}: ${outcome}`);
      return true;
    });
  }
}

/** The reason by which a world recognizes an opening with a canary. */
const withCanary = 'one message first';

/** Returns how a document changes the channel of a consumer; undefined for all other documents. */
export function consumerTurnedBy({ collection, content }: Document): Extract<Observation, { type: 'consumer turned' }> | undefined {
  const channel = Object.keys(messageTypes).find((each) => collection === collections.channel(each));
  if (channel === undefined) return undefined;
  const { state, at, reason } = content as unknown as ChannelState;
  return { type: 'consumer turned', channel, state, at, reason, isCanary: reason === withCanary };
}

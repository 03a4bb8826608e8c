import { type App, defineAgent, defineApp, defineWorkflow, fault, operation, PermanentFailure, retry, sequence } from 'redress';
import * as z from 'zod';
import { collections } from '#ports/documents';
import type { Announcement, Publisher } from '#ports/event-bus';
import { queueNames as names } from '#ports/messages';
import { announcedAs, type StateRecord } from '#ports/records';
import { decodeInstance, type JournalEntry } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { registerClient } from '#testing/world/register-client';
import { Deployment } from './deployment.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const outageMs = 24 * hourMs;
const periodMs = 5000;
/**
 * The longest wait of an outbox: it is checked each minute, then a supervisor must find it, and a scheduler must send
 * it.
 */
const heardWithinMs = 60_000 + 2 * periodMs;
const orderCount = 16;

/** State of a client's response queue: good, deleted, denying access, or back soon. */
const channels = ['well', 'gone', 'denied', 'away'] as const;
type Fate = (typeof channels)[number];
const channelOf = (fate: Fate): string => `redress-response-${fate}`;

/** One world in which no message reached the outside for a day. */
export interface Unheard {
  readonly seed: number;
  /** Violations, in words. */
  readonly wrong: readonly string[];
  readonly orders: number;
  readonly finished: number;
  /** Alerts raised during the outage. */
  readonly raised: number;
  readonly heard: number;
  /** Alerts received more than once, under the same id with the same text. */
  readonly heardTwice: number;
  readonly undeliverable: number;
  readonly latestMs: number;
  readonly writes: number;
}

interface Heard {
  readonly texts: Set<string>;
  times: number;
  firstAt: number;
}

/** Orders arrive while the bus refuses everything for a day, and clients' queues are gone or deny access. */
export class UnheardWorld {
  private readonly seed: number;
  private readonly deployment: Deployment;
  private readonly heard = new Map<string, Heard>();
  private readonly orders: { readonly orderId: string; readonly fate: Fate }[] = [];
  private readonly deafFrom: number;
  private readonly awayUntil: number;
  private refused = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.deployment = new Deployment({
      seed,
      app: (deployment) => appFor(deployment),
      hosts: 2,
      supervisorPeriodMs: periodMs,
      publisher: this.publisher(),
      takes: ({ queue }) => this.takes(queue),
    });
    const { chance } = this.deployment;
    this.deafFrom = chance.between(1, 5) * minuteMs;
    this.awayUntil = this.deafFrom + chance.between(1, 12) * minuteMs;
  }

  async run(): Promise<Unheard> {
    const { deployment } = this;
    for (const fate of channels)
      await registerClient(deployment.store, { id: fate, responseChannels: [channelOf(fate)], senders: ['local'] });
    for (let number = 1; number <= orderCount; number++) this.submitLater(number);
    this.poisonLater();
    await deployment.runUntil(this.deafUntil + heardWithinMs);
    const found = await this.judge();
    await deployment.close();
    return found;
  }

  private get deafUntil(): number {
    return this.deafFrom + outageMs;
  }

  private isDeaf(): boolean {
    const { now } = this.deployment;
    return now >= this.deafFrom && now < this.deafUntil;
  }

  /** The bus refuses the whole call, or answers and accepts no entry: both happen. */
  private publisher(): Publisher {
    return {
      publish: async (announcements) => {
        const { chance } = this.deployment;
        await this.deployment.sleep(chance.between(5, 40));
        if (this.isDeaf()) {
          this.refused += 1;
          if (chance.happens(0.5)) throw new Error('The bus is down.');
          return { failed: announcements.map(({ id }) => id) };
        }
        const failed = announcements.filter(() => chance.happens(0.05)).map(({ id }) => id);
        for (const each of announcements) if (!failed.includes(each.id)) this.hear(each);
        return { failed };
      },
    };
  }

  private hear({ id, detail }: Announcement): void {
    const heard = this.heard.get(id) ?? { texts: new Set(), times: 0, firstAt: this.deployment.now };
    heard.times += 1;
    heard.texts.add(JSON.stringify(detail));
    this.heard.set(id, heard);
  }

  private takes(queue: string): void {
    if (queue === channelOf('gone') && this.deployment.now >= this.deafFrom) throw new Error('There is no such queue.');
    if (queue === channelOf('denied') && this.isDeaf()) throw new Error('Access denied.');
    const isAway = this.isDeaf() && this.deployment.now < this.awayUntil;
    if (queue === channelOf('away') && isAway) throw new Error('The queue is throttled.');
  }

  private submitLater(number: number): void {
    const { deployment, orders } = this;
    const fate = channels[number % channels.length] ?? 'well';
    // Some orders arrive before the outage, so that they end during it; most in its first hours, one near its end.
    const at = number === orderCount ? this.deafUntil - hourMs : deployment.chance.between(0, 4 * hourMs);
    deployment.timeline.after(at, 'a client submits', () => {
      const given = { client: fate, responseChannel: channelOf(fate), idempotencyKey: `order-${number}`, order: {} };
      void deployment.anyHost.submit(given).then((answer) => {
        if (answer.outcome === 'accepted') orders.push({ orderId: answer.order.orderId, fate });
      });
    });
  }

  private poisonLater(): void {
    const { timeline, queues } = this.deployment;
    for (const queue of [names.wakeUps, names.requests('bank')])
      timeline.after(this.deafFrom + hourMs, 'poison', () => queues.send({ queue, body: `nonsense for ${queue}` }));
  }

  private async deadLetter(): Promise<number> {
    const { store } = this.deployment.anyHost;
    const found = await Promise.all(['wake-ups', 'bank'].map((name) => store.documents(collections.deadLetters(name), undefined, 10)));
    return found.flat().length;
  }

  private async judge(): Promise<Unheard> {
    const wrong: string[] = [];
    let raised = 0;
    let finished = 0;
    let undeliverable = 0;
    for (const { orderId, fate } of this.orders) {
      const found = await this.loaded(orderId);
      const ids = alertsOf(found);
      raised += ids.length;
      wrong.push(...ids.filter((id) => !this.heard.has(id)).map((id) => `${id} was raised, and nobody heard of it`));
      if (found.state.processState === 'Processed') finished += 1;
      const given = found.journal.some(({ type }) => type === 'ResponseUndeliverable');
      if (given) undeliverable += 1;
      wrong.push(...this.wrongOf(orderId, fate, found, given));
    }
    for (const [id, { texts }] of this.heard)
      if (id.startsWith('ord_') && texts.size > 1) wrong.push(`${id} was told with different texts`);
    const deadLetter = await this.deadLetter();
    if (deadLetter !== 2) wrong.push(`${deadLetter} instead of 2 messages that mean nothing were dead-lettered`);
    const poison = [...this.heard.values()].filter(({ texts }) => [...texts].some((text) => text.includes('PoisonMessage')));
    if (poison.length !== 2) wrong.push(`a person was told of ${poison.length} of 2 messages that mean nothing`);
    if (this.orders.length !== orderCount) wrong.push(`${this.orders.length} of ${orderCount} orders were accepted`);
    const late = [...this.heard.values()].map(({ firstAt }) => firstAt - this.deafUntil).filter((ms) => ms > 0);
    return {
      seed: this.seed,
      wrong,
      orders: this.orders.length,
      finished,
      raised,
      heard: this.heard.size,
      heardTwice: [...this.heard.values()].filter(({ times }) => times > 1).length,
      undeliverable,
      latestMs: Math.max(0, ...late),
      writes: this.deployment.writes,
    };
  }

  private wrongOf(orderId: string, fate: Fate, { state, journal }: Found, given: boolean): readonly string[] {
    const { processState, outbox } = state;
    const notified = this.deployment.queues
      .bodies(channelOf(fate))
      .map((body) => JSON.parse(body) as { orderId: string; seq: number; status: string })
      .filter((message) => message.orderId === orderId);
    const numbers = new Set(notified.map(({ seq }) => seq));
    const statuses = new Map(notified.map(({ seq, status }) => [seq, status]));
    const unreachable = fate === 'gone' || fate === 'denied';
    const stuck = journal.some((fact) => fact.type === 'UndoFailed' && fact.stuck);
    const last = journal.findLast(({ type }) => type === 'OrderProcessed' || type === 'OrderBlocked');
    return [
      ...(last || stuck ? [] : [`${orderId} has come to nothing`]),
      ...(processState === 'Pending' || processState === 'Processing' ? [] : outbox.map(({ id }) => `${id} still lies in the outbox`)),
      ...(unreachable || numbers.size === state.statusSeq
        ? []
        : [`${orderId} told ${fate} ${numbers.size} things instead of ${state.statusSeq}`]),
      ...(notified.every(({ seq, status }) => statuses.get(seq) === status) ? [] : [`${orderId} says two things under one number`]),
      ...(unreachable && numbers.size < state.statusSeq && !given
        ? [`${orderId} could not tell ${fate}, and its journal does not say so`]
        : []),
      ...(given && !this.isNotified(channelOf(fate)) ? [`nobody was told that ${channelOf(fate)} cannot be reached`] : []),
      ...(given && !unreachable ? [`${orderId} gave ${fate} up`] : []),
    ];
  }

  private isNotified(channel: string): boolean {
    return [...this.heard.values()].some(({ texts }) =>
      [...texts].some((text) => text.includes('ResponseUndeliverable') && text.includes(channel)),
    );
  }

  private async loaded(orderId: string): Promise<Found> {
    const found = this.deployment.store.load(orderId);
    let state: StateRecord | undefined;
    void found.then((loaded) => {
      state = loaded?.state;
    });
    while (!state) await this.deployment.timeline.step();
    return { state, journal: wholeJournal(await this.deployment.store.pages(orderId), decodeInstance(state).tail) };
  }
}

interface Found {
  readonly state: StateRecord;
  readonly journal: readonly JournalEntry[];
}

/** Ids of all alerts that one order required. */
const alertsOf = ({ state, journal }: Found): readonly string[] => [
  ...Array.from({ length: state.errorGen }, (_, index) => [
    `${announcedAs(state)}#${index + 1}`,
    `${announcedAs(state)}#${index + 1}/terminated`,
  ]).flat(),
  ...journal.flatMap((fact) =>
    fact.type === 'UndoFailed' && fact.stuck ? [`${announcedAs(state)}/stuck/${fact.path}/${fact.attemptId}`] : [],
  ),
];

const Refused = fault('Refused');
const AddressInvalid = fault('AddressInvalid');

/** Each order completes, is refused and undone, has an undo that is stuck, or ends blocked. */
function appFor({ chance }: Deployment): App {
  const Nothing = z.object({});
  const refunded = new Map<string, number>();
  const bank = defineAgent('bank', {
    charge: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
    refund: operation({
      input: Nothing,
      output: Nothing,
      run: (_, { orderId }) => {
        const times = (refunded.get(orderId) ?? 0) + 1;
        refunded.set(orderId, times);
        if (chance.happens(0.7) && times < 4) throw new PermanentFailure('Closed', 'The bank takes no refunds now.');
        return {};
      },
    }),
  });
  const carrier = defineAgent('carrier', {
    ship: operation({
      input: Nothing,
      output: Nothing,
      faults: [Refused, AddressInvalid],
      run: (_, { failed }) => {
        if (chance.happens(0.3)) return failed(Refused, 'Not there.');
        return chance.happens(0.4) ? failed(AddressInvalid, 'There is no such street.') : {};
      },
    }),
  });
  const sale = defineWorkflow('sale', { version: 1, order: Nothing, toOperator: [AddressInvalid] }, () =>
    sequence(
      bank.charge({}).undo(() => bank.refund({})),
      retry(carrier.ship({}), { retries: 0, intervalSeconds: 1 }),
    ).on(Refused, ({ compensate }) => compensate()),
  );
  return defineApp({ workflows: [sale], agents: [bank, carrier] });
}

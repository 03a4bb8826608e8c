import { type App, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { collections } from '#ports/documents';
import { queueNames } from '#ports/messages';
import type { StateHead } from '#ports/records';
import { channelOf } from '#roles/channels/policy';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import { orderIdOf } from '#roles/submission/submission';
import { registerClient } from '#testing/world/register-client';
import { Deployment } from '../../overload/deployment.ts';
import { agent, clients, corpus, jsonIn, kindNames, type Malformed } from './corpus.ts';

export interface FloodOptions {
  readonly seed: number;
  readonly orders: number;
  readonly malformed: number;
}

/** The results of healthy orders mixed with malformed messages. Times are simulated milliseconds. */
export interface Flooded {
  /** Violations in words, a few of each kind at most. */
  readonly wrong: readonly string[];
  readonly completed: number;
  readonly deadLetter: number;
  readonly dropped: number;
  /** Invocations that ended with an exception. */
  readonly crashes: number;
  /** The time that orders take. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
  /** Number of malformed messages by kind. */
  readonly kinds: { readonly [kind: string]: number };
}

const minuteMs = 60_000;
const startsMs = 1000;
/** Orders per second. */
const rate = 10;
/** The end of the run: messages of a newer version wait an hour before they become dead letters. */
const overMs = 100 * minuteMs;

/** A load of orders by message at a steady rate, with malformed messages on every queue in between. */
export class Flood {
  private readonly options: FloodOptions;
  private readonly deployment: Deployment;
  private readonly messages: readonly Malformed[];
  private readonly submittedAt = new Map<string, number>();
  private readonly tookMs = new Map<string, number>();

  constructor(options: FloodOptions) {
    const { seed, malformed } = options;
    this.options = options;
    this.messages = malformed > 0 ? corpus(malformed, seed) : [];
    this.deployment = new Deployment({
      seed,
      app: appOn,
      hosts: 3,
      supervisorPeriodMs: 5000,
      variables: { DEFAULT_WORKFLOW: 'sale' },
      onWritten: (state) => this.written(state),
    });
  }

  async run(): Promise<Flooded> {
    const { deployment } = this;
    await registerClient(deployment.store, { id: clients.known, senders: ['local'], responseChannels: [] });
    const forMs = (1000 * this.options.orders) / rate;
    for (let index = 0; index < this.options.orders; index++) this.orderComes(index, startsMs + (index * 1000) / rate);
    for (const [index, { queue, body }] of this.messages.entries())
      deployment.timeline.after(startsMs + Math.floor((index * forMs) / this.messages.length), 'nonsense', () =>
        deployment.queues.send({ queue, body }),
      );
    await deployment.runUntil(startsMs + forMs + overMs);
    const flooded = await this.judge();
    await deployment.close();
    return flooded;
  }

  private orderComes(index: number, afterMs: number): void {
    const { timeline, queues: all } = this.deployment;
    timeline.after(afterMs, 'an order comes', () => {
      const idempotencyKey = `order-${index}`;
      this.submittedAt.set(orderIdOf(clients.known, idempotencyKey), timeline.now);
      const body = JSON.stringify({ v: 1, type: 'submission', idempotencyKey, client: clients.known, workflow: 'sale', order: {} });
      all.send({ queue: queueNames.submissions, body });
    });
  }

  private written({ orderId, processState }: StateHead): void {
    const submittedAt = this.submittedAt.get(orderId);
    if (submittedAt === undefined || processState !== 'Processed') return;
    this.tookMs.set(orderId, this.deployment.clock.now() - submittedAt);
  }

  private async judge(): Promise<Flooded> {
    const kept = await this.deadLetter();
    const lost = this.messages.filter((message) => !isDropped(message) && !takeOne(kept, asItCame(message.body)));
    const left = [...kept.entries()].filter(([, count]) => count > 0);
    const took = [...this.tookMs.values()].toSorted((a, b) => a - b);
    const wrong = [
      ...lost.slice(0, 5).map(({ kind, queue, body }) => `${kind} on ${queue} is nowhere to be found: ${body.slice(0, 200)}`),
      ...left.slice(0, 5).map(([body, count]) => `${count} too many were dead-lettered: ${body.slice(0, 200)}`),
      ...(took.length < this.options.orders ? [`${took.length} of ${this.options.orders} orders were completed`] : []),
      ...(this.deployment.crashes > 0 ? [`functions ended with exceptions ${this.deployment.crashes} times`] : []),
    ];
    const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? 0;
    return {
      wrong,
      completed: took.length,
      deadLetter: this.messages.length - this.messages.filter(isDropped).length - lost.length,
      dropped: this.messages.filter(isDropped).length,
      crashes: this.deployment.crashes,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      slowestMs: took.at(-1) ?? 0,
      kinds: Object.fromEntries(kindNames.map((name) => [name, this.messages.filter(({ kind }) => kind === name).length])),
    };
  }

  /** Returns how often each text was dead-lettered. */
  private async deadLetter(): Promise<Map<string, number>> {
    const channels = [...new Set([agent, queueNames.submissions, queueNames.wakeUps].map(channelOf))];
    const found = await Promise.all(
      channels.map((channel) =>
        this.deployment.store.documents(collections.deadLetters(channel), undefined, 10 * this.messages.length + 10),
      ),
    );
    const texts = found.flat().map((document) => asItCame(deadLetterIn(document).body));
    return new Map([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
  }
}

/** A malformed heartbeat is dropped. One of a newer version waits for that version, and then becomes a dead letter. */
function isDropped({ body }: Malformed): boolean {
  const { type, v } = (jsonIn(body) ?? {}) as { readonly type?: unknown; readonly v?: unknown };
  return type === 'heartbeat' && !(Number.isSafeInteger(v) && Number(v) > 1);
}

function takeOne(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count > 0) counts.set(text, count - 1);
  return count > 0;
}

/** Removes the note that a message carries after waiting for a newer version of the program. */
const asItCame = (body: string): string => body.replace(/^\{"waitsSince":"[^"]*",/, '{');

function appOn({ chance, sleep }: Deployment): App {
  const Nothing = z.object({});
  const soon = operation({
    input: Nothing,
    output: Nothing,
    run: async (_, { signal }) => {
      await sleep(chance.between(20, 200), signal);
      return {};
    },
  });
  const bank = defineAgent(agent, { charge: soon, note: soon });
  const sale = defineWorkflow('sale', { version: 1, order: Nothing }, () => sequence(bank.charge({}).noUndo(), bank.note({}).noUndo()));
  return defineApp({ workflows: [sale], agents: [bank] });
}

import type { App } from 'redress';
import type { JsonObject } from '#core/data/json';
import type { Announcement } from '#ports/event-bus';
import { type QueueSource, topologyOf } from '#runtime/topology';
import type { Observation } from '#testing/world/observation';
import { registerClient } from '#testing/world/register-client';
import { Timeline } from '#testing/world/timeline';
import { Faults, profileFrom } from '../../simulation/faults.ts';
import { SimulatedHost } from '../../simulation/host.ts';
import { portsOf, Shared } from '../../simulation/ports.ts';
import { SimulatedQueues } from '../../simulation/queues.ts';
import { type Chance, chanceOf } from '../../simulation/random.ts';
import type { Surroundings } from '../../simulation/surroundings.ts';
import type { OpenPlace, Place, Played } from '../place.ts';
import { staffed } from '../shop.ts';

const periodMs = 2000;

/** The ports and hosts of the simulation, without any random faults. */
export const openSimulatedPlace: OpenPlace = async (played) => {
  const place = new SimulatedPlace(played);
  await place.open();
  return place;
};

const noRandom: Chance = {
  next: () => 0,
  happens: () => false,
  between: (least) => least,
  pick: (list) => list[0] as (typeof list)[number],
};

class SimulatedPlace implements Place, Surroundings {
  readonly timeline = new Timeline(Date.UTC(2026, 0, 1));
  readonly chance = noRandom;
  readonly faults = new Faults(profileFrom(chanceOf(1)), noRandom, () => 'none');
  private readonly queues = new SimulatedQueues(this);
  private readonly shared: Shared;
  private readonly played: Played;
  private readonly sources: ReadonlyMap<string, QueueSource>;
  private readonly sent: { readonly queue: string; readonly body: string }[] = [];
  private readonly published: Announcement[] = [];
  private host: SimulatedHost | undefined;
  private lives = 0;

  constructor(played: Played) {
    this.played = played;
    this.faults.over = true;
    this.shared = new Shared(this, this.queues, false);
    const specs = topologyOf(played.app);
    this.sources = new Map(specs.flatMap(({ sources }) => sources.map((source) => [source.queue, source] as const)));
    this.queues.onVisible = (queue) => this.deliver(queue);
  }

  async open(): Promise<void> {
    await registerClient(this.shared.store, { id: 'client', responseChannels: [this.played.responses], senders: ['local'] });
    await this.start();
  }

  get store() {
    return this.shared.store;
  }

  get system() {
    if (!this.host) throw new Error('No host is alive.');
    return this.host.system;
  }

  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.timeline.after(ms, 'the scenario goes on', () => void (isOver = true));
    while (!isOver) await this.timeline.step();
  }

  async send(queue: string, body: string): Promise<void> {
    this.queues.put(queue, body, 0);
  }

  crash(): void {
    this.host?.crash('because the scenario says so');
    this.host = undefined;
  }

  async start(app: App = this.played.app): Promise<void> {
    const { services, mail, variables } = this.played;
    const host: SimulatedHost = new SimulatedHost(
      `host-${++this.lives}`,
      this,
      (itself) => ({ ...mail.around(portsOf(itself, this.shared, this.queues, this)), remote: services.remoteFor(this.clockOf(itself)) }),
      {
        variables: { DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '', ...variables },
        release: 'old',
        functions: topologyOf(this.played.app),
        isCutOff: false,
        onCrash: () => undefined,
        app: (remote) => staffed(app, remote),
      },
    );
    this.host = host;
    this.supervise(host, 'supervisor', 0);
    this.supervise(host, 'sweeper', 3_600_000);
  }

  /** Its services answer in its time, and not after a crash. */
  private clockOf = (host: SimulatedHost) => ({
    sleep: (ms: number): Promise<void> =>
      new Promise((resolve) => this.timeline.after(ms, `a service answers ${host.id}`, () => (host.isDead ? undefined : resolve()))),
  });

  private supervise(host: SimulatedHost, name: 'supervisor' | 'sweeper', afterMs: number): void {
    this.timeline.after(afterMs, `${host.id} ${name}`, () => {
      if (host.isDead) return;
      const next = () => this.supervise(host, name, name === 'sweeper' ? 3_600_000 : periodMs);
      host.supervise(name, { task: name === 'sweeper' ? 'sweep' : 'pass' }).then(next, next);
    });
  }

  private deliver(queue: string): void {
    const source = this.sources.get(queue);
    if (!source) return;
    const { host } = this;
    if (!host) return this.timeline.after(500, `${queue} waits for a host`, () => this.deliver(queue));
    const messages = this.queues.receive(queue, source.batchSize, source.visibilityMs, source.maxReceiveCount);
    if (messages.length === 0) return;
    const acknowledge = (processed: readonly string[]) => this.queues.acknowledge(queue, processed, host);
    host.handle(source, messages).then(acknowledge, () => undefined);
    this.timeline.after(1, `more on ${queue}`, () => this.deliver(queue));
  }

  record(observation: Observation): void {
    if (observation.type === 'sent') this.sent.push(observation);
    if (observation.type === 'published') this.published.push(observation.announcement);
  }

  carriedOut(): void {
    // No call is cut off in the middle here.
  }

  narrate(): void {
    // There are no listeners: its history is printed at the end.
  }

  async bodies(queue: string): Promise<readonly JsonObject[]> {
    return this.sent.filter((sent) => sent.queue === queue).map(({ body }) => JSON.parse(body) as JsonObject);
  }

  announced(): readonly Announcement[] {
    return this.published;
  }

  async close(): Promise<void> {
    this.crash();
    await this.shared.database.close();
  }
}

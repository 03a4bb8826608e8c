import { keysInMemory } from '#adapters/sqlite/keys';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import type { Definitions } from '#ports/definitions';
import type { Received } from '#ports/queues';
import type { Config } from '#runtime/config';
import type { CreateFunction } from '#runtime/function';
import { redriveIn, topologyOf } from '#runtime/topology';
import { Judge } from '#testing/laws/judge';
import { Answers } from '#testing/rehearse/answers';
import { Channels } from '#testing/world/channels';
import { History } from '#testing/world/history';
import { lookAt } from '#testing/world/look';
import type { Observation } from '#testing/world/observation';
import { PortObserver } from '#testing/world/port-observer';
import { registerClient } from '#testing/world/register-client';
import { Timeline } from '#testing/world/timeline';
import { answeringCalls } from './calls.ts';
import { Clients } from './clients.ts';
import { Crashes } from './crashes.ts';
import { type Ending, endingOf, isAtRest } from './end-state.ts';
import { Host, type Surroundings as HostSurroundings, type Loaded } from './host.ts';
import { labelOf, type Standing, standingIn } from './labels.ts';
import { currentOrigin } from './origin.ts';
import type { Crash, Point } from './points.ts';
import { Receivers } from './receivers.ts';
import { clientName, responseQueue, type Scenario, senderId } from './scenario.ts';
import { Schedules } from './schedules.ts';
import { Services } from './services.ts';
import { settingOf } from './setting.ts';

const startAt = Date.UTC(2026, 0, 1);
/** The number of events after which an order counts as never coming to rest. */
const eventsMax = 20_000;
/** Whether calls of this origin are polls, which go on even if nothing has happened. */
const isBackground = (who: string): boolean => who === 'supervisor' || who === 'sweeper' || who === 'host';

/** The result of one order in one run. */
export interface Run {
  readonly ending: Ending;
  /** The crashes that happened. A requested crash is missing if no call with its number came. */
  readonly crashed: readonly Point[];
  readonly points: readonly Point[];
  /** The sites of all calls: `store.update`. */
  readonly reached: ReadonlySet<string>;
  readonly standing: Standing;
  /** Violations, as text. Empty if everything held. */
  readonly broken: readonly string[];
  readonly story: readonly string[];
  readonly tookMs: number;
}

/** One order in virtual time on the real functions and the embedded store, with one process that crashes on demand. */
export class World implements HostSurroundings {
  readonly scenario: Scenario;
  readonly timeline = new Timeline(startAt);
  readonly channels = new Channels(this.timeline);
  readonly embedded: Embedded;
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
  readonly config: Config;
  readonly services: Services;
  readonly writesAndSendsAtomically: boolean;
  private readonly history: History;
  private readonly judge: Judge;
  private readonly observer = new PortObserver(this);
  private readonly clients: Clients;
  private readonly crashes: Crashes;
  readonly receivers: Receivers;
  private readonly schedules: Schedules;
  /** Violations by operations of the user. */
  private readonly broken: string[] = [];
  private readonly story: string[] = [];
  private readonly written = new Set<string>();
  private host: Host | undefined;
  private hosts = 0;
  private failure: unknown;
  private readonly counters;

  constructor(scenario: Scenario, { functions, definitions, config }: Loaded, crashes: readonly Crash[]) {
    const { app, rules, real, writesAndSendsAtomically } = scenario;
    const { timeline } = this;
    this.scenario = scenario;
    this.writesAndSendsAtomically = writesAndSendsAtomically;
    this.crashes = new Crashes(crashes);
    const redriveOf = redriveIn(topologyOf(app));
    const embeddedClock = { now: () => timeline.now, sleep: () => new Promise<void>(() => {}) };
    const keys = keysInMemory(embeddedClock, 'the same for every run');
    const embedded = openEmbedded(':memory:', { clock: embeddedClock, keys, redriveOf, writesAndSendsAtomically });
    this.embedded = embedded;
    this.definitions = definitions;
    this.config = config;
    const history = new History({ definitions, responseQueue });
    this.history = history;
    this.judge = new Judge(
      history,
      settingOf(scenario, config, {
        now: () => timeline.now,
        closedForMs: (agent) => this.channels.closedForMs(agent),
      }),
    );
    const answers = new Answers(rules);
    const { record } = this;
    const broken = (what: string) => void this.broken.push(what);
    const fail = (error: unknown) => void (this.failure ??= error);
    this.services = new Services({ answers, real, history, record, broken, fail });
    this.clients = new Clients({
      timeline,
      scenario,
      answers,
      history,
      record,
      host: () => (this.host?.isDead === false ? this.host : undefined),
      post: (queue, body) => embedded.database.write(() => embedded.queues.sendWithin([{ queue, body }])),
      narrate: (line) => this.narrate(line),
      fail,
    });
    this.receivers = new Receivers({
      timeline,
      embedded,
      receive: async (host, queue, apply) => {
        const made = { site: 'queues.receive', args: [], apply, about: queue, latencyMs: 1 };
        const received = (await this.call(host, made)) as readonly Received[];
        for (const { body } of received) this.services.hears(body);
        return received;
      },
    });
    this.schedules = new Schedules({ timeline, embedded, heads: () => [...history.orders.values()].map(({ state }) => state) });
    const children = functions.get('children');
    const stubbed = children && answeringCalls(children, answers, (orderId) => labelOf(orderId, history));
    this.functions = stubbed ? new Map(functions).set('children', stubbed) : functions;
    this.counters = embedded.database.prepare('SELECT total_changes() AS changes');
  }

  async play(): Promise<Run> {
    try {
      await registerClient(this.embedded.store, { id: clientName, responseChannels: [responseQueue], senders: [senderId] });
      await this.start();
      this.clients.begin();
      const rested = await this.untilRest();
      return await this.result(rested);
    } finally {
      await this.embedded.database.close();
    }
  }

  private async untilRest(): Promise<boolean> {
    const { timeline, history, embedded, receivers, schedules } = this;
    const queues = new Set(topologyOf(this.scenario.app).flatMap(({ sources }) => sources.map(({ queue }) => queue)));
    for (let changes = -1; timeline.events < eventsMax; ) {
      receivers.pump();
      if (timeline.isEmpty) return false;
      await timeline.step();
      if (this.failure !== undefined) throw this.failure;
      const now = this.changes();
      if (now !== changes) {
        this.lookAtWritten();
        schedules.planAfterChange();
      }
      changes = now;
      if (this.isQuiet() && isAtRest(history, embedded, { queues, now: timeline.now })) return true;
    }
    return false;
  }

  private lookAtWritten(): void {
    for (const orderId of this.written) {
      const order = this.history.orders.get(orderId);
      if (!order) continue;
      const { rev, processState, outcome, nextDueFor } = order.state;
      const due = nextDueFor ? `, next: ${nextDueFor.kind} ${nextDueFor.path ?? ''}` : '';
      this.narrate(`  ${labelOf(orderId, this.history)}order: rev ${rev}, ${processState}${outcome ? ` ${outcome}` : ''}${due}`);
      this.clients.look(order);
    }
    this.written.clear();
  }

  private changes(): number {
    return (this.counters.get() as { changes: number }).changes + this.services.done;
  }

  private isQuiet(): boolean {
    return this.host?.isDead === false && this.host.open === 0 && !this.schedules.isRunning && this.clients.waiting === 0;
  }

  private async start(): Promise<void> {
    const host = new Host(`host-${++this.hosts}`, this);
    await host.start();
    this.host = host;
    this.narrate(`${host.id} starts`);
    this.schedules.begin(host);
  }

  private kill(host: Host, how: string): void {
    if (host.isDead) return;
    this.narrate(`${host.id} crashes ${how}`);
    host.isDead = true;
    this.receivers.clear();
    this.timeline.after(this.scenario.downMs, 'a process starts', () => this.start());
  }

  call(host: Host, made: Parameters<HostSurroundings['call']>[1]): Promise<unknown> {
    const who = currentOrigin()?.name ?? 'host';
    const where = `${who}: ${made.site}${made.about === '' ? '' : ` (${made.about})`}`;
    host.open += 1;
    this.observer.made(made);
    return new Promise((resolve, reject) => {
      this.timeline.after(made.latencyMs, where, async () => {
        if (host.isDead) return;
        const point = this.crashes.pass(made.site, where, isBackground(who) ? `${where} ${this.changes()}` : undefined);
        const position = this.crashes.at(point);
        if (position === 'before') return this.kill(host, `before ${where}`);
        let answer: () => void;
        try {
          const value = await made.apply();
          this.observer.applied(made, value);
          answer = () => resolve(value);
        } catch (error) {
          answer = () => reject(error);
        }
        if (!where.includes(': store.due')) this.narrate(`${host.id} ${where}`);
        if (position === 'applied') return this.kill(host, `after the effect, before the answer of ${where}`);
        host.open -= 1;
        answer();
        if (position === 'after') this.timeline.after(0, `${host.id} crashes`, () => this.kill(host, `after the answer of ${where}`));
      });
    });
  }

  readonly record = (observation: Observation): void => {
    this.judge.take(observation);
    if (observation.type === 'written') this.written.add(observation.after.orderId);
  };

  private narrate(line: string): void {
    this.story.push(`${((this.timeline.now - startAt) / 1000).toFixed(3).padStart(10)} ${line}`);
  }

  private async result(rested: boolean): Promise<Run> {
    const { history, judge, crashes, story } = this;
    const ending = endingOf(history, this.clients.orderId, rested);
    for (const orderId of history.orders.keys()) {
      history.pages.set(orderId, await this.embedded.store.pages(orderId));
      const looked = await lookAt(this.embedded.store, orderId, this.definitions);
      if (looked) this.record(looked);
    }
    if (rested) judge.judgeEnd();
    const broken = [...this.broken, ...judge.broken];
    const { points, happened: crashed, reached } = crashes;
    return { ending, crashed, points, reached, standing: standingIn(history), broken, story, tookMs: this.timeline.now - startAt };
  }
}

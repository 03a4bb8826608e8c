import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import type { Definitions } from '#ports/definitions';
import type { CreateFunction } from '#runtime/function';
import { redriveIn, topologyOf } from '#runtime/topology';
import { Answers } from '#testing/rehearse/answers';
import { answeringCalls } from './calls.ts';
import { Outside } from './clients.ts';
import { type Ending, endingOf, isAtRest } from './end-state.ts';
import { History } from './history.ts';
import { Host, type Surroundings as HostSurroundings, type Loaded, type ReceiveOptions } from './host.ts';
import { caller } from './instrumented-ports.ts';
import { brokenLaws, type Standing, standingIn } from './laws.ts';
import type { Crash, Point } from './points.ts';
import { clientName, responseQueue, type Scenario, senderId } from './scenario.ts';
import { Services } from './services.ts';
import { Timeline } from './timeline.ts';

const startAt = Date.UTC(2026, 0, 1);
const eventsMax = 20_000;
const sweepMs = 3_600_000;
/** The callers that poll, whether anything happens or not. */
const isBackground = (who: string): boolean => who === 'supervisor' || who === 'sweeper' || who === 'host';

/** The result of one order in one run. */
export interface Run {
  readonly ending: Ending;
  /** The crashes that happened. A missing one has a number beyond the last call. */
  readonly crashed: readonly Point[];
  readonly points: readonly Point[];
  /** The names of all calls: `store.update`. */
  readonly reached: ReadonlySet<string>;
  readonly standing: Standing;
  /** Violations, as text. Empty if everything held. */
  readonly broken: readonly string[];
  readonly story: readonly string[];
  readonly tookMs: number;
}

interface Parked extends ReceiveOptions {
  readonly host: Host;
  readonly resolve: (messages: Awaited<ReturnType<Embedded['queues']['receive']>>) => void;
}

/** One order in virtual time on the real functions and the embedded store, with one process that crashes on demand. */
export class World implements HostSurroundings {
  readonly scenario: Scenario;
  readonly timeline = new Timeline(startAt);
  readonly embedded: Embedded;
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
  readonly services: Services;
  private readonly history: History;
  private readonly outside: Outside;
  private readonly answers: Answers;
  private readonly crashes: Crash[];
  private readonly points: Point[] = [];
  private readonly crashed: Point[] = [];
  private readonly reached = new Set<string>();
  private readonly broken: string[] = [];
  private readonly story: string[] = [];
  private readonly parked = new Map<string, Parked[]>();
  private readonly receiving = new Set<string>();
  private readonly seen = new Set<string>();
  private host: Host | undefined;
  private hosts = 0;
  private calls = 0;
  private failure: unknown;
  private supervising = false;
  private passAt = Number.POSITIVE_INFINITY;
  private readonly counters;

  constructor(scenario: Scenario, { functions, definitions }: Loaded, crashes: readonly Crash[]) {
    this.scenario = scenario;
    this.crashes = [...crashes];
    const { app, rules, real, writesAndSendsAtomically } = scenario;
    const redriveOf = redriveIn(topologyOf(app));
    const embeddedClock = { now: () => this.timeline.now, sleep: () => new Promise<void>(() => {}) };
    this.embedded = openEmbedded(':memory:', { clock: embeddedClock, redriveOf, writesAndSendsAtomically });
    this.definitions = definitions;
    this.history = new History(this.embedded, definitions);
    this.answers = new Answers(rules);
    const { answers, history } = this;
    const labelOf = (orderId: string) => history.orders.get(orderId)?.label ?? '';
    this.services = new Services({
      answers,
      real,
      labelOf,
      isComposite: (orderId, path) => history.isComposite(orderId, path),
      broken: (what) => void this.broken.push(what),
      fail: (error) => this.fail(error),
    });
    this.outside = new Outside({
      timeline: this.timeline,
      scenario,
      answers,
      host: () => (this.host?.isDead === false ? this.host : undefined),
      post: (queue, body) => this.embedded.database.write(() => this.embedded.queues.sendWithin([{ queue, body }])),
      tell: (line) => this.tell(line),
    });
    const children = functions.get('children');
    this.functions = children ? new Map(functions).set('children', answeringCalls(children, answers, labelOf)) : functions;
    this.counters = this.embedded.database.prepare('SELECT total_changes() AS changes');
  }

  async play(): Promise<Run> {
    try {
      await this.embedded.store.putClient({ id: clientName, responseChannels: [responseQueue], senders: [senderId] });
      await this.start();
      this.outside.begin();
      const rested = await this.untilRest();
      return await this.result(rested);
    } finally {
      await this.embedded.database.close();
    }
  }

  private async untilRest(): Promise<boolean> {
    const queues = new Set(topologyOf(this.scenario.app).flatMap(({ sources }) => sources.map(({ queue }) => queue)));
    for (let changes = -1; this.timeline.events < eventsMax; ) {
      this.pump();
      if (!(await this.timeline.step())) return false;
      if (this.failure !== undefined) throw this.failure;
      const now = this.changes();
      if (now !== changes) {
        for (const order of await this.history.look()) this.looked(order);
        this.planPass();
      }
      changes = now;
      if (this.isQuiet() && isAtRest(this.history, this.embedded, { queues, now: this.timeline.now })) return true;
    }
    return false;
  }

  private looked(order: Parameters<Outside['look']>[0]): void {
    const { rev, processState, outcome, nextDueFor } = order.state;
    const due = nextDueFor ? `, next: ${nextDueFor.kind} ${nextDueFor.path ?? ''}` : '';
    this.tell(`  ${order.label}order: rev ${rev}, ${processState}${outcome ? ` ${outcome}` : ''}${due}`);
    this.outside.look(order);
  }

  private changes(): number {
    return (this.counters.get() as { changes: number }).changes + this.services.done;
  }

  private isQuiet(): boolean {
    return this.host?.isDead === false && this.host.open === 0 && !this.supervising && this.outside.waiting === 0;
  }

  private async start(): Promise<void> {
    const host = new Host(`host-${++this.hosts}`, this);
    await host.start();
    this.host = host;
    this.tell(`${host.id} starts`);
    this.supervising = false;
    this.passAt = Number.POSITIVE_INFINITY;
    // Every host runs the supervisor at its start, to recover what the last process left.
    this.timeline.after(0, () => this.supervise(host, 'supervisor'));
    this.timeline.after(sweepMs, () => this.sweep(host));
  }

  private async kill(host: Host, how: string): Promise<void> {
    if (host.isDead) return;
    this.tell(`${host.id} crashes ${how}`);
    host.isDead = true;
    this.parked.clear();
    this.receiving.clear();
    this.timeline.after(this.scenario.downMs, () => this.start());
  }

  private supervise(host: Host, name: 'supervisor' | 'sweeper'): void {
    if (host.isDead) return;
    this.supervising = true;
    const ended = () => {
      if (host.isDead) return;
      this.supervising = false;
      this.planPass();
    };
    host.supervise(name, { task: name === 'sweeper' ? 'sweep' : 'pass' }).then(ended, ended);
  }

  private sweep(host: Host): void {
    if (host.isDead) return;
    if (!this.supervising) this.supervise(host, 'sweeper');
    this.timeline.after(sweepMs, () => this.sweep(host));
  }

  /** Plans the next supervisor pass that has work. Passes without work are left out. */
  private planPass(): void {
    const { host, supervising } = this;
    if (!host || host.isDead || supervising) return;
    const { at } = this.embedded.database.prepare("SELECT min(worklistAt) AS at FROM states WHERE worklist = 'due'").get() as {
      at: number | null;
    };
    const passAt = at === null ? Number.POSITIVE_INFINITY : Math.max(this.timeline.now + host.system.config.supervisorPeriodMs, at);
    if (passAt === this.passAt) return;
    this.passAt = passAt;
    if (at === null) return;
    this.timeline.after(passAt - this.timeline.now, () => {
      if (this.passAt !== passAt || host !== this.host || this.supervising) return;
      this.passAt = Number.POSITIVE_INFINITY;
      this.supervise(host, 'supervisor');
    });
  }

  /** Delivers visible messages to waiting receivers. */
  private pump(): void {
    const rows = this.embedded.database.prepare('SELECT queue, min(visibleAt) AS at FROM messages GROUP BY queue').all() as {
      queue: string;
      at: number;
    }[];
    for (const { queue, at } of rows) {
      if (this.receiving.has(queue) || !this.parked.get(queue)?.length) continue;
      if (at <= this.timeline.now) this.deliver(queue);
      else this.wakeUp(queue, at);
    }
  }

  private wakeUp(queue: string, at: number): void {
    const key = `${queue} ${at}`;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    // The main loop delivers after each event, so this event only clears the mark.
    this.timeline.after(at - this.timeline.now, () => void this.seen.delete(key));
  }

  private deliver(queue: string): void {
    const waiter = this.parked.get(queue)?.shift();
    if (!waiter) return;
    const { host, resolve, ...options } = waiter;
    this.receiving.add(queue);
    const apply = () => this.embedded.queues.receive(queue, { ...options, waitMs: 0 });
    void this.call(host, { site: 'queues.receive', args: [], apply, about: queue, latencyMs: 1 }).then((received) => {
      const messages = received as Awaited<ReturnType<typeof apply>>;
      this.receiving.delete(queue);
      for (const { body } of messages) this.services.hears(body);
      if (messages.length > 0) resolve(messages);
      else this.parked.get(queue)?.unshift(waiter);
    });
  }

  waits(host: Host, queue: string, options: ReceiveOptions): Promise<Awaited<ReturnType<Embedded['queues']['receive']>>> {
    return new Promise((resolve) => {
      const list = this.parked.get(queue) ?? [];
      this.parked.set(queue, list);
      list.push({ ...options, host, resolve });
    });
  }

  call(host: Host, made: Parameters<HostSurroundings['call']>[1]): Promise<unknown> {
    const who = caller.getStore() ?? 'host';
    const where = `${who}: ${made.site}${made.about === '' ? '' : ` (${made.about})`}`;
    host.open += 1;
    return new Promise((resolve, reject) => {
      this.timeline.after(made.latencyMs, async () => {
        if (host.isDead) return;
        const point = this.pass(who, made.site, where);
        const position = this.crashAt(point);
        if (position === 'before') return this.kill(host, `before ${where}`);
        let answer: () => void;
        try {
          const value = await made.apply();
          answer = () => resolve(value);
        } catch (error) {
          answer = () => reject(error);
        }
        if (!point.where.includes(': store.due')) this.tell(`${host.id} ${where}`);
        if (position === 'applied') return this.kill(host, `after the effect, before the answer of ${where}`);
        host.open -= 1;
        answer();
        if (position === 'after') this.timeline.after(0, () => this.kill(host, `after the answer of ${where}`));
      });
    });
  }

  /** Registers a call as a crash point. Polls of unchanged data count as one point. */
  private pass(who: string, site: string, where: string): Point {
    const point = { number: ++this.calls, site, where };
    this.reached.add(site);
    const look = isBackground(who) ? `${where} ${this.changes()}` : '';
    if (look === '' || !this.seen.has(look)) this.points.push(point);
    if (look !== '') this.seen.add(look);
    return point;
  }

  private crashAt(point: Point): Crash['position'] | undefined {
    const [crash] = this.crashes;
    if (crash?.number !== point.number) return undefined;
    this.crashes.shift();
    this.crashed.push(point);
    return crash.position;
  }

  fail(error: unknown): void {
    this.failure ??= error;
  }

  private tell(line: string): void {
    this.story.push(`${((this.timeline.now - startAt) / 1000).toFixed(3).padStart(10)} ${line}`);
  }

  private async result(rested: boolean): Promise<Run> {
    const { history, embedded, services, outside, points, crashed, reached, story, scenario } = this;
    const ending = endingOf(history, embedded, outside.orderId, rested);
    const broken = [
      ...this.broken,
      ...history.broken,
      ...(await history.checkKept()),
      ...brokenLaws({ history, embedded, effects: services.effects, signals: outside.signals, ending, poison: scenario.poison ?? [] }),
    ];
    const standing = standingIn(services.effects, history);
    return { ending, crashed, points, reached, standing, broken, story, tookMs: this.timeline.now - startAt };
  }
}

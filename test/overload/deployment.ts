import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { App } from 'redress';
import { type Database, openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import type { AnyOperation } from '#authoring/agent';
import type { Clock } from '#ports/clock';
import type { Publisher } from '#ports/event-bus';
import type { Outgoing, QueueDepth } from '#ports/queues';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { readConfig } from '#runtime/config';
import { queueEvent } from '#runtime/host/event-source';
import { createSystem, type System } from '#runtime/system';
import { type QueueSource, topologyOf } from '#runtime/topology';
import { Judge } from '#testing/laws/judge';
import type { Setting } from '#testing/laws/law';
import { ordinary } from '#testing/laws/ordinary';
import { Channels } from '#testing/world/channels';
import { History } from '#testing/world/history';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import type { Observation } from '#testing/world/observation';
import { PortObserver } from '#testing/world/port-observer';
import { Timeline } from '#testing/world/timeline';
import { type Chance, chanceOf } from '../simulation/random.ts';
import { functionsByFile } from '../support/functions.ts';
import { Queues } from './queues.ts';

export interface DeploymentOptions {
  readonly seed: number;
  readonly app: (deployment: Deployment) => App;
  readonly hosts: number;
  readonly supervisorPeriodMs: number;
  /** Batches at work at the same time, for each queue of an agent. Default: as on one machine. */
  readonly agentConcurrency?: number;
  readonly variables?: { readonly [name: string]: string };
  readonly publisher?: Publisher;
  /** Queues outside the model. */
  readonly queues?: (timeline: Timeline, chance: Chance, database: Database) => Queues;
  /** Throws if a queue outside the system refuses messages. */
  readonly takes?: (message: Outgoing) => void;
  /** Whether the laws of `lib/testing/laws` judge the run. */
  readonly isJudged?: boolean;
  /** Called with every state that was really stored. */
  readonly onWritten?: (state: StateHead) => void;
}

type Handle = (event: SQSEvent, invocation: object) => Promise<SQSBatchResponse | undefined>;

interface Host {
  readonly system: System;
  readonly handlers: ReadonlyMap<string, Handle>;
  readonly supervise: (task: object, invocation: object) => Promise<unknown>;
}

/** The methods of the store that take time. */
const latencyAt: { readonly [site: string]: 'write' | 'read' } = {
  'store.create': 'write',
  'store.update': 'write',
  'store.patch': 'write',
  'store.putPage': 'write',
  'store.putUndoPage': 'write',
  'store.recordIntent': 'write',
  'store.putBreaker': 'write',
  'store.putDocument': 'write',
  'store.removeDocument': 'write',
  'store.breaker': 'read',
  'store.document': 'read',
  'store.load': 'read',
  'store.head': 'read',
};

const startAt = Date.UTC(2026, 0, 1);

/**
 * The system as it runs on AWS, in virtual time: the real functions on the real embedded store, with some latency and
 * without sending in the write. Queues hand out a limited number of batches in parallel; supervisors run on a schedule.
 */
export class Deployment {
  readonly timeline = new Timeline(startAt);
  readonly chance: Chance;
  readonly queues: Queues;
  readonly store: Store;
  readonly clock: Clock;
  /** Number of writes to the store. */
  writes = 0;
  /** Runs of functions that ended with an exception. */
  crashes = 0;
  private readonly database: Database = openDatabase(':memory:');
  private readonly dueShards = this.database.prepare("SELECT DISTINCT shard FROM states WHERE worklist = 'due' AND worklistAt <= ?");
  private looked: { readonly at: number; readonly shards: ReadonlySet<number> } = { at: 0, shards: new Set() };
  private readonly hosts: readonly Host[];
  private readonly sources: ReadonlyMap<string, QueueSource>;
  private readonly atWork = new Map<string, number>();
  private readonly takes: (message: Outgoing) => void;
  private readonly onWritten: (state: StateHead) => void;
  private readonly isJudged: boolean;
  private readonly history: History;
  private readonly judge: Judge;
  readonly channels = new Channels(this.timeline);
  readonly writesAndSendsAtomically = false;
  private readonly observer = new PortObserver(this);
  private readonly invocation = { stopping: new AbortController().signal };

  constructor({
    seed,
    app: make,
    hosts,
    supervisorPeriodMs,
    agentConcurrency,
    variables = {},
    publisher = nobody,
    queues = (timeline, chance) => new Queues(timeline, chance),
    takes = () => {},
    onWritten = () => {},
    isJudged = false,
  }: DeploymentOptions) {
    this.chance = chanceOf(seed);
    this.queues = queues(this.timeline, this.chance, this.database);
    this.takes = takes;
    this.onWritten = onWritten;
    this.isJudged = isJudged;
    this.clock = { now: () => this.timeline.now, sleep: (ms, signal) => this.sleep(ms, signal) };
    this.store = this.slow(sqliteStore(this.database));
    const app = this.observed(make(this));
    this.history = new History({ definitions: loadDefinitions(app), responseQueue });
    this.judge = new Judge(this.history, this.settingOf(app, readConfig(variables)));
    const functions = topologyOf(app).map(({ file, sources }) => ({ sources, places: file === 'agent' ? agentConcurrency : undefined }));
    this.sources = new Map(
      functions.flatMap(({ sources, places }) =>
        sources.map((source) => [source.queue, { ...source, concurrency: places ?? source.concurrency }] as const),
      ),
    );
    const config = {
      DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '',
      LOG_LEVEL: 'off',
      OVERVIEW_PERIOD_SECONDS: '0',
      CLOCK_TOLERANCE_MS: '2000',
      ...variables,
    };
    this.hosts = Array.from({ length: hosts }, (_, index) => this.host(`host-${index}`, app, readConfig(config), publisher));
    this.queues.onVisible = (queue) => this.deliver(queue);
    for (const host of this.hosts) this.superviseFrom(host, this.chance.between(1, supervisorPeriodMs), supervisorPeriodMs);
  }

  /** The app, with the effects of its operations observed. */
  private observed({ agents, ...app }: App): App {
    const observing = (operation: string, { run, ...described }: AnyOperation): AnyOperation => ({
      ...described,
      run: async (input: never, call: never) => {
        const output: unknown = await run(input, call);
        const { idempotencyKey: key } = call as { readonly idempotencyKey: string };
        if (!this.history.effects.has(key)) this.record({ type: 'effect', operation, key });
        return output;
      },
    });
    const observedAgents = agents.map(({ name, operations }) => ({
      name,
      operations: Object.fromEntries(Object.entries(operations).map(([key, each]) => [key, observing(`${name}.${key}`, each)])),
    }));
    return { ...app, agents: observedAgents };
  }

  private settingOf({ agents }: App, config: ReturnType<typeof readConfig>): Setting {
    return {
      ...ordinary(agents),
      client: 'client',
      responseQueue,
      mayWait: false,
      toleranceMs: config.clockToleranceMs,
      now: () => this.timeline.now,
      maxFailures: config.maxFailures,
      claimsOnSubmit: config.claimOnSubmit,
      writesAndSendsAtomically: this.writesAndSendsAtomically,
      announcesProcessed: config.announceProcessed,
      closedForMs: (agent) => this.channels.closedForMs(agent),
      quietSince: () => undefined,
    };
  }

  get now(): number {
    return this.timeline.now - startAt;
  }

  get anyHost(): System {
    return this.chance.pick(this.hosts).system;
  }

  /** The sum of one counter over all hosts. */
  counted(metric: string): number {
    return this.hosts.reduce((sum, { system }) => sum + (system.telemetry.counts()[metric] ?? 0), 0);
  }

  async runUntil(ms: number, isOver: () => boolean = () => false): Promise<void> {
    while (this.now < ms && !isOver()) await this.timeline.step();
  }

  close = (): Promise<void> => this.database.close();

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
      this.timeline.after(Math.max(1, Math.ceil(ms)), 'somebody wakes', () => resolve());
    });

  private host(hostId: string, app: App, config: ReturnType<typeof readConfig>, publisher: Publisher): Host {
    const { store, clock } = this;
    const telemetry = createTelemetry({ level: 'off' });
    const rest = { telemetry, clock, issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } }, cursorKey: new Uint8Array(32) };
    const announcing = instrumented('publisher', publisher, (made) => this.applied(made));
    const system = createSystem(app, config, { store, queues: this.channel(), publisher: announcing, ...rest }, { hostId });
    const withChance = { ...system, random: () => this.chance.next() };
    const handlers = new Map<string, Handle>();
    let supervise: Host['supervise'] = async () => undefined;
    for (const { name, file, environment, sources } of topologyOf(app)) {
      const create = functionsByFile[file];
      if (!create) continue;
      const handler = create({ system: withChance, environment, accepting: () => true });
      if (name === 'supervisor') supervise = handler as Host['supervise'];
      for (const { queue } of sources) handlers.set(queue, handler as Handle);
    }
    return { system, handlers, supervise };
  }

  private channel(): System['queues'] {
    const notHere = (): never => {
      throw new Error('The deployment itself receives: no function does.');
    };
    const send = async (messages: readonly Outgoing[]): Promise<void> => {
      await this.latency();
      for (const message of messages) {
        this.takes(message);
        this.queues.send(message);
        this.record({ type: 'sent', queue: message.queue, body: message.body, delayMs: message.delayMs ?? 0 });
      }
    };
    const acknowledge = async (queue: string, receipts: readonly string[]): Promise<void> => {
      await this.latency();
      this.queues.acknowledge(queue, receipts);
    };
    const release = async (queue: string, receipts: readonly string[], afterMs: number): Promise<void> => {
      await this.latency();
      this.queues.release(queue, receipts, afterMs);
    };
    const depth = async (queue: string): Promise<QueueDepth> => {
      await this.latency();
      return this.queues.depth(queue);
    };
    return { send, receive: notHere, acknowledge, release, depth };
  }

  private latency = (): Promise<void> => this.sleep(this.chance.between(2, 12));

  private slow(store: Store): Store {
    const later = (made: PortCall): Promise<unknown> =>
      new Promise((resolve, reject) => {
        this.writes += latencyAt[made.site] === 'write' ? 1 : 0;
        this.timeline.after(this.chance.between(2, 12), 'the store', () => this.applied(made).then(resolve, reject));
      });
    return {
      ...instrumented('store', store, async (made) => (latencyAt[made.site] ? later(made) : made.apply())),
      // A pass queries sixteen times. Most passes find nothing, which one read shows.
      due: async (worklist, shard, ...range) => (this.isAnyDue(shard) ? store.due(worklist, shard, ...range) : []),
    };
  }

  private async applied(made: PortCall): Promise<unknown> {
    const answer = await made.apply();
    this.observer.applied(made, answer);
    return answer;
  }

  readonly record = (observation: Observation): void => {
    if (observation.type === 'written') this.onWritten(observation.after);
    if (this.isJudged) this.judge.take(observation);
  };

  /** Judges the run, and returns the violations of its laws. */
  async broken(): Promise<readonly string[]> {
    for (const orderId of this.history.orders.keys()) this.history.pages.set(orderId, await this.store.pages(orderId));
    this.judge.judgeEnd();
    return this.judge.broken;
  }

  private isAnyDue(shard: number): boolean {
    const { now } = this.timeline;
    if (this.looked.at !== now) {
      const rows = this.dueShards.all(now) as { shard: number }[];
      this.looked = { at: now, shards: new Set(rows.map((row) => row.shard)) };
    }
    return this.looked.shards.has(shard);
  }

  private superviseFrom(host: Host, afterMs: number, periodMs: number): void {
    this.timeline.after(afterMs, 'a supervisor looks', () => {
      const next = () => this.superviseFrom(host, periodMs, periodMs);
      host.supervise({ task: 'pass' }, this.invocation).then(next, next);
    });
  }

  /**
   * Works as an event source mapping does: a limited number of batches in parallel, each acknowledged when it is processed.
   */
  private deliver(queue: string): void {
    const source = this.sources.get(queue);
    const atWork = this.atWork.get(queue) ?? 0;
    if (!source || atWork >= source.concurrency) return;
    const messages = this.queues.receive(queue, source.batchSize, source.visibilityMs, source.maxReceiveCount);
    const handle = this.chance.pick(this.hosts).handlers.get(queue);
    if (messages.length === 0 || !handle) return;
    this.atWork.set(queue, atWork + 1);
    this.record({ type: 'delivered', queue, messages });
    const over = (processed: readonly string[]): void => {
      this.queues.acknowledge(queue, processed);
      for (const { messageId, body } of messages)
        if (processed.includes(messageId)) this.record({ type: 'acknowledged', queue, messageId, body });
      this.atWork.set(queue, (this.atWork.get(queue) ?? 1) - 1);
      this.deliver(queue);
    };
    handle(queueEvent(queue, messages), this.invocation).then(
      (response) => {
        const failed = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        over(messages.map(({ messageId }) => messageId).filter((id) => !failed.has(id)));
      },
      () => {
        this.crashes += 1;
        over([]);
      },
    );
    this.timeline.after(1, `more on ${queue}`, () => this.deliver(queue));
  }
}

/** The client of a deployment gets no messages. */
const responseQueue = 'redress-response-client';
const nobody: Publisher = { publish: async () => ({ failed: [] }) };

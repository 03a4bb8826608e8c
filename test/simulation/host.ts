import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { App } from 'redress';
import { hiddenMs } from '#ports/limits';
import { agentOfRequests, consumerOf } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import { loadDefinitions } from '#roles/definitions/load';
import { readConfig } from '#runtime/config';
import type { Invocation } from '#runtime/function';
import { queueEvent } from '#runtime/host/event-source';
import { createSystem, type Ports, type System } from '#runtime/system';
import { type BulkTask, type FunctionSpec, type NotifierTask, type QueueSource, type SupervisorTask, topologyOf } from '#runtime/topology';
import type { AgentEvent } from '#testing/world/agent-event';
import { AgentWatch, type WatchedProcess } from '#testing/world/agent-watch';
import { clockOf } from '#testing/world/clock';
import { failureOf, recordingTelemetry } from '#testing/world/telemetry';
import type { Timeline } from '#testing/world/timeline';
import { functionsByFile } from '../support/functions.ts';
import { appOn, loaded, type Release, type Remote } from './app.ts';
import { as, batchAtWork, inBatch, type Role, roleAtWork } from './at-work.ts';
import { type FaultKind, type Site, Unavailable, type Victim } from './faults.ts';
import { asTaken } from './stricter.ts';
import type { Surroundings } from './surroundings.ts';
import { CutOff } from './transactions.ts';

/** The longest pause of a host. */
export const standsStillMaxMs = 120_000;

/** All functions. Clients here do not call the HTTP function, but the code behind it: `system` of a host. */
export const topology: readonly FunctionSpec[] = topologyOf(appOn({} as Remote), { agents: 'together' });
export const sources: ReadonlyMap<string, QueueSource> = new Map(
  topology.flatMap(({ sources: all }) => all.map((source) => [source.queue, source] as const)),
);
/** The functions of orders alone, without those of consumers: only some worlds have these. */
export const functionsOfOrders: readonly FunctionSpec[] = topology.filter(({ file }) => file !== 'consumer');
const functionBehind: ReadonlyMap<string, FunctionSpec> = new Map(
  topology.flatMap((spec) => [[spec.name, spec] as const, ...spec.sources.map(({ queue }) => [queue, spec] as const)]),
);
/** Returns the visibility timeout of a queue: of a single machine, or of the AWS deployment. */
export const visibilityOf = (queue: string, isDeployed: boolean): number => {
  const spec = functionBehind.get(queue);
  return isDeployed && spec ? hiddenMs(spec) : (sources.get(queue)?.visibilityMs ?? 0);
};
/** Returns the role of the function that consumes this queue, or that a schedule starts under this name. */
export const roleBehind = (queue: string): Role | undefined => {
  const spec = functionBehind.get(queue);
  return spec && roleOf(spec);
};
const roleOf = ({ file, name }: FunctionSpec): Role => (file === 'supervisor' ? name : file) as Role;

/** The setup of one host. */
export interface HostOptions {
  readonly variables: { readonly [name: string]: string };
  readonly release: Release;
  /** The app that it runs instead of the default one, on the given services. */
  readonly app?: (remote: Remote) => App;
  /** Its functions: all of them, or a single one, as in Lambda. */
  readonly functions: readonly FunctionSpec[];
  /** Whether a run is cut off at its timeout. */
  readonly isCutOff: boolean;
  readonly onCrash: () => void;
}

/** Options of a call to a port or a service. */
export interface CallOptions {
  readonly latencyMs?: number;
  /** Returns the id of the order that the call concerns, if any. */
  readonly about?: (() => string | undefined) | undefined;
}

/** Carries out a call; `fault` is the fault that hits it. */
type Apply<T> = (fault?: FaultKind) => T | Promise<T>;

/** The longest duration of a shortened sweep. */
const shortSweepMs = 60;

/** The time between the warning to a run and its timeout. */
const marginMs = 1000;

/** One process with some functions. After a crash, its pending calls never return. */
export class SimulatedHost implements WatchedProcess {
  readonly id: string;
  readonly system: System;
  isDead = false;
  /** Whether it is shutting down: it starts no more work, and exits when its current work is done. */
  isLeaving = false;
  /** Whether a run on it was warned of its timeout. */
  isHurried = false;
  /** Milliseconds by which its clock is ahead of the world's. */
  skewMs = 0;
  /** Roles of the functions that are running. */
  readonly atWork: Role[] = [];
  /** Number of unanswered port calls. Service calls do not count, because agents abandon slow ones. */
  private open = 0;
  private readonly stoppings = new Set<AbortController>();
  private readonly timed = new Set<{ readonly spec: FunctionSpec; readonly endsAt: number }>();
  private frozenAt = 0;
  frozenUntil = 0;
  private batches = 0;
  readonly timeline: Timeline;
  readonly watch = new AgentWatch(this);
  private readonly around: Surroundings;
  private readonly options: HostOptions;
  private readonly handlers = new Map<string, (event: never, invocation: never) => unknown>();

  constructor(
    id: string,
    around: Surroundings,
    portsOf: (host: SimulatedHost) => Pick<Ports, 'store' | 'queues' | 'publisher' | 'keys' | 'sender'> & { readonly remote: Remote },
    options: HostOptions,
  ) {
    this.id = id;
    this.around = around;
    this.timeline = around.timeline;
    this.options = options;
    const { remote, ...ports } = portsOf(this);
    const rest = {
      telemetry: recordingTelemetry(around),
      issuer: noIssuer,
      cursorKey: new Uint8Array(32),
      clock: clockOf({ process: this, watch: this.watch, record: (observation) => around.record(observation) }),
    };
    const app = options.app?.(remote) ?? appOn(remote, options.release);
    const consumers = app.consumers ?? [];
    const config = readConfig({ DEFAULT_WORKFLOW: 'sale', LOG_LEVEL: 'off', OVERVIEW_PERIOD_SECONDS: '0', ...options.variables });
    // All hosts share the loaded definitions; each has its own services behind the operations.
    const definitions = options.app ? loadDefinitions(app) : { ...loaded[options.release], agents: app.agents, consumers };
    const emit = (event: string) => around.carriedOut(`emitted ${event}`);
    this.system = createSystem(app, config, { ...ports, ...rest }, { hostId: id, definitions, emit });
    const system = { ...this.system, random: () => around.chance.next() };
    for (const { name, file, environment, sources: all } of options.functions) {
      const create = functionsByFile[file];
      if (!create) continue;
      const handler = create({ system, environment, accepting: () => !this.isLeaving });
      for (const each of all.length > 0 ? all.map(({ queue }) => queue) : [name]) this.handlers.set(each, handler);
    }
  }

  get release(): Release {
    return this.options.release;
  }

  /** Returns the reason why it cannot continue an order; undefined if it can. */
  strangeTo(state: StateRecord): 'older process' | 'edited definition' | undefined {
    const { program, programOf } = loaded[this.options.release];
    if (programOf(state)) return undefined;
    return program(state.workflow.name, state.workflow.version) ? 'edited definition' : 'older process';
  }

  runs(name: string): boolean {
    return this.specOf(name) !== undefined;
  }

  private specOf(name: string): FunctionSpec | undefined {
    return this.options.functions.find((spec) => spec.name === name || spec.sources.some(({ queue }) => queue === name));
  }

  /** Sets its clock, to this difference from the world's. */
  jump(skewMs: number): void {
    const { timeline } = this.around;
    this.around.record({ type: 'clock jumps', host: this.id, from: timeline.now + this.skewMs, to: timeline.now + skewMs });
    this.skewMs = skewMs;
  }

  get isStopping(): boolean {
    return this.isLeaving || this.isHurried;
  }

  /** Records an event between an agent and its service. */
  record(agent: string, event: AgentEvent): void {
    this.around.record({ type: 'agent event', host: this.id, agent, now: this.around.timeline.now + this.skewMs, event });
  }

  /**
   * Calls a port or a service. `apply` runs there after a latency, and the answer returns or is lost. A call that a
   * host sent before its crash may still have its effect.
   */
  call<T>(site: Site, apply: Apply<T>, { latencyMs = this.around.chance.between(1, 12), about }: CallOptions = {}): Promise<T> {
    const { timeline } = this.around;
    const role = roleAtWork();
    const batch = batchAtWork();
    const victim = (): Victim => ({ role, orderId: about?.() });
    const counted = isPort(site) ? 1 : 0;
    this.open += counted;
    return new Promise((resolve, reject) => {
      const answered = {
        resolve: (answer: T) => {
          this.open -= counted;
          resolve(answer);
        },
        reject: (error: unknown) => {
          this.open -= counted;
          if (batch !== undefined && (isPort(site) || site.faults.length > 0))
            this.around.record({ type: 'call failed', batch, site: site.name });
          reject(error);
        },
      };
      const arrive = () => as(role, () => this.arrive(site, apply, { victim, ...answered }));
      timeline.after(latencyMs, `${this.id} ${site.name}`, arrive);
    });
  }

  private async arrive<T>(site: Site, apply: Apply<T>, caller: Caller<T>): Promise<void> {
    const { timeline, faults, chance } = this.around;
    const refuse = (why: string) => this.goOn(() => caller.reject(new Unavailable(`${site.name} ${why}`)));
    if (this.isDead && chance.happens(0.5)) return;
    const fault = this.isDead ? undefined : faults.at(site, caller.victim);
    if (fault === 'crash before') return this.crash(`before ${site.name}`);
    if (fault === 'throttled') return refuse('is throttled');
    if (fault === 'transaction conflict') return refuse('meets another transaction, again and again');
    if (this.isOut(site, caller.victim)) return refuse('is not to be had');
    let given: T;
    try {
      given = await this.apply(site, () => apply(fault));
      if (fault === 'written twice') given = await this.apply(site, apply);
    } catch (error) {
      if (error instanceof CutOff) return this.crash(`in the middle of ${site.name}`);
      return this.goOn(() => caller.reject(error));
    }
    if (this.isDead) return;
    if (fault === 'crash applied') return this.crash(`after ${site.name}, without its answer`);
    if (fault === 'answer lost') return refuse('was carried out, but its answer is lost');
    this.goOn(() => caller.resolve(given));
    if (fault === 'crash after') timeline.after(0, `${this.id} crashes`, () => this.crash(`with the answer of ${site.name}`));
  }

  /** Whether the whole port is down, or throttles every call. */
  private isOut(site: Site, victim: () => Victim): boolean {
    const { faults, timeline } = this.around;
    const [port = ''] = site.name.split('.');
    if (!isPort(site)) return false;
    if (port === 'store' && faults.isDown('store is down', port, { now: timeline.now, victim })) return true;
    return faults.isDown('throttled for long', port, { now: timeline.now, victim, lastsMs: [20_000, 600_000] });
  }

  private async apply<T>(site: Site, apply: () => T | Promise<T>): Promise<T> {
    const answer = await apply();
    this.around.carriedOut(site.name);
    return answer;
  }

  /** Resumes at once, or after a pause of the host; never after a crash. */
  goOn(resume: () => void): void {
    const { timeline } = this.around;
    if (this.isDead) return;
    if (timeline.now >= this.frozenUntil) return this.isCutOff() ? undefined : resume();
    timeline.after(this.frozenUntil - timeline.now, `${this.id} goes on`, () => this.goOn(resume));
  }

  /**
   * Pauses the process. It does not notice the pause, and afterwards acts on outdated answers. A second pause makes the first one longer, but
   * not longer than `standsStillMaxMs`: the laws allow for no more.
   */
  freeze(ms: number): void {
    const { now } = this.around.timeline;
    if (now >= this.frozenUntil) this.frozenAt = now;
    this.frozenUntil = Math.min(Math.max(this.frozenUntil, now + ms), this.frozenAt + standsStillMaxMs);
    this.around.narrate(() => `${this.id} stands still for ${this.frozenUntil - now} ms`);
  }

  /** Shuts down gracefully: running functions get a signal and some time. */
  leave(graceMs: number): void {
    const { timeline } = this.around;
    if (this.isLeaving || this.isDead) return;
    this.around.narrate(() => `${this.id} is to stop`);
    this.isLeaving = true;
    for (const stopping of this.stoppings) stopping.abort();
    const until = timeline.now + graceMs;
    const look = (): void => {
      if (this.atWork.length === 0 || timeline.now >= until) return this.crash('in good order');
      timeline.after(100, `${this.id} stops`, look);
    };
    look();
  }

  crash(where: string): void {
    if (this.isDead) return;
    this.around.narrate(() => `${this.id} crashes ${where}`);
    this.isDead = true;
    this.options.onCrash();
  }

  /** Returns the ids of the processed messages; never returns if the host crashes meanwhile. */
  async handle(source: QueueSource, messages: Parameters<typeof queueEvent>[1]): Promise<readonly string[]> {
    const batch = consumerOf(source.queue) === undefined ? undefined : `${this.id} ${++this.batches}`;
    const of = batch === undefined ? {} : { batch };
    this.around.record({ type: 'delivered', queue: source.queue, messages, ...of });
    const agent = agentOfRequests(source.queue);
    if (agent !== undefined) this.record(agent, { what: 'messages arrive' });
    const event = queueEvent(source.queue, asTaken(source.queue, messages, this.around)) satisfies SQSEvent;
    const response = await inBatch(batch, () => this.run(source.queue, event));
    const failed = ((response as SQSBatchResponse | undefined)?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
    const came = messages.map(({ messageId }) => messageId);
    this.around.record({ type: 'answered', queue: source.queue, came, failed, ...of });
    return came.filter((id) => !failed.includes(id));
  }

  async supervise(name: string, task: SupervisorTask | BulkTask | NotifierTask): Promise<void> {
    await this.run(name, task);
  }

  /** Carries out a call of a client or an operator. */
  async serve<T>(role: Role, call: () => Promise<T>): Promise<T> {
    this.atWork.push(role);
    try {
      return await as(role, call);
    } catch (error) {
      this.around.record(failureOf('a call is answered with an exception', error));
      throw error;
    } finally {
      this.atWork.splice(this.atWork.indexOf(role), 1);
    }
  }

  /** Runs a function within its timeout. */
  private async run(name: string, event: SQSEvent | SupervisorTask | BulkTask | NotifierTask): Promise<unknown> {
    const handler = this.handlers.get(name) as ((given: typeof event, invocation: Invocation) => unknown) | undefined;
    const spec = this.specOf(name);
    if (!handler || !spec) throw new Error(`No function of ${this.id} is called for ${name}.`);
    const role = roleOf(spec);
    const stopping = new AbortController();
    this.atWork.push(role);
    const timed = { spec, endsAt: this.options.isCutOff ? this.limit(spec, stopping) : Number.POSITIVE_INFINITY };
    this.timed.add(timed);
    this.stoppings.add(stopping);
    try {
      return await as(role, async () => handler(event, { stopping: stopping.signal }));
    } catch (error) {
      this.around.record(failureOf('a function rejects', error));
      throw error;
    } finally {
      this.timed.delete(timed);
      this.stoppings.delete(stopping);
      this.atWork.splice(this.atWork.indexOf(role), 1);
      if (this.options.isCutOff && this.atWork.length === 0) this.around.record({ type: 'returned', name, pendingCalls: this.open });
    }
  }

  /** Returns the time of the timeout. Some runs get a much shorter timeout, and a warning before it. */
  private limit(spec: FunctionSpec, stopping: AbortController): number {
    const { timeline, faults, chance } = this.around;
    // A sweep is short and rare, so it gets a second chance of a shorter timeout.
    const isSweep = spec.name === 'sweeper';
    const isShort = faults.chooses('time runs out') || (isSweep && faults.chooses('time runs out'));
    if (!isShort) return timeline.now + spec.timeoutMs;
    const limitMs = chance.between(5, isSweep ? shortSweepMs : 3000);
    timeline.after(Math.max(1, limitMs - marginMs), `${this.id} is to stop`, () =>
      this.goOn(() => {
        this.isHurried = true;
        stopping.abort();
      }),
    );
    timeline.after(limitMs, `${this.id} is cut off`, () => void this.isCutOff());
    return timeline.now + limitMs;
  }

  /** Whether the host is dead; first crashes it if a run has exceeded its timeout. */
  private isCutOff(): boolean {
    const { timeline, faults } = this.around;
    for (const { spec, endsAt } of this.timed) {
      if (this.isDead || endsAt > timeline.now) continue;
      if (!faults.over) faults.lands('time runs out', spec.name, { role: roleOf(spec) });
      this.crash('when its time is over');
    }
    return this.isDead;
  }
}

const isPort = ({ name }: Site): boolean => !name.startsWith('service ');

/** A caller that waits for the answer to its call. */
interface Caller<T> {
  readonly victim: () => Victim;
  readonly resolve: (answer: T) => void;
  readonly reject: (error: unknown) => void;
}

const noIssuer = { issuer: 'none', audience: 'none', keys: { keys: [] } };

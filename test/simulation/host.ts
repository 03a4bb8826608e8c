import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { App } from 'redress';
import { hiddenMs } from '#ports/limits';
import type { StateRecord } from '#ports/records';
import { loadDefinitions } from '#roles/definitions/load';
import { readConfig } from '#runtime/config';
import type { Invocation } from '#runtime/function';
import { queueEvent } from '#runtime/host/event-source';
import { createSystem, type Ports, type System } from '#runtime/system';
import { type FunctionSpec, type QueueSource, type SupervisorTask, topologyOf } from '#runtime/topology';
import type { AgentEvent } from '#testing/world/agent-event';
import { AgentWatch, type WatchedProcess } from '#testing/world/agent-watch';
import { clockOf } from '#testing/world/clock';
import { failureOf, recordingTelemetry } from '#testing/world/telemetry';
import type { Timeline } from '#testing/world/timeline';
import { functionsByFile } from '../support/functions.ts';
import { appOn, loaded, type Release, type Remote } from './app.ts';
import { as, type Role, roleAtWork } from './at-work.ts';
import { type FaultKind, type Site, Unavailable, type Victim } from './faults.ts';
import { asTaken } from './stricter.ts';
import type { Surroundings } from './surroundings.ts';
import { CutOff } from './transactions.ts';

/** All functions; nobody calls the one that answers HTTP, but what stands behind it: `system` of its host. */
export const topology: readonly FunctionSpec[] = topologyOf(appOn({} as Remote), { agents: 'together' });
export const sources: ReadonlyMap<string, QueueSource> = new Map(
  topology.flatMap(({ sources: all }) => all.map((source) => [source.queue, source] as const)),
);
const functionBehind: ReadonlyMap<string, FunctionSpec> = new Map(
  topology.flatMap((spec) => [[spec.name, spec] as const, ...spec.sources.map(({ queue }) => [queue, spec] as const)]),
);
/** For how long a message stays hidden that was taken off a queue: as on one machine, or as it is deployed. */
export const visibilityOf = (queue: string, isDeployed: boolean): number => {
  const spec = functionBehind.get(queue);
  return isDeployed && spec ? hiddenMs(spec) : (sources.get(queue)?.visibilityMs ?? 0);
};
/** Of the function that takes what lies on a queue, or that a schedule calls by this name. */
export const roleBehind = (queue: string): Role | undefined => {
  const spec = functionBehind.get(queue);
  return spec && roleOf(spec);
};
const roleOf = ({ file, name }: FunctionSpec): Role => (file === 'supervisor' ? name : file) as Role;

/** How one host is set up. */
export interface HostOptions {
  readonly variables: { readonly [name: string]: string };
  readonly release: Release;
  /** What it runs instead of the simulation's own app, on the services that it reaches. */
  readonly app?: (remote: Remote) => App;
  /** What runs on it: everything, or one function by itself, as in Lambda. */
  readonly functions: readonly FunctionSpec[];
  /** Whether it is cut off when the time of a run is over. */
  readonly isCutOff: boolean;
  readonly onCrash: () => void;
}

/** What is told of a call of something outside. */
export interface CallOptions {
  readonly latencyMs?: number;
  /** The order that it is about, where it is about one. */
  readonly about?: (() => string | undefined) | undefined;
}

/** Carries a call out; `fault` is what goes wrong with it. */
type Apply<T> = (fault?: FaultKind) => T | Promise<T>;

/** As long as a sweep takes, or less. */
const shortSweepMs = 60;

/** A run's time before its end is announced to it. */
const marginMs = 1000;

/** One process with some functions. When it crashes, whatever it was at is cut off where it waits, for ever. */
export class SimulatedHost implements WatchedProcess {
  readonly id: string;
  readonly system: System;
  isDead = false;
  /** It is told to stop: it begins nothing more, and is gone when all that it is at is over. */
  isLeaving = false;
  /** A run on it was told that its time will be over. */
  isHurried = false;
  /** How far its clock is ahead of the world's. */
  skewMs = 0;
  /** Runs of functions that are not over, by role. */
  readonly atWork: Role[] = [];
  /** Calls of ports that are not answered; a service that takes too long is left to itself. */
  private open = 0;
  private readonly stoppings = new Set<AbortController>();
  private readonly timed = new Set<{ readonly spec: FunctionSpec; readonly endsAt: number }>();
  frozenUntil = 0;
  readonly timeline: Timeline;
  readonly watch = new AgentWatch(this);
  private readonly around: Surroundings;
  private readonly options: HostOptions;
  private readonly handlers = new Map<string, (event: never, invocation: never) => unknown>();

  constructor(
    id: string,
    around: Surroundings,
    portsOf: (host: SimulatedHost) => Pick<Ports, 'store' | 'queues' | 'publisher'> & { readonly remote: Remote },
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
    const config = readConfig({ DEFAULT_WORKFLOW: 'sale', LOG_LEVEL: 'off', ...options.variables });
    // Loaded once for all hosts: only what stands behind the operations is each one's own.
    const definitions = options.app ? loadDefinitions(app) : { ...loaded[options.release], agents: app.agents };
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

  /** Why it cannot go on with an order; undefined where it can. */
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

  /** Its clock is put on or back, so far ahead of the world's. */
  jump(skewMs: number): void {
    const { timeline } = this.around;
    this.around.record({ type: 'clock jumps', host: this.id, from: timeline.now + this.skewMs, to: timeline.now + skewMs });
    this.skewMs = skewMs;
  }

  get isStopping(): boolean {
    return this.isLeaving || this.isHurried;
  }

  /** Something was seen of how its agent treats its service. */
  record(agent: string, event: AgentEvent): void {
    this.around.record({ type: 'agent event', host: this.id, agent, now: this.around.timeline.now + this.skewMs, event });
  }

  /**
   * A call of something outside. `apply` happens there, after a while; the answer comes back, or does not. What a dead
   * host had sent off may still arrive.
   */
  call<T>(site: Site, apply: Apply<T>, { latencyMs = this.around.chance.between(1, 12), about }: CallOptions = {}): Promise<T> {
    const { timeline } = this.around;
    const role = roleAtWork();
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

  /** Whether the whole of what stands behind a call is down, or takes nothing from anybody. */
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

  /** Now, or when it is not frozen any more; never, when it is dead by then. */
  goOn(resume: () => void): void {
    const { timeline } = this.around;
    if (this.isDead) return;
    if (timeline.now >= this.frozenUntil) return this.isCutOff() ? undefined : resume();
    timeline.after(this.frozenUntil - timeline.now, `${this.id} goes on`, () => this.goOn(resume));
  }

  /** It stands still, and does not know it: whatever it was told before, it acts on afterwards. */
  freeze(ms: number): void {
    this.around.narrate(() => `${this.id} stands still for ${ms} ms`);
    this.frozenUntil = this.around.timeline.now + ms;
  }

  /** A stop in good order: whoever is at work hears of it, and has some time. */
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

  /** Ids of the messages that were processed; never, when the host crashes meanwhile. */
  async handle(source: QueueSource, messages: Parameters<typeof queueEvent>[1]): Promise<readonly string[]> {
    this.around.record({ type: 'delivered', queue: source.queue, messages });
    const response = await this.run(
      source.queue,
      queueEvent(source.queue, asTaken(source.queue, messages, this.around)) satisfies SQSEvent,
    );
    const failed = ((response as SQSBatchResponse | undefined)?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
    const came = messages.map(({ messageId }) => messageId);
    this.around.record({ type: 'answered', queue: source.queue, came, failed });
    return came.filter((id) => !failed.includes(id));
  }

  async supervise(name: string, task: SupervisorTask): Promise<void> {
    await this.run(name, task);
  }

  /** What is asked of it from outside. */
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

  /** One run of a function, in its time. */
  private async run(name: string, event: SQSEvent | SupervisorTask): Promise<unknown> {
    const handler = this.handlers.get(name) as ((event: SQSEvent | SupervisorTask, invocation: Invocation) => unknown) | undefined;
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

  /** When its time is over: some get much less than they should. Only those hear of their end before it comes. */
  private limit(spec: FunctionSpec, stopping: AbortController): number {
    const { timeline, faults, chance } = this.around;
    // A sweep is short, and there are few.
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

  /** What is still at work when its time is over is cut off, whatever it was at. */
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

/** Who waits for the answer to a call. */
interface Caller<T> {
  readonly victim: () => Victim;
  readonly resolve: (answer: T) => void;
  readonly reject: (error: unknown) => void;
}

const noIssuer = { issuer: 'none', audience: 'none', keys: { keys: [] } };

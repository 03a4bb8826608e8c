import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { App } from 'redress';
import { create as agent } from '../../functions/agent.ts';
import { create as children } from '../../functions/children.ts';
import { create as deadLetter } from '../../functions/dead-letter.ts';
import { create as scheduler } from '../../functions/scheduler.ts';
import { create as submissions } from '../../functions/submissions.ts';
import { create as supervisor } from '../../functions/supervisor.ts';
import type { Clock } from '../../lib/clock.ts';
import { readConfig } from '../../lib/config.ts';
import type { CreateFunction } from '../../lib/function.ts';
import { queueEvent } from '../../lib/host/event-source.ts';
import { createSystem, type Ports, type System } from '../../lib/system.ts';
import { createTelemetry } from '../../lib/telemetry.ts';
import { type FunctionSpec, type QueueSource, type SupervisorTask, topologyOf } from '../../lib/topology.ts';
import { appOn, type Remote } from './app.ts';
import type { Site } from './faults.ts';
import type { Sight } from './sight.ts';

const files: { readonly [file: string]: CreateFunction } = {
  agent,
  children,
  'dead-letter': deadLetter,
  scheduler,
  submissions,
  supervisor,
};

const functionsOf = (app: App): readonly FunctionSpec[] => topologyOf(app).filter(({ trigger }) => trigger !== 'http');
export const topology = functionsOf(appOn({} as Remote));
export const sources: ReadonlyMap<string, QueueSource> = new Map(
  topology.flatMap(({ sources: all }) => all.map((source) => [source.queue, source] as const)),
);

class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** One process with all functions. When it crashes, whatever it was at is cut off where it waits, for ever. */
export class SimulatedHost {
  readonly id: string;
  readonly system: System;
  isDead = false;
  /** How far its clock is ahead of the world's. */
  skewMs = 0;
  /** Batches at work. */
  atWork = 0;
  private frozenUntil = 0;
  private readonly sight: Sight;
  private readonly onCrash: (host: SimulatedHost) => void;
  private readonly handlers = new Map<string, (event: never, invocation: never) => unknown>();
  private readonly invocation = { stopping: new AbortController().signal };

  constructor(
    id: string,
    sight: Sight,
    portsOf: (host: SimulatedHost) => Pick<Ports, 'store' | 'channel' | 'publisher'> & { readonly remote: Remote },
    {
      variables,
      onCrash,
      app = appOn,
    }: {
      variables: { readonly [name: string]: string };
      onCrash: (host: SimulatedHost) => void;
      /** What it runs, on the services that it reaches. */
      app?: (remote: Remote) => App;
    },
  ) {
    this.id = id;
    this.sight = sight;
    this.onCrash = onCrash;
    const { remote, ...ports } = portsOf(this);
    const rest = { telemetry: createTelemetry({ level: 'off' }), issuer: noIssuer, cursorKey: new Uint8Array(32), clock: this.clock() };
    this.system = createSystem(
      app(remote),
      readConfig({ DEFAULT_WORKFLOW: 'sale', LOG_LEVEL: 'off', ...variables }),
      { ...ports, ...rest },
      {
        hostId: id,
      },
    );
    const system = { ...this.system, chance: () => sight.chance.next() };
    for (const { name, file, environment, sources: all } of functionsOf(this.system.app)) {
      const handler = (files[file] as CreateFunction)({ system, environment, accepting: () => true });
      for (const each of all.length > 0 ? all.map(({ queue }) => queue) : [name]) this.handlers.set(each, handler);
    }
  }

  private clock(): Clock {
    const { timeline } = this.sight;
    return {
      now: () => timeline.now + this.skewMs,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          signal?.addEventListener('abort', () => resolve(), { once: true });
          timeline.after(Math.max(1, Math.ceil(ms)), `${this.id} wakes`, () => (signal?.aborted ? undefined : this.goOn(resolve)));
        }),
    };
  }

  /**
   * A call of something outside. `apply` happens there, after a while; the answer comes back, or does not. What a dead
   * host had sent off may still arrive.
   */
  call<T>(site: Site, apply: () => T | Promise<T>, latencyMs = this.sight.chance.between(1, 12)): Promise<T> {
    const { timeline, faults, chance } = this.sight;
    return new Promise((resolve, reject) => {
      const arrive = async (): Promise<void> => {
        if (this.isDead && chance.happens(0.5)) return;
        const fault = this.isDead ? undefined : faults.at(site);
        if (fault === 'crash before') return this.crash(`before ${site.name}`);
        if (fault === 'throttled' || (site.name.startsWith('store.') && faults.isDown('store is down', 'store', timeline.now)))
          return this.goOn(() => reject(new Unavailable(`${site.name} is throttled`)));
        let answer: T;
        try {
          answer = await apply();
          if (fault === 'written twice') answer = await apply();
        } catch (error) {
          return this.goOn(() => reject(error));
        }
        if (this.isDead) return;
        if (fault === 'crash applied') return this.crash(`after ${site.name}, without its answer`);
        if (fault === 'answer lost') return this.goOn(() => reject(new Unavailable(`the answer of ${site.name} is lost`)));
        this.goOn(() => resolve(answer));
        if (fault === 'crash after') timeline.after(0, `${this.id} crashes`, () => this.crash(`with the answer of ${site.name}`));
      };
      timeline.after(latencyMs, `${this.id} ${site.name}`, arrive);
    });
  }

  /** Now, or when it is not frozen any more; never, when it is dead by then. */
  private goOn(resume: () => void): void {
    const { timeline } = this.sight;
    if (this.isDead) return;
    if (timeline.now >= this.frozenUntil) return resume();
    timeline.after(this.frozenUntil - timeline.now, `${this.id} goes on`, () => this.goOn(resume));
  }

  /** It stands still, and does not know it: whatever it was told before, it acts on afterwards. */
  freeze(ms: number): void {
    this.sight.tell(() => `${this.id} stands still for ${ms} ms`);
    this.frozenUntil = this.sight.timeline.now + ms;
  }

  crash(where: string): void {
    if (this.isDead) return;
    this.sight.tell(() => `${this.id} crashes ${where}`);
    this.isDead = true;
    this.onCrash(this);
  }

  /** Ids of the messages that were processed; never, when the host crashes meanwhile. */
  async handle(source: QueueSource, messages: Parameters<typeof queueEvent>[1]): Promise<readonly string[]> {
    const handler = this.handlers.get(source.queue) as
      | ((event: SQSEvent, invocation: object) => Promise<SQSBatchResponse | undefined>)
      | undefined;
    if (!handler) throw new Error(`No function listens to ${source.queue}.`);
    this.atWork += 1;
    try {
      const response = await handler(queueEvent(source.queue, messages), this.invocation);
      const failed = new Set(response?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      return messages.map(({ messageId }) => messageId).filter((id) => !failed.has(id));
    } finally {
      this.atWork -= 1;
    }
  }

  async supervise(name: string, task: SupervisorTask): Promise<void> {
    await (this.handlers.get(name) as (task: SupervisorTask, invocation: object) => Promise<unknown>)(task, this.invocation);
  }
}

const noIssuer = { issuer: 'none', audience: 'none', keys: { keys: [] } };

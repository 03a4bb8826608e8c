import type { Database } from '#adapters/sqlite/database';
import type { LocalKeys } from '#adapters/sqlite/keys';
import { type Embedded, embeddedOn } from '#adapters/sqlite/open';
import { createApi } from '#api/app';
import type { LocalIssuer } from '#api/local-issuer';
import type { App } from '#authoring/workflow';
import type { ManualClock } from '#ports/clock';
import type { Telemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import type { Config } from '#runtime/config';
import { type Host, type HostOptions, startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import { redriveIn, topologyOf } from '#runtime/topology';
import { KillSwitch, killableApp, killableClock, killableDatabase, killablePorts } from './kill-switch.ts';

/** Options and data that outlive the process. */
export interface ProcessOptions {
  readonly app: App;
  readonly config: Config;
  readonly clock: ManualClock;
  readonly database: Database;
  readonly keys: LocalKeys;
  readonly telemetry: Telemetry;
  readonly issuer: LocalIssuer;
  readonly writesAndSendsAtomically: boolean;
  readonly without: readonly string[];
  readonly services: NonNullable<HostOptions['services']>;
  readonly hostId: string | undefined;
}

interface Running {
  readonly host: Host;
  readonly serve: (request: Request) => Response | Promise<Response>;
}

const origin = 'http://redress.test';

/** One process with the whole system, until it is stopped or killed. */
export class TestProcess {
  /** The adapters of this process. Its queues deliver to it at once. */
  readonly embedded: Embedded;
  private readonly options: ProcessOptions;
  private readonly killSwitch = new KillSwitch();
  private running: Running | undefined;

  constructor(options: ProcessOptions) {
    const { app, clock, database, keys, writesAndSendsAtomically } = options;
    this.options = options;
    const adapters = {
      clock: killableClock(clock, this.killSwitch),
      redriveOf: redriveIn(topologyOf(app)),
      writesAndSendsAtomically,
      keys,
    };
    this.embedded = embeddedOn(killableDatabase(database, this.killSwitch), adapters);
  }

  async start(): Promise<void> {
    const { app: written, config, clock, telemetry, issuer, without, services, hostId } = this.options;
    const { store, queues, publisher, keys } = this.embedded;
    const app = killableApp(written, this.killSwitch);
    const definitions = loadDefinitions(app);
    await recordDefinitions(app.workflows, store, { mayReplace: true });
    const ports = killablePorts(
      { store, queues, publisher, keys, clock: killableClock(clock, this.killSwitch), telemetry, issuer, cursorKey: issuer.cursorKey },
      this.killSwitch,
    );
    const host = await startHost({
      app,
      definitions,
      config,
      ports,
      load: loadFunction,
      services,
      // Requests come through `fetch`, without a server.
      without: ['api', ...without],
      ...(hostId ? { hostId } : {}),
    });
    const api = createApi({ ...host.system, accepting: () => this.running !== undefined });
    this.running = { host, serve: (request) => api.fetch(request) };
  }

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** @throws Error if no process runs. */
  get host(): Host {
    if (!this.running)
      throw new Error(
        'No process runs: the system was killed or stopped. Call start() after kill(); after stop(), call startSystem with the same dataFolder.',
      );
    return this.running.host;
  }

  /** Calls the process from the test. Rejects when the process is killed first. */
  async ask<T>(question: (host: Host) => Promise<T>): Promise<T> {
    return this.killSwitch.fromOutside(question(this.host), () => new Error('The system was killed before it answered.'));
  }

  /** Rejects as `fetch` does when no server listens or the connection breaks. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input instanceof Request ? input : new URL(input, origin), init);
    if (!this.running) throw new TypeError('fetch failed', { cause: new Error('No process runs: the system was killed or stopped.') });
    const served = Promise.resolve(this.running.serve(request));
    return this.killSwitch.fromOutside(
      served,
      () => new TypeError('fetch failed', { cause: new Error('The system was killed before it answered.') }),
    );
  }

  kill(): void {
    this.killSwitch.kill();
    this.running = undefined;
  }

  /** Drains and stops the process. */
  async stop(): Promise<void> {
    const { host } = this;
    this.running = undefined;
    const stopped = host.stop();
    // While the process drains, it may sleep. Only this loop advances the clock of the test then.
    for (let done = false; !done; ) {
      await this.options.clock.next();
      done = await Promise.race([stopped.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
    }
  }
}

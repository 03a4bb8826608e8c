import { EventEmitter } from 'node:events';
import type { RuntimeService } from '#authoring/services';
import type { App } from '#authoring/workflow';
import type { Definitions } from '#ports/definitions';
import type { Queues } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import type { Lease } from '#roles/scheduler/lease';
import { createAppServices } from '#runtime/app-services';
import type { Config } from '#runtime/config';
import type { LoadFunction } from '#runtime/function';
import { createSystem, type Emit, newHostId, type OnRest, type Ports, type System, type SystemEvents } from '#runtime/system';
import { topologyOf } from '#runtime/topology';
import { type HostFunctions, startFunctions } from './functions.ts';
import { createGate, type Gate } from './gate.ts';
import { createLeases } from './leases.ts';
import { type LoopOptions, type Schedule, startSchedule } from './schedule.ts';

/** The whole system in one process: the functions and their triggers. */
export interface Host {
  /** The URL of the API; undefined without `http`. */
  readonly url: string | undefined;
  readonly system: System;
  on<E extends keyof SystemEvents | 'stopped'>(
    event: E,
    listener: (detail: E extends keyof SystemEvents ? SystemEvents[E] : { error?: unknown }) => void,
  ): void;
  /** Takes the lease of one instance and renews it until it is released or the host stops. */
  hold(orderId: string, leaseMs?: number): Promise<Lease | undefined>;
  /** Runs one pass of the supervisor now. */
  supervise(): Promise<unknown>;
  /** Drains the host: stops new work, waits for running work, releases leases. */
  stop(): Promise<void>;
}

export interface HostOptions {
  readonly app: App;
  readonly config: Config;
  readonly ports: Ports;
  /** Loads a file of `functions/`. */
  readonly load: LoadFunction;
  /** Services in addition to those of the app. */
  readonly services?: readonly RuntimeService[];
  /** The address of the API; without it, there is no HTTP server. */
  readonly http?: { readonly port: number; readonly host: string; readonly names?: readonly string[] };
  readonly hostId?: string;
  /** Called for each order that a write of this host blocks or ends. */
  readonly onRest?: OnRest | undefined;
  /** Definitions loaded earlier, for a process that starts several hosts. */
  readonly definitions?: Definitions;
  /** Functions to leave out, for tests that read a queue themselves. */
  readonly without?: readonly string[];
}

const drainMs = 8_000;
const housekeepingMs = 60_000;

export async function startHost(options: HostOptions): Promise<Host> {
  const { app, config, ports, load, services = [], http, hostId = newHostId(), onRest, definitions, without = [] } = options;
  const { clock, telemetry, store } = ports;
  const events = new EventEmitter();
  const appServices = createAppServices({ app, services, hostId, role: 'local', ports, emit: emitterOf(events, telemetry) });
  const system = createSystem(app, config, ports, {
    hostId,
    emit: appServices.emit,
    ...(onRest ? { onRest } : {}),
    ...(definitions ? { definitions } : {}),
  });
  const leases = createLeases({ store, clock, telemetry, holder: hostId, policy: config.lockPolicy });
  const gate = createGate(store, clock, telemetry);
  const stopping = new AbortController();
  const givingUp = new AbortController();
  const onFatal = (error: unknown): void => {
    telemetry.log('error', 'host stops after a fatal error', { error });
    appServices.failed(error);
    events.emit('stopped', { error });
  };
  const loop: LoopOptions = { clock, telemetry, stopping: stopping.signal, onFatal };

  const specs = topologyOf(app).filter(({ name }) => !without.includes(name));
  const functions = await startFunctions(specs, { ...loop, system, load, http, gate, givingUp: givingUp.signal });
  const consumes = functions.sources[1].length + functions.sources[2].length > 0;
  const watching = consumes ? gate.watch(stopping.signal).catch(onFatal) : undefined;
  const schedules = [...functions.schedules, ...startHousekeeping(system, loop)];
  await appServices.start(system.submit);

  async function stop(): Promise<void> {
    stopping.abort();
    await drain({ system, functions, schedules, watching, gate, givingUp });
    await appServices.stop();
    await leases.releaseAll();
  }
  let stopped: Promise<void> | undefined;
  return {
    url: functions.entrance?.url,
    system,
    on: (event, listener) => void events.on(event, listener as (detail: unknown) => void),
    hold: leases.hold,
    // The supervisor has the first schedule of the topology, unless it is left out.
    supervise: () => (without.includes('supervisor') ? undefined : schedules[0]?.run()) ?? Promise.resolve(),
    stop: () => (stopped ??= stop()),
  };
}

/** Returns a function that calls the listeners. A failing one must not affect the order or the other listeners. */
const emitterOf =
  (events: EventEmitter, telemetry: Telemetry): Emit =>
  (event, detail) => {
    for (const listener of events.listeners(event))
      (async () => listener(detail))().catch((error: unknown) => telemetry.log('error', 'listener failed', { event, error }));
  };

/** Starts the periodic removal of expired data, if the orders have a retention or the ports do not remove it themselves. */
function startHousekeeping({ config: { retentionMs }, clock, store, tidy }: System, loop: LoopOptions): readonly Schedule[] {
  if (retentionMs === undefined && !tidy) return [];
  const run = async (): Promise<void> => {
    while (retentionMs !== undefined && (await store.forget(clock.now() - retentionMs, 500)) === 500) await clock.sleep(10);
    await tidy?.();
  };
  return [startSchedule(run, { periodMs: housekeepingMs }, loop)];
}

interface Draining {
  readonly system: System;
  readonly functions: HostFunctions;
  readonly schedules: readonly Schedule[];
  readonly watching: Promise<void> | undefined;
  readonly gate: Gate;
  readonly givingUp: AbortController;
}

/** Stops sources of new work first. Running work may finish, and the scheduler may still apply its replies. */
async function drain({ system: { clock, queues }, functions, schedules, watching, gate, givingUp }: Draining): Promise<void> {
  const { entrance, sources } = functions;
  const drains = new AbortController();
  void clock.sleep(drainMs, drains.signal).then(() => (drains.signal.aborted ? undefined : givingUp.abort()));
  await Promise.all([entrance?.stop(), watching, ...schedules.map(({ ended }) => ended), ...sources[1].map((source) => source.stop())]);
  for (const { queue } of sources[2])
    while (!givingUp.signal.aborted && !(await gate.isShut(queue)) && (await waitingIn(queues, queue)) > 0) await clock.sleep(20);
  await Promise.all(sources[2].map((source) => source.stop()));
  drains.abort();
}

/** Returns the number of visible messages of a queue; 0 if it is unknown, because the next host can receive them. */
const waitingIn = (queues: Queues, queue: string): Promise<number> =>
  queues.depth(queue).then(
    ({ visible }) => visible,
    () => 0,
  );

import { EventEmitter } from 'node:events';
import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import type { RuntimeService } from '#authoring/services';
import type { App } from '#authoring/workflow';
import type { Definitions } from '#ports/definitions';
import { isFatal } from '#ports/errors';
import { acquireLease, type Lease, lockPolicyAdvice } from '#roles/scheduler/lease';
import { createAppServices } from '#runtime/app-services';
import type { Config } from '#runtime/config';
import type { CreateFunction, Invocation } from '#runtime/function';
import { createSystem, type Emit, newHostId, type Ports, type System, type SystemEvents } from '#runtime/system';
import { type FunctionSpec, type SupervisorTask, topologyOf } from '#runtime/topology';
import { type EventSource, type QueueHandler, startEventSource } from './event-source.ts';
import { createGate } from './gate.ts';
import { type HttpEntrance, type HttpHandler, startHttp } from './http.ts';

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
  readonly load: (file: string) => Promise<{ readonly create: CreateFunction }>;
  /** Services in addition to those of the app. */
  readonly services?: readonly RuntimeService[];
  /** The address of the API; without it, there is no HTTP server. */
  readonly http?: { readonly port: number; readonly host: string };
  readonly hostId?: string;
  /** Definitions loaded earlier, for a process that starts several hosts. */
  readonly definitions?: Definitions;
  /** Functions to leave out, for tests that read a queue themselves. */
  readonly without?: readonly string[];
}

type RunOn<Event, Result> = (event: Event, invocation: Invocation) => Result;

const leaseMsDefault = 30_000;
const drainMs = 8_000;
const housekeepingMs = 60_000;

export async function startHost({
  app,
  config,
  ports,
  load,
  services = [],
  http,
  hostId = newHostId(),
  definitions,
  without = [],
}: HostOptions): Promise<Host> {
  const { clock, telemetry, queues, store } = ports;
  const events = new EventEmitter();
  // A failing listener must not affect the order or the other listeners.
  const toListeners: Emit = (event, detail) => {
    for (const listener of events.listeners(event))
      (async () => listener(detail))().catch((error: unknown) => telemetry.log('error', 'listener failed', { event, error }));
  };
  const appServices = createAppServices({ app, services, hostId, role: 'local', ports, emit: toListeners });
  const { emit } = appServices;
  const system = createSystem(app, config, ports, { hostId, emit, ...(definitions ? { definitions } : {}) });
  const givingUp = new AbortController();
  const stopping = new AbortController();
  const drained = new AbortController();
  const leases = new Map<string, Lease>();
  const gate = createGate(store, clock, telemetry);
  let stopped: Promise<void> | undefined;

  const onFatal = (error: unknown): void => {
    telemetry.log('error', 'host stops after a fatal error', { error });
    appServices.failed(error);
    events.emit('stopped', { error });
  };
  const running: { spec: FunctionSpec; sources: EventSource[] }[] = [];
  const schedules: { run: () => Promise<unknown>; ended: Promise<void> }[] = [];
  const invocation: Invocation = { stopping: givingUp.signal };
  let entrance: HttpEntrance | undefined;

  for (const spec of topologyOf(app)) {
    if (without.includes(spec.name)) continue;
    const { create } = await load(spec.file);
    const handler = create({ system, environment: spec.environment, accepting: () => !stopping.signal.aborted });
    const onQueue: QueueHandler = (event) => (handler as RunOn<SQSEvent, ReturnType<QueueHandler>>)(event, invocation);
    const onHttp: HttpHandler = (event) => (handler as RunOn<APIGatewayProxyEventV2, ReturnType<HttpHandler>>)(event, invocation);
    const onSchedule = (task: SupervisorTask) => (handler as RunOn<SupervisorTask, Promise<unknown>>)(task, invocation);
    running.push({
      spec,
      sources: spec.sources.map((source) => startEventSource(source, onQueue, { queues, gate, clock, telemetry, onFatal })),
    });
    if (spec.trigger === 'http' && http) entrance = await startHttp(onHttp, { ...http, telemetry });
    for (const { input, everyMs } of spec.schedules) {
      // The first run is immediate: a host that restarts more often than one period must still recover orders.
      if (everyMs === 'supervisor period') schedules.push(startSchedule(() => onSchedule(input), config.supervisorPeriodMs));
      else schedules.push(startSchedule(() => onSchedule(input), everyMs, everyMs));
    }
  }
  const takesAnything = running.some(({ sources }) => sources.length > 0);
  const watching = takesAnything ? gate.watch(stopping.signal).catch(onFatal) : undefined;
  const { retentionMs } = config;
  if (retentionMs !== undefined || ports.tidy) schedules.push(startSchedule(() => housekeeping(retentionMs), housekeepingMs));
  await appServices.start(system.submit);

  function startSchedule(run: () => Promise<unknown>, periodMs: number, firstAfterMs = 0) {
    const loop = async (): Promise<void> => {
      if (firstAfterMs > 0) await clock.sleep(firstAfterMs, stopping.signal);
      while (!stopping.signal.aborted) {
        try {
          await run();
        } catch (error) {
          if (isFatal(error)) return onFatal(error);
          telemetry.log('error', 'scheduled run failed', { error });
        }
        await clock.sleep(periodMs, stopping.signal);
      }
    };
    return { run, ended: loop() };
  }

  async function housekeeping(olderThanMs = Number.POSITIVE_INFINITY): Promise<void> {
    while (Number.isFinite(olderThanMs) && (await store.forget(clock.now() - olderThanMs, 500)) === 500) await clock.sleep(10);
    await ports.tidy?.();
  }

  /** Stops sources of new work first. Running work may finish, and the scheduler may still apply its replies. */
  async function drain(): Promise<void> {
    stopping.abort();
    const drains = new AbortController();
    void clock.sleep(drainMs, drains.signal).then(() => (drains.signal.aborted ? undefined : givingUp.abort()));
    await Promise.all([entrance?.stop(), watching, ...schedules.map(({ ended }) => ended), ...sourcesIn(1).map((source) => source.stop())]);
    for (const { queue } of sourcesIn(2))
      while (!givingUp.signal.aborted && !(await gate.isShut(queue)) && (await waitingIn(queue)) > 0) await clock.sleep(20);
    await Promise.all(sourcesIn(2).map((source) => source.stop()));
    drains.abort();
    await appServices.stop();
    drained.abort();
    for (const lease of leases.values()) await lease.release();
  }

  /** Returns 0 if the depth is unknown: the next host receives those messages. */
  const waitingIn = (queue: string): Promise<number> =>
    queues.depth(queue).then(
      ({ visible }) => visible,
      () => 0,
    );

  const sourcesIn = (turn: 1 | 2): readonly EventSource[] =>
    running.filter(({ spec }) => spec.stopsIn === turn).flatMap(({ sources }) => sources);

  return {
    url: entrance?.url,
    system,
    on: (event, listener) => void events.on(event, listener as (detail: unknown) => void),

    async hold(orderId, leaseMs = leaseMsDefault) {
      const lease = await acquireLease(store, orderId, { holder: hostId, leaseMs, clock, policy: config.lockPolicy });
      if (!lease) return undefined;
      leases.set(orderId, lease);
      const heldSince = clock.now();
      void keepRenewing(lease, leaseMs);
      const release = (): Promise<void> => {
        leases.delete(orderId);
        const advice = lockPolicyAdvice(config.lockPolicy, clock.now() - heldSince);
        if (advice) telemetry.log('warn', advice, { orderId });
        return lease.release();
      };
      return { ...lease, release };
    },

    supervise: () => schedules[0]?.run() ?? Promise.resolve(),
    stop: () => (stopped ??= drain()),
  };

  async function keepRenewing(lease: Lease, leaseMs: number): Promise<void> {
    while (leases.get(lease.orderId) === lease) {
      await clock.sleep(leaseMs / 3, drained.signal);
      if (drained.signal.aborted || leases.get(lease.orderId) !== lease) return;
      if (!(await lease.renew().catch(() => false))) return void leases.delete(lease.orderId);
    }
  }
}

import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import { createAuthentication } from '#api/authentication';
import type { Invocation, LoadFunction } from '#runtime/function';
import type { System } from '#runtime/system';
import type { FunctionSpec, Schedule as TaskSchedule } from '#runtime/topology';
import { type EventSource, type QueueHandler, startEventSource } from './event-source.ts';
import type { Gate } from './gate.ts';
import { type HttpEntrance, type HttpHandler, type HttpOptions, startHttp } from './http.ts';
import { type LoopOptions, type Schedule, startSchedule } from './schedule.ts';

/** The functions of a host, with the triggers that Lambda would have. */
export interface HostFunctions {
  /** The HTTP server of the API, if the host has one. */
  readonly entrance: HttpEntrance | undefined;
  readonly schedules: readonly Schedule[];
  /** The event sources by the turn in which they stop. */
  readonly sources: { readonly [turn in FunctionSpec['stopsIn']]: readonly EventSource[] };
}

export interface HostFunctionsOptions extends LoopOptions {
  readonly system: System;
  readonly load: LoadFunction;
  /** The address of the API; without it, there is no HTTP server. */
  readonly http?: Pick<HttpOptions, 'port' | 'host' | 'names'> | undefined;
  readonly gate: Gate;
  /** Aborts when running work must stop. */
  readonly givingUp: AbortSignal;
}

type Task = TaskSchedule['input'];
type RunOn<Event, Result> = (event: Event, invocation: Invocation) => Result;

/** Loads the functions one after another, and starts their triggers. */
export async function startFunctions(
  specs: readonly FunctionSpec[],
  { system, load, http, gate, givingUp, ...loop }: HostFunctionsOptions,
): Promise<HostFunctions> {
  const { queues, telemetry, config } = system;
  const invocation: Invocation = { stopping: givingUp };
  const sources: { readonly [turn in FunctionSpec['stopsIn']]: EventSource[] } = { 1: [], 2: [] };
  const schedules: Schedule[] = [];
  let entrance: HttpEntrance | undefined;
  for (const spec of specs) {
    const { create } = await load(spec.file);
    const handler = create({ system, environment: spec.environment, accepting: () => !loop.stopping.aborted });
    const onQueue: QueueHandler = (event) => (handler as RunOn<SQSEvent, ReturnType<QueueHandler>>)(event, invocation);
    const onHttp: HttpHandler = (event) => (handler as RunOn<APIGatewayProxyEventV2, ReturnType<HttpHandler>>)(event, invocation);
    const onSchedule = (task: Task) => (handler as RunOn<Task, Promise<unknown>>)(task, invocation);
    sources[spec.stopsIn].push(...spec.sources.map((source) => startEventSource(source, onQueue, { ...loop, queues, gate })));
    if (spec.trigger === 'http' && http) entrance = await startHttp(onHttp, { ...http, telemetry, admits: bearerCheck(system) });
    for (const { input, everyMs } of spec.schedules) {
      // The first run is immediate: a host that restarts more often than one period must still recover orders.
      const period =
        everyMs === 'supervisor period' ? { periodMs: config.supervisorPeriodMs } : { periodMs: everyMs, firstAfterMs: everyMs };
      schedules.push(startSchedule(() => onSchedule(input), period, loop));
    }
  }
  return { entrance, schedules, sources };
}

/** Returns a function that tells whether the API would accept the token of a call. The API itself then decides what its bearer may do. */
function bearerCheck({ issuer, clock, store }: System): (authorization: string | null) => Promise<boolean> {
  const authenticate = createAuthentication(issuer, clock, (appClient) => store.clientOfApp(appClient));
  // While the store is unavailable, the API itself answers 503.
  return (authorization) =>
    authenticate(authorization).then(
      ({ outcome }) => outcome === 'known',
      () => true,
    );
}

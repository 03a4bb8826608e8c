import type { APIGatewayProxyEventV2, SQSEvent } from 'aws-lambda';
import { createAuthentication } from '#api/authentication';
import type { Invocation, LoadFunction } from '#runtime/function';
import type { System } from '#runtime/system';
import type { FunctionSpec, Schedule as ScheduleSpec } from '#runtime/topology';
import { type EventSource, type QueueHandler, startEventSource } from './event-source.ts';
import type { Gate } from './gate.ts';
import { type HttpEntrance, type HttpHandler, type HttpOptions, startHttp } from './http.ts';
import { type LoopOptions, type Schedule, startSchedule } from './schedule.ts';

/** The functions of a host, with the triggers that Lambda would have. */
export interface HostFunctions {
  /** The HTTP server of the API, if the host has one. */
  readonly entrance: HttpEntrance | undefined;
  readonly schedules: readonly Schedule[];
  /** The event sources by the stage of the shutdown in which they stop. */
  readonly sources: { readonly [stage in FunctionSpec['stopsIn']]: readonly EventSource[] };
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

type ScheduledInput = ScheduleSpec['input'];
type RunOn<Event, Result> = (event: Event, invocation: Invocation) => Result;

/** Loads the functions one after another, and starts their triggers. */
export async function startFunctions(
  specs: readonly FunctionSpec[],
  { system, load, http, gate, givingUp, ...loop }: HostFunctionsOptions,
): Promise<HostFunctions> {
  const { queues, telemetry, config } = system;
  const invocation: Invocation = { stopping: givingUp };
  const sources: { readonly [stage in FunctionSpec['stopsIn']]: EventSource[] } = { 1: [], 2: [] };
  const schedules: Schedule[] = [];
  let entrance: HttpEntrance | undefined;
  for (const spec of specs) {
    const { create } = await load(spec.file);
    const handler = create({ system, environment: spec.environment, accepting: () => !loop.stopping.aborted });
    const onQueue: QueueHandler = (event) => (handler as RunOn<SQSEvent, ReturnType<QueueHandler>>)(event, invocation);
    const onHttp: HttpHandler = (event) => (handler as RunOn<APIGatewayProxyEventV2, ReturnType<HttpHandler>>)(event, invocation);
    const onSchedule = (input: ScheduledInput) => (handler as RunOn<ScheduledInput, Promise<unknown>>)(input, invocation);
    sources[spec.stopsIn].push(...spec.sources.map((source) => startEventSource(source, onQueue, { ...loop, queues, gate })));
    if (spec.trigger === 'http' && http) entrance = await startHttp(onHttp, { ...http, telemetry, authenticate: bearerCheck(system) });
    for (const { input, everyMs } of spec.schedules) {
      // Functions with the period of the supervisor run at once: a host that restarts within each period must still find overdue orders.
      const period =
        everyMs === 'supervisor period' ? { periodMs: config.supervisorPeriodMs } : { periodMs: everyMs, firstAfterMs: everyMs };
      schedules.push(startSchedule(() => onSchedule(input), period, loop));
    }
  }
  return { entrance, schedules, sources };
}

/** Returns a function that authenticates the bearer of a call as the API does. The API itself then decides what the bearer may do. */
function bearerCheck({ issuer, clock, store }: System): NonNullable<HttpOptions['authenticate']> {
  const authenticate = createAuthentication(issuer, clock, (appClient) => store.clientOfApp(appClient));
  // If the store of clients is unavailable, the token is verified already, and the API itself answers 503.
  return (authorization) =>
    authenticate(authorization).then(
      ({ outcome }) => outcome,
      () => 'known',
    );
}

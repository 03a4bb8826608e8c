import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, SQSBatchResponse } from 'aws-lambda';
import { createMeter, type Meter } from '#adapters/aws/meter';
import { type Aws, type AwsConfig, type AwsEndpoints, openAws } from '#adapters/aws/open';
import type { Role } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';
import type { App } from '#authoring/workflow';
import { type Clock, systemClock } from '#ports/clock';
import type { Received } from '#ports/queues';
import { createTelemetry, type Telemetry } from '#ports/telemetry';
import type { ChannelHealth } from '#roles/channels/health';
import { policyDefaults } from '#roles/channels/policy';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import { readConfig } from '#runtime/config';
import { queueEvent } from '#runtime/host/event-source';
import { loadFunction } from '#runtime/host/load';
import { createSystem, newHostId } from '#runtime/system';
import { advancesOrders, type FunctionSpec, type TopologyOptions, topologyOf } from '#runtime/topology';

/** A call of the HTTP API, with its caller. */
export interface ApiCall {
  readonly as: Role;
  readonly client?: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly query?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: { readonly [name: string]: unknown };
}

/**
 * The functions of a system as Lambda runs them. Each is a separate process with its own role, and shares only the table and the queues
 * with the others. The test advances the clock.
 */
export interface Roles {
  readonly clock: Clock;
  /** The view from outside, without a role. */
  readonly outside: Aws;
  /** All calls, tagged with the name of the calling function. */
  readonly meter: Meter;
  telemetryOf(name: string): Telemetry;
  /** Has a function fail at messages of a queue until it closes the channel. */
  closes(name: string, queue: string): Promise<void>;
  /** Invokes a function once. */
  run(name: string, event: unknown): Promise<unknown>;
  call(method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE', path: string, call: ApiCall): Promise<ApiAnswer>;
  /** Delivers the messages of a queue to its function, as Lambda does, and returns their number. */
  deliver(queue: string, each?: (message: Received) => Received): Promise<number>;
  /** Delivers until every queue is empty, except those in `leaveAlone`. */
  settle(leaveAlone?: readonly string[]): Promise<void>;
  /** Receives all messages of a queue and drops them. */
  lose(queue: string): Promise<number>;
  supervise(name: 'supervisor' | 'sweeper' | 'bulk' | 'notifier'): Promise<unknown>;
  /** Advances the clock. */
  pass(ms: number): void;
  close(): void;
}

export interface RolesOptions {
  readonly app: App;
  readonly topology?: TopologyOptions;
  readonly endpoints: AwsEndpoints;
  readonly deployment: AwsConfig;
  /** The variables of the configuration. */
  readonly variables?: { readonly [name: string]: string };
}

/** The tasks of functions that a schedule starts. */
const tasks = { supervisor: 'pass', sweeper: 'sweep', bulk: 'bulk', notifier: 'notify' } as const;

type Handle = (event: unknown) => Promise<unknown>;

const visibilityMs = 30_000;

export async function openRoles({ app, topology = {}, endpoints, deployment, variables = {} }: RolesOptions): Promise<Roles> {
  let shiftedMs = 0;
  const clock: Clock = { now: () => Date.now() + shiftedMs, sleep: systemClock.sleep };
  const config = readConfig({ REDRESS_ADAPTERS: 'aws', LOG_LEVEL: 'off', ...variables });
  const folder = mkdtempSync(join(tmpdir(), 'redress-roles-'));
  const issuer = openLocalIssuer(folder, { now: clock.now });
  rmSync(folder, { recursive: true });
  const meter = createMeter();
  const opened: Aws[] = [];
  const open = (metered?: Meter): Aws => {
    const { retentionMs } = config;
    const aws = openAws(deployment, { clock, endpoints, retentionMs, ...(metered ? { meter: metered } : {}) });
    opened.push(aws);
    return aws;
  };

  const functions = topologyOf(app, topology);
  const handlers = new Map<string, Handle>();
  const telemetries = new Map<string, Telemetry>();
  const healths = new Map<string, ChannelHealth>();
  async function start({ name, file, environment }: FunctionSpec): Promise<void> {
    const telemetry = createTelemetry({ level: 'off', auditLines: false, role: name, now: clock.now });
    const ports = { ...open(meter), clock, telemetry, issuer, cursorKey: issuer.cursorKey };
    const system = createSystem(app, config, ports, { hostId: newHostId() });
    if (advancesOrders(name))
      await meter.within({ role: name }, () => recordDefinitions(app.workflows, system.store, { mayReplace: false }));
    const { create } = await loadFunction(file);
    const handler = create({ system, environment, accepting: () => true }) as (event: unknown, invocation: object) => Promise<unknown>;
    telemetries.set(name, telemetry);
    healths.set(name, system.channelHealth);
    handlers.set(name, (event) => meter.within({ role: name }, () => handler(event, { stopping: new AbortController().signal })));
  }
  for (const spec of functions) await start(spec);
  const outside = open();

  const run = (name: string, event: unknown): Promise<unknown> =>
    handlers.get(name)?.(event) ?? Promise.reject(new Error(`There is no function ${name}.`));
  const consumers = new Map(functions.flatMap(({ name, sources }) => sources.map(({ queue }) => [queue, name])));

  async function deliver(queue: string, each: (message: Received) => Received = (message) => message): Promise<number> {
    const messages = await outside.queues.receive(queue, { max: 10, visibilityMs, waitMs: 0 });
    if (messages.length === 0) return 0;
    const { batchItemFailures } = (await run(consumers.get(queue) ?? '', queueEvent(queue, messages.map(each)))) as SQSBatchResponse;
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = messages.filter(({ messageId }) => !failed.has(messageId)).map(({ receipt }) => receipt);
    await outside.queues.acknowledge(queue, done);
    return messages.length;
  }

  return {
    clock,
    outside,
    meter,
    telemetryOf: (name) => telemetries.get(name) as Telemetry,
    run,
    deliver,
    closes: (name, queue) =>
      meter.within({ role: name }, async () => {
        for (let time = 1; time <= policyDefaults.closesAfter; time++) await healths.get(name)?.failed(queue);
      }),
    async call(method, path, { as, client, body, headers = {}, query = '' }) {
      const token = await issuer.sign({ role: as, ...(client === undefined ? {} : { client }) });
      const event = requestEvent(method, path, { token, query, headers, body });
      const { statusCode = 0, headers: answered = {}, body: text } = (await run('api', event)) as APIGatewayProxyStructuredResultV2;
      return { status: statusCode, headers: answered, body: text ? (JSON.parse(text) as ApiAnswer['body']) : {} };
    },
    async settle(leaveAlone = []) {
      const queues = [...consumers.keys()].filter((queue) => !leaveAlone.includes(queue));
      // One after the other, so that each run is the same.
      for (let moved = 1; moved > 0; ) {
        moved = 0;
        for (const queue of queues) moved += await deliver(queue);
      }
    },
    async lose(queue) {
      const messages = await outside.queues.receive(queue, { max: 10, visibilityMs, waitMs: 0 });
      const receipts = messages.map(({ receipt }) => receipt);
      await outside.queues.acknowledge(queue, receipts);
      return receipts.length;
    },
    supervise: (name) => run(name, { task: tasks[name] }),
    pass: (ms) => void (shiftedMs += ms),
    close() {
      for (const aws of opened) aws.close();
    },
  };
}

const requestEvent = (
  method: string,
  rawPath: string,
  { token, query, headers, body }: { token: string; query: string; headers: object; body: unknown },
): APIGatewayProxyEventV2 =>
  ({
    rawPath,
    rawQueryString: query,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    requestContext: { http: { method } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  }) as unknown as APIGatewayProxyEventV2;

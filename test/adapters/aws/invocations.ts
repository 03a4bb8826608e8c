import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, SQSBatchResponse } from 'aws-lambda';
import { stateItem } from '#adapters/aws/dynamodb/items';
import { createMeter, type Meter } from '#adapters/aws/meter';
import { type Aws, type AwsConfig, type AwsEndpoints, openAws } from '#adapters/aws/open';
import { openLocalIssuer } from '#api/local-issuer';
import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import { type Clock, systemClock } from '#ports/clock';
import type { Queues } from '#ports/queues';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry, type Telemetry } from '#ports/telemetry';
import type { SupervisorPass } from '#roles/supervisor/supervisor';
import { type Config, readConfig } from '#runtime/config';
import type { CreateFunction } from '#runtime/function';
import { queueEvent } from '#runtime/host/event-source';
import { loadFunction } from '#runtime/host/load';
import { createSystem, newHostId, type System } from '#runtime/system';
import { type BulkTask, type FunctionSpec, type SupervisorTask, topologyOf } from '#runtime/topology';
import { deploy } from './deploy.ts';
import { meteredLoad } from './metered-load.ts';
import { itemBytes } from './support.ts';

/** One invocation of a function. */
export interface Run {
  /** Its file: `scheduler`. */
  readonly role: string;
  /** Its name in the topology: `agent-payment`. */
  readonly function: string;
  readonly records: number;
  /** CPU time of the main thread. */
  readonly cpuMs: number;
  /** Its AWS requests, in the order of sending. */
  readonly operations: readonly string[];
  /** Bytes of the answer to an HTTP call, with its headers. */
  readonly answerBytes: number;
  /** Bytes of its log, including metrics. */
  readonly logBytes: number;
  readonly metrics: readonly string[];
}

/**
 * A system on AWS's protocols whose functions run as in Lambda, but one invocation after the other: a batch is received from a queue,
 * handed to the function and deleted. So every request has a known cause, and time passes only when a test advances it.
 */
export interface Invoked {
  readonly config: AwsConfig;
  readonly clients: Aws['clients'];
  /** The store for the test itself. The meter does not count its calls. */
  readonly store: Store;
  readonly meter: Meter;
  readonly system: System;
  readonly runs: () => readonly Run[];
  /** Submits over the HTTP API, as API Gateway invokes it. Returns the order's id. */
  submit(idempotencyKey: string, body: SubmissionBody): Promise<string>;
  /** Hands the messages of the queues to the functions, at most `batchMax` at a time, until the queues are empty. */
  settle(batchMax?: number): Promise<void>;
  /** A process receives all messages of a queue, and crashes. */
  lose(queue: string): Promise<void>;
  run(task: SupervisorTask['task']): Promise<SupervisorPass>;
  /** Works on bulk runs until nothing is left to do now. */
  bulk(): Promise<void>;
  /** Advances the time. */
  pass(ms: number): void;
  /** The largest state item that was written for an order. */
  stateBytes(orderId: string): number;
  /** Forgets the requests and the invocations so far. */
  reset(): void;
  close(): void;
}

export interface SubmissionBody {
  readonly workflow: string;
  readonly order: Json;
  readonly reference?: string;
}

export interface InvokedOptions {
  readonly app: App;
  readonly endpoints: AwsEndpoints;
  /** Variables of the configuration. */
  readonly environment?: { readonly [name: string]: string };
  /** An existing table. */
  readonly table?: string;
}

export async function openInvoked({ app, endpoints, environment = {}, table }: InvokedOptions): Promise<Invoked> {
  const clock = shiftedClock();
  const config = await deploy(app, endpoints, table === undefined ? undefined : { table });
  const meter = createMeter();
  const aws = openAws(config, { clock, endpoints, meter });
  const unmetered = openAws(config, { clock, endpoints });
  const issuer = issuerOf(clock);
  const { store, stateBytes } = sized(aws.store);
  const { queues, waiting } = counted(aws.queues);
  // The overview costs requests by time, not by order, so it is switched off here.
  const settings = readConfig({ REDRESS_ADAPTERS: 'aws', OVERVIEW_PERIOD_SECONDS: '0', ...environment });
  const log = openLog(settings);
  const ports = { ...aws, store, queues, clock, telemetry: log.telemetry, issuer, cursorKey: issuer.cursorKey };
  const system = createSystem(app, settings, ports, { hostId: newHostId() });
  const runs: Run[] = [];
  const handlers = await handlersOf(app, system, { meter, log, runs });
  const token = await issuer.sign({ role: 'client', client: 'shop' });

  return {
    config,
    clients: aws.clients,
    store: unmetered.store,
    meter,
    system,
    runs: () => [...runs],
    async submit(idempotencyKey, body) {
      const event = submission(token, idempotencyKey, body);
      const { statusCode, body: answer = '' } = (await handlers.named('api')(event)) as APIGatewayProxyStructuredResultV2;
      if (statusCode !== 202) throw new Error(`The submission was refused: ${answer}`);
      return (JSON.parse(answer) as { orderId: string }).orderId;
    },
    async settle(batchMax = 1) {
      for (let [queue] = waiting(); queue !== undefined; [queue] = waiting())
        await deliver({ queues, meter }, queue, batchMax, handlers.consuming(queue));
    },
    async lose(queue) {
      while (waiting().includes(queue)) await deliver({ queues, meter }, queue, 10, async () => undefined);
    },
    run: (task) =>
      handlers.named(task === 'sweep' ? 'sweeper' : 'supervisor')({ task } satisfies SupervisorTask) as Promise<SupervisorPass>,
    bulk: () => handlers.named('bulk')({ task: 'bulk' } satisfies BulkTask) as Promise<void>,
    pass: clock.pass,
    stateBytes,
    reset() {
      meter.reset();
      runs.length = 0;
    },
    close() {
      aws.close();
      unmetered.close();
    },
  };
}

/** Sleeps take real time. */
function shiftedClock(): Clock & { pass(ms: number): void } {
  let shiftedMs = 0;
  return { now: () => Date.now() + shiftedMs, sleep: systemClock.sleep, pass: (ms) => void (shiftedMs += ms) };
}

function issuerOf({ now }: Clock): ReturnType<typeof openLocalIssuer> {
  const folder = mkdtempSync(join(tmpdir(), 'redress-invoked-'));
  const issuer = openLocalIssuer(folder, { now });
  rmSync(folder, { recursive: true });
  return issuer;
}

interface Log {
  readonly telemetry: Telemetry;
  /** Returns the output since the last call. */
  taken(): { readonly logBytes: number; readonly metrics: readonly string[] };
}

/** Output as in Lambda: the lines, and the metrics at the end of each run. */
function openLog({ logLevel }: Config): Log {
  let bytes = 0;
  const write = (line: string): void => void (bytes += Buffer.byteLength(line));
  const telemetry = createTelemetry({ level: logLevel, write });
  return {
    telemetry,
    taken() {
      const embedded = telemetry.embeddedMetrics();
      if (embedded) write(`${JSON.stringify(embedded)}\n`);
      const logBytes = bytes;
      bytes = 0;
      return { logBytes, metrics: Object.keys(embedded ?? {}).filter((name) => name !== '_aws' && name !== 'role') };
    },
  };
}

type Handle = (event: unknown) => Promise<unknown>;

interface Handlers {
  named(name: string): Handle;
  consuming(queue: string): Handle;
}

interface Recorder {
  readonly meter: Meter;
  readonly log: Log;
  readonly runs: Run[];
}

async function handlersOf(app: App, system: System, recorder: Recorder): Promise<Handlers> {
  const load = meteredLoad(loadFunction, recorder.meter);
  const byName = new Map<string, Handle>();
  const byQueue = new Map<string, Handle>();
  for (const spec of topologyOf(app)) {
    const { create } = await load(spec.file);
    const handle = recorded(create({ system, environment: spec.environment, accepting: () => true }), spec, recorder);
    byName.set(spec.name, handle);
    for (const { queue } of spec.sources) byQueue.set(queue, handle);
  }
  const nobody = (what: string) => (): Promise<never> => Promise.reject(new Error(`There is no function ${what}.`));
  return {
    named: (name) => byName.get(name) ?? nobody(name),
    consuming: (queue) => byQueue.get(queue) ?? nobody(`that listens to ${queue}`),
  };
}

function recorded(handler: ReturnType<CreateFunction>, { name, file }: FunctionSpec, { meter, log, runs }: Recorder): Handle {
  const invocation = { stopping: new AbortController().signal };
  return async (event) => {
    const before = meter.entries().length;
    log.taken();
    const started = process.threadCpuUsage();
    const answer = await handler(event as never, invocation);
    const { user, system } = process.threadCpuUsage(started);
    const { Records: records = [event] } = event as { Records?: readonly unknown[] };
    runs.push({
      role: file,
      function: name,
      records: records.length,
      cpuMs: (user + system) / 1000,
      operations: meter
        .entries()
        .slice(before)
        .map(({ operation }) => operation),
      answerBytes: bytesOf(answer),
      ...log.taken(),
    });
    return answer;
  };
}

/** Receiving and deleting are Lambda's own work. */
async function deliver(
  { queues, meter }: { readonly queues: Queues; readonly meter: Meter },
  queue: string,
  max: number,
  handle: Handle,
): Promise<void> {
  const itself = { role: 'event source' };
  const messages = await meter.within(itself, () => queues.receive(queue, { max, visibilityMs: 30_000, waitMs: 0 }));
  if (messages.length === 0) throw new Error(`Nothing came out of ${queue}, where something must be.`);
  const answer = (await handle(queueEvent(queue, messages))) as SQSBatchResponse | undefined;
  if (answer?.batchItemFailures.length) throw new Error(`Messages of ${queue} were not processed.`);
  const receipts = messages.map(({ receipt }) => receipt);
  await meter.within(itself, () => queues.acknowledge(queue, receipts));
}

const submission = (token: string, idempotencyKey: string, body: SubmissionBody): APIGatewayProxyEventV2 =>
  ({
    rawPath: '/orders',
    rawQueryString: '',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    requestContext: { http: { method: 'POST' } },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  }) as unknown as APIGatewayProxyEventV2;

const bytesOf = (answer: unknown): number => {
  const { headers, body } = (answer ?? {}) as APIGatewayProxyStructuredResultV2;
  return Buffer.byteLength(body ?? '') + (headers ? JSON.stringify(headers).length : 0);
};

/** The largest state of each order that was ever written. */
export function sized(store: Store): { readonly store: Store; stateBytes(orderId: string): number } {
  const largest = new Map<string, number>();
  const note = (state: StateRecord): void =>
    void largest.set(state.orderId, Math.max(itemBytes(stateItem(state)), largest.get(state.orderId) ?? 0));
  return {
    stateBytes: (orderId) => largest.get(orderId) ?? 0,
    store: {
      ...store,
      create(order, state, along) {
        note(state);
        return store.create(order, state, along);
      },
      update(state, when, along) {
        note(state);
        return store.update(state, when, along);
      },
    },
  };
}

/** Knows which queues have messages, so that no receive is wasted: it would be counted, too. */
function counted(queues: Queues): { readonly queues: Queues; waiting(): readonly string[] } {
  const counts = new Map<string, number>();
  const add = (queue: string, count: number): void => void counts.set(queue, (counts.get(queue) ?? 0) + count);
  return {
    waiting: () => [...counts].flatMap(([queue, count]) => (count > 0 ? [queue] : [])),
    queues: {
      ...queues,
      async send(messages) {
        await queues.send(messages);
        for (const { queue } of messages) add(queue, 1);
      },
      async receive(queue, options) {
        const messages = await queues.receive(queue, options);
        add(queue, -messages.length);
        return messages;
      },
    },
  };
}

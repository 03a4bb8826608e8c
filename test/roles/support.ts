import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import {
  type Activity,
  type App,
  type Call,
  defineAgent,
  defineApp,
  defineWorkflow,
  type Json,
  type JsonObject,
  type Operation,
  operation,
  sequence,
} from 'redress';
import { startSystem, type TestSystem, type TestSystemOptions } from 'redress/testing';
import * as z from 'zod';
import { bodiesAtRest } from '#adapters/sqlite/bodies-at-rest';
import type { Published } from '#adapters/sqlite/event-bus';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import type { People } from '#core/definition/people';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { type ManualClock, manualClock } from '#ports/clock';
import { consumerOf, type Heartbeat, queueNames, type Reply, type Request } from '#ports/messages';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { createTelemetry, type Telemetry } from '#ports/telemetry';
import { type DeadLetter, deadLetterIn } from '#roles/dead-letters/dead-letter';
import { openedLetter } from '#roles/dead-letters/kept-body';
import { decodeInstance, type JournalEntry } from '#roles/scheduler/instance';
import { type StepReport, stepsOf, wholeJournal } from '#roles/scheduler/step-report';
import { createSupervisor, type Supervisor } from '#roles/supervisor/supervisor';
import { readConfig } from '#runtime/config';
import { queueEvent } from '#runtime/host/event-source';
import { createSystem, type Emit, type Ports, type System } from '#runtime/system';
import { redriveIn, topologyOf } from '#runtime/topology';
import { create as agentFunction } from '../../functions/agent.ts';
import { create as childrenFunction } from '../../functions/children.ts';
import { create as consumerFunction } from '../../functions/consumer.ts';
import { create as deadLetterFunction } from '../../functions/dead-letter.ts';
import { create as schedulerFunction } from '../../functions/scheduler.ts';
import { create as submissionsFunction } from '../../functions/submissions.ts';

const Input = z.object({ orderId: z.string(), item: z.string() });
type Operations = { readonly [step: string]: (input: z.infer<typeof Input>, call: Call<string>) => unknown };

export interface LineOptions {
  readonly agent?: string;
  readonly version?: number;
  readonly completeWithinSeconds?: number;
  readonly recover?: 'step' | 'order';
  readonly maxFailures?: number;
  readonly onExhausted?: 'error' | 'wait';
  readonly people?: People;
  /** Options of every operation, beside `run`. */
  readonly operation?: Partial<Omit<Operation<z.ZodType, z.ZodType, string>, 'input' | 'run'>>;
}

/**
 * An app whose one workflow, `line`, runs these steps in sequence. Each step requests the operation of its name from the agent `worker`.
 */
export function lineOf(runs: Operations, { agent: name = 'worker', version = 1, operation: more = {}, ...options }: LineOptions = {}): App {
  const worker = defineAgent(
    name,
    Object.fromEntries(
      Object.entries(runs).map(([step, run]) => [step, operation({ input: Input, output: z.unknown(), ...more, run: run as never })]),
    ),
  );
  const line = defineWorkflow('line', { version, order: z.object({ item: z.string() }), ...options }, ({ order, orderId }) =>
    sequence(...Object.keys(runs).map((step) => (worker[step] as (input: unknown) => Activity<never>)({ orderId, item: order.item }))),
  );
  return defineApp({ workflows: [line], agents: [worker] });
}

export const nothing = (): Json => ({});
/** The same for tests that answer in place of the agent, so that no operation runs. */
export const stepsNamed = (...names: readonly string[]): Operations => Object.fromEntries(names.map((name) => [name, nothing]));

export const tea = { item: 'tea' };

/** Starts a whole system and stops it after the test. */
export async function started(context: TestContext, app: App, options: TestSystemOptions = {}): Promise<TestSystem> {
  // Orders that name no workflow belong to the first one.
  const variables = { DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '', ...options.variables };
  const system = await startSystem(app, { ...options, variables });
  context.after(() => system.stop());
  return system;
}

/** Submits an order that must be accepted, and returns its id. */
export async function submitted(
  system: Pick<TestSystem, 'submit'>,
  order: Json = tea,
  options: Parameters<TestSystem['submit']>[1] = {},
): Promise<string> {
  const answer = await system.submit(order, options);
  assert.equal(answer.outcome, 'accepted', JSON.stringify(answer));
  return answer.outcome === 'accepted' ? answer.order.orderId : '';
}

/** Advances the clock in steps until the order is in the given state; fails after `withinMs`. */
export async function reaches(
  { clock, store }: Pick<TestSystem, 'clock' | 'store'>,
  orderId: string,
  processState: StateRecord['processState'],
  { withinMs = 120_000, stepMs = 200 } = {},
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    await clock.advance(0);
    const head = await store.head(orderId);
    if (head?.processState === processState) return;
    assert.ok(waitedMs < withinMs, `${orderId} is ${head?.processState} instead of ${processState} (${head?.fault?.type ?? 'no fault'})`);
    await clock.advance(stepMs);
  }
}

export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redress-roles-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

type Around = NonNullable<DeskOptions['around']>;

/** Ports whose `update` goes through the test, which may observe it, lose it, refuse it or write first. */
export const updating =
  (through: (store: Store, ...write: Parameters<Store['update']>) => ReturnType<Store['update']>): Around =>
  ({ store }) => ({ store: { ...store, update: (...write) => through(store, ...write) } });

/** Ports that fail to send to this queue while `fails()` is true. */
export const sendingFails =
  (queue: string, fails: () => boolean): Around =>
  ({ queues }) => ({
    queues: {
      ...queues,
      async send(messages) {
        if (fails() && messages.some((message) => message.queue === queue)) throw new Error(`${queue} takes nothing`);
        await queues.send(messages);
      },
    },
  });

/** Adds an entry to a list, and returns `result`. */
export function noting<E, T>(list: E[], entry: E, result: T): T {
  list.push(entry);
  return result;
}

export interface DeskOptions {
  readonly variables?: { readonly [name: string]: string };
  readonly writesAndSendsAtomically?: boolean;
  readonly clock?: ManualClock;
  readonly dataFolder?: string;
  readonly hostId?: string;
  /** Replaces ports as the roles see them, given the real ones. */
  readonly around?: (ports: Embedded) => Partial<Pick<Ports, 'store' | 'queues' | 'publisher' | 'keys'>>;
  readonly emit?: Emit;
}

type Result = Reply['result'];

/** The roles without a host: nothing runs by itself, the test delivers each message. */
export interface Desk extends Embedded {
  readonly app: App;
  readonly system: System;
  readonly clock: ManualClock;
  readonly telemetry: Telemetry;
  /** The lines of the log so far. */
  readonly log: readonly string[];
  readonly supervisor: Supervisor;
  submit: TestSystem['submit'];
  state(orderId: string): Promise<StateRecord>;
  send(queue: string, body: unknown): Promise<void>;
  /** The messages on a queue, in flight or not, oldest first; they stay there. */
  messages(queue: string): readonly JsonObject[];
  /** The announcements but for those of exceptions and tasks, which come with each alert about an order. */
  announced(): readonly Published[];
  /** The announcements of exceptions and tasks. */
  announcedCauses(): readonly Published[];
  /** Takes all visible messages off a queue without processing them. */
  take(queue: string): Promise<readonly JsonObject[]>;
  /** Takes the requests of an agent off its queue. */
  requests(agent?: string): Promise<readonly Request[]>;
  /** Takes the single waiting request of an agent off its queue. */
  request(agent?: string): Promise<Request>;
  /** Hands the visible messages of a queue to its function, and returns how many become visible again. */
  deliver(queue: string): Promise<number>;
  /** Reads the dead-letter queues and returns all dead letters. */
  deadLetter(): Promise<readonly DeadLetter[]>;
  /** Sends the reply of an agent and delivers it. */
  answer(
    request: Request,
    result?: Result,
    more?: { readonly agent?: string; readonly sentAt?: number } & Partial<
      Pick<Reply, 'attempt' | 'epoch' | 'path' | 'requestId' | 'orderId'>
    >,
  ): Promise<void>;
  close(): Promise<void>;
}

export const ok = (output: Json = {}): Result => ({ status: 'succeeded', output });
export const failed = (
  type: string,
  message = 'no',
  more: { permanent?: boolean; outcomeUnknown?: boolean; data?: Json } = {},
): Result => ({ status: 'failed', fault: { type, message, permanent: true, ...more } });

export const replyTo = (request: Request, result: Result, sentAt: number): Reply => {
  const { requestId, orderId, path, attempt, epoch } = request;
  return { v: 1, type: 'reply', requestId, orderId, path, attempt, epoch, sentAt: new Date(sentAt).toISOString(), result };
};

export const heartbeatFor = (request: Request, completeBy: number, sentAt: number): Heartbeat => {
  const { requestId, orderId, path, attempt, epoch } = request;
  return {
    v: 1,
    type: 'heartbeat',
    requestId,
    orderId,
    path,
    attempt,
    epoch,
    sentAt: new Date(sentAt).toISOString(),
    completeBy: new Date(completeBy).toISOString(),
  };
};

const noIssuer = { issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } }, cursorKey: new Uint8Array(32) };

export function openDesk(context: Pick<TestContext, 'after'>, app: App, options: DeskOptions = {}): Desk {
  const {
    variables = {},
    writesAndSendsAtomically = true,
    clock = manualClock(),
    dataFolder = ':memory:',
    hostId = 'host-one',
    around = () => ({}),
    emit,
  } = options;
  const config = readConfig({
    DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '',
    LOG_LEVEL: 'off',
    OVERVIEW_PERIOD_SECONDS: '0',
    ...variables,
  });
  const log: string[] = [];
  const telemetry = createTelemetry({ level: 'debug', write: (line) => void log.push(line) });
  const embedded = openEmbedded(dataFolder, { clock, redriveOf: redriveIn(topologyOf(app)), writesAndSendsAtomically });
  const { store, queues, publisher, keys, database } = embedded;
  const system = createSystem(
    app,
    config,
    { store, queues, publisher, keys, ...around(embedded), clock, telemetry, ...noIssuer },
    { hostId, ...(emit ? { emit } : {}) },
  );
  const supervisor = createSupervisor(system);
  const selectMessages = database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id');
  const bodies = bodiesAtRest(keys);
  let drawn = 0;

  /** Advances the test's clock while a role sleeps. */
  const passing = <T>(work: Promise<T>) => timePasses(clock, work);
  const receive = (queue: string) => queues.receive(queue, { max: 1000, visibilityMs: 30_000, waitMs: 0 });

  const desk: Desk = {
    ...embedded,
    app,
    system,
    clock,
    telemetry,
    log,
    supervisor,
    submit: (order, { client = 'test', key = `key-${++drawn}`, ...more } = {}) =>
      passing(system.submit({ client, idempotencyKey: key, order, ...more })),
    state: (orderId) => stateIn(store, orderId),
    send: (queue, body) => queues.send([{ queue, body: typeof body === 'string' ? body : JSON.stringify(body) }]),
    messages: (queue) => selectMessages.all(queue).map((row) => JSON.parse(bodies.read((row as { body: string }).body)) as JsonObject),
    announced: () => publisher.published(0, 10_000).filter((each) => !isOfCause(each)),
    announcedCauses: () => publisher.published(0, 10_000).filter(isOfCause),

    async take(queue) {
      const received = await receive(queue);
      await queues.acknowledge(
        queue,
        received.map(({ receipt }) => receipt),
      );
      return received.map(({ body }) => JSON.parse(body) as JsonObject);
    },
    requests: async (agent = 'worker') => (await desk.take(queueNames.requests(agent))) as unknown as readonly Request[],
    async request(agent) {
      const found = await desk.requests(agent);
      assert.equal(found.length, 1, `expected one request, got ${found.length}`);
      return found[0] as Request;
    },

    async deliver(queue) {
      const received = await receive(queue);
      if (received.length === 0) return 0;
      const { batchItemFailures } = await passing(functionBehind(queue, system)(queueEvent(queue, received)));
      const back = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      await queues.acknowledge(
        queue,
        received.filter(({ messageId }) => !back.has(messageId)).map(({ receipt }) => receipt),
      );
      await queues.release(
        queue,
        received.filter(({ messageId }) => back.has(messageId)).map(({ receipt }) => receipt),
        0,
      );
      return back.size;
    },
    async deadLetter() {
      const dead = database.prepare("SELECT DISTINCT queue FROM messages WHERE queue LIKE '%-dead'").all() as { queue: string }[];
      for (const { queue } of dead) await desk.deliver(queue);
      const kept = database.prepare("SELECT record FROM documents WHERE collection LIKE 'DEAD-LETTER#%' ORDER BY id").all();
      return Promise.all(kept.map((row) => openedLetter(deadLetterIn(JSON.parse((row as { record: string }).record)), keys)));
    },
    async answer(request, result = ok(), { agent = 'worker', sentAt = clock.now(), ...more } = {}) {
      await desk.send(queueNames.replies(agent), { ...replyTo(request, result, sentAt), ...more });
      await desk.deliver(queueNames.replies(agent));
    },
    close: () => database.close(),
  };
  context.after(() => database.close());
  return desk;
}

export function functionBehind(queue: string, system: System): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const { signal: stopping } = new AbortController();
  if (queue === queueNames.calls) return childrenFunction({ system, environment: {}, accepting: () => true });
  if (queue.endsWith('-dead')) return deadLetterFunction({ system, environment: {}, accepting: () => true });
  const consumer = consumerOf(queue);
  if (consumer !== undefined) {
    const serve = consumerFunction({ system, environment: { REDRESS_CONSUMER: consumer }, accepting: () => true });
    return (event) => serve(event, { stopping });
  }
  const agent = queue.endsWith('-requests') ? queue.slice(0, -'-requests'.length) : undefined;
  if (agent !== undefined) {
    const serve = agentFunction({ system, environment: { REDRESS_AGENTS: agent }, accepting: () => true });
    return (event) => serve(event, { stopping });
  }
  const create = queue === queueNames.submissions ? submissionsFunction : schedulerFunction;
  return create({ system, environment: {}, accepting: () => true });
}

/** Waits for work that may sleep, and advances the clock meanwhile. */
export async function timePasses<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let done = false;
  work.then(
    () => (done = true),
    () => (done = true),
  );
  for (await clock.advance(0); !done; await clock.advance(0)) await clock.advance(10);
  return work;
}

export async function stateIn(store: Store, orderId: string): Promise<StateRecord> {
  const found = await store.load(orderId);
  if (!found) throw new Error(`There is no order ${orderId}.`);
  return found.state;
}

/** Returns the whole journal of an order, oldest first. */
export async function journalOf({ store }: { store: Store }, orderId: string): Promise<readonly JournalEntry[]> {
  return wholeJournal(await store.pages(orderId), decodeInstance(await stateIn(store, orderId)).tail);
}

/** Returns the report of every step, as the API returns it. */
export async function stepsIn(
  { store, system }: { store: Store; system: Pick<System, 'definitions'> },
  orderId: string,
): Promise<readonly StepReport[]> {
  const record = await stateIn(store, orderId);
  const program = system.definitions.program(record.workflow.name, record.workflow.version);
  if (!program) throw new Error('The workflow is not known.');
  const { state } = decodeInstance(record);
  return stepsOf(withRuledUndos(program, state), await journalOf({ store }, orderId), state);
}

/** Returns the number of rows in a table. */
export const countIn = (
  { database }: Pick<Embedded, 'database'>,
  table: 'orders' | 'states' | 'messages' | 'pages' | 'intents' | 'documents',
): number => (database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;

/** Returns orders without a state, and states without an order. */
export const orphansIn = ({ database }: Pick<Embedded, 'database'>): readonly unknown[] => [
  ...database.prepare('SELECT orderId FROM orders WHERE id NOT IN (SELECT id FROM states)').all(),
  ...database.prepare('SELECT id FROM states WHERE id NOT IN (SELECT id FROM orders)').all(),
];

const typesOfCauses: ReadonlySet<string> = new Set(['Exception Raised', 'Task Opened', 'Task Resolved']);

/** Whether an announcement is one of an exception or a task. */
export const isOfCause = ({ detailType }: { readonly detailType: string }): boolean => typesOfCauses.has(detailType);

export const typesOf = (entries: readonly { readonly detailType: string }[]): readonly string[] =>
  entries.map(({ detailType }) => detailType);

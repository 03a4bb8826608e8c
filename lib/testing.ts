import { type Embedded, openEmbeddedDatabase } from '#adapters/sqlite/open';
import { readJournal } from '#api/history';
import { type LocalIssuer, openLocalIssuer, temporaryIssuer } from '#api/local-issuer';
import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import { type ManualClock, manualClock } from '#ports/clock';
import type { StateRecord } from '#ports/records';
import { createTelemetry, type Telemetry } from '#ports/telemetry';
import type { Instructed } from '#roles/operator/instruct';
import type { Decision } from '#roles/operator/instruction';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { Submitted } from '#roles/submission/submission';
import { readConfig } from '#runtime/config';
import type { Host, HostOptions } from '#runtime/host/host';
import type { TestInstruction } from '#testing/rehearse/index';
import { TestProcess } from '#testing/test-system/process';

export type { ManualClock } from '#ports/clock';
export { manualClock } from '#ports/clock';
export type { CrashedOutcome, CrashedRun, CrashTested, CrashTestOptions } from '#testing/crash-test/index';
export { CrashTestError, crashTest } from '#testing/crash-test/index';
export type {
  FaultMatrix,
  FaultRow,
  OperationStubs,
  PartOf,
  Purpose,
  QuestionStubs,
  Rehearsal,
  RehearsedOutcome,
  RehearsedStep,
  RehearsedWait,
  RequestStub,
  SignalStubs,
  Stub,
  TestInstruction,
  WorkflowStubs,
} from '#testing/rehearse/index';
export { given, instruct, rehearse } from '#testing/rehearse/index';

export interface TestSystemOptions {
  /** Environment variables of the system: `{ MAX_FAILURES: '1' }`. */
  readonly variables?: { readonly [name: string]: string };
  readonly clock?: ManualClock;
  /** A data folder, to share with another system. The default is in memory. */
  readonly dataFolder?: string;
  readonly hostId?: string;
  /** Functions that do not run, so that a test can inspect their queues: `['agent-payment']`. */
  readonly without?: readonly string[];
  /** With `false`, messages are sent after the write instead of within it, as on AWS, where no transaction spans both. */
  readonly writesAndSendsAtomically?: boolean;
  readonly services?: HostOptions['services'];
}

/** The whole system in memory. Its clock stands still until the test advances it. */
export interface TestSystem extends Embedded {
  readonly host: Host;
  readonly clock: ManualClock;
  readonly telemetry: Telemetry;
  submit(
    order: Json,
    options?: {
      readonly client?: string;
      readonly key?: string;
      readonly workflow?: string;
      readonly reference?: string;
      readonly responseChannel?: string;
    },
  ): Promise<Submitted>;
  /** Returns the state of an order; throws if it does not exist. */
  state(orderId: string): Promise<StateRecord>;
  /** Gives an instruction as an operator does. The reason has a default. */
  instruct(orderId: string, instruction: TestInstruction): Promise<Instructed>;
  /** Cancels an order as its client does. */
  cancel(orderId: string): Promise<Instructed>;
  /** Sends a signal to an order. */
  signal(orderId: string, name: string, payload?: Json): Promise<Instructed>;
  /** Answers the question that blocks the order. */
  answer(orderId: string, answer: Json): Promise<Instructed>;
  /** Returns the journal of an order, oldest entry first. */
  history(orderId: string): Promise<readonly JournalEntry[]>;
  /** Advances the clock from one due event to the next. A quiet hour takes little time. */
  passTime(ms: number): Promise<void>;
  /** Returns the bodies of the messages that are on a queue, oldest first, and leaves them there. */
  messages(queue: string): readonly Json[];
  /**
   * Sends a request to the HTTP API, with the routes and the authorization of `npm start`: `fetch('/orders', { headers })`. It has the
   * type of the global `fetch`, needs no server, and rejects while no process runs.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Signs a token for the API: `Bearer ${await token({ role: 'client', client: 'acme' })}`. Its times are those of the test clock. */
  token: LocalIssuer['sign'];
  /**
   * Kills the process in the middle of its work, as `kill -9` does. Committed writes stay; uncommitted writes and unsent messages are
   * lost, and open requests break off. Operations and services get no signal. An operation that is already running continues, like a
   * request that has left the machine, but its answer is lost.
   */
  kill(): void;
  /** Starts another process over the same data, after `kill()`. */
  start(): Promise<void>;
  /** Lets running work finish, then closes the data. */
  stop(): Promise<void>;
}

let keys = 0;

export async function startSystem(app: App, options: TestSystemOptions = {}): Promise<TestSystem> {
  const {
    variables = {},
    clock = manualClock(),
    dataFolder = ':memory:',
    hostId,
    without = [],
    writesAndSendsAtomically = true,
    services = [],
  } = options;
  const config = readConfig({ DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '', LOG_LEVEL: 'off', ...variables });
  const telemetry = createTelemetry({ level: 'off' });
  const now = () => clock.now();
  const issuer = dataFolder === ':memory:' ? temporaryIssuer({ now }) : openLocalIssuer(dataFolder, { now });
  const database = openEmbeddedDatabase(dataFolder);
  let started = 0;
  const newProcess = (): TestProcess => {
    const name = hostId && (++started === 1 ? hostId : `${hostId}-${started}`);
    return new TestProcess({ app, config, clock, database, telemetry, issuer, writesAndSendsAtomically, without, services, hostId: name });
  };
  let current = newProcess();
  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = true;
    await database.close();
  };
  await current.start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let calls = 0;
  const decide = (orderId: string, decision: Decision) =>
    current.ask(({ system }) => system.scheduler.instruct(orderId, decision, { id: `test-${++calls}` }));
  const instruct = (orderId: string, { by = 'test', reason = 'Instruction of a test.', ...instruction }: TestInstruction) =>
    decide(orderId, { ...instruction, by, reason } as Decision);
  const state = async (orderId: string): Promise<StateRecord> => {
    const found = await current.embedded.store.load(orderId);
    if (!found) throw new Error(`Order ${orderId} does not exist.`);
    return found.state;
  };
  const selectDue = database.prepare(
    `SELECT min(at) AS at FROM (
       SELECT min(visibleAt) AS at FROM messages UNION ALL SELECT min(worklistAt) FROM states WHERE worklist = 'due'
     )`,
  );
  const selectMessages = database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id');

  return {
    database,
    clock,
    telemetry,
    get store() {
      return current.embedded.store;
    },
    get queues() {
      return current.embedded.queues;
    },
    get publisher() {
      return current.embedded.publisher;
    },
    tidy: () => current.embedded.tidy(),
    get host() {
      return current.host;
    },
    submit: (order, { client = 'test', key = `key-${++keys}`, ...more } = {}) =>
      current.ask(({ system }) => system.submit({ client, idempotencyKey: key, order, ...more })),
    state,
    instruct,
    cancel: (orderId) => instruct(orderId, { kind: 'cancel' }),
    signal: (orderId, name, payload = null) => decide(orderId, { kind: 'signal', name, payload }),
    answer: (orderId, answer) => instruct(orderId, { kind: 'resubmit', answer }),
    history: async (orderId) => (await readJournal(current.embedded.store, await state(orderId))).journal,
    async passTime(ms) {
      const end = clock.now() + ms;
      for (;;) {
        await clock.advance(0);
        const { at } = selectDue.get() as { at: number | null };
        if (at === null || at > end) break;
        // A message that is already due waits for the next poll, so only the clock moves.
        if (at > clock.now()) await clock.jump(at - clock.now());
        else if (!(await clock.nextBy(end))) break;
      }
      await clock.jump(end - clock.now());
    },
    messages: (queue) => selectMessages.all(queue).map((row) => JSON.parse((row as { body: string }).body) as Json),
    token: (about) => issuer.sign(about),
    fetch: (input, init) => current.fetch(input, init),
    kill() {
      if (isClosed) throw new Error('Cannot kill the system: it was stopped.');
      current.kill();
      current = newProcess();
    },
    async start() {
      if (isClosed)
        throw new Error('Cannot start the system: it was stopped, and its data is closed. Call startSystem with the same dataFolder.');
      if (current.isRunning) throw new Error('Cannot start the system: it is running. Call kill() first.');
      await current.start();
    },
    async stop() {
      if (isClosed) return;
      if (current.isRunning) await current.stop();
      await close();
    },
  };
}

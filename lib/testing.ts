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
  /** Variables as the system itself takes them: `{ MAX_FAILURES: '1' }`. */
  readonly variables?: { readonly [name: string]: string };
  readonly clock?: ManualClock;
  /** A folder to share with another system; in memory without it. */
  readonly dataFolder?: string;
  readonly hostId?: string;
  /** Functions that are not to run, so that a test can look at their queues: `['agent-payment']`. */
  readonly without?: readonly string[];
  /** Keeps what is sent apart from what is written, as on AWS, where no transaction spans both. */
  readonly writesAndSendsAtomically?: boolean;
  readonly services?: HostOptions['services'];
}

/** The whole system in memory, in a time that stands still until the test moves it on. */
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
  /** The state of an order; throws where there is none. */
  state(orderId: string): Promise<StateRecord>;
  /** Gives an instruction as an operator does; a reason is made up where none is given. */
  instruct(orderId: string, instruction: TestInstruction): Promise<Instructed>;
  /** Cancels an order as its client does. */
  cancel(orderId: string): Promise<Instructed>;
  /** Sends a signal to an order. */
  signal(orderId: string, name: string, payload?: Json): Promise<Instructed>;
  /** Answers the question for which an order is held. */
  answer(orderId: string, answer: Json): Promise<Instructed>;
  /** The journal of an order, oldest line first. */
  history(orderId: string): Promise<readonly JournalEntry[]>;
  /** Lets so much time pass, from one thing that is due to the next: an hour in which little happens costs little. */
  passTime(ms: number): Promise<void>;
  /** Bodies of the messages that are on a queue now, oldest first, left where they are. */
  messages(queue: string): readonly Json[];
  /**
   * The HTTP API, with the routes and the authorization of `npm start`, and without a server: `fetch('/orders', { headers })`.
   * It has the type of the global `fetch`, for clients that take one. While no process runs it rejects as that does.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Signs a token that the API takes: `Bearer ${await token({ role: 'client', client: 'acme' })}`. Its times are the clock's. */
  token: LocalIssuer['sign'];
  /**
   * Ends the process at once, as `kill -9` does, in the middle of whatever it does: nothing of it is written or sent any
   * more, its operations and services are not told, and requests break off. What is committed stays. A `run` that was called
   * already goes on by itself, as a request does that has left the machine; its answer reaches nobody.
   */
  kill(): void;
  /** Starts another process over the same data, after `kill()`. */
  start(): Promise<void>;
  /** Lets what is at work end, and closes the data. */
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
  const instruct = (orderId: string, { by = 'test', reason = 'A test wants it.', ...instruction }: TestInstruction) =>
    decide(orderId, { ...instruction, by, reason } as Decision);
  const state = async (orderId: string): Promise<StateRecord> => {
    const found = await current.embedded.store.load(orderId);
    if (!found) throw new Error(`There is no order ${orderId}.`);
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
        // What is due already waits for whoever looks next.
        if (at > clock.now()) await clock.jump(at - clock.now());
        else if (!(await clock.nextBy(end))) break;
      }
      await clock.jump(end - clock.now());
    },
    messages: (queue) => selectMessages.all(queue).map((row) => JSON.parse((row as { body: string }).body) as Json),
    token: (about) => issuer.sign(about),
    fetch: (input, init) => current.fetch(input, init),
    kill() {
      if (isClosed) throw new Error('The system was stopped: nothing is left of it to kill.');
      current.kill();
      current = newProcess();
    },
    async start() {
      if (isClosed) throw new Error('The system was stopped, and its data are closed. Call startSystem with the same dataFolder.');
      if (current.isRunning) throw new Error('The system runs. Call kill() first.');
      await current.start();
    },
    async stop() {
      if (isClosed) return;
      if (current.isRunning) await current.stop();
      await close();
    },
  };
}

import { type Embedded, keysFor, openEmbeddedDatabase } from '#adapters/sqlite/open';
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
import { onlyWorkflowOf } from '#runtime/default-workflow';
import type { Host, HostOptions } from '#runtime/host/host';
import type { TestInstruction } from '#testing/rehearse/index';
import { messagesIn, timePassing } from './database-views.ts';
import { Processes } from './processes.ts';

export interface TestSystemOptions {
  /** Environment variables of the system: `{ MAX_FAILURES: '1' }`. */
  readonly variables?: { readonly [name: string]: string };
  readonly clock?: ManualClock;
  /** A data folder, to share with another system. The default is in memory. */
  readonly dataFolder?: string;
  readonly hostId?: string;
  /** Functions that do not run, so that a test can inspect their queues: `['agent-payment']`. */
  readonly without?: readonly string[];
  /** With `false`, messages are sent after the write instead of in its transaction, as on AWS, where no transaction spans both. */
  readonly writesAndSendsAtomically?: boolean;
  readonly services?: HostOptions['services'];
}

/** The whole system in memory. Its clock stands still until the test advances it. */
export interface TestSystem extends Omit<Embedded, 'keys'> {
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
  /** Cancels an order with the instruction that a client may also give. The history names `test` as the person. */
  cancel(orderId: string): Promise<Instructed>;
  /** Sends a signal to an order. */
  signal(orderId: string, name: string, payload?: Json): Promise<Instructed>;
  /** Answers the question that blocks the order. */
  answer(orderId: string, answer: Json): Promise<Instructed>;
  /** Returns the journal of an order, oldest entry first. */
  history(orderId: string): Promise<readonly JournalEntry[]>;
  /** Advances the clock by `ms` in total. It jumps from each due event to the next, so an hour without events takes little real time. */
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
   * lost, and open requests break off. No operation, service or listener is notified, so no `AbortSignal` fires. An operation that is
   * already running continues, like a request that has left the machine, but its answer is lost.
   */
  kill(): void;
  /** Starts another process over the same data, after `kill()`. */
  start(): Promise<void>;
  /** Lets running work finish, then closes the data. */
  stop(): Promise<void>;
}

/** The number of submission keys that were made up. */
let madeUpKeys = 0;

/** Starts the whole system in memory, or over a data folder, under a clock that only the test advances. */
export async function startSystem(app: App, options: TestSystemOptions = {}): Promise<TestSystem> {
  const { variables = {}, clock = manualClock(), dataFolder = ':memory:', hostId } = options;
  const { without = [], writesAndSendsAtomically = true, services = [] } = options;
  const config = readConfig({ DEFAULT_WORKFLOW: onlyWorkflowOf(app) ?? '', LOG_LEVEL: 'off', OVERVIEW_PERIOD_SECONDS: '0', ...variables });
  const telemetry = createTelemetry({ level: 'off', write: () => undefined });
  const now = () => clock.now();
  const issuer = dataFolder === ':memory:' ? temporaryIssuer({ now }) : openLocalIssuer(dataFolder, { now });
  const database = openEmbeddedDatabase(dataFolder);
  const keys = keysFor(dataFolder, clock);
  const processes = new Processes(
    { app, config, clock, database, keys, telemetry, issuer, writesAndSendsAtomically, without, services },
    hostId,
  );
  await processes.startFirst();
  const state = async (orderId: string): Promise<StateRecord> => {
    const found = await processes.current.embedded.store.load(orderId);
    if (!found) throw new Error(`Order ${orderId} does not exist.`);
    return found.state;
  };

  return {
    database,
    clock,
    telemetry,
    get store() {
      return processes.current.embedded.store;
    },
    get queues() {
      return processes.current.embedded.queues;
    },
    get publisher() {
      return processes.current.embedded.publisher;
    },
    tidy: () => processes.current.embedded.tidy(),
    get host() {
      return processes.current.host;
    },
    submit: (order, { client = 'test', key = `key-${++madeUpKeys}`, ...more } = {}) =>
      processes.current.ask(({ system }) => system.submit({ client, idempotencyKey: key, order, ...more })),
    state,
    ...instructionsTo(processes),
    history: async (orderId) => (await readJournal(processes.current.embedded.store, await state(orderId))).journal,
    passTime: timePassing(database, clock),
    messages: messagesIn(database, keys),
    token: (about) => issuer.sign(about),
    fetch: (input, init) => processes.current.fetch(input, init),
    kill: () => processes.kill(),
    start: () => processes.start(),
    stop: () => processes.stop(),
  };
}

/** Instructions of operators and clients, as methods of the test system. */
function instructionsTo(processes: Processes): Pick<TestSystem, 'instruct' | 'cancel' | 'signal' | 'answer'> {
  let calls = 0;
  const decide = (orderId: string, decision: Decision) =>
    processes.current.ask(({ system }) => system.scheduler.instruct(orderId, decision, { id: `test-${++calls}` }));
  const instruct = (orderId: string, { by = 'test', reason = 'Instruction of a test.', ...instruction }: TestInstruction) =>
    decide(orderId, { ...instruction, by, reason } as Decision);
  return {
    instruct,
    cancel: (orderId) => instruct(orderId, { kind: 'cancel' }),
    signal: (orderId, name, payload = null) => decide(orderId, { kind: 'signal', name, payload }),
    answer: (orderId, answer) => instruct(orderId, { kind: 'resubmit', answer }),
  };
}

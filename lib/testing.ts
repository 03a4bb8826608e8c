import { readJournal } from './api/history.ts';
import type { App } from './authoring/workflow.ts';
import { type ManualClock, manualClock } from './clock.ts';
import { readConfig } from './config.ts';
import type { Json } from './core/json.ts';
import { loadDefinitions } from './definitions.ts';
import { type Embedded, openEmbedded } from './embedded.ts';
import { type Host, type HostOptions, startHost } from './host/host.ts';
import { loadFunction } from './host/load.ts';
import type { JournalEntry } from './instance.ts';
import type { Instructed } from './instructing.ts';
import type { Decision, Instruction } from './instruction.ts';
import type { StateRecord } from './record.ts';
import { recordDefinitions } from './recorded-definitions.ts';
import type { Submitted } from './submission.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';
import { redriveIn, topologyOf } from './topology.ts';

export type { ManualClock } from './clock.ts';
export { manualClock } from './clock.ts';
export type { CrashedOutcome, CrashedRun, CrashTested, CrashTestOptions } from './crash-test/index.ts';
export { CrashTestError, crashTest } from './crash-test/index.ts';
export type {
  FaultMatrix,
  FaultRow,
  Purpose,
  QuestionWhens,
  Rehearsal,
  RehearsedOutcome,
  RehearsedStep,
  RehearsedWait,
  SignalWhens,
  When,
  Whens,
  WorkflowWhens,
} from './rehearsal/index.ts';
export { rehearse, when } from './rehearsal/index.ts';

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
  readonly sendsAlong?: boolean;
  readonly services?: HostOptions['services'];
}

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** An instruction of an operator, such as `{ kind: 'suspend' }`. */
export type TestInstruction = Without<Instruction, 'by' | 'reason'> & { readonly by?: string; readonly reason?: string };

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
    sendsAlong = true,
    services = [],
  } = options;
  const config = readConfig({ DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '', LOG_LEVEL: 'off', ...variables });
  const telemetry = createTelemetry({ level: 'off' });
  const embedded = openEmbedded(dataFolder, { clock, redriveOf: redriveIn(topologyOf(app)), sendsAlong });
  const { store, channel, publisher, database } = embedded;
  const ports = {
    store,
    channel,
    publisher,
    clock,
    telemetry,
    issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
    cursorKey: new Uint8Array(32),
  };
  const definitions = loadDefinitions(app);
  await recordDefinitions(app.workflows, store, { mayReplace: true }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const host = await startHost({
    app,
    definitions,
    config,
    ports,
    load: loadFunction,
    services,
    without: ['api', ...without],
    ...(hostId ? { hostId } : {}),
  });
  let calls = 0;
  const decide = (orderId: string, decision: Decision) => host.system.scheduler.instruct(orderId, decision, { id: `test-${++calls}` });
  const instruct = (orderId: string, { by = 'test', reason = 'A test wants it.', ...instruction }: TestInstruction) =>
    decide(orderId, { ...instruction, by, reason } as Decision);
  const state = async (orderId: string): Promise<StateRecord> => {
    const found = await store.load(orderId);
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
    ...embedded,
    host,
    clock,
    telemetry,
    submit: (order, { client = 'test', key = `key-${++keys}`, ...more } = {}) =>
      host.system.submit({ client, idempotencyKey: key, order, ...more }),
    state,
    instruct,
    cancel: (orderId) => instruct(orderId, { kind: 'cancel' }),
    signal: (orderId, name, payload = null) => decide(orderId, { kind: 'signal', name, payload }),
    answer: (orderId, answer) => instruct(orderId, { kind: 'resubmit', answer }),
    history: async (orderId) => (await readJournal(store, await state(orderId))).journal,
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
    async stop() {
      const stopped = host.stop();
      // Whoever sleeps while the system drains sleeps in the test's time.
      for (let done = false; !done; ) {
        await clock.next();
        done = await Promise.race([stopped.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
      }
      await database.close();
    },
  };
}

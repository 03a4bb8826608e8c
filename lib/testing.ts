import type { App } from './authoring/workflow.ts';
import { type ManualClock, manualClock } from './clock.ts';
import { readConfig } from './config.ts';
import type { Json } from './core/json.ts';
import { loadDefinitions } from './definitions.ts';
import { type Embedded, openEmbedded } from './embedded.ts';
import { type Host, type HostOptions, startHost } from './host/host.ts';
import { loadFunction } from './host/load.ts';
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
  const selectMessages = database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id');

  return {
    ...embedded,
    host,
    clock,
    telemetry,
    submit: (order, { client = 'test', key = `key-${++keys}`, ...more } = {}) =>
      host.system.submit({ client, idempotencyKey: key, order, ...more }),
    async state(orderId) {
      const found = await store.load(orderId);
      if (!found) throw new Error(`There is no order ${orderId}.`);
      return found.state;
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

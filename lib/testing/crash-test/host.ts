import type { Embedded } from '#adapters/sqlite/open';
import type { Call } from '#authoring/agent';
import type { Breakers } from '#ports/circuit-breaker';
import type { Definitions } from '#ports/definitions';
import { agentOfRequests, type Request } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { loadDefinitions } from '#roles/definitions/load';
import { type Config, readConfig } from '#runtime/config';
import type { CreateFunction, Invocation } from '#runtime/function';
import { freshMs } from '#runtime/host/gate';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import type { System } from '#runtime/system';
import { type FunctionSpec, type SupervisorTask, topologyOf } from '#runtime/topology';
import type { AgentEvent } from '#testing/world/agent-event';
import { AgentWatch, type WatchedProcess } from '#testing/world/agent-watch';
import { clockOf } from '#testing/world/clock';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import type { Observation } from '#testing/world/observation';
import { failureOf, recordingTelemetry } from '#testing/world/telemetry';
import type { Timeline } from '#testing/world/timeline';
import { asOrigin, currentOrigin, type Origin } from './origin.ts';
import type { ReceiveOptions, Receivers } from './receivers.ts';
import type { Scenario } from './scenario.ts';
import type { Line, Services } from './services.ts';

/** The world around a process. */
export interface Surroundings {
  readonly scenario: Scenario;
  readonly timeline: Timeline;
  readonly embedded: Embedded;
  readonly services: Services;
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
  readonly config: Config;
  record(observation: Observation): void;
  /** Makes a call to another system. The process may crash during it; then the call is never answered. */
  call(host: Host, made: PortCall & { readonly about: string; readonly latencyMs: number }): Promise<unknown>;
  readonly receivers: Receivers;
}

/** Virtual time that a call of a port takes, and one of a service. */
const portMs = 1;
const serviceMs = 20;

/** The files and the configuration that every process of a scenario needs, loaded once. */
export interface Loaded {
  /** The modules of `functions/`, by file. */
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
  readonly config: Config;
}

export async function loaded({ app, variables }: Scenario): Promise<Loaded> {
  const files = new Set(topologyOf(app).map(({ file }) => file));
  const functions: [file: string, create: CreateFunction][] = [];
  // One after the other: jest on Node 22 fails to link modules that are imported at the same time.
  for (const file of files) functions.push([file, (await loadFunction(file)).create]);
  const config = readConfig({
    DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '',
    LOG_LEVEL: 'off',
    OVERVIEW_PERIOD_SECONDS: '0',
    ...variables,
  });
  return { functions: new Map(functions), definitions: loadDefinitions(app), config };
}

/** One process with all functions. A crash cuts its work off at the current call. */
export class Host implements WatchedProcess {
  readonly id: string;
  readonly timeline: Timeline;
  readonly skewMs = 0;
  readonly frozenUntil = 0;
  readonly isStopping = false;
  isDead = false;
  /** Number of calls without an answer yet. */
  open = 0;
  private readonly around: Surroundings;
  private readonly watch = new AgentWatch(this);
  private started: System | undefined;
  private readonly schedules = new Map<string, (task: SupervisorTask) => Promise<unknown>>();

  constructor(id: string, around: Surroundings) {
    this.id = id;
    this.around = around;
    this.timeline = around.timeline;
  }

  get system(): System {
    if (!this.started) throw new Error(`${this.id} has not started.`);
    return this.started;
  }

  async start(): Promise<void> {
    const { scenario, embedded, services, definitions, config, record } = this.around;
    const { app } = scenario;
    const stood = services.stoodInFor(app, this.line());
    const queues = instrumented('queues', embedded.queues, (made) => this.port(made));
    const ports = {
      store: instrumented('store', embedded.store, (made) => this.port(made)),
      publisher: instrumented('publisher', embedded.publisher, (made) => this.port(made)),
      queues: new Proxy(queues, { get: (target, key) => (key === 'receive' ? this.receive : Reflect.get(target, key)) }),
      clock: clockOf({
        process: this,
        watch: this.watch,
        record,
        // The host polls its channels each second while an order waits.
        isPoll: (ms) => ms === freshMs && currentOrigin() === undefined,
      }),
      telemetry: recordingTelemetry({ record }),
      issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
      cursorKey: new Uint8Array(32),
      keys: embedded.keys,
      // Makes the random delays of the roles deterministic.
      random: () => 0.5,
    };
    const specs = topologyOf(app);
    const scheduled = specs.filter(({ trigger }) => trigger === 'schedule');
    const host = await startHost({
      // The app's own services are not under test.
      app: { ...stood, services: [], on: {} },
      config,
      ports,
      hostId: this.id,
      definitions: { ...definitions, agents: stood.agents },
      load: async (file) => ({ create: this.named(file) }),
      without: ['api', ...scheduled.map(({ name }) => name)],
    });
    this.started = host.system;
    for (const spec of scheduled) this.schedules.set(spec.name, this.scheduled(spec, host.system));
  }

  /** Runs a scheduled function once. */
  async supervise(name: string, task: SupervisorTask): Promise<void> {
    await this.schedules.get(name)?.(task);
  }

  record(agent: string, event: AgentEvent): void {
    this.around.record({ type: 'agent event', host: this.id, agent, now: this.timeline.now, event });
  }

  goOn(resume: () => void): void {
    if (!this.isDead) resume();
  }

  private scheduled({ name, file, environment }: FunctionSpec, system: System): (task: SupervisorTask) => Promise<unknown> {
    const handler = this.create(file)({ system, environment, accepting: () => true }) as (task: SupervisorTask, run: Invocation) => unknown;
    const invocation = { stopping: new AbortController().signal };
    return (task) => this.run(name, () => handler(task, invocation));
  }

  /** Wraps a function so that its calls carry its name, and its batches are observed. */
  private named(file: string): CreateFunction {
    return (context) => {
      const { REDRESS_AGENTS } = context.environment;
      const handler = this.create(file)(context) as (event: QueueEvent, invocation: Invocation) => unknown;
      const name = REDRESS_AGENTS === undefined ? file : `agent ${REDRESS_AGENTS}`;
      return (event: QueueEvent, invocation: Invocation) => this.run(name, () => this.handled(event, () => handler(event, invocation)));
    };
  }

  private create(file: string): CreateFunction {
    const create = this.around.functions.get(file);
    if (!create) throw new Error(`Function ${file} was not loaded.`);
    return create;
  }

  private async run<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const { record } = this.around;
    const origin: Origin = { name, open: 0 };
    try {
      return await asOrigin(origin, work);
    } catch (error) {
      record(failureOf('a function rejects', error));
      throw error;
    } finally {
      record({ type: 'returned', name, pendingCalls: origin.open });
    }
  }

  private async handled(event: QueueEvent, handle: () => unknown): Promise<unknown> {
    const { record } = this.around;
    const queue = event.Records[0]?.eventSourceARN.split(':').at(-1) ?? '';
    const agent = agentOfRequests(queue);
    if (agent !== undefined) this.record(agent, { what: 'messages arrive' });
    const messages = event.Records.map(({ messageId, body }) => ({ messageId, body }));
    record({ type: 'delivered', queue, messages });
    const response = (await handle()) as { readonly batchItemFailures?: readonly { readonly itemIdentifier: string }[] } | undefined;
    const failed = (response?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
    record({ type: 'answered', queue, came: messages.map(({ messageId }) => messageId), failed });
    return response;
  }

  private port(made: PortCall): Promise<unknown> {
    const call = () => this.around.call(this, { ...made, about: aboutOf(made), latencyMs: portMs });
    const agent = agentAtWork();
    const answer = agent === undefined ? call() : this.portOfAgent(agent, made, call);
    const origin = currentOrigin();
    if (!origin) return answer;
    origin.open += 1;
    const closed = () => void (origin.open -= 1);
    answer.then(closed, closed);
    return answer;
  }

  private portOfAgent(agent: string, { site, args }: PortCall, call: () => Promise<unknown>): Promise<unknown> {
    if (site === 'store.breaker') return this.watch.readsBreaker(agent, call as () => ReturnType<Breakers['breaker']>);
    if (site === 'store.putBreaker')
      return this.watch.writesBreaker(
        args as unknown as Parameters<Breakers['putBreaker']>,
        call as () => ReturnType<Breakers['putBreaker']>,
      );
    if (site === 'store.recordIntent') {
      const { requestId, completeBy } = args[0] as Request;
      this.record(agent, { what: 'records intent', requestId, completeBy });
    }
    const answer = call();
    if (site === 'queues.send') this.watch.sends(args[0] as Parameters<Queues['send']>[0], answer);
    return answer;
  }

  private line(): Line {
    return {
      reach: <T>(site: string, about: string, apply: () => T | Promise<T>) =>
        this.around.call(this, { site, args: [], apply, about, latencyMs: serviceMs }) as Promise<T>,
      observe: <T>(operation: string, call: Call<string>, work: () => Promise<T>) => {
        this.watch.tries(call);
        return this.watch.call(operation.slice(0, operation.indexOf('.')), { ...call, operation }, work);
      },
    };
  }

  private readonly receive = (queue: string, options: ReceiveOptions) => this.around.receivers.wait(this, queue, options);
}

interface QueueEvent {
  readonly Records: readonly { readonly messageId: string; readonly body: string; readonly eventSourceARN: string }[];
}

const agentPrefix = 'agent ';
const agentAtWork = (): string | undefined => {
  const { name } = currentOrigin() ?? {};
  return name?.startsWith(agentPrefix) ? name.slice(agentPrefix.length) : undefined;
};

/** Describes the arguments of a call: queues of messages, kinds of announcements, the rev of a state. */
function aboutOf({ args }: PortCall): string {
  const about = (arg: unknown): readonly string[] => {
    if (Array.isArray(arg)) return arg.flatMap(about);
    if (typeof arg !== 'object' || arg === null) return [];
    const { queue, detailType, rev, processState } = arg as { readonly [field: string]: unknown };
    if (typeof queue === 'string') return [queue];
    if (typeof detailType === 'string') return [detailType];
    return typeof rev === 'number' && typeof processState === 'string' ? [`rev ${rev}`] : [];
  };
  const [first] = args;
  if (typeof first === 'string' && !first.startsWith('ord_') && first !== 'due') return first;
  const [text = ''] = args.map((arg) => [...new Set(about(arg))].join(', ')).filter((each) => each !== '');
  return text;
}

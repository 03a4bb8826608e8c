import type { Embedded } from '#adapters/sqlite/open';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Queues } from '#ports/queues';
import { createTelemetry } from '#ports/telemetry';
import { loadDefinitions } from '#roles/definitions/load';
import { readConfig } from '#runtime/config';
import type { CreateFunction, Invocation } from '#runtime/function';
import { freshMs } from '#runtime/host/gate';
import { startHost } from '#runtime/host/host';
import { loadFunction } from '#runtime/host/load';
import type { System } from '#runtime/system';
import { type FunctionSpec, type SupervisorTask, topologyOf } from '#runtime/topology';
import { caller, type PortCall, sited } from './instrumented-ports.ts';
import type { Scenario } from './scenario.ts';
import type { Services } from './services.ts';
import type { Timeline } from './timeline.ts';

/** The world around a process. */
export interface Surroundings {
  readonly scenario: Scenario;
  readonly timeline: Timeline;
  readonly embedded: Embedded;
  readonly services: Services;
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
  /** Makes a call to another system. The process may crash during it; then the call is never answered. */
  call(host: Host, made: PortCall & { readonly about: string; readonly latencyMs: number }): Promise<unknown>;
  /** Receives messages from a queue, once there are any. */
  waits(host: Host, queue: string, options: ReceiveOptions): Promise<Awaited<ReturnType<Queues['receive']>>>;
}

export type ReceiveOptions = Parameters<Queues['receive']>[1];

const portMs = 1;
const serviceMs = 20;

/** The files that every process of a scenario needs, loaded once. */
export interface Loaded {
  /** The modules of `functions/`, by file. */
  readonly functions: ReadonlyMap<string, CreateFunction>;
  readonly definitions: Definitions;
}

export async function loaded({ app }: Scenario): Promise<Loaded> {
  const files = new Set(topologyOf(app).map(({ file }) => file));
  const functions: [file: string, create: CreateFunction][] = [];
  // One after the other: jest on Node 22 fails to link modules that are imported at the same time.
  for (const file of files) functions.push([file, (await loadFunction(file)).create]);
  return { functions: new Map(functions), definitions: loadDefinitions(app) };
}

/** One process with all functions. A crash cuts its work off at the current call. */
export class Host {
  readonly id: string;
  isDead = false;
  /** Calls without an answer yet. */
  open = 0;
  private readonly around: Surroundings;
  private started: System | undefined;
  private readonly schedules = new Map<string, (task: SupervisorTask) => Promise<unknown>>();

  constructor(id: string, around: Surroundings) {
    this.id = id;
    this.around = around;
  }

  get system(): System {
    if (!this.started) throw new Error(`${this.id} has not started.`);
    return this.started;
  }

  async start(): Promise<void> {
    const { scenario, embedded, services, definitions } = this.around;
    const { app, variables } = scenario;
    const stood = services.stoodInFor(app, (site, about, apply) => this.service(site, about, apply));
    const config = readConfig({ DEFAULT_WORKFLOW: app.workflows[0]?.name ?? '', LOG_LEVEL: 'off', ...variables });
    const queues = sited('queues', embedded.queues, (made) => this.port(made));
    const ports = {
      store: sited('store', embedded.store, (made) => this.port(made)),
      publisher: sited('publisher', embedded.publisher, (made) => this.port(made)),
      queues: new Proxy(queues, { get: (target, key) => (key === 'receive' ? this.receive : Reflect.get(target, key)) }),
      clock: this.clock(),
      telemetry: createTelemetry({ level: 'off' }),
      issuer: { issuer: 'none', audience: 'none', keys: { keys: [] } },
      cursorKey: new Uint8Array(32),
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

  private scheduled({ name, file, environment }: FunctionSpec, system: System): (task: SupervisorTask) => Promise<unknown> {
    const handler = this.named(file)({ system, environment, accepting: () => true }) as (task: SupervisorTask, run: Invocation) => unknown;
    const invocation = { stopping: new AbortController().signal };
    return async (task) => caller.run(name, () => handler(task, invocation));
  }

  /** Wraps a function so that its calls carry its name. */
  private named(file: string): CreateFunction {
    const create = this.around.functions.get(file);
    if (!create) throw new Error(`Function ${file} was not loaded.`);
    return (context) => {
      const { REDRESS_AGENTS } = context.environment;
      const handler = create(context);
      return (event, invocation) =>
        caller.run(caller.getStore() ?? (REDRESS_AGENTS === undefined ? file : `agent ${REDRESS_AGENTS}`), () =>
          handler(event, invocation),
        );
    };
  }

  private port(made: PortCall): Promise<unknown> {
    return this.around.call(this, { ...made, about: aboutOf(made), latencyMs: portMs });
  }

  private service<T>(site: string, about: string, apply: () => T | Promise<T>): Promise<T> {
    return this.around.call(this, { site, args: [], apply, about, latencyMs: serviceMs }) as Promise<T>;
  }

  private readonly receive = (queue: string, options: ReceiveOptions) => this.around.waits(this, queue, options);

  private clock(): Clock {
    const { timeline } = this.around;
    return {
      now: () => timeline.now,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          signal?.addEventListener('abort', () => resolve(), { once: true });
          // The host polls its channels each second while an order waits.
          const isLook = ms === freshMs && caller.getStore() === undefined;
          const wake = () => {
            if (!this.isDead && !signal?.aborted) resolve();
          };
          if (isLook) timeline.whenSomethingHappens(ms, wake);
          else timeline.after(Math.max(1, Math.ceil(ms)), wake);
        }),
    };
  }
}

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

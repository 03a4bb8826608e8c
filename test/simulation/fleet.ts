import { consumerOf, queueNames } from '#ports/messages';
import type { FunctionSpec } from '#runtime/topology';
import type { Channels } from '#testing/world/channels';
import type { Release } from './app.ts';
import type { Role } from './at-work.ts';
import { functionsOfOrders, type HostOptions, SimulatedHost, sources, topology, visibilityOf } from './host.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Surroundings } from './surroundings.ts';

/** The layout of functions on processes: all on each, or one on each, as in Lambda, where each crashes alone. */
export type Cut = 'together' | 'apart';

export interface FleetOptions {
  readonly around: Surroundings;
  readonly queues: SimulatedQueues;
  readonly channels: Channels;
  readonly cut: Cut;
  readonly variables: HostOptions['variables'];
  readonly periodMs: number;
  /** Whether queues use the visibility timeouts of the AWS deployment. */
  readonly isDeployed: boolean;
  /** Whether this world has consumers. */
  readonly hasConsumers: boolean;
  /** Returns the deployment of the next process. */
  nextRelease(): Release;
  portsOf: ConstructorParameters<typeof SimulatedHost>[2];
  /** Whether a pass of the supervisor would find nothing, and so could have no effect. */
  isPassVain(): boolean;
  /** Whether a start of the bulk function would find nothing; undefined in a world without bulk runs. */
  readonly isBulkVain?: (() => boolean) | undefined;
  /** Whether a pass of the notifier would find nothing; undefined in a world without one. */
  readonly isNotifierVain?: (() => boolean) | undefined;
}

const sweepMs = 3_600_000;
/** The delay after which deliveries follow the stored state of a channel. */
const looksAgainMs = 1_000;
/** The time for which messages for a consumer are gathered into batches. */
const gatheredMs = 500;
/** The longest time until the first sweep. The schedule of the sweeper does not depend on the start of a process. */
const firstSweepMaxMs = 600_000;

/** The functions that a schedule starts, and what it gives them. */
const tasks = { supervisor: 'pass', sweeper: 'sweep', bulk: 'bulk', notifier: 'notify' } as const;
type Scheduled = keyof typeof tasks;

/** All processes of the system. The fleet starts them, restarts them after a crash, and delivers their messages. */
export class Fleet {
  /** The time until which no supervisor and no sweeper runs. */
  private goneUntil = 0;
  /** Callbacks that start the waiting supervisors and sweepers. */
  private readonly gone = new Set<() => void>();
  private readonly hosts = new Map<string, SimulatedHost>();
  private readonly options: FleetOptions;
  private starts = 0;

  constructor(options: FleetOptions) {
    this.options = options;
    options.queues.onVisible = (queue) => this.gather(queue);
  }

  get all(): readonly SimulatedHost[] {
    return [...this.hosts.values()];
  }

  start(slot: string): void {
    const functions = this.options.hasConsumers ? topology : functionsOfOrders;
    if (this.options.cut === 'together') return this.startProcess(slot, functions);
    for (const spec of functions) this.startProcess(`${slot}/${spec.name}`, [spec]);
  }

  private startProcess(place: string, functions: readonly FunctionSpec[]): void {
    const { around, cut, variables, portsOf, periodMs } = this.options;
    const onCrash = () =>
      around.timeline.after(around.chance.between(200, 15_000), `${place} starts again`, () => this.startProcess(place, functions));
    const host = new SimulatedHost(`${place}-${++this.starts}`, around, portsOf, {
      variables,
      release: this.options.nextRelease(),
      functions,
      isCutOff: cut === 'apart',
      onCrash,
    });
    this.hosts.set(place, host);
    if (host.runs('supervisor')) this.superviseFrom(host, 'supervisor', around.chance.between(1, periodMs));
    if (host.runs('bulk') && this.options.isBulkVain) this.superviseFrom(host, 'bulk', around.chance.between(1, periodMs));
    if (host.runs('notifier') && this.options.isNotifierVain) this.superviseFrom(host, 'notifier', around.chance.between(1, periodMs));
    if (host.runs('sweeper')) this.superviseFrom(host, 'sweeper', around.chance.between(1, firstSweepMaxMs));
  }

  private superviseFrom(host: SimulatedHost, name: Scheduled, afterMs: number): void {
    const { timeline } = this.options.around;
    timeline.after(afterMs, `${host.id} ${name}`, () => {
      if (host.isDead || host.isLeaving || (name === 'bulk' && !mayServe(host, name))) return;
      if (this.areSupervisorsGone) return this.awaitReturn(() => this.superviseFrom(host, name, 0));
      const next = () => this.superviseFrom(host, name, name === 'sweeper' ? sweepMs : this.options.periodMs);
      if (this.isVain(name)) return next();
      host.supervise(name, { task: tasks[name] }).then(next, next);
    });
  }

  private isVain(name: Scheduled): boolean {
    if (name === 'supervisor') return this.options.isPassVain();
    if (name === 'notifier') return this.options.isNotifierVain?.() === true;
    return name === 'bulk' && this.options.isBulkVain?.() === true;
  }

  /** Starts the bulk function at once, as an announcement does. */
  startBulk(): void {
    const host = this.anyHost('bulk');
    host?.supervise('bulk', { task: 'bulk' }).catch(() => undefined);
  }

  get areSupervisorsGone(): boolean {
    return this.options.around.timeline.now < this.goneUntil;
  }

  /** Stops all supervisors and sweepers for this time. */
  supervisorsGo(ms: number): void {
    this.goneUntil = this.options.around.timeline.now + ms;
  }

  /** Resumes supervisors and sweepers at once, before their absence would end. */
  supervisorsReturn(): void {
    this.goneUntil = 0;
    for (const goOn of [...this.gone]) goOn();
  }

  private awaitReturn(begin: () => void): void {
    const { timeline } = this.options.around;
    const goOn = () => {
      if (this.gone.delete(goOn)) begin();
    };
    this.gone.add(goOn);
    timeline.after(this.goneUntil - timeline.now, 'supervisors are back', goOn);
  }

  /** Returns a running host with this function, or with the function of this queue; undefined if there is none. */
  anyHost(name: string): SimulatedHost | undefined {
    const alive = this.all.filter((host) => !host.isDead && !host.isLeaving && host.runs(name) && mayServe(host, name));
    return alive.length > 0 ? this.options.around.chance.pick(alive) : undefined;
  }

  private readonly shut = new Set<string>();

  /** Checks the channel again later; one check covers the whole queue. */
  private waitUntilOpen(queue: string): void {
    if (this.shut.has(queue)) return;
    this.shut.add(queue);
    this.options.around.timeline.after(looksAgainMs, `${queue} is shut`, () => {
      this.shut.delete(queue);
      this.deliver(queue);
    });
  }

  private readonly gathering = new Set<string>();

  /** Delivers at once, but messages for consumers after a moment, so that several come together. */
  private gather(queue: string): void {
    if (consumerOf(queue) === undefined) return this.deliver(queue);
    if (this.gathering.has(queue)) return;
    this.gathering.add(queue);
    this.options.around.timeline.after(gatheredMs, `gathered on ${queue}`, () => {
      this.gathering.delete(queue);
      this.deliver(queue);
    });
  }

  /** Works like an event source mapping: a host gets a batch of visible messages, and the processed ones are acknowledged. */
  private deliver(queue: string): void {
    const source = sources.get(queue);
    if (!source) return;
    const { around, queues, channels } = this.options;
    const { timeline, chance, faults } = around;
    if (channels.isShut(queue)) return this.waitUntilOpen(queue);
    const host = this.anyHost(queue);
    if (!host) return timeline.after(500, `${queue} waits for a host`, () => this.deliver(queue));
    const { maxReceiveCount, batchSize } = source;
    const visibilityMs = visibilityOf(queue, this.options.isDeployed);
    const messages = queues.receive(queue, chance.between(1, batchSize), visibilityMs, maxReceiveCount);
    if (messages.length === 0) return;
    around.narrate(() => `${host.id} takes ${messages.length} of ${queue}${messages.map(({ body }) => `\n      ${body}`).join('')}`);
    const acknowledge = (processed: readonly string[]) => {
      if (processed.length > 0 && faults.hits('batch comes again', queue, () => queues.victimOn(queue, messages[0]?.body))) return;
      timeline.after(chance.between(1, 8), `${host.id} acknowledges`, () => {
        if (!host.isDead) queues.acknowledge(queue, processed, host);
      });
    };
    host.handle(source, messages).then(acknowledge, () => undefined);
    timeline.after(1, `more on ${queue}`, () => this.deliver(queue));
  }
}

/** Functions that accept orders compare their workflows with the recorded ones, and do not start with edited ones. */
const mayServe = ({ release }: SimulatedHost, name: string): boolean =>
  release !== 'edited' || (name !== 'api' && name !== 'bulk' && name !== queueNames.submissions);

/** Returns the roles at work on a host, each once. */
export const rolesOn = ({ atWork }: SimulatedHost): readonly Role[] => [...new Set(atWork)];

import type { StateRecord } from '../../lib/record.ts';
import { Faults, type Profile, profileFrom } from './faults.ts';
import { History, responseQueue } from './history.ts';
import { SimulatedHost, sources } from './host.ts';
import { type Law, lawsFor } from './laws/index.ts';
import { clientName, Outside, strangerName } from './outside.ts';
import { portsOf, Shared } from './ports.ts';
import { SimulatedQueues } from './queues.ts';
import { type Chance, chanceOf } from './random.ts';
import { Services } from './services.ts';
import type { Happening, Sight } from './sight.ts';
import { Timeline } from './timeline.ts';

const startAt = Date.UTC(2026, 0, 1);
const toleranceMs = 2000;
const restMs = 12 * 3_600_000;
/** How often people look at what still waits for them at the end. */
const roundsMax = 8;
const eventsMax = 150_000;

/** What came of one run. */
export interface Outcome {
  readonly seed: number;
  /** What is broken, in words; empty when everything held. */
  readonly broken: readonly string[];
  readonly events: number;
  /** Calls of ports and services that were carried out, by place. */
  readonly io: ReadonlyMap<string, number>;
  readonly simulatedMs: number;
  /** The same for the same seed. */
  readonly fingerprint: string;
  readonly landed: ReadonlyMap<string, number>;
  /** What really happened in it: `outcome completed`, `expiries`, `calls`. */
  readonly happened: ReadonlyMap<string, number>;
}

/** Orders, the hosts that work on them, the services and people outside, and everything that goes wrong between them. */
export class World implements Sight {
  readonly timeline = new Timeline(startAt);
  readonly chance: Chance;
  readonly faults: Faults;
  readonly seed: number;
  private readonly profile: Profile;
  private readonly story: ((line: string) => void) | undefined;
  private readonly laws: readonly Law[];
  private quietSince: number | undefined;
  private readonly broken: string[] = [];
  private readonly queues = new SimulatedQueues(this);
  private readonly services = new Services(this);
  private readonly history = new History(this.services.effects);
  private readonly shared: Shared;
  private readonly outside: Outside;
  private readonly hosts = new Map<string, SimulatedHost>();
  private readonly variables: { readonly [name: string]: string };
  private readonly periodMs: number;
  private readonly io = new Map<string, number>();
  private starts = 0;

  constructor(seed: number, story?: (line: string) => void) {
    this.seed = seed;
    this.laws = lawsFor({ toleranceMs, now: () => this.timeline.now, quietSince: () => this.quietSince });
    this.story = story;
    this.chance = chanceOf(seed);
    this.profile = profileFrom(this.chance);
    this.faults = new Faults(this.profile, this.chance);
    const sendsAlong = this.chance.happens(0.5);
    this.periodMs = this.chance.pick([2000, 5000, 20_000]);
    this.variables = {
      CLAIM_ON_SUBMIT: this.chance.pick(['on', 'off']),
      MAX_FAILURES: this.chance.pick(['1', '3']),
      CLOCK_TOLERANCE_MS: String(toleranceMs),
    };
    this.shared = new Shared(this, this.queues, sendsAlong);
    this.outside = new Outside({ sight: this, queues: this.queues, shared: this.shared, anyHost: () => this.anyHost() });
    this.queues.onVisible = (queue) => this.deliver(queue);
    this.tell(() => `seed ${seed}: ${sendsAlong ? 'one transaction' : 'write, then send'}, ${JSON.stringify(this.variables)}`);
  }

  async run(): Promise<Outcome> {
    await this.shared.store.putClient({ id: clientName, responseChannels: [responseQueue], senders: ['local'] });
    await this.shared.store.putClient({ id: strangerName, responseChannels: [], senders: ['somebody else'] });
    for (let number = 1; number <= this.chance.between(3, 6); number++) this.outside.submitSomething(number);
    for (const slot of this.chance.pick([
      ['one', 'two'],
      ['one', 'two', 'three'],
    ]))
      this.start(slot);
    this.disturb();
    await this.untilRest();
    await this.shared.database.close();
    return this.outcome();
  }

  private async untilRest(): Promise<void> {
    // Where orders call others, what was lost between them is missed after ten minutes.
    const troubleUntil = startAt + this.chance.between(60, this.chance.happens(0.1) ? 2400 : 400) * 1000;
    this.timeline.after(troubleUntil - startAt, 'faults are over', () => this.heal());
    for (let rounds = 0; this.broken.length === 0; ) {
      await this.timeline.step();
      const isLate = this.timeline.now > troubleUntil + restMs || this.timeline.events > eventsMax;
      if (isLate || (this.faults.over && this.timeline.events % 20 === 0 && this.isQuiet())) {
        const waiting = this.states().filter(
          ({ orderId, processState }) => processState !== 'Processed' && this.history.waitsForPerson(orderId),
        );
        if (isLate || waiting.length === 0) return this.checkEnd(isLate);
        if (++rounds > roundsMax)
          this.broken.push(`people decide in vain: ${waiting.map(({ orderId }) => orderId).join(', ')} still wait for them`);
        await this.checkEnd(false);
        for (const { orderId, processState } of waiting) this.decideAtLast(orderId, processState);
      }
    }
  }

  private decideAtLast(orderId: string, processState: StateRecord['processState']): void {
    const stuck = this.history.stuckUndo(orderId);
    if (processState === 'Error') this.outside.decide(orderId, { finally: true });
    else if (stuck !== undefined) this.outside.markCompensated(orderId, stuck);
  }

  private async checkEnd(isLate: boolean): Promise<void> {
    for (const { orderId } of this.states()) this.history.pages.set(orderId, await this.shared.store.pages(orderId));
    if (isLate) this.broken.push(`nothing comes to rest: ${this.unrest()}`);
    for (const law of this.laws) for (const wrong of law.atEnd?.(this.history) ?? []) this.broken.push(`${law.name}: ${wrong}`);
  }

  private heal(): void {
    this.tell(() => 'faults are over');
    this.faults.over = true;
    this.quietSince = this.timeline.now;
    for (const host of this.hosts.values()) host.skewMs = 0;
  }

  /** What goes wrong by itself, and people who look at what waits for them. */
  private disturb(): void {
    this.timeline.after(this.chance.between(500, 4000), 'something else happens', () => {
      if (this.faults.over) return;
      for (const host of this.hosts.values()) this.disturbHost(host);
      if (this.faults.hits('poison', 'queue')) this.outside.poison();
      if (this.history.orders.size > 0 && this.faults.hits('order held', 'order'))
        this.outside.hold(this.chance.pick(this.states()).orderId);
      for (const { orderId } of this.ordersIn('Error'))
        if (this.chance.happens(0.15) && this.outside.waiting < 10) this.outside.decide(orderId, { finally: false });
      this.disturb();
    });
  }

  private disturbHost(host: SimulatedHost): void {
    if (this.faults.hits('clock jumps', 'host')) host.skewMs = this.chance.between(-toleranceMs / 2, toleranceMs / 2);
    if (this.faults.hits('host stands still', 'host')) host.freeze(this.chance.between(1000, 120_000));
  }

  private start(slot: string): void {
    const host: SimulatedHost = new SimulatedHost(
      `${slot}-${++this.starts}`,
      this,
      (itself) => ({ ...portsOf(itself, this.shared, this.queues, this), remote: this.services.remoteFor(itself) }),
      { variables: this.variables, onCrash: () => this.restart(slot) },
    );
    this.hosts.set(slot, host);
    this.superviseFrom(host, 'supervisor', this.chance.between(1, this.periodMs));
    this.superviseFrom(host, 'sweeper', 3_600_000);
  }

  private restart(slot: string): void {
    this.timeline.after(this.chance.between(200, 15_000), `${slot} starts again`, () => this.start(slot));
  }

  private superviseFrom(host: SimulatedHost, name: 'supervisor' | 'sweeper', afterMs: number): void {
    this.timeline.after(afterMs, `${host.id} ${name}`, () => {
      if (host.isDead) return;
      const next = () => this.superviseFrom(host, name, name === 'sweeper' ? 3_600_000 : this.untilNextPass());
      host.supervise(name, { task: name === 'sweeper' ? 'sweep' : 'pass' }).then(next, next);
    });
  }

  /** When nothing goes wrong any more, a pass that would find nothing is left out: nothing would come of it. */
  private untilNextPass(): number {
    if (!this.faults.over) return this.periodMs;
    const { at } = this.shared.database.prepare("SELECT min(worklistAt) AS at FROM states WHERE worklist = 'due'").get() as {
      at: number | null;
    };
    return Math.max(this.periodMs, Math.min(3_600_000, (at ?? Number.POSITIVE_INFINITY) - this.timeline.now));
  }

  private anyHost(): SimulatedHost | undefined {
    const alive = [...this.hosts.values()].filter(({ isDead }) => !isDead);
    return alive.length > 0 ? this.chance.pick(alive) : undefined;
  }

  /** As an event source mapping does: a batch of what is visible goes to a host; what it has processed is acknowledged. */
  private deliver(queue: string): void {
    const source = sources.get(queue);
    if (!source) return;
    const host = this.anyHost();
    if (!host) return this.timeline.after(500, `${queue} waits for a host`, () => this.deliver(queue));
    const { visibilityMs, maxReceiveCount, batchSize } = source;
    const messages = this.queues.receive(queue, this.chance.between(1, batchSize), visibilityMs, maxReceiveCount);
    if (messages.length === 0) return;
    this.tell(() => `${host.id} takes ${messages.length} of ${queue}${messages.map(({ body }) => `\n      ${body}`).join('')}`);
    const acknowledge = (processed: readonly string[]) =>
      this.timeline.after(this.chance.between(1, 8), `${host.id} acknowledges`, () => {
        if (!host.isDead) this.queues.acknowledge(queue, processed, host);
      });
    host.handle(source, messages).then(acknowledge, () => undefined);
    this.timeline.after(1, `more on ${queue}`, () => this.deliver(queue));
  }

  carriedOut(site: string): void {
    this.io.set(site, (this.io.get(site) ?? 0) + 1);
  }

  saw(happening: Happening): void {
    if (happening.type !== 'written') this.look(happening);
    this.history.take(happening);
    if (happening.type === 'written') this.look(happening);
    this.tell(() => describe(happening));
  }

  private look(happening: Happening): void {
    for (const law of this.laws) {
      const wrong = law.after?.(happening, this.history);
      if (wrong !== undefined) this.broken.push(`${law.name}: ${wrong}`);
    }
  }

  tell(line: () => string): void {
    if (this.story) this.story(`${((this.timeline.now - startAt) / 1000).toFixed(3).padStart(10)} ${line()}`);
  }

  private states(): readonly StateRecord[] {
    return [...this.history.orders.values()].map(({ state }) => state);
  }

  private ordersIn(processState: StateRecord['processState']): readonly StateRecord[] {
    return this.states().filter((state) => state.processState === processState);
  }

  private isQuiet(): boolean {
    return this.unrest() === '';
  }

  /** What is still going on, in words. */
  private unrest(): string {
    const open = this.states().filter(({ orderId, outbox }) => !this.history.isSettled(orderId) || outbox.length > 0);
    const busy = [...this.hosts.values()].filter(({ isDead, atWork }) => isDead || atWork > 0);
    const occupied = this.queues.occupied().filter((queue) => sources.has(queue));
    return [
      ...open.map(({ orderId, processState, nextDueFor }) => `${orderId} is ${processState}, next due for ${JSON.stringify(nextDueFor)}`),
      ...busy.map(({ id }) => `${id} is at work`),
      ...occupied.map((queue) => `${queue} is not empty`),
      ...(this.outside.waiting > 0 ? [`${this.outside.waiting} calls are not answered`] : []),
    ].join('; ');
  }

  private outcome(): Outcome {
    const happened = new Map<string, number>();
    const count = (what: string, by = 1) => void happened.set(what, (happened.get(what) ?? 0) + by);
    for (const { state, journal, caller, signals } of this.history.orders.values()) {
      count(`outcome ${state.outcome ?? 'none'}`);
      count('orders');
      if (caller !== undefined) count('calls');
      count('signals', signals.size);
      count('errors', state.errorGen);
      for (const { type } of journal) if (counted.has(type)) count(type);
    }
    return {
      seed: this.seed,
      broken: this.broken,
      events: this.timeline.events,
      io: this.io,
      simulatedMs: this.timeline.now - startAt,
      fingerprint: this.timeline.fingerprint(),
      landed: this.faults.landed,
      happened,
    };
  }
}

/** Lines of the journal that say that something went wrong, or was put right. */
const counted: ReadonlySet<string> = new Set([
  'DeadlineExpired',
  'OrderReset',
  'ThresholdExceeded',
  'LateResult',
  'UndoFailed',
  'OutcomeUnknown',
  'RunFailed',
  'FaultHandled',
  'OrderHeld',
  'CancelAsked',
]);

function describe(happening: Happening): string {
  switch (happening.type) {
    case 'written': {
      const { orderId, rev, epoch, processState, outcome, nextDueFor } = happening.after;
      const due = nextDueFor ? `, due for ${nextDueFor.kind} ${nextDueFor.path ?? ''}` : '';
      return `${orderId} is written: rev ${rev}, epoch ${epoch}, ${processState}${outcome ? ` ${outcome}` : ''}${due}`;
    }
    case 'sent':
      return `sent to ${happening.queue}: ${happening.body}`;
    case 'published':
      return `announced: ${happening.announcement.detailType} ${happening.announcement.id}`;
    case 'effect':
      return `${happening.operation} took effect`;
    case 'submitted':
      return `${happening.orderId} is answered: ${happening.outcome}`;
    case 'poisoned':
      return `poison: ${happening.body}`;
    case 'signal':
      return `the signal to ${happening.orderId}: ${happening.answer}`;
    case 'acknowledged':
      return `acknowledged on ${happening.queue}: ${happening.body}`;
    case 'decided':
      return `${happening.orderId} was decided on as of rev ${happening.saw}: ${happening.answer.outcome}`;
    case 'repeated':
      return `${happening.key} to ${happening.orderId} came once more: ${happening.outcome}`;
    case 'newer':
      return `${happening.orderId} ${happening.isNewer ? 'is written by a newer program' : 'is given back'}`;
    case 'tried again':
      return `${happening.requestId} is tried again after ${happening.pauseMs} ms`;
  }
}

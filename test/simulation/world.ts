import type { StateRecord } from '#ports/records';
import { lockPolicies } from '#roles/scheduler/lease';
import { Judge } from '#testing/laws/judge';
import type { Setting } from '#testing/laws/law';
import { History, type Tracked } from '#testing/world/history';
import { lookAt } from '#testing/world/look';
import type { Observation } from '#testing/world/observation';
import { registerClient } from '#testing/world/register-client';
import { Timeline } from '#testing/world/timeline';
import { definitions, masked, offers, type Release, type Remote, refusals, secretWord, undeclaredFaults } from './app.ts';
import { wrongInArchive } from './archive.ts';
import { bulkIn } from './bulk.ts';
import { wrongInBulkRuns } from './bulk-figures.ts';
import { BulkRuns } from './bulk-runs.ts';
import { wrongInCauses } from './cause-records.ts';
import { operate } from './channels.ts';
import { Clients, clientName, type Reach, referenceOf, responseQueue, strangerName } from './clients.ts';
import { ConsumerDesk, consumersIn } from './consumers.ts';
import { disturb } from './disturbances.ts';
import { type AnyFault, Faults, type Profile, profileFrom } from './faults.ts';
import { Fleet } from './fleet.ts';
import { forgedWord } from './forgeries.ts';
import { type SimulatedHost, sources, standsStillMaxMs } from './host.ts';
import { Limits } from './limits.ts';
import { isLook } from './looks.ts';
import { dueSoon, foundGroups, notifiedIn } from './notified.ts';
import { wrongInBooks } from './object-books.ts';
import { undoneWritesIn } from './object-figures.ts';
import { portsOf, Shared } from './ports.ts';
import { daysLateMaxMs, SimulatedQueues } from './queues.ts';
import { type Chance, chanceOf, isIn, restoredIn } from './random.ts';
import { goneMs } from './receivers.ts';
import { restore } from './restores.ts';
import { isDryRule } from './ruled.ts';
import { type FirstLives, firstLivesIn, submitFirst } from './second-lives.ts';
import { Services } from './services.ts';
import { describe, kindOf } from './story.ts';
import type { Surroundings } from './surroundings.ts';
import { resume } from './suspensions.ts';
import { addThemes } from './themes.ts';
import { visit } from './visitors.ts';
import { limitedIn, submitWide } from './wide.ts';

const startAt = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
/**
 * The random sequence for the figures of a world: half of the worlds use those of the AWS deployment, the others those of a single machine.
 */
const deployedSeeds = 7_000_003;
const restMs = 12 * hour;
/** The supervisors' interval in worlds that last for a day or longer: messages come days late, or a receiver is gone for a day. */
const longPeriodMs = 60_000;
/** The added time in worlds with a notifier: it gives a message up after a day, reports that to admins, and sums up tasks once a day. */
const peopleLateMs = 4 * goneMs;
/** The most rounds in which people decide on waiting orders at the end. */
const roundsMax = 8;
/** The maximum number of events in a world. A world with more counts as one that never comes to rest. */
const eventsMax = 150_000;
/** The number of events after which faults end: during a day-long outage of the bus, each retry is an event. */
const troubleEventsMax = 30_000;

/** The duration and the frequency of faults: most worlds end soon, a few last for days. */
interface Pace {
  readonly troubleMaxMs: number;
  readonly disturbedEveryMs: readonly [number, number];
  readonly periodsMs: readonly number[];
  /** The longest absence of the supervisors. */
  readonly goneMaxMs: number;
}
const paces = {
  minutes: { troubleMaxMs: 300_000, disturbedEveryMs: [500, 4000], periodsMs: [3000, 8000, 20_000], goneMaxMs: 120_000 },
  hour: { troubleMaxMs: 2_400_000, disturbedEveryMs: [2000, 40_000], periodsMs: [20_000], goneMaxMs: 1_200_000 },
  days: { troubleMaxMs: 30 * hour, disturbedEveryMs: [20_000, 400_000], periodsMs: [60_000], goneMaxMs: 6 * hour },
} as const satisfies { readonly [pace: string]: Pace };

/** Returns how often a step was undone and requested again, because a later run gave it another input. */
const replacedIn = (journal: Tracked['journal']): number =>
  journal.filter(
    (fact, index) =>
      fact.type === 'ActivityClosed' &&
      fact.result === 'Canceled' &&
      journal.slice(index + 1, index + 3).some((next) => next.type === 'StepRequested' && next.path === fact.path),
  ).length;

/** The result of one run. */
export interface Outcome {
  readonly seed: number;
  /** Violations in words; empty if all laws hold. */
  readonly broken: readonly string[];
  readonly events: number;
  /** Completed calls of ports and services, by place. */
  readonly io: ReadonlyMap<string, number>;
  readonly simulatedMs: number;
  /** A hash of all events: the same seed gives the same one. */
  readonly fingerprint: string;
  /** The number of fault kinds that are possible in this run. */
  readonly kindsOn: number;
  readonly landed: ReadonlyMap<string, number>;
  /** Counts of events: `outcome completed`, `expiries`, `calls`. */
  readonly happened: ReadonlyMap<string, number>;
}

/** A whole world: orders, hosts, services, clients, operators, and all faults. */
export class World implements Surroundings {
  readonly timeline = new Timeline(startAt);
  readonly chance: Chance;
  readonly faults: Faults;
  readonly seed: number;
  /** The number of orders that share objects; undefined: as the seed has it. */
  private readonly objectOrders: number | undefined;
  private readonly profile: Profile;
  private readonly story: ((line: string) => void) | undefined;
  private readonly queues = new SimulatedQueues(this);
  private readonly history = new History({ definitions, responseQueue });
  private readonly services = new Services(this, this.history.effects);
  private readonly shared: Shared;
  private readonly reach: Reach;
  private readonly clients: Clients;
  private readonly fleet: Fleet;
  private readonly bulkRuns = new BulkRuns();
  /** The desk behind the consumers, in worlds with consumers. */
  private readonly consumers: ConsumerDesk | undefined;
  private readonly pace: Pace;
  private readonly isRollout: boolean;
  /** The choice whether the next process runs the edited workflow, in worlds with one. */
  private readonly edited: Chance | undefined;
  /** The random sequence for the limits of DynamoDB, in worlds with them. */
  private readonly limited: Chance | undefined;
  /** The settings of the first phase, in worlds that forget orders and reuse their keys. */
  private readonly firstLives: FirstLives | undefined;
  private readonly toleranceMs: number;
  private readonly setting: Setting;
  private readonly judge: Judge;
  private quietSince: number | undefined;
  private readonly io = new Map<string, number>();
  /** The number of observations, by kind. */
  private readonly seen = new Map<string, number>();
  /** The interval of each supervisor, as long as faults may happen. */
  readonly periodMs: number;

  constructor(seed: number, story?: (line: string) => void, { objectOrders }: { readonly objectOrders?: number } = {}) {
    this.seed = seed;
    this.objectOrders = objectOrders;
    this.story = story;
    this.chance = chanceOf(seed);
    this.profile = profileFrom(this.chance);
    this.faults = new Faults(this.profile, this.chance, (orderId) => this.stateOf(orderId));
    this.limited = limitedIn(seed);
    this.firstLives = this.limited ? undefined : firstLivesIn(seed);
    const consumed = this.limited || this.firstLives ? undefined : consumersIn(seed);
    this.consumers = consumed && new ConsumerDesk(this, consumed);
    const writesAndSendsAtomically = this.chance.happens(0.5) && !this.limited;
    const cut = this.chance.pick(['together', 'apart'] as const);
    this.pace = this.chance.happens(0.02) ? paces.days : this.chance.happens(0.1) ? paces.hour : paces.minutes;
    // No rollout in worlds that last for days: after an hour, messages for the new version go to a person.
    this.isRollout = this.pace !== paces.days && this.chance.happens(0.3) && !this.limited && !this.firstLives;
    this.edited =
      this.pace === paces.days || this.isRollout || this.limited || this.firstLives || restoredIn(seed) ? undefined : isIn(seed, 16);
    this.toleranceMs = this.chance.pick([2000, 2000, 300_000]);
    // Depends on the seed alone, so that it changes nothing else in a world.
    const isDeployed = this.limited !== undefined || chanceOf(seed + deployedSeeds).happens(0.5);
    const variables = {
      ...(this.firstLives ? { RETENTION_DAYS: String(this.firstLives.keptForMs / (24 * hour)) } : {}),
      ...(isDeployed ? { REDRESS_ADAPTERS: 'aws' } : {}),
      CLAIM_ON_SUBMIT: this.chance.pick(['on', 'off']),
      MAX_FAILURES: this.chance.pick(['1', '3']),
      CLOCK_TOLERANCE_MS: String(this.toleranceMs),
      INSTANCE_LOCKED_ACTION: this.chance.pick(lockPolicies),
      ANNOUNCE_PROCESSED: this.chance.pick(['on', 'off']),
      ...(notifiedIn(seed) ? dueSoon : {}),
    };
    this.setting = {
      client: clientName,
      responseQueue,
      referenceOf,
      agents: definitions.agents,
      signals: { approval: 'approved' },
      audits: true,
      isDryRule,
      mayWait: false,
      processesAllMessages: false,
      declaredFaults: Object.values(refusals),
      undeclaredFaults,
      answersNameTheirKey: true,
      secretWord,
      forgedWord,
      redactedValues: masked,
      toleranceMs: this.toleranceMs,
      now: () => this.timeline.now,
      maxFailures: Number(variables.MAX_FAILURES),
      claimsOnSubmit: variables.CLAIM_ON_SUBMIT === 'on',
      writesAndSendsAtomically,
      announcesProcessed: variables.ANNOUNCE_PROCESSED === 'on',
      closedForMs: (agent) => this.shared.channels.closedForMs(agent),
      // Before a restore, a process that seems to be stopped may only pause, and continue after it.
      standsStillMaxMs: this.profile['host stands still'] > 0 || restoredIn(seed) ? standsStillMaxMs : 0,
      quietSince: () => this.quietSince,
    };
    this.judge = new Judge(this.history, this.setting);
    this.shared = new Shared(this, this.queues, writesAndSendsAtomically);
    if (this.limited) this.shared.limits = new Limits(this);
    // Worlds with a restore have no late messages: a restore removes all earlier messages for good.
    this.queues.daysLate = restoredIn(seed) ? undefined : isIn(seed, 16);
    const periodMs = this.chance.pick(this.pace.periodsMs);
    const notified = notifiedIn(seed);
    if (notified) this.shared.notify(notified);
    this.periodMs = this.queues.daysLate || notified ? longPeriodMs : periodMs;
    this.fleet = new Fleet({
      around: this,
      queues: this.queues,
      channels: this.shared.channels,
      cut,
      variables,
      periodMs: this.periodMs,
      isDeployed,
      hasConsumers: this.consumers !== undefined,
      portsOf: (host) => ({ ...portsOf(host, this.shared, this.queues, this), remote: this.remoteFor(host) }),
      nextRelease: () => this.nextRelease(),
      isBulkVain: bulkIn(seed) && (() => !this.bulkRuns.isAnyFree(this.timeline.now)),
      isNotifierVain: notified && (() => this.shared.unheard?.isAnythingDue(this.timeline.now) !== true),
      isPassVain: () => (this.faults.over || this.faults.calm !== undefined) && !this.shared.isAnythingDue(),
    });
    this.shared.onAnnounced = ({ detailType }) => this.hear(detailType);
    const journalOf = (orderId: string) => this.history.orders.get(orderId)?.journal ?? [];
    this.reach = { around: this, queues: this.queues, shared: this.shared, anyHost: () => this.fleet.anyHost('api'), journalOf };
    this.clients = new Clients(this.reach);
    if (this.firstLives) this.seen.set('worlds in which orders are forgotten', 1);
    if (this.limited) this.seen.set('worlds with the limits of DynamoDB', 1);
    if (isDeployed) this.seen.set('worlds with the figures that are deployed', 1);
    this.narrate(
      () =>
        `seed ${seed}: ${writesAndSendsAtomically ? 'one transaction' : 'write, then send'}, functions ${cut}, ${JSON.stringify(variables)}`,
    );
  }

  private remoteFor(host: SimulatedHost): Remote {
    const handlers = this.consumers?.handlersOn(host);
    return { ...this.services.remoteFor(host), ...(handlers ? { handlers } : {}) };
  }

  /** Starts the bulk function when an announcement of a waiting run arrives. A lost announcement never comes here. */
  private hear(detailType: string): void {
    if (detailType === 'Bulk Run Waiting')
      this.timeline.after(this.chance.between(5, 4000), 'a bulk run waits', () => this.fleet.startBulk());
  }

  private get broken(): string[] {
    return this.judge.broken;
  }

  async run(): Promise<Outcome> {
    await registerClient(this.shared.store, { id: clientName, responseChannels: [responseQueue], senders: ['local'] });
    await registerClient(this.shared.store, { id: strangerName, responseChannels: [], senders: ['somebody else'] });
    const notified = notifiedIn(this.seed);
    if (notified) await foundGroups(this.shared.store, notified, startAt);
    if (this.limited && this.shared.limits) await this.playWide(this.shared.limits, this.limited);
    if (this.firstLives) await this.playFirst(this.firstLives);
    for (let number = this.chance.pick([3, 3, 4, 6]); number > 0; number--) this.clients.submitSomething(number);
    visit(this.reach, this.clients);
    operate(this.reach, this.clients, this.seed);
    addThemes(this.reach, this.services, this.clients, this.seed, this.objectOrders);
    this.consumers?.play(this.reach, this.clients);
    const sale = offers.find(({ workflow }) => workflow === 'sale');
    for (let number = this.edited?.between(2, 4) ?? 0; number > 0; number--) this.clients.submitSomething(1500 + number, sale);
    const restored = restoredIn(this.seed);
    if (restored) restore({ around: this, fleet: this.fleet, queues: this.queues, shared: this.shared, history: this.history }, restored);
    for (const slot of this.fleet.all.length > 0 ? [] : this.chance.happens(0.7) ? ['one', 'two'] : ['one', 'two', 'three'])
      this.fleet.start(slot);
    disturb({
      around: this,
      fleet: this.fleet,
      queues: this.queues,
      clients: this.clients,
      skewMaxMs: this.toleranceMs / 2,
      everyMs: this.pace.disturbedEveryMs,
      goneMaxMs: this.pace.goneMaxMs,
      states: () => this.states(),
      damage: (orderId) => this.shared.damage(orderId),
      look: (orderId) => this.lookAt(orderId),
    });
    await this.untilRest();
    const isWhole = restored === undefined && this.firstLives === undefined;
    if (this.broken.length === 0) this.broken.push(...(await wrongInCauses(this.shared.store, this.history, this.timeline.now, isWhole)));
    if (this.broken.length === 0) this.broken.push(...(await wrongInArchive(this.shared.store, this.history)));
    if (this.broken.length === 0) this.broken.push(...(await wrongInBulkRuns(this.bulkRuns.all, this.shared.store)));
    if (this.broken.length === 0) this.broken.push(...wrongInBooks(this.services.ledger, this.history, this.toleranceMs));
    await this.shared.database.close();
    return this.outcome();
  }

  /** Plays wide and large orders on a limited store, without any other fault. */
  private async playWide(limits: Limits, chance: Chance): Promise<void> {
    const end = submitWide(this.clients, this.services, limits, chance);
    await this.playCalm(new Set(), 0.5 * hour, () => this.isQuiet());
    this.record({ type: 'faults begin' });
    end();
  }

  /** Plays orders that the store forgets, together with all orders that they called, before others reuse their keys. */
  private async playFirst(lives: FirstLives): Promise<void> {
    const end = submitFirst({ around: this, shared: this.shared, history: this.history }, this.clients, this.services, lives);
    await this.playCalm(lives.mayHappen, 48 * hour, () => {
      if (!this.isQuiet()) return false;
      for (const state of this.waiting()) this.decideAtLast(state);
      return this.history.orders.size === 0;
    });
    end();
    this.judge.forget();
  }

  private async playCalm(mayHappen: ReadonlySet<AnyFault>, longestMs: number, isOver: () => boolean): Promise<void> {
    const { timeline, faults } = this;
    faults.calm = mayHappen;
    for (const slot of ['one', 'two']) this.fleet.start(slot);
    const until = timeline.now + longestMs;
    while (this.broken.length === 0 && !(isLook(timeline.events) && isOver())) {
      await timeline.step();
      if (timeline.now > until) this.broken.push(`nothing goes wrong, and still nothing comes to rest: ${this.unrest()}`);
    }
    faults.calm = undefined;
  }

  private async untilRest(): Promise<void> {
    // The system notices a lost message between an order and its caller only after ten minutes.
    const troubleMs = this.chance.between(60_000, this.pace.troubleMaxMs);
    const troubleUntil = this.timeline.now + troubleMs;
    this.timeline.after(troubleMs, 'faults are over', () => (this.faults.over ? undefined : this.heal()));
    for (let rounds = 0; this.broken.length === 0; ) {
      await this.timeline.step();
      if (!this.faults.over && this.timeline.events > troubleEventsMax) this.heal();
      const lateMs = restMs + (this.queues.daysLate ? daysLateMaxMs : 0) + (this.shared.unheard ? peopleLateMs : 0);
      const isLate = this.timeline.now > troubleUntil + lateMs || this.timeline.events > eventsMax;
      if (isLate || (this.faults.over && isLook(this.timeline.events) && this.isQuiet())) {
        const waiting = this.waiting();
        if (isLate || waiting.length === 0) return this.checkEnd(isLate);
        if (++rounds > roundsMax)
          this.broken.push(`people decide in vain: ${waiting.map(({ orderId }) => orderId).join(', ')} still wait for them`);
        await this.checkEnd(false);
        for (const state of waiting) this.decideAtLast(state);
      }
    }
  }

  /** Returns the orders that wait for a person. */
  private waiting(): readonly StateRecord[] {
    return this.states().filter(({ orderId, processState }) => processState !== 'Processed' && this.history.waitsForPerson(orderId));
  }

  private decideAtLast({ orderId, processState, suspended }: StateRecord): void {
    const stuck = this.history.stuckUndo(orderId);
    const isDamaged = this.history.orders.get(orderId)?.damagedAt !== undefined;
    if (suspended && !isDamaged) resume(this.clients, orderId);
    else if (processState === 'Error' || isDamaged) this.clients.decide(orderId, { finally: true, isDamaged });
    else if (stuck !== undefined) this.clients.markCompensated(orderId, stuck);
  }

  private async checkEnd(isLate: boolean): Promise<void> {
    for (const { orderId } of this.states()) {
      this.history.pages.set(orderId, await this.shared.store.pages(orderId));
      await this.lookAt(orderId);
    }
    if (isLate) this.broken.push(`nothing comes to rest: ${this.unrest()}`);
    this.judge.judgeEnd();
  }

  private async lookAt(orderId: string): Promise<void> {
    const looked = await lookAt(this.shared.store, orderId, definitions);
    if (looked) this.record(looked);
  }

  /** Returns the deployment of the next process: during a rollout, the old and the new one run side by side. */
  private nextRelease(): Release {
    if (this.edited && !this.faults.over && this.edited.happens(0.5)) return 'edited';
    if (!this.isRollout) return 'old';
    return this.faults.over || this.chance.happens(0.5) ? 'new' : 'old';
  }

  private heal(): void {
    this.narrate(() => 'faults are over');
    this.faults.over = true;
    this.quietSince = this.timeline.now;
    for (const host of this.fleet.all) host.jump(0);
    this.fleet.supervisorsReturn();
    for (const host of this.fleet.all) if (host.release === 'edited') host.crash('to be replaced by what was deployed before');
    if (this.isRollout) for (const host of this.fleet.all) if (host.release === 'old') host.crash('to be replaced by a newer one');
  }

  carriedOut(site: string): void {
    this.io.set(site, (this.io.get(site) ?? 0) + 1);
  }

  record(observation: Observation): void {
    if (observation.type === 'written') this.timeline.note(JSON.stringify(observation.after));
    if (observation.type === 'sent') this.timeline.note(observation.body);
    if (observation.type === 'bulk recorded') this.bulkRuns.take(observation);
    this.judge.take(observation);
    this.counts(observation);
    this.narrate(() => describe(observation));
  }

  private counts(observation: Observation): void {
    for (const what of [kindOf(observation), ...this.undoneWritesIn(observation)]) this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  private undoneWritesIn(observation: Observation): readonly string[] {
    const order = observation.type === 'written' ? this.history.orders.get(observation.after.orderId) : undefined;
    return order ? undoneWritesIn(order) : [];
  }

  narrate(line: () => string): void {
    if (this.story) this.story(`${((this.timeline.now - startAt) / 1000).toFixed(3).padStart(10)} ${line()}`);
  }

  private states(): readonly StateRecord[] {
    return [...this.history.orders.values()].map(({ state }) => state);
  }

  /** Returns the state of an order, for the tables of faults. */
  private stateOf(orderId: string): string {
    return this.history.orders.get(orderId)?.state.processState ?? 'not stored';
  }

  private isQuiet(): boolean {
    return this.unrest() === '';
  }

  /** Describes the work that is still in progress; empty if there is none. */
  private unrest(): string {
    const open = this.states().filter(({ orderId, outbox }) => !this.history.isSettled(orderId) || outbox.length > 0);
    const busy = this.fleet.all.filter(({ isDead, atWork }) => isDead || atWork.length > 0);
    const isPersonAwaited = this.waiting().length > 0;
    const held = isPersonAwaited ? this.bulkRuns.heldByOrders() : [];
    const isHeld = ({ id, atWork }: SimulatedHost): boolean =>
      held.some(({ heldBy }) => heldBy === id) && atWork.every((role) => role === 'bulk');
    const occupied = this.queues.occupied().filter((queue) => sources.has(queue));
    return [
      ...open.map(({ orderId, processState, nextDueFor }) => `${orderId} is ${processState}, next due for ${JSON.stringify(nextDueFor)}`),
      ...busy.filter((host) => host.isDead || !isHeld(host)).map(({ id }) => `${id} is at work`),
      ...occupied.map((queue) => `${queue} is not empty`),
      ...this.bulkRuns.unrest(isPersonAwaited),
      ...(this.shared.unheard?.unrest() ?? []),
      // Operators look at each run until it is over.
      ...(this.clients.waiting > held.length ? [`${this.clients.waiting} calls are not answered`] : []),
    ].join('; ');
  }

  private outcome(): Outcome {
    const happened = new Map<string, number>();
    const count = (what: string, by = 1) => void happened.set(what, (happened.get(what) ?? 0) + by);
    const countTop = ({ outcome, errorGen }: StateRecord, journal: Tracked['journal']): void => {
      count('top orders');
      const isInstructed = journal.some(({ type }) => type === 'InstructionGiven');
      if (outcome === 'compensated') count('top compensated');
      if (outcome === 'completed' && !isInstructed) count('top completed by themselves');
      if (outcome === 'compensated' && !isInstructed) count('top compensated by themselves');
      if (errorGen > 0 && isInstructed) count('top through error and operator');
    };
    for (const { state, journal, caller, signals } of this.history.orders.values()) {
      count(`outcome ${state.outcome ?? 'none'}`);
      count('orders');
      if (caller === undefined) countTop(state, journal);
      if (caller !== undefined) count('calls');
      count('signals', signals.size);
      count('errors', state.errorGen);
      for (const { type } of journal) count(type);
      count('locks that ran out', journal.filter((line) => line.type === 'OrderUnlocked' && 'expired' in line).length);
      count('steps with another input', replacedIn(journal));
    }
    for (const [what, times] of this.bulkRuns.happened()) count(what, times);
    for (const [what, times] of this.seen) count(what, times);
    for (const [site, times] of this.io) if (site.startsWith('emitted ')) count(site, times);
    return {
      seed: this.seed,
      broken: this.broken,
      events: this.timeline.events,
      io: this.io,
      simulatedMs: this.timeline.now - startAt,
      fingerprint: this.timeline.fingerprint(),
      kindsOn: Object.values(this.profile).filter((probability) => probability > 0).length,
      landed: this.faults.landed,
      happened,
    };
  }
}

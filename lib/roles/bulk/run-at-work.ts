import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import type { Instruct } from '#roles/operator/instruct';
import type { Brakes } from './brakes.ts';
import { type BulkDocuments, chunkOrders, type OrderOfSet, ordersMax, outcomeDocument, type StoredOutcome } from './documents.ts';
import { matchesOf } from './freeze.ts';
import { HeldRun } from './held-run.ts';
import { Pace } from './pace.ts';
import {
  type BulkAsked,
  type BulkRun,
  failsTooOften,
  figuresOf,
  hasPausedItself,
  noOutcomes,
  type OutcomeCounts,
  sumOf,
  unverifiedMax,
  unverifiedOf,
} from './run.ts';
import { checkOrder, treatOrder } from './treat-order.ts';
import { Verification } from './verification.ts';
import type { Verify } from './verify.ts';

export interface RunPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly hostId: string;
  readonly documents: BulkDocuments;
  readonly brakes: Brakes;
  readonly verify: Verify;
  readonly instruct: Instruct;
}

/** Checks of orders per second. They send nothing, so the rate of the run, which spares remote services, does not hold for them. */
const checksPerSecond = 1_000;
/** The largest number of infeasible orders whose outcomes one write stores. */
const keptAtOnce = 50;
const pauseMs = 1_000;
/** The time after its creation for which a run follows whether its applied orders pass or fail. */
const followedMs = 7 * 86_400_000;

/** A chunk of the set with what is known about its orders. */
interface Chunk {
  readonly index: number;
  readonly orders: readonly OrderOfSet[];
  readonly outcomes: Map<string, StoredOutcome>;
}

/**
 * One bulk run in the process that holds its lease. Each write of the run's record renews the lease, and is refused after another process
 * has taken it.
 */
export class RunAtWork {
  private readonly id: string;
  private readonly ports: RunPorts;
  private readonly verification: Verification;
  private readonly held: HeldRun;
  private asked!: BulkAsked;
  private chunk: Chunk | undefined;
  private pace: Pace | undefined;

  constructor(id: string, ports: RunPorts) {
    this.id = id;
    this.ports = ports;
    this.held = new HeldRun(id, ports);
    this.verification = new Verification(ports);
  }

  /** Takes the lease; resolves to false if the run needs no process, or has one. */
  async take(): Promise<boolean> {
    if (!(await this.held.take())) return false;
    this.asked = await this.ports.documents.asked(this.id);
    return true;
  }

  /** Works until nothing is left to do now, or the time of this process is over (`isOver`); then gives the lease back. */
  async work(isOver: () => boolean): Promise<void> {
    let isLeft = true;
    while (isLeft && !isOver()) isLeft = await this.doNext(isOver);
    const now = this.ports.clock.now();
    const open = unverifiedOf(this.held.run) > 0 && now < this.held.run.createdAt + followedMs;
    // A process whose time is over leaves its run to the next process at once, even if only outcomes remain to be counted.
    const verifyAt = isLeft ? now : open ? now + verifyPauseMs(this.held.run, now) : null;
    await this.held.save(() => ({ heldBy: null, heldUntil: 0, verifyAt }));
  }

  /** Does the next part of the work; resolves to false if there is none now. */
  private async doNext(isOver: () => boolean): Promise<boolean> {
    const { state, set, checked } = this.held.run;
    if (state === 'preparing') {
      if (!set) await this.freeze();
      else if (checked < set.count) await this.check(set.count);
      else await this.held.save((run) => (run.state === 'preparing' ? { state: run.starts ? 'running' : 'ready' } : {}));
      return true;
    }
    if (state === 'running') {
      await this.goOn(isOver);
      return true;
    }
    await this.count();
    await this.verify();
    if (!hasPausedItself(this.held.run)) return false;
    if (await this.brake()) await this.rest();
    else await this.held.save((run) => (hasPausedItself(run) ? { state: 'running', pause: null } : {}));
    return true;
  }

  private async freeze(): Promise<void> {
    const { documents, store, clock } = this.ports;
    const { epoch } = this.held.run;
    const at = clock.now();
    const orders = await matchesOf(this.asked.filter, { store, now: at }, () => this.held.renew());
    if (!orders) {
      const stopped = { code: 'too-many', detail: `The filter selects more than ${ordersMax} orders, which is the limit. Narrow it.` };
      await this.held.save((run) => (run.state === 'preparing' ? { state: 'stopped', stopped } : {}));
      return;
    }
    const chunks = Math.ceil(orders.length / chunkOrders);
    for (let index = 0; index < chunks; index++) {
      await documents.putChunk(this.held.run, epoch, index, orders.slice(index * chunkOrders, (index + 1) * chunkOrders));
      await this.held.renew();
    }
    await this.held.save(() => ({ set: { epoch, count: orders.length, chunks, at } }));
  }

  /** Checks one chunk. A process that takes over begins the chunk again, and skips the orders that are refused already. */
  private async check(count: number): Promise<void> {
    const { run } = this.held;
    const { orders, outcomes, index } = await this.chunkAt(run.checked);
    const agents = new Set(run.agents);
    const pace = new Pace(this.ports.clock, checksPerSecond);
    const infeasible: StoredOutcome[] = [];
    await pace.each(orders, async (order) => {
      const { orderId } = order;
      if (outcomes.has(orderId)) return;
      const result = await checkOrder(run, this.asked, order, this.ports);
      if (result.ok) for (const agent of result.agents) agents.add(agent);
      else infeasible.push({ orderId, outcome: 'infeasible', at: this.ports.clock.now(), refusals: result.refusals });
      if (infeasible.length >= keptAtOnce) await this.keep(infeasible.splice(0), outcomes);
      else await this.held.renew();
    });
    await this.keep(infeasible, outcomes);
    await this.held.save(() => ({ checked: Math.min(count, index * chunkOrders + orders.length), agents: [...agents] }));
  }

  /**
   * Stores the outcomes of orders that a check has refused, and counts them, in one write: so a process that has lost the run stores none,
   * and a process that dies leaves none uncounted.
   */
  private async keep(infeasible: readonly StoredOutcome[], outcomes: Chunk['outcomes']): Promise<void> {
    if (infeasible.length === 0) return;
    const documents = infeasible.map((outcome) => outcomeDocument(this.held.run, outcome));
    await this.held.save(
      ({ checked, counts }) => ({
        checked: checked + infeasible.length,
        counts: { ...counts, infeasible: counts.infeasible + infeasible.length },
      }),
      documents,
    );
    for (const outcome of infeasible) outcomes.set(outcome.orderId, outcome);
  }

  /**
   * Continues a run: verifies, looks at the brakes, and treats the orders of one second, or fewer if the canary or open verdicts limit
   * them.
   */
  private async goOn(isOver: () => boolean): Promise<void> {
    await this.verify();
    if (this.held.run.state !== 'running' || (await this.brake())) return;
    const { set, cursor, canary, canaryPassed, ratePerSecond } = this.held.run;
    if (cursor >= (set?.count ?? 0)) {
      await this.held.save((run) => (run.state === 'running' ? { state: 'done' } : {}));
      return;
    }
    const canaryLeft = canary === null || canaryPassed ? Number.POSITIVE_INFINITY : canary - figuresOf(this.held.run).applied;
    if (canaryLeft <= 0) {
      await this.held.save((run) => (run.state === 'running' ? { state: 'paused', pause: { by: 'canary' } } : {}));
      return;
    }
    const room = Math.min(ratePerSecond, canaryLeft, unverifiedMax(this.held.run) - unverifiedOf(this.held.run));
    if (room <= 0) await this.rest();
    else await this.treat(room, isOver);
  }

  /** Pauses the run if a remote service is unavailable or the scheduler is behind; resolves to whether there is such a reason. */
  private async brake(): Promise<boolean> {
    const pause = await this.ports.brakes.found(this.held.run.agents);
    if (!pause) return false;
    await this.held.save((run) => (run.state === 'running' ? { state: 'paused', pause } : {}));
    return true;
  }

  private async treat(room: number, isOver: () => boolean): Promise<void> {
    const { clock } = this.ports;
    const { orders, outcomes, index } = await this.chunkAt(this.held.run.cursor);
    const from = this.held.run.cursor - index * chunkOrders;
    const next = orders
      .slice(from)
      .filter(({ orderId }) => !outcomes.has(orderId))
      .slice(0, room);
    const treating = { ...this.ports, asked: this.asked, mayGoOn: () => this.held.mayGoOn() };
    this.pace ??= new Pace(clock, this.held.run.ratePerSecond);
    await this.pace.each(next, async (order) => {
      if (isOver()) return;
      const outcome = await treatOrder(order, { ...treating, run: this.held.run });
      if (outcome) outcomes.set(order.orderId, outcome);
      await this.held.renew();
    });
    await this.count();
  }

  /** Counts the outcomes of the present chunk, and moves the cursor to the first order without an outcome. */
  private async count(): Promise<void> {
    const { set, cursor } = this.held.run;
    if (!set || this.held.run.checked < set.count || cursor >= set.count) return;
    const { index, orders, outcomes } = await this.chunkAt(cursor);
    await this.verification.note(this.held.run, index, orders, (orderId) => outcomes.get(orderId)?.outcome === 'applied');
    const from = cursor - index * chunkOrders;
    const open = orders.findIndex(({ orderId }, place) => place >= from && !outcomes.has(orderId));
    const until = open < 0 ? orders.length : open;
    const counts = countsOf(orders.slice(from, until), outcomes);
    const ahead = countsOf(orders.slice(until), outcomes);
    await this.held.save((run) => ({ cursor: index * chunkOrders + until, counts: sumOf(run.counts, counts), ahead }));
  }

  private async verify(): Promise<void> {
    if (unverifiedOf(this.held.run) === 0) return;
    const verdicts = await this.verification.look(this.held.run);
    const stopped = { code: 'too-many-failures', detail: `${this.held.run.stopAfterFailures} orders failed after the instruction.` };
    await this.held.save((run) => {
      const next = { ...run, verdicts };
      const stops = failsTooOften(next) && (run.state === 'running' || run.state === 'paused');
      return stops ? { verdicts, state: 'stopped', pause: null, stopped } : { verdicts };
    });
  }

  private async chunkAt(place: number): Promise<Chunk> {
    const { documents } = this.ports;
    const index = Math.floor(place / chunkOrders);
    if (this.chunk?.index === index) return this.chunk;
    const orders = await documents.chunk(this.held.run, index);
    this.chunk = { index, orders, outcomes: new Map(await documents.outcomes(this.id, orders)) };
    return this.chunk;
  }

  private async rest(): Promise<void> {
    await this.ports.clock.sleep(pauseMs);
    await this.held.renew();
  }
}

/** Returns the pause until a process looks at the applied orders again. It grows with the age of the run. */
function verifyPauseMs({ state, createdAt }: BulkRun, now: number): number {
  const longest = state === 'paused' ? 5 * pauseMs : 300 * pauseMs;
  return Math.min(longest, Math.max(pauseMs, (now - createdAt) / 10));
}

/** Counts outcomes, except those that the check has counted already. */
function countsOf(orders: readonly OrderOfSet[], outcomes: ReadonlyMap<string, StoredOutcome>): OutcomeCounts {
  const counts = { ...noOutcomes };
  for (const { orderId } of orders) {
    const outcome = outcomes.get(orderId)?.outcome;
    if (outcome && outcome !== 'infeasible') counts[outcome] += 1;
  }
  return counts;
}

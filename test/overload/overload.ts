import { type App, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { StateHead } from '#ports/records';
import { Deployment } from './deployment.ts';
import { Service, type Sickness, sicknesses } from './service.ts';

const minuteMs = 60_000;
const from = 15 * minuteMs;
const outageMs = 10 * minuteMs;
const until = from + outageMs;
/** Orders arrive until twice the outage's duration after its end; then the rest has time to end. */
const arrivalsUntil = until + 2 * outageMs;
const drainedBy = arrivalsUntil + 60 * minuteMs;
const windowMs = 5 * minuteMs;
/** Orders a second that the service is made for; twice as many arrive. */
const usualRate = 0.5;
const rate = 2 * usualRate;
/** At twice the usual load it is busy for two fifths of the time. */
const capacity = { workers: 4, workMs: 2000, lineMax: 40 };
/** Fraction of orders that need the failing service. */
const needing = 0.8;

/** One world in which a service was away for ten minutes while twice the usual number of orders arrived. */
export interface Overload {
  readonly seed: number;
  readonly sickness: Sickness;
  readonly orders: number;
  readonly completed: number;
  /** Orders with another outcome, or blocked. */
  readonly failed: number;
  /** Orders still open an hour after the last submission. */
  readonly open: number;
  /** Timeouts that counted as failures: from steps that were already waiting when the outage was detected. */
  readonly failures: number;
  /** Orders that ended, per minute. */
  readonly before: number;
  /** Milliseconds from the end of the outage to five minutes as good as before; undefined if there were none. */
  readonly backAfterMs: number | undefined;
  /** The calls to the service from the outage on, and the number needed. */
  readonly calls: number;
  readonly needed: number;
  /**
   * Seconds: mean age of the oldest open order, in five minutes before the outage and in each five minutes after it.
   */
  readonly oldestBefore: number;
  readonly oldest: readonly number[];
  /** Seconds: the slowest order without a need for the service, during the outage. */
  readonly slowestOther: number;
  /** Writes to the store for each order, before and after. */
  readonly writesBefore: number;
  readonly writesAfter: number;
  /** Violations of the laws that hold in every world. */
  readonly broken: readonly string[];
}

interface Order {
  readonly needs: boolean;
  readonly submittedAt: number;
  endedAt?: number;
  state?: StateHead;
}

export async function overload(seed: number): Promise<Overload> {
  const world = new OverloadWorld(seed);
  return world.run();
}

/** Violations of L8 and X-45, in words. */
export function missedBy({
  seed,
  failed,
  open,
  failures,
  backAfterMs,
  calls,
  needed,
  oldest,
  oldestBefore,
  broken,
}: Overload): readonly string[] {
  // As low as before the outage: from then on, chance decides which of two means is smaller.
  const usual = 3 * Math.max(5, oldestBefore);
  // In the first window, all orders may still wait: a probe that began in the outage may hang for a minute, and the next one begins after a
  // pause. So the second window may have older orders than the first one.
  const rises = oldest.some((seconds, index) => index > 1 && seconds > usual && seconds >= (oldest[index - 1] ?? 0));
  return [
    ...broken,
    ...(failed === 0 ? [] : [`${failed} orders failed`]),
    ...(open === 0 ? [] : [`${open} orders are still open`]),
    ...(failures <= 0.01 * needed ? [] : [`${failures} expiries counted as failures`]),
    ...(backAfterMs !== undefined && backAfterMs <= 2 * outageMs ? [] : ['throughput is not back within twice the outage']),
    ...(calls <= 1.2 * needed ? [] : [`${calls} calls for ${needed} that were needed`]),
    ...(rises || (oldest.at(-1) ?? 0) > usual
      ? [`the oldest order does not get younger from the second window on: ${oldest.join(', ')} s`]
      : []),
  ].map((wrong) => `seed ${seed}: ${wrong}`);
}

class OverloadWorld {
  private readonly seed: number;
  private readonly deployment: Deployment;
  private readonly sickness: Sickness;
  private readonly orders = new Map<string, Order>();
  private readonly ages: { readonly at: number; readonly ms: number }[] = [];
  private service: Service | undefined;

  constructor(seed: number) {
    this.seed = seed;
    this.sickness = sicknesses[seed % sicknesses.length] ?? 'refuses';
    this.deployment = new Deployment({
      seed,
      app: (deployment) => {
        this.service = new Service(deployment, { ...capacity, sickness: this.sickness, sickFrom: from, sickUntil: until });
        return appOn(this.service, deployment);
      },
      hosts: 2 + (seed % 2),
      supervisorPeriodMs: 5000,
      variables: { STEP_COMPLETE_WITHIN_SECONDS: '60' },
      onWritten: (state) => this.written(state),
      isJudged: true,
    });
  }

  async run(): Promise<Overload> {
    const { deployment } = this;
    this.arrive();
    this.lookAtAges();
    await deployment.runUntil(from);
    const writesBefore = deployment.writes;
    const [callsBefore, doneBefore] = [this.service?.calls ?? 0, this.service?.done.size ?? 0];
    const startedBefore = this.orders.size;
    await deployment.runUntil(arrivalsUntil);
    await deployment.runUntil(drainedBy, () => [...this.orders.values()].every(({ endedAt }) => endedAt !== undefined));
    const all = [...this.orders.values()];
    const completed = all.filter(({ state }) => state?.outcome === 'completed').length;
    const open = all.filter(({ state }) => state?.processState === 'Processing' || state?.processState === 'Pending').length;
    const before = this.perMinute(from - 2 * windowMs, from);
    const others = all.filter(({ needs, submittedAt }) => !needs && submittedAt >= from && submittedAt < until);
    const result: Overload = {
      seed: this.seed,
      sickness: this.sickness,
      orders: all.length,
      completed,
      failed: all.length - completed - open,
      open,
      failures: all.reduce((sum, { state }) => sum + (state?.failureCount ?? 0), 0),
      before,
      backAfterMs: this.backAfter(before),
      calls: (this.service?.calls ?? 0) - callsBefore,
      needed: (this.service?.done.size ?? 0) - doneBefore,
      oldestBefore: this.meanAge(from - windowMs),
      oldest: Array.from({ length: (2 * outageMs) / windowMs }, (_, index) => this.meanAge(until + index * windowMs)),
      slowestOther: Math.round(Math.max(...others.map(({ submittedAt, endedAt = drainedBy }) => endedAt - submittedAt)) / 1000),
      writesBefore: round(writesBefore / startedBefore),
      writesAfter: round((deployment.writes - writesBefore) / (all.length - startedBefore)),
      broken: await deployment.broken(),
    };
    await deployment.close();
    return result;
  }

  private arrive(): void {
    const { deployment } = this;
    const gap = -Math.log(1 - deployment.chance.next()) * (1000 / rate);
    deployment.timeline.after(Math.ceil(gap), 'an order comes', () => {
      if (deployment.now >= arrivalsUntil) return;
      this.arrive();
      const needs = deployment.chance.happens(needing);
      const submittedAt = deployment.now;
      const idempotencyKey = `order-${this.orders.size}-${submittedAt}`;
      void deployment.anyHost.submit({ client: 'client', idempotencyKey, workflow: needs ? 'sale' : 'note', order: {} }).then((answer) => {
        if (answer.outcome !== 'accepted') return;
        const known = this.orders.get(answer.order.orderId);
        this.orders.set(answer.order.orderId, { ...known, needs, submittedAt });
      });
    });
  }

  private written(state: StateHead): void {
    const order = this.orders.get(state.orderId);
    if (!order) return;
    order.state = state;
    if (state.processState === 'Processed' || state.processState === 'Error') order.endedAt ??= this.deployment.now;
  }

  private lookAtAges(): void {
    this.deployment.timeline.after(15_000, 'somebody looks', () => {
      const { now } = this.deployment;
      const open = [...this.orders.values()].filter(({ endedAt }) => endedAt === undefined);
      this.ages.push({ at: now, ms: Math.max(0, ...open.map(({ submittedAt }) => now - submittedAt)) });
      if (now < drainedBy) this.lookAtAges();
    });
  }

  /** Seconds. */
  private meanAge(at: number): number {
    const window = this.ages.filter((age) => age.at >= at && age.at < at + windowMs);
    return Math.round(window.reduce((sum, { ms }) => sum + ms, 0) / Math.max(1, window.length) / 1000);
  }

  private perMinute(start: number, end: number): number {
    const ended = [...this.orders.values()].filter(
      ({ endedAt = 0, state }) => endedAt >= start && endedAt < end && state?.outcome === 'completed',
    );
    return round((ended.length * minuteMs) / (end - start));
  }

  private backAfter(before: number): number | undefined {
    for (let start = until; start + windowMs <= arrivalsUntil; start += 15_000)
      if (this.perMinute(start, start + windowMs) >= 0.95 * before) return start + windowMs - until;
    return undefined;
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Two thirds of the orders need the bank; the others must not suffer from its outage. */
function appOn(service: Service, { chance, sleep }: Deployment): App {
  const Nothing = z.object({});
  const soon = operation({
    input: Nothing,
    output: Nothing,
    run: async (_, { signal }) => {
      await sleep(chance.between(20, 200), signal);
      return {};
    },
  });
  const stock = defineAgent('stock', { reserve: soon });
  const mail = defineAgent('mail', { tell: soon });
  const bank = defineAgent('bank', {
    charge: operation({
      input: Nothing,
      output: Nothing,
      run: async (_, { idempotencyKey, signal }) => {
        await service.call(idempotencyKey, signal);
        return {};
      },
    }),
  });
  const sale = defineWorkflow('sale', { version: 1, order: Nothing }, () =>
    sequence(stock.reserve({}).noUndo(), bank.charge({}).noUndo(), mail.tell({}).noUndo()),
  );
  const note = defineWorkflow('note', { version: 1, order: Nothing }, () => sequence(stock.reserve({}).noUndo(), mail.tell({}).noUndo()));
  return defineApp({ workflows: [sale, note], agents: [stock, bank, mail] });
}

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '#ports/store';
import { createFarm, type Farm, hurried, type Shown } from '../../../test/processes/farm.ts';
import { createCustomers, problemsIn, startShop } from '../../../test/processes/kill-support.ts';
import { atEnd, createRandom, type Ending, root, type Site, until, within } from '../../../test/processes/support.ts';
import { startOperator } from './operator.ts';
import { atWorkAt, coursesOf, quantile, recoveriesIn } from './recoveries.ts';

/** The place in which hosts run, and a view of what they store and announce. */
export interface Ground {
  readonly place: Site;
  readonly store: Pick<Store, 'load' | 'pages'>;
  /** Ids of orders whose Error was announced. */
  alerts(): ReadonlySet<string>;
  /** Settings of the hosts besides the common ones. */
  readonly settings?: { readonly [name: string]: string };
  /** Restarts hosts that cannot start: their dependencies may be unavailable for a while. */
  readonly startsAgain?: boolean;
  /** Ends all faults: from then on all dependencies of the hosts are available. */
  calm?(): Promise<void>;
}

export interface Plan {
  readonly kills: number;
  readonly orders: number;
  /** Minimum number of orders: some of the customers give up. */
  readonly ordersMin: number;
  /** Maximum number of running orders, at most 100. Further customers wait. */
  readonly atWorkMax: number;
  /** Average time between two kills. */
  readonly everyMs: number;
  /** The longest time of kills and submissions. The report names what is missing by then. */
  readonly longestMs: number;
  readonly seed: number;
  progress(line: string): void;
}

const size = 2;
const indexes = Array.from({ length: size }, (_, index) => index);
/** Share of kills that stop both hosts together. */
const bothShare = 0.05;
/** Share of kills that do not wait for the start of the host. */
const killedAtStartShare = 0.2;
/** Duration of a service call, long enough for many orders to run at the same time. */
const latencyMs = 100;
/**
 * Time in which all orders must end after the last kill. The circuit breaker probes an unavailable service once a minute, and then
 * releases its orders gradually.
 */
const patienceMs = 300_000;
/** Kills that may happen before their share of the orders has arrived. */
const aheadMax = 3;
/** Customers that may wait for their answers at a time. */
const waitingMax = 60;

const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8')) as { order: { address: object } };
const orderOf = (index: number): object => {
  if (index % 10 === 7) return { ...order, card: 'tok_declined' };
  return index % 12 === 5 ? { ...order, address: { ...order.address, postalCode: '00000' } } : order;
};

/** Time from a kill to the next request: the step timeout, the supervisor's period, and a second for the work itself. */
export const recoveryMaxMs = 1000 * (Number(hurried.STEP_COMPLETE_WITHIN_SECONDS) + Number(hurried.SUPERVISOR_PERIOD_SECONDS) + 1);

/** Runs two hosts on the same data, and kills them again and again, one at a time or both. */
export async function killAgainAndAgain(ending: Ending, ground: Ground, plan: Plan) {
  const { place } = ground;
  const random = createRandom(plan.seed);
  const shop = await startShop(ending, place, { latencyMs });
  const farm = createFarm(place, { ...shop.urls, ...ground.settings }, { size, startsAgain: ground.startsAgain ?? false });
  atEnd(ending, () => Promise.all(indexes.map((index) => farm.kill(index))));
  await Promise.all(indexes.map((index) => farm.begin(index)));
  const customers = createCustomers(place, farm, { orderOf, random, withinMs: plan.everyMs });
  const operator = startOperator(place.data, farm);

  const kills = await killing(farm, customers, plan, random);
  await ground.calm?.();
  const unserved = await within(customers.served(), 'customers still wait for an answer', patienceMs).then(
    () => [],
    (error: Error) => [error.message],
  );
  // The report names the orders that have not ended by then.
  await until('every order is at its end', async () => !(await farm.isAtWork()) && (await inError(farm)) === 0, patienceMs).catch(() => {});
  await operator.stop();
  const listed = await farm.list();
  await untilAnnounced(ground, listed, operator.decided).catch(() => {});
  const ends = await Promise.all(indexes.map((index) => farm.stop(index)));

  const witnesses = { ...customers, decided: operator.decided, effects: shop.effects(), alerts: ground.alerts() };
  const problems = [
    ...unserved,
    ...operator.problems,
    ...problemsIn(listed, witnesses),
    ...ends.filter(({ code }) => code !== 0).map(() => 'a host did not stop with 0'),
  ];
  const courses = await coursesOf(
    ground.store,
    listed.map(({ orderId }) => orderId),
  );
  return { problems, listed, courses, kills, customers, decided: operator.decided.size, farm };
}

/** Kills hosts while customers submit orders. Returns the times of the kills in milliseconds since 1970. All hosts run in the end. */
async function killing(farm: Farm, customers: Customers, plan: Plan, random: () => number): Promise<readonly number[]> {
  const kills: number[] = [];
  const up = indexes.map(() => Promise.resolve());
  const end = Date.now() + plan.longestMs;
  while ((kills.length < plan.kills || customers.arrived() < plan.orders) && Date.now() < end) {
    const due = Math.min(plan.orders, Math.ceil(((kills.length + 1) * plan.orders) / plan.kills));
    const pauseMs = plan.everyMs * (0.5 + random());
    const pause = sleep(pauseMs);
    const room = Math.min(waitingMax - customers.waiting(), await roomFor(farm, plan.atWorkMax, pauseMs));
    customers.come(Math.min(due, customers.arrived() + room));
    await pause;
    // Kills that come ahead of the orders would keep a slow machine from ever claiming these orders.
    if (customers.arrived() < ((kills.length - aheadMax) * plan.orders) / plan.kills) continue;
    for (const index of random() < bothShare ? indexes : [Math.floor(random() * size)]) {
      // However slow the machine is, most hosts have started before they are killed.
      if (random() >= killedAtStartShare) await up[index];
      kills.push(Date.now());
      await farm.kill(index);
      up[index] = rejectingLater(farm.begin(index));
    }
    if (kills.length % 25 === 0) plan.progress(`${kills.length} of ${plan.kills} kills, ${customers.answered.size} orders answered`);
  }
  await Promise.all(up);
  return kills;
}

/** Returns how many further customers may come now. While hosts are busy, or do not answer in time, none may. */
function roomFor(farm: Farm, atWorkMax: number, withinMs: number): Promise<number> {
  const atWork = farm.page('limit=100&state=Processing').then(
    ({ items }) => items.length,
    () => atWorkMax,
  );
  return Promise.race([atWork, sleep(withinMs, atWorkMax)]).then((count) => Math.max(0, atWorkMax - count));
}

/** Keeps a rejection from counting as unhandled before the promise is awaited. */
function rejectingLater(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

const inError = async (farm: { page(query: string): Promise<{ readonly items: readonly unknown[] }> }): Promise<number> =>
  (await farm.page('limit=1&state=Error')).items.length;

/** A killed host leaves its unsent announcements in the order's outbox, and another host sends them when they are due. */
const untilAnnounced = ({ alerts }: Ground, listed: readonly Shown[], decided: ReadonlySet<string>): Promise<unknown> =>
  until(
    'every Error is announced',
    () => {
      const announced = alerts();
      return listed.every(({ orderId, processState }) => announced.has(orderId) || (processState !== 'Error' && !decided.has(orderId)));
    },
    patienceMs,
  );

type Customers = ReturnType<typeof createCustomers>;
type Outcome = Awaited<ReturnType<typeof killAgainAndAgain>>;

/** Builds the report of a run: counts, and what is missing in words, empty if all is well. */
export function reportOf(
  { problems, listed, courses, kills, customers, decided, farm }: Outcome,
  plan: Plan,
  { timed, strict }: { readonly timed: boolean; readonly strict: boolean },
) {
  const share = (outcome: string) => listed.filter((shown) => shown.outcome === outcome).length / Math.max(1, listed.length);
  const atWork = atWorkAt(courses, kills);
  const hits = atWork.filter((count) => count > 0).length;
  const { times, wholeTimes, killedAgain, withoutKill } = recoveriesIn(courses, kills, farm.unattended);
  const p99 = quantile(times, 0.99);
  const wanted: readonly (readonly [boolean, string])[] = [
    [kills.length >= plan.kills, `only ${kills.length} kills`],
    [listed.length >= plan.ordersMin, `only ${listed.length} orders`],
    [hits >= (strict ? 0.8 : 0.3) * kills.length, `only ${hits} of ${kills.length} kills while orders were running`],
    [!strict || times.length > 0, 'no kill interrupted a step'],
    [share('completed') >= 0.6, 'too few orders completed'],
    [share('compensated') >= 0.05, 'too few orders compensated'],
    [decided >= 0.05 * listed.length, 'too few orders in front of a person'],
    [!timed || (p99 ?? Infinity) <= recoveryMaxMs, `99 of 100 recoveries within ${p99} ms, aim ${recoveryMaxMs} ms`],
  ];
  const shortfalls = [...problems.slice(0, 20), ...wanted.filter(([holds]) => !holds).map(([, lack]) => lack)];
  return {
    shortfalls,
    counts: {
      kills: kills.length,
      killsAtWork: hits,
      atWorkMean: Math.round(atWork.reduce((sum, count) => sum + count, 0) / atWork.length),
      orders: listed.length,
      completed: listed.filter(({ outcome }) => outcome === 'completed').length,
      compensated: listed.filter(({ outcome }) => outcome === 'compensated').length,
      decided,
      wrong: problems.length,
      submittedAgain: customers.resent(),
      givenUp: customers.givenUp.size,
      recoveries: times.length,
      recoveryMs: { ...spreadOf(times), ...(timed ? { aim: recoveryMaxMs } : {}) },
      wholeRecoveryMs: spreadOf(wholeTimes),
      killedAgain,
      nobodyUpMs: farm.unattended.reduce((sum, [from, to]) => sum + to - from, 0),
      expiredWithoutKill: withoutKill,
      startMs: farm.startMs(),
      ...(farm.refused() > 0 ? { startsRefused: farm.refused() } : {}),
    },
  };
}

const spreadOf = (sorted: readonly number[]) => ({ p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) ?? null });

import { setTimeout as sleep } from 'node:timers/promises';
import type { Malformed } from '../../../test/roles/dead-letters/corpus.ts';
import { deadLettersIn, malformedOf } from '../bad-input/messages.ts';
import { backAfter, callsFrom, hundredths, type Took, timesAsLong, timesOf } from './arithmetic.ts';
import type { RunningSystem } from './traffic.ts';

export interface Plan {
  /** Duration relative to a run with `--scale 1`, from 0.01 to 1. */
  readonly scale: number;
  readonly seed: number;
  progress(line: string): void;
  /** Starts one more system, with services of its own. */
  startAnother(): Promise<RunningSystem>;
}

/** The counts, and the violated properties in words. Times depend on the machine and are not judged. */
export interface PartResult {
  readonly unfinished: readonly string[];
  readonly [count: string]: unknown;
}

/** An order is four requests and four replies, so two further messages are a fifth of all. */
const poisonPerOrder = 2;
/** The number of rounds, each first without and then with the malformed messages, so that other work on the machine affects both. */
const rounds = 2;

/** Sends orders at half of the host's capacity, without and with a fifth of messages that cannot be processed. */
export async function poison(system: RunningSystem, { scale, seed, progress }: Plan): Promise<PartResult> {
  const capacity = await system.capacity();
  const perSecond = capacity / 2;
  const forMs = (30_000 * scale) / rounds;
  const perRound = Math.round((perSecond * forMs * poisonPerOrder) / 1000);
  const messages = malformedOf(perRound * rounds, seed);
  const [without, withIt]: [Took[], Took[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    without.push(...(await system.ended(await system.steadily('acme', perSecond, forMs))));
    const sent = send(system, messages.slice(round * perRound, (round + 1) * perRound), forMs);
    withIt.push(...(await system.ended(await system.steadily('acme', perSecond, forMs))));
    await sent;
    progress(`${round + 1} of ${rounds} rounds`);
  }
  const deadLetter = await deadLettersIn(system.open(), messages.length);
  const [usual, poisoned] = [timesOf(without), timesOf(withIt)];
  return {
    capacity,
    perSecond,
    poison: messages.length,
    deadLetter,
    without: usual,
    with: poisoned,
    p99TimesAsLong: timesAsLong(poisoned.p99Ms, usual.p99Ms),
    unfinished: [...notCompleted([...without, ...withIt]), ...(deadLetter === messages.length ? [] : ['not all poison is dead-lettered'])],
  };
}

async function send({ open }: RunningSystem, messages: readonly Malformed[], forMs: number): Promise<void> {
  const start = Date.now();
  for (const [index, { queue, body }] of messages.entries()) {
    await sleep(Math.max(0, start + (index * forMs) / messages.length - Date.now()));
    await open().queues.send([{ queue, body }]);
  }
}

/** A service answers each call with 503 for two minutes (at scale 1), while orders arrive as before. */
export async function outage(system: RunningSystem, { scale, progress }: Plan): Promise<PartResult> {
  const capacity = await system.capacity();
  const perSecond = Math.min(5, capacity / 4);
  const [beforeMs, awayMs, afterMs] = [20_000 * scale, 120_000 * scale, 90_000 * scale];
  const start = Date.now();
  const submitting = system.steadily('acme', perSecond, beforeMs + awayMs + afterMs);
  submitting.catch(() => undefined);
  await sleep(beforeMs);
  const away = Date.now();
  await system.switchTo({ service: 'payment', failRate: 1, failStatus: 503 });
  progress('the service is away');
  await sleep(awayMs);
  await system.switchTo({ service: 'payment' });
  const over = Date.now();
  progress('the service is back');
  const orders = await system.ended(await submitting);
  const endings = orders.flatMap(({ endedAt, outcome }) => (endedAt !== undefined && outcome === 'completed' ? [endedAt] : []));
  const waited = orders.filter(({ dueAt }) => dueAt < over);
  const lastOfThem = Math.max(over, ...waited.map(({ endedAt = Infinity }) => endedAt));
  const windowMs = 10_000 * scale;
  const span = { before: [start + beforeMs / 4, away], over, until: over + afterMs, windowMs } as const;
  return {
    capacity,
    perSecond,
    awayMs: over - away,
    orders: orders.length,
    inError: orders.filter(({ outcome }) => outcome === 'Error').length,
    ...callsFrom(system.paymentCalls, away),
    throughputBackAfterMs: backAfter(endings, span) ?? null,
    backlogGoneAfterMs: lastOfThem === Infinity ? null : lastOfThem - over,
    unfinished: notCompleted(orders),
  };
}

const quiet = Array.from({ length: 20 }, (_, index) => `quiet-${index + 1}`);
const timesAsMuch = 100;

/** Runs twenty clients at a fifth of the host's capacity, then adds one client with a hundred times the load of each. */
export async function noisy(system: RunningSystem, { scale, progress }: Plan): Promise<PartResult> {
  const capacity = await system.capacity();
  const each = capacity / 5 / quiet.length;
  const forMs = 30_000 * scale;
  const theQuiet = async () => {
    // The clients do not start at the same moment.
    const all = quiet.map((client, index) => sleep((1000 * index) / each / quiet.length).then(() => system.steadily(client, each, forMs)));
    return (await Promise.all(all)).flat();
  };
  const without = await system.ended(await theQuiet());
  progress('without the noisy one');
  const [noisyOnes, withIt] = await Promise.all([
    system.steadily('noisy', timesAsMuch * each, forMs),
    theQuiet().then((submitted) => system.ended(submitted)),
  ]);
  progress('with the noisy one');
  const noise = await system.ended(noisyOnes);
  const [usual, disturbed] = [timesOf(without), timesOf(withIt)];
  return {
    capacity,
    eachPerSecond: hundredths(each),
    noisyPerSecond: hundredths(timesAsMuch * each),
    clients: quiet.length,
    without: usual,
    with: disturbed,
    noisy: timesOf(noise),
    throttled: system.throttled(),
    othersP99TimesAsLong: timesAsLong(disturbed.p99Ms, usual.p99Ms),
    unfinished: notCompleted([...without, ...withIt, ...noise]),
  };
}

const notCompleted = (orders: readonly Took[]): readonly string[] => {
  const others = orders.filter(({ outcome }) => outcome !== 'completed');
  return others.length === 0 ? [] : [`${others.length} of ${orders.length} orders are not completed: ${others[0]?.outcome}`];
};

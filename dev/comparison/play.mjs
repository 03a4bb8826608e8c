import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Warehouse } from '../verify/live/incident/warehouse.ts';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '5' },
    away: { type: 'string', default: '60' },
    /** Seconds after which the operator gives up. */
    patience: { type: 'string', default: '900' },
  },
});
const [orders, kills, awaySeconds, patience] = ['orders', 'kills', 'away', 'patience'].map((name) => Number(values[name]));
const say = (line) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

/**
 * Plays the incident of `npm run bulk:incident` on another product, and prints one line of JSON. `canEnd`: whether a person can end single
 * orders of the product. It has the methods
 *
 * - `start(serviceUrl)`, `kill()` (all its processes, and starts them again), `stop()`
 * - `submit(numbers)`, `waiting()` (how many orders wait for a person), `end(numbers)` (a person ends some of them one by one)
 * - `preview()` (the number that the product gives the operator), `canary(count)`, `bulk()` (begins it), `over()` (whether the operation itself is over)
 * - `lookAgain()` (what an operator does who sees that the operation is over and orders are left)
 * - `told()` (what the product says of each order: number to `done`, `ended` or another word), `record()` (what its record of the bulk
 *   operation tells), `instructedTwice()`
 */
export async function play(name, product) {
  const warehouse = new Warehouse();
  const url = await warehouse.start();
  const numbers = Array.from({ length: orders }, (_, number) => number);
  const startedAt = performance.now();
  const load = [loadavg()[0]];
  try {
    await product.start(url);
    await product.submit(numbers);
    await untilEqual(() => product.waiting(), orders);
    say(`${orders} orders wait after ${seconds(startedAt)} s`);
    const ended = numbers.filter((number) => product.canEnd && number % 25 === 0);
    await product.end(ended.filter((number) => number % 100 === 0));
    const told = await product.preview();
    await product.end(ended.filter((number) => number % 100 !== 0));
    warehouse.health = 'well';
    await product.canary(10);
    await until(() => warehouse.labels.size >= 10);
    say(`the operator was told ${told}; the canary has passed`);
    const bulkAt = performance.now();
    await product.bulk();
    let repeated = 0;
    for (let index = 0; index < kills; index++) {
      const mark = Math.round((orders * (index + 1)) / (kills + 2));
      repeated += await progressed(() => warehouse.labels.size >= mark, product, bulkAt);
      await product.kill();
      say(`killed at ${warehouse.labels.size} labels`);
      if (index !== Math.floor(kills / 2)) continue;
      warehouse.health = 'away';
      await sleep(awaySeconds * 1000);
      warehouse.health = 'well';
      say(`the service was away; ${warehouse.callsWhileAway} calls without effect`);
    }
    const wanted = orders - ended.length;
    repeated += await progressed(() => warehouse.labels.size >= wanted, product, bulkAt);
    const bulkSeconds = seconds(bulkAt);
    await sleep(5000);
    const states = await product.told();
    const endedOnes = new Set(ended);
    const isDone = (number) => warehouse.labels.has(number);
    const figures = {
      comparison: name,
      versions: product.versions,
      orders,
      kills,
      awaySeconds,
      load: [...load, loadavg()[0]].map((value) => Number(value.toFixed(1))),
      toldBefore: told,
      ended: ended.length,
      labeled: warehouse.labels.size,
      lost: numbers.filter((number) => !endedOnes.has(number) && !isDone(number)).length,
      doubled: [...warehouse.labels.values()].filter((keys) => keys.size > 1).length,
      endedAndDone: ended.filter(isDone).length,
      instructedTwice: await product.instructedTwice(),
      wrongState: numbers.filter((number) => states.get(number) !== (endedOnes.has(number) ? 'ended' : 'done')).length,
      record: await product.record(),
      operatorRepeated: repeated,
      callsWhileAway: warehouse.callsWhileAway,
      bulkSeconds,
      seconds: seconds(startedAt),
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
  } finally {
    await product.stop();
    warehouse.close();
  }
}

const seconds = (since) => Math.round((performance.now() - since) / 1000);

async function until(isSo) {
  while (!(await isSo())) await sleep(250);
}

async function untilEqual(count, wanted) {
  let last = -1;
  await until(async () => {
    const now = await count().catch(() => last);
    if (now !== last) say(`${now} of ${wanted} wait`);
    last = now;
    if (now < wanted) await sleep(1000);
    return now >= wanted;
  });
}

/**
 * Waits until `isSo`, and lets the operator look again whenever the bulk operation is over before that. Resolves to how often the operator
 * began the operation again.
 */
async function progressed(isSo, product, since) {
  let [again, overAt] = [0, 0];
  while (!isSo()) {
    if (seconds(since) > patience) {
      say('the operator gives up');
      return again;
    }
    await sleep(250);
    if (!(await product.over().catch(() => false))) {
      overAt = 0;
      continue;
    }
    overAt ||= performance.now();
    // Orders that were reached last still run: they get twenty seconds.
    if (performance.now() - overAt < 20_000) continue;
    if (await product.lookAgain()) again += 1;
    overAt = 0;
  }
  return again;
}

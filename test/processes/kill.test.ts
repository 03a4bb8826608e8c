import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { alertsIn, type Customers, createCustomers, createPatient, type Shown, startShop } from './kill-support.ts';
import { atEnd, createRandom, root, site, until, within } from './support.ts';

const kills = Number(process.env['KILLS'] ?? 100);
const orders = Number(process.env['ORDERS'] ?? 500);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8')) as { order: object };
/** Now and then somebody has no money: his order ends in Error, with nothing done but the reservation. */
const orderOf = (index: number) => (index % 20 === 7 ? { ...order, card: 'tok_declined' } : order);
/** A life ends so long after it has begun to take orders. */
const [lifeMsMin, lifeMsMax] = [50, 400];

test('F-02, F-10, F-28, F-41, F-44, F-57, S22: nothing that was answered with 202 is lost or done twice, however often the system is killed', {
  timeout: 900_000,
}, async (t) => {
  const began = Date.now();
  const random = createRandom(seed);
  const place = site(t);
  const shop = await startShop(t, place);
  const system = createPatient(place, shop.urls);
  atEnd(t, () => system.kill());
  const customers = createCustomers(place, system, { orderOf, random, withinMs: lifeMsMax });

  for (let life = 1; life <= kills; life++) {
    await system.begin();
    customers.come(Math.ceil((life * orders) / kills));
    await sleep(lifeMsMin + random() * (lifeMsMax - lifeMsMin));
    await system.kill();
  }
  await system.begin();
  await within(customers.served(), 'customers still wait for an answer', 120_000);
  await until('every order has come to its end', async () => !(await system.isAtWork()), 180_000);
  const listed = await system.list();
  assert.equal((await system.stop()).code, 0);

  const effects = shop.effects();
  assert.deepEqual([...problemsIn(listed, customers, effects, alertsIn(place))], []);
  const count = (state: string) => listed.filter(({ processState }) => processState === state).length;
  const ends = {
    orders: listed.length,
    kills,
    processed: count('Processed'),
    error: count('Error'),
    effects: [...effects.values()].flat().length,
  };
  const interrupted = listed.filter(({ failureCount }) => failureCount > 0).length;
  const { answered, givenUp, resent } = customers;
  const course = {
    answered: answered.size,
    givenUp: givenUp.size,
    resent: resent(),
    interrupted,
    startMs: system.startMs(),
    seconds: Math.round((Date.now() - began) / 1000),
  };
  process.stdout.write(`${JSON.stringify({ test: 'kill', ...ends, ...course, seed })}\n`);
  assert.ok(ends.processed >= 0.6 * orders && interrupted > 0, 'most orders come through, and some are hit, or nothing is shown');
});

const kinds = ['charge', 'notification:shipped', 'reservation', 'shipment'];

/** All that must not be, in words. */
function* problemsIn(
  listed: readonly Shown[],
  { answered, givenUp }: Customers,
  effects: ReadonlyMap<string, readonly string[]>,
  alerts: ReadonlySet<string>,
): Generator<string> {
  const ids = new Set(listed.map(({ orderId }) => orderId));
  for (const [key, orderId] of answered) if (!ids.has(orderId)) yield `${key} was answered with ${orderId}, which does not exist`;
  for (const orderId of effects.keys()) if (!ids.has(orderId)) yield `something was done for ${orderId}, which does not exist`;
  for (const [reference, same] of Map.groupBy(listed, (shown) => shown.reference)) {
    if (same.length > 1) yield `${reference} has ${same.length} orders`;
    if (!answered.has(reference) && !givenUp.has(reference)) yield `${reference} was submitted by nobody`;
  }
  for (const { orderId, processState, outcome, fault } of listed) {
    const done = effects.get(orderId) ?? [];
    if (new Set(done).size < done.length) yield `${orderId} had something done twice: ${done.join()}`;
    if (processState === 'Processed' && (outcome !== 'completed' || done.join() !== kinds.join()))
      yield `${orderId} is ${outcome} with ${done.join()}`;
    if (processState === 'Error' && (fault === null || !alerts.has(orderId))) yield `${orderId} is in Error, and nobody is told`;
    if (processState !== 'Processed' && processState !== 'Error') yield `${orderId} is ${processState}`;
  }
}

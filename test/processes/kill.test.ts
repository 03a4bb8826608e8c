import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFarm } from './farm.ts';
import { alertsIn, createCustomers, problemsIn, startShop } from './kill-support.ts';
import { atEnd, createRandom, root, site, until, within } from './support.ts';

/** `.ci/long` kills a hundred times. */
const kills = Number(process.env['KILLS'] ?? 20);
const orders = Number(process.env['ORDERS'] ?? 120);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8')) as { order: object };
/** Every twentieth customer has no money: the order is undone, and the customer is notified. */
const orderOf = (index: number) => (index % 20 === 7 ? { ...order, card: 'tok_declined' } : order);
/** The lifetime of a host after it takes orders, as a multiple of its start time, so that it scales with the machine. */
const [lifeMin, lifeMax] = [0.1, 0.8];

test('F-02, F-10, F-28, F-41, F-44, F-57, S22: however often the system is killed, nothing that was answered with 202 is lost or done twice', {
  timeout: 900_000,
}, async (t) => {
  const began = Date.now();
  const random = createRandom(seed);
  const place = site(t);
  const shop = await startShop(t, place);
  const system = createFarm(place, shop.urls);
  atEnd(t, () => system.kill());
  const customers = createCustomers(place, system, { orderOf, random, withinMs: 400 });

  for (let life = 1; life <= kills; life++) {
    await system.begin();
    customers.come(Math.ceil((life * orders) / kills));
    await sleep(system.startMs() * (lifeMin + random() * (lifeMax - lifeMin)));
    await system.kill();
  }
  await system.begin();
  await within(customers.served(), 'customers still wait for an answer', 120_000);
  await until('every order has come to its end', async () => !(await system.isAtWork()), 180_000);
  const listed = await system.list();
  const interrupted = await system.interrupted(listed);
  assert.equal((await system.stop()).code, 0);

  const effects = shop.effects();
  assert.deepEqual([...problemsIn(listed, { ...customers, effects, alerts: alertsIn(place) })], []);
  const count = (state: string) => listed.filter(({ processState }) => processState === state).length;
  const ends = {
    orders: listed.length,
    kills,
    processed: count('Processed'),
    error: count('Error'),
    effects: [...effects.values()].flat().length,
  };
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
  assert.ok(ends.processed >= 0.6 * orders && interrupted > 0, 'most orders complete, and some kills must hit running orders');
});

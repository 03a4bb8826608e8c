import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Process, type Site, createRandom, local, root, run, site, tokenFor, until, within } from './support.ts';

const kills = Number(process.env['KILLS'] ?? 100);
const orders = Number(process.env['ORDERS'] ?? 500);
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** From the moment when it takes orders. */
const [lifeMsMin, lifeMsMax] = [50, 400];
const kinds = ['charge', 'notification:shipped', 'reservation', 'shipment'];
const sample = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8')) as { order: object };

test('F-02, F-10, F-28, F-41, F-44, F-57, S22: nothing that was answered with 202 is lost or done twice, however often the system is killed', { timeout: 900_000 }, async (t) => {
  const began = Date.now();
  const place = site(t);
  const shop = await startShop(t, place);
  const system = createPatient(place, shop);
  t.after(() => system.end());
  const random = createRandom(seed);
  const customers = createCustomers(place, system, random);

  for (let life = 0; life < kills; life++) {
    await system.begin();
    customers.come(Math.ceil(((life + 1) * orders) / kills));
    await sleep(lifeMsMin + random() * (lifeMsMax - lifeMsMin));
    await system.end();
  }
  await system.begin();
  await within(customers.served(), 'customers still wait for an answer', 120_000);
  const listed = await until('every order has come to its end', () => system.ended(), 180_000);
  const alerts = alertsIn(place);
  const effects = effectsIn(shop.ledger);
  const { code } = await system.stop();

  const { answered, givenUp } = customers;
  const ids = new Set(listed.map(({ orderId }) => orderId));
  assert.equal(code, 0);
  assert.deepEqual([...answered.values()].filter((orderId) => !ids.has(orderId)), [], 'every order that was answered exists');
  assert.equal(ids.size, listed.length);
  assert.equal(new Set(listed.map(({ reference }) => reference)).size, listed.length, 'one order for each key');
  assert.deepEqual(listed.filter(({ reference }) => !answered.has(reference) && !givenUp.has(reference)), [], 'no order that nobody submitted');
  assert.deepEqual([...effects.keys()].filter((orderId) => !ids.has(orderId)), [], 'no effect of an order that does not exist');
  for (const { orderId, processState, outcome, fault } of listed) {
    const done = (effects.get(orderId) ?? []).toSorted();
    if (processState === 'Processed') assert.deepEqual({ orderId, outcome, done }, { orderId, outcome: 'completed', done: kinds });
    else assert.ok(fault !== null && alerts.has(orderId) && new Set(done).size === done.length, `${orderId}: ${processState} ${JSON.stringify(fault)} ${done.join()}`);
  }
  const count = (state: string) => listed.filter(({ processState }) => processState === state).length;
  const counted = { orders: listed.length, kills, processed: count('Processed'), error: count('Error'), effects: [...effects.values()].flat().length };
  const more = { answered: answered.size, givenUp: givenUp.size, resent: customers.resent(), interrupted: listed.filter(({ failureCount }) => failureCount > 0).length, failureCountMax: Math.max(...listed.map(({ failureCount }) => failureCount)), startMs: system.startMs(), seconds: Math.round((Date.now() - began) / 1000), seed };
  process.stdout.write(`${JSON.stringify({ test: 'kill', ...counted, ...more })}\n`);
  assert.ok(counted.processed >= 0.6 * orders, 'most orders must be processed, or nothing is shown');
});

interface Shown {
  readonly orderId: string;
  readonly reference: string;
  readonly processState: string;
  readonly outcome: string | null;
  readonly failureCount: number;
  readonly fault: object | null;
}

/** The services, which fail every now and then, before or after the effect, and remember everything. */
async function startShop(t: Parameters<typeof run>[0], { folder }: Site) {
  const ledger = join(folder, 'shop.sqlite');
  const shop = run(t, `${root}examples/orders/shop/main.ts`, { PORT: '0', SHOP_LEDGER: ledger });
  const [, url = ''] = await within(shop.line(/^shop (\S+)$/m), 'the shop does not open');
  await fetch(`${url}/switches`, { method: 'PUT', body: JSON.stringify({ failRate: 0.2, failAfterEffectRate: 0.05, latencyMs: 5 }) });
  const urls = Object.fromEntries(['inventory', 'payment', 'shipping', 'customer'].map((name) => [`${name.toUpperCase()}_URL`, `${url}/${name}`]));
  return { ledger, urls };
}

/** The system that is killed again and again; whoever wants something of it waits for its next life. */
function createPatient({ data, variables, folder }: Site, { urls }: { urls: { readonly [name: string]: string } }) {
  const short = { STEP_COMPLETE_WITHIN_SECONDS: '2', SUPERVISOR_PERIOD_SECONDS: '0.5', MAX_FAILURES: '20', NODE_COMPILE_CACHE: join(folder, 'cache') };
  const startTimes: number[] = [];
  let life: Process | undefined;
  let born = Promise.withResolvers<string>();

  const get = async (path: string): Promise<{ items: readonly Shown[]; next?: string | null }> => {
    const response = await fetch(`${await born.promise}${path}`, { headers: { authorization: `Bearer ${await tokenFor(data, 'operator')}` } });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as { items: readonly Shown[] };
  };
  const list = async (query: string): Promise<readonly Shown[]> => {
    const items: Shown[] = [];
    for (let next: string | null | undefined = ''; next !== undefined && next !== null; ) {
      const page: Awaited<ReturnType<typeof get>> = await get(`/orders?limit=100${query}${next ? `&cursor=${encodeURIComponent(next)}` : ''}`);
      items.push(...page.items);
      next = page.next;
    }
    return items;
  };
  return {
    url: () => born.promise,
    startMs: () => Math.round(startTimes.reduce((sum, ms) => sum + ms, 0) / startTimes.length),
    async begin() {
      const started = performance.now();
      life = run(undefined, local, { ...variables, ...urls, ...short });
      const [, url = ''] = await within(life.line(/^ready (http:\S+)$/m), 'bin/local.ts is not ready');
      startTimes.push(performance.now() - started);
      born.resolve(url);
    },
    async end() {
      born = Promise.withResolvers();
      await life?.kill('SIGKILL');
      life = undefined;
    },
    stop: () => life?.kill('SIGTERM') ?? assert.fail('it is dead'),
    /** All orders, once none of them is at work any more. */
    async ended(): Promise<readonly Shown[] | undefined> {
      for (const state of ['Processing', 'Pending']) if ((await get(`/orders?limit=1&state=${state}`)).items.length > 0) return undefined;
      return list('');
    },
  };
}

/** Each submits one order and sends it again under the same key until it is answered; every tenth gives up when the line breaks. */
function createCustomers({ data }: Site, system: { url(): Promise<string> }, random: () => number) {
  const answered = new Map<string, string>();
  const givenUp = new Set<string>();
  const all: Promise<void>[] = [];
  let resent = 0;

  async function submit(index: number): Promise<void> {
    const key = `order-${index}`;
    const body = JSON.stringify({ ...sample, reference: key });
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) resent += 1;
      const url = await system.url();
      const headers = { authorization: `Bearer ${await tokenFor(data, 'client')}`, 'content-type': 'application/json', 'idempotency-key': key };
      const response = await fetch(`${url}/orders`, { method: 'POST', headers, body }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.status === 202 && text !== undefined) return void answered.set(key, (JSON.parse(text) as { orderId: string }).orderId);
      if (response && ![429, 503].includes(response.status) && text !== undefined) assert.fail(`${response.status} ${text}`);
      if (!response && index % 10 === 9) return void givenUp.add(key);
      await sleep(50);
    }
  }
  return {
    answered,
    givenUp,
    resent: () => resent,
    come(until: number) {
      for (let index = all.length; index < until; index++) all.push(sleep(random() * lifeMsMax).then(() => submit(index)));
    },
    served: () => Promise.all(all),
  };
}

/** Live effects by order: what was done and not undone. */
function effectsIn(ledger: string): ReadonlyMap<string, readonly string[]> {
  const database = new DatabaseSync(ledger, { readOnly: true });
  const rows = database.prepare('SELECT orderId, kind FROM entries WHERE id IS NOT NULL AND undoneAt IS NULL').all() as { orderId: string; kind: string }[];
  database.close();
  return new Map([...Map.groupBy(rows, ({ orderId }) => orderId)].map(([orderId, effects]) => [orderId, effects.map(({ kind }) => kind)]));
}

/** Orders of which it was announced that they are in Error. */
function alertsIn({ open }: Site): ReadonlySet<string> {
  return new Set(open().publisher.published(0, 100_000).filter(({ detailType }) => detailType === 'Order In Error').map(({ detail }) => String(detail['orderId'])));
}

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { local, type Process, root, run, type Site, tokenFor, within } from './support.ts';

/** An order as the system shows it in its list. */
export interface Shown {
  readonly orderId: string;
  readonly reference: string;
  readonly processState: string;
  readonly outcome: string | null;
  readonly failureCount: number;
  readonly fault: object | null;
}

/** The services, which fail every now and then, before or after the effect, and remember everything. */
export async function startShop(t: TestContext, { folder }: Site) {
  const ledger = join(folder, 'shop.sqlite');
  const shop = run(t, `${root}examples/orders/shop/main.ts`, { PORT: '0', SHOP_LEDGER: ledger });
  const [, url = ''] = await within(shop.line(/^shop (\S+)$/m), 'the shop does not open');
  const switches = { failRate: 0.2, failAfterEffectRate: 0.05, latencyMs: 5 };
  const { status } = await fetch(`${url}/switches`, { method: 'PUT', body: JSON.stringify(switches) });
  assert.equal(status, 200);
  const urls = Object.fromEntries(
    ['inventory', 'payment', 'shipping', 'customer'].map((name) => [`${name.toUpperCase()}_URL`, `${url}/${name}`]),
  );
  return { urls, effects: () => effectsIn(ledger) };
}

/** What was done and not undone, by order. */
function effectsIn(ledger: string): ReadonlyMap<string, readonly string[]> {
  const database = new DatabaseSync(ledger, { readOnly: true });
  const select = 'SELECT orderId, kind FROM entries WHERE id IS NOT NULL AND undoneAt IS NULL ORDER BY kind';
  const rows = database.prepare(select).all() as { orderId: string; kind: string }[];
  database.close();
  return new Map([...Map.groupBy(rows, ({ orderId }) => orderId)].map(([orderId, effects]) => [orderId, effects.map(({ kind }) => kind)]));
}

/** The system that is killed again and again; whoever wants something of it waits for its next life. */
export function createPatient({ data, variables, folder }: Site, urls: { readonly [name: string]: string }) {
  const short = { STEP_COMPLETE_WITHIN_SECONDS: '2', SUPERVISOR_PERIOD_SECONDS: '0.5', MAX_FAILURES: '20' };
  const startTimes: number[] = [];
  let life: Process | undefined;
  let born = Promise.withResolvers<string>();

  const page = async (query: string): Promise<{ readonly items: readonly Shown[]; readonly next: string | null }> => {
    const response = await fetch(`${await born.promise}/orders?${query}`, {
      headers: { authorization: `Bearer ${await tokenFor(data, 'operator')}` },
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Awaited<ReturnType<typeof page>>;
  };
  return {
    /** Where it listens, in this life or the next. */
    url: () => born.promise,
    startMs: () => Math.round(startTimes.reduce((sum, ms) => sum + ms, 0) / startTimes.length),
    async begin(): Promise<void> {
      const started = performance.now();
      life = run(undefined, local, { ...variables, ...urls, ...short, NODE_COMPILE_CACHE: join(folder, 'cache') });
      const [, url = ''] = await within(life.line(/^ready (http:\S+)$/m), 'bin/local.ts is not ready');
      startTimes.push(performance.now() - started);
      born.resolve(url);
    },
    async kill(): Promise<void> {
      born = Promise.withResolvers();
      await life?.kill('SIGKILL');
      life = undefined;
    },
    stop: () => life?.kill('SIGTERM') ?? assert.fail('it is dead'),
    async isAtWork(): Promise<boolean> {
      const counts = await Promise.all(['Processing', 'Pending'].map(async (state) => (await page(`limit=1&state=${state}`)).items.length));
      return counts.some((count) => count > 0);
    },
    async list(): Promise<readonly Shown[]> {
      const items: Shown[] = [];
      for (let next: string | null = ''; next !== null; ) {
        const more: Awaited<ReturnType<typeof page>> = await page(`limit=100${next && `&cursor=${encodeURIComponent(next)}`}`);
        items.push(...more.items);
        next = more.next;
      }
      return items;
    },
  };
}

interface CustomerOptions {
  readonly orderOf: (index: number) => object;
  readonly random: () => number;
  readonly withinMs: number;
}

/**
 * Each customer submits one order, some time within `withinMs` of his coming, and sends it again under the same key
 * until it is answered; every tenth gives up when the line breaks.
 */
export function createCustomers({ data }: Site, system: { url(): Promise<string> }, { orderOf, random, withinMs }: CustomerOptions) {
  const answered = new Map<string, string>();
  const givenUp = new Set<string>();
  const all: Promise<void>[] = [];
  let resent = 0;

  async function submit(index: number): Promise<void> {
    const key = `order-${index}`;
    const body = JSON.stringify({ order: orderOf(index), reference: key });
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) resent += 1;
      const url = await system.url();
      const headers = {
        authorization: `Bearer ${await tokenFor(data, 'client')}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      };
      const response = await fetch(`${url}/orders`, { method: 'POST', headers, body }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      const isWhole = response !== undefined && text !== undefined;
      if (isWhole && response.status === 202) return void answered.set(key, (JSON.parse(text) as { orderId: string }).orderId);
      assert.ok(!isWhole || response.status === 429 || response.status === 503, `${response?.status} ${text}`);
      if (!isWhole && index % 10 === 9) return void givenUp.add(key);
      await sleep(50);
    }
  }
  return {
    /** Ids by key. */
    answered: answered as ReadonlyMap<string, string>,
    givenUp: givenUp as ReadonlySet<string>,
    resent: () => resent,
    come(count: number): void {
      for (let index = all.length; index < count; index++) all.push(sleep(random() * withinMs).then(() => submit(index)));
    },
    served: () => Promise.all(all),
  };
}

type Customers = Pick<ReturnType<typeof createCustomers>, 'answered' | 'givenUp'>;

/** Orders of which it was announced that they are in Error. */
export function alertsIn({ open }: Site): ReadonlySet<string> {
  const published = open().publisher.published(0, 100_000);
  return new Set(published.filter(({ detailType }) => detailType === 'Order In Error').map(({ detail }) => String(detail['orderId'])));
}

const left: { readonly [outcome: string]: readonly string[] } = {
  completed: ['charge', 'notification:shipped', 'reservation', 'shipment'],
  compensated: ['notification:refused'],
  rejected: ['notification:refused'],
};

/** All that must not be, in words. */
export function* problemsIn(
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
    if (processState === 'Processed' && done.join() !== left[outcome ?? '']?.join()) yield `${orderId} is ${outcome} with ${done.join()}`;
    if (processState === 'Error' && (fault === null || !alerts.has(orderId))) yield `${orderId} is in Error, and nobody is told`;
    if (processState !== 'Processed' && processState !== 'Error') yield `${orderId} is ${processState}`;
  }
}

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceEnvironment } from '../../examples/shop/services.ts';
import type { Shown } from './farm.ts';
import { type Ending, root, run, type Site, tokenFor, within } from './support.ts';

/** Starts services that fail now and then, before or after the effect, and record everything. */
export async function startShop(
  t: Ending,
  { folder }: Site,
  { latencyMs = 5, failRate = 0.2 }: { readonly latencyMs?: number; readonly failRate?: number } = {},
) {
  const ledger = join(folder, 'shop.sqlite');
  const shop = run(t, `${root}examples/shop/main.ts`, { PORT: '0', SHOP_LEDGER: ledger });
  const [, url = ''] = await within(shop.line(/^shop (\S+)$/m), 'the shop does not open');
  const switches = { failRate, failAfterEffectRate: 0.05, latencyMs };
  const { status } = await fetch(`${url}/switches`, { method: 'PUT', body: JSON.stringify(switches) });
  assert.equal(status, 200);
  return { urls: serviceEnvironment(url), effects: () => effectsIn(ledger) };
}

/** Returns the effects that were not undone, by order. */
function effectsIn(ledger: string): ReadonlyMap<string, readonly string[]> {
  const database = new DatabaseSync(ledger, { readOnly: true });
  const select = 'SELECT orderId, kind FROM entries WHERE id IS NOT NULL AND undoneAt IS NULL ORDER BY kind';
  const rows = database.prepare(select).all() as { orderId: string; kind: string }[];
  database.close();
  return new Map([...Map.groupBy(rows, ({ orderId }) => orderId)].map(([orderId, effects]) => [orderId, effects.map(({ kind }) => kind)]));
}

interface CustomerOptions {
  readonly orderOf: (index: number) => object;
  readonly random: () => number;
  readonly withinMs: number;
}

/**
 * Customers who each submit one order within `withinMs` and repeat it under the same key until it is answered. Every tenth gives up when
 * the connection breaks, and every seventh submits twice.
 */
export function createCustomers({ data }: Site, system: { url(): Promise<string> }, { orderOf, random, withinMs }: CustomerOptions) {
  const answered = new Map<string, string>();
  const givenUp = new Set<string>();
  const all: Promise<void>[] = [];
  let arrived = 0;
  let resent = 0;

  /** Asserts that a repeated submission gets the same answer. */
  function answer(key: string, orderId: string): void {
    assert.equal(answered.get(key) ?? orderId, orderId, key);
    answered.set(key, orderId);
  }

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
      if (isWhole && response.status === 202) return answer(key, (JSON.parse(text) as { orderId: string }).orderId);
      assert.ok(!isWhole || response.status === 429 || response.status === 503, `${response?.status} ${text}`);
      if (!isWhole && index % 10 === 9) return void givenUp.add(key);
      // A customer obeys `retry-after`.
      await sleep(1000 * Number(response?.headers.get('retry-after') ?? 0.05));
    }
  }
  return {
    /** Order ids by key. */
    answered: answered as ReadonlyMap<string, string>,
    givenUp: givenUp as ReadonlySet<string>,
    resent: () => resent,
    /** Returns the number of customers without an answer who have not given up. */
    waiting: () => arrived - answered.size - givenUp.size,
    /** Returns the number of customers so far. */
    arrived: () => arrived,
    come(count: number): void {
      for (; arrived < count; arrived++) {
        const [index, afterMs] = [arrived, random() * withinMs];
        for (let clicks = index % 7 === 3 ? 2 : 1; clicks > 0; clicks--) {
          const served = sleep(afterMs).then(() => submit(index));
          // The promise of `served` reports the failure.
          served.catch(() => undefined);
          all.push(served);
        }
      }
    },
    served: () => Promise.all(all),
  };
}

/** Returns the orders that were announced as in Error. */
export function alertsIn({ open }: Site): ReadonlySet<string> {
  const published = open().publisher.published(0, 100_000);
  return new Set(published.filter(({ detailType }) => detailType === 'Order In Error').map(({ detail }) => String(detail['orderId'])));
}

const left: { readonly [outcome: string]: readonly string[] } = {
  completed: ['charge', 'notification:shipped', 'reservation', 'shipment'],
  compensated: ['notification:refused'],
  rejected: ['notification:refused'],
};
/** The effects that a person's compensation may leave: the customer may already know of the shipment. */
const leftByOperator = new Set(['', 'notification:shipped']);

interface Witnesses extends Pick<ReturnType<typeof createCustomers>, 'answered' | 'givenUp'> {
  /** Orders that a person had undone. */
  readonly decided?: ReadonlySet<string>;
  /** The effects that were not undone, by order. */
  readonly effects: ReadonlyMap<string, readonly string[]>;
  /** Orders that were announced as in Error. */
  readonly alerts: ReadonlySet<string>;
}

/** Yields every violation, in words. */
export function* problemsIn(
  listed: readonly Shown[],
  { answered, givenUp, decided = new Set(), effects, alerts }: Witnesses,
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
    const isDecided = decided.has(orderId) && outcome === 'compensated';
    const isLeft = isDecided ? leftByOperator.has(done.join()) : done.join() === left[outcome ?? '']?.join();
    if (new Set(done).size < done.length) yield `${orderId} had something done twice: ${done.join()}`;
    if (processState === 'Processed' && !isLeft) yield `${orderId} is ${outcome} with ${done.join()}`;
    if (processState === 'Error' && fault === null) yield `${orderId} is in Error, and nobody knows why`;
    if ((processState === 'Error' || decided.has(orderId)) && !alerts.has(orderId)) yield `${orderId} was in Error, and nobody is told`;
    if (processState !== 'Processed' && processState !== 'Error') yield `${orderId} is ${processState}`;
  }
}

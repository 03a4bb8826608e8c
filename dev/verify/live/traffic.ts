import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalIssuer } from '#api/local-issuer';
import { serviceEnvironment } from '../../../examples/shop/services.ts';
import { type Ending, root, run, site, startLocal, within } from '../../../test/processes/support.ts';
import type { Took } from './arithmetic.ts';
import { coursesOf } from './recoveries.ts';
import { startRelay } from './relay.ts';

/** Duration of a service call. */
const latencyMs = 20;
/** Orders, and how many run in parallel, to measure the capacity of the host. */
const trial = { orders: 400, inFlight: 40 };
/** Orders without an end by then count as not ended. */
const patienceMs = 180_000;

const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8')) as { order: object };

interface Submitted {
  readonly orderId: string;
  readonly client: string;
  readonly dueAt: number;
}

/** The whole system as `npm start` runs it, in one process, and the sample shop that it calls, in another one. */
export type RunningSystem = Awaited<ReturnType<typeof startSystem>>;

export async function startSystem(ending: Ending) {
  const { folder, data, variables, open } = site(ending);
  const shop = run(ending, `${root}examples/shop/main.ts`, { PORT: '0', SHOP_LEDGER: `${folder}/shop.sqlite` });
  const [, shopUrl = ''] = await within(shop.line(/^shop (\S+)$/m), 'the shop does not open');
  const switchTo = async (change: object): Promise<void> => {
    const { ok, status } = await fetch(`${shopUrl}/switches`, { method: 'PUT', body: JSON.stringify({ latencyMs, ...change }) });
    if (!ok) throw new Error(`The shop answers ${status} to its switches.`);
  };
  await switchTo({});
  const payment = await startRelay(ending, shopUrl);
  const host = await startLocal(ending, { ...variables, ...serviceEnvironment(shopUrl), PAYMENT_URL: `${payment.url}/payment` });

  const issuer = openLocalIssuer(data);
  const tokens = new Map<string, Promise<string>>();
  const tokenOf = (client: string): Promise<string> => {
    const token = tokens.get(client) ?? issuer.sign({ role: 'client', client });
    tokens.set(client, token);
    return token;
  };
  let keys = 0;
  let throttled = 0;

  /** Submits an order. After a 429 or a 503 it repeats the submission under the same key. */
  async function submit(client: string, dueAt: number, card?: string): Promise<Submitted> {
    const headers = {
      authorization: `Bearer ${await tokenOf(client)}`,
      'content-type': 'application/json',
      'idempotency-key': `order-${++keys}`,
    };
    const body = JSON.stringify({ order: card === undefined ? order : { ...order, card } });
    for (const end = Date.now() + patienceMs; Date.now() < end; ) {
      const response = await fetch(`${host.url}/orders`, { method: 'POST', headers, body });
      const text = await response.text();
      if (response.status === 202) return { orderId: (JSON.parse(text) as { orderId: string }).orderId, client, dueAt };
      if (response.status !== 429 && response.status !== 503) throw new Error(`An order is answered with ${response.status}: ${text}`);
      throttled += 1;
      await sleep(1000 * Number(response.headers.get('retry-after') ?? 1));
    }
    throw new Error(`An order of ${client} was not taken within ${patienceMs / 1000} s.`);
  }

  /** Submits orders of one client at an even rate, whatever happens to them. */
  async function steadily(client: string, perSecond: number, forMs: number, card?: string): Promise<readonly Submitted[]> {
    const start = Date.now();
    const all: Promise<Submitted>[] = [];
    for (let dueAt = start; dueAt < start + forMs; dueAt = start + (1000 * all.length) / perSecond) {
      await sleep(Math.max(0, dueAt - Date.now()));
      const submitted = submit(client, dueAt, card);
      // The caller gets a rejection when it awaits all submissions.
      submitted.catch(() => undefined);
      all.push(submitted);
    }
    return Promise.all(all);
  }

  /** Waits until the orders have ended or are in Error, and returns the times. */
  async function ended(submitted: readonly Submitted[]): Promise<readonly Took[]> {
    const { store } = open();
    let waiting = submitted.map(({ orderId }) => orderId);
    for (const end = Date.now() + patienceMs; waiting.length > 0 && Date.now() < end; await sleep(waiting.length > 0 ? 500 : 0)) {
      const heads = await Promise.all(waiting.map((orderId) => store.head(orderId)));
      waiting = waiting.filter((_, index) => heads[index]?.processState !== 'Processed' && heads[index]?.processState !== 'Error');
    }
    const courses = await coursesOf(
      store,
      submitted.map(({ orderId }) => orderId),
    );
    return submitted.map(({ client, dueAt }, index) => {
      const course = courses[index];
      const endedAt = course?.journal.findLast(({ type }) => type === 'OrderProcessed')?.at;
      return { client, dueAt, endedAt, outcome: course?.state.outcome ?? course?.state.processState ?? null };
    });
  }

  /** Measures orders per second with a constant number of running orders, after a first trial has warmed up the host. */
  async function capacity(): Promise<number> {
    await rateOfTrial();
    return rateOfTrial();
  }

  async function rateOfTrial(): Promise<number> {
    const started = Date.now();
    const one = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        const { orderId } = await submit('trial', Date.now());
        while ((await open().store.head(orderId))?.processState !== 'Processed') await sleep(20);
      }
    };
    await Promise.all(Array.from({ length: trial.inFlight }, () => one(trial.orders / trial.inFlight)));
    return Math.round((1000 * trial.orders) / (Date.now() - started));
  }

  /** Sends a GET of a client, and resolves with its status when the answer is complete. */
  async function read(client: string, path: string): Promise<number> {
    const response = await fetch(`${host.url}${path}`, { headers: { authorization: `Bearer ${await tokenOf(client)}` } });
    await response.arrayBuffer();
    return response.status;
  }

  return { steadily, ended, capacity, switchTo, read, open, paymentCalls: payment.calls, throttled: () => throttled };
}

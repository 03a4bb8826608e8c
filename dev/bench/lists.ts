import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { systemClock } from '#ports/clock';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { orderIdOf } from '#roles/submission/submission';
import { noon, orderRecord, stateRecord } from '../../test/support/records.ts';
import { type RunningSystem, startSystem } from '../tools/start-system.ts';

/**
 * Asks a running system with many finished orders of one client for each list that a token may ask for, while another caller asks for
 * `/health`. Then it walks to the first ten matches of filters without an index.
 */
const stored = Number(process.env['BENCH_STORED'] ?? 300_000);
const callsEach = 20;
const client = 'shop';

const finished = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null, nextDueAt: null } as const;
const declined = { type: 'CardDeclined', class: 'expected', message: 'The card was declined.', permanent: true } as const;

/** Returns one of the stored orders: every thousandth was rejected, every thirty thousandth canceled, and a hundred are in Error. */
function orderAt(index: number): readonly [OrderRecord, StateRecord] {
  const orderId = orderIdOf(client, String(index));
  const submittedAt = noon + index * 100;
  const own: Partial<StateRecord> =
    index % 30_000 === 7
      ? { ...finished, outcome: 'canceled' }
      : index % 1000 === 3
        ? { ...finished, outcome: 'rejected', fault: declined }
        : index % (stored / 100) === 5
          ? { processState: 'Error', worklist: 'error', fault: declined, outcome: null }
          : finished;
  const body = { items: [{ sku: 'tea', quantity: 1 }], note: 'x'.repeat(400) };
  return [
    orderRecord(orderId, { client, reference: `r-${index % 1000}`, submittedAt, body }),
    stateRecord(orderId, { ...own, nextDueFor: null, submittedAt, blob: 'x'.repeat(1500) }),
  ];
}

const chunk = 1000;

async function store(orders: Store): Promise<void> {
  for (let start = 0; start < stored; start += chunk)
    await Promise.all(
      Array.from({ length: chunk }, (_, index) => orders.create(...orderAt(start + index), { messages: [], announcements: [] })),
    );
}

/** The filters of the list of orders: those that an index serves, then those without one. */
const filters = [
  '',
  'state=Error',
  'reference=r-7',
  `submittedAfter=${new Date(noon + 5000).toISOString()}&submittedBefore=${new Date(noon + 9_000_000).toISOString()}`,
  'state=Pending',
  'outcome=terminated',
  'workflow=none',
  'fault=NoSuchFault',
  'state=Processed&outcome=terminated&workflow=none&fault=NoSuchFault&reference=none',
] as const;
/** The other lists that each role may read. */
const others = {
  client: [],
  operator: ['/channels', '/channels/payment/dead-letters'],
  admin: ['/clients', '/audit', '/audit?target=none'],
};

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | null;
}

const asking =
  ({ url }: RunningSystem, token: string) =>
  async (path: string) => {
    const started = performance.now();
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return { page: (await answer.json()) as Page, ms: performance.now() - started };
  };
type Ask = ReturnType<typeof asking>;

const rounded = (ms: number): number => Number(ms.toFixed(1));
const print = (row: object): void => void process.stdout.write(`${JSON.stringify({ bench: 'lists', stored, ...row })}\n`);

/** Asks for `/health` until it is stopped, and returns the longest time of an answer. */
function watchHealth({ url }: RunningSystem): () => Promise<number> {
  let [isOver, longest] = [false, 0];
  const watching = (async () => {
    while (!isOver) {
      const started = performance.now();
      await (await fetch(`${url}/health`)).text();
      longest = Math.max(longest, performance.now() - started);
      await systemClock.sleep(2);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return longest;
  };
}

async function measure(system: RunningSystem, role: string, path: string, ask: Ask): Promise<void> {
  await ask(path);
  const stop = watchHealth(system);
  const times: number[] = [];
  for (let call = 0; call < callsEach; call++) {
    times.push((await ask(path)).ms);
    // An operator may make a hundred calls a second.
    await systemClock.sleep(10);
  }
  times.sort((one, other) => one - other);
  const healthMs = rounded(await stop());
  print({ role, list: path, p50Ms: rounded(times[callsEach / 2] ?? 0), longestMs: rounded(times.at(-1) ?? 0), healthMs });
}

async function walk(path: string, ask: Ask): Promise<void> {
  const wanted = 10;
  let [calls, ms, found] = [0, 0, 0];
  for (let cursor: string | null = ''; cursor !== null && found < wanted; calls++) {
    const { page, ms: each } = await ask(`${path}&limit=${wanted}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    [found, ms, cursor] = [found + page.items.length, ms + each, page.next];
    await systemClock.sleep(10);
  }
  print({ walk: path, found, calls, ms: Math.round(ms) });
}

const folder = mkdtempSync(join(tmpdir(), 'redress-lists-'));
try {
  const { store: orders, database } = openEmbedded(folder, { clock: systemClock });
  await store(orders);
  await database.close();
  const env = { ...process.env, REDRESS_DATA: folder, PORT: '0', REDRESS_SAMPLES: 'off' };
  const system = await startSystem('sh', ['bin/run', 'bin/local.ts', '--quiet'], { cwd: process.cwd(), env });
  try {
    const issuer = openLocalIssuer(folder);
    for (const role of ['client', 'operator', 'admin'] as const) {
      const ask = asking(system, await issuer.sign({ role, ...(role === 'client' ? { client } : {}) }));
      const paths = role === 'admin' ? [] : filters.map((filter) => `/orders?${filter}`);
      for (const path of [...paths, ...others[role]]) await measure(system, role, path, ask);
      if (role === 'operator') for (const filter of ['outcome=rejected', 'outcome=canceled']) await walk(`/orders?${filter}`, ask);
    }
  } finally {
    await system.end();
  }
} finally {
  rmSync(folder, { recursive: true });
}

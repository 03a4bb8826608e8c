import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openEmbedded } from '#adapters/sqlite/open';
import { openLocalIssuer } from '#api/local-issuer';
import { systemClock } from '#ports/clock';
import { orderIdOf } from '#roles/submission/submission';
import { orderRecord, stateRecord } from '../../test/support/records.ts';
import { openBrowser } from '../tools/browser.ts';
import { type RunningSystem, startSystem } from '../tools/start-system.ts';

/**
 * Measures the console in a browser, on a system with 100,000 finished orders, 5,000 tasks and 1,000 groups of exceptions, while orders
 * come in: the time until Home is usable, also on a slow machine and network, the time of a list, the shift of the layout, and the
 * longest time for which the script of the page blocks it.
 */
const finished = Number(process.env['BENCH_FINISHED'] ?? 100_000);
const tasks = Number(process.env['BENCH_TASKS'] ?? 5000);
const groups = tasks / 5;
const client = 'shop';
const watchedSeconds = 20;
const print = (row: object): void =>
  void process.stdout.write(`${JSON.stringify({ bench: 'console', finished, tasks, groups, ...row })}\n`);

/** Returns a word for a number, because the fingerprint of an exception leaves out digits. */
const word = (number: number): string => [...number.toString().padStart(4, '0')].map((digit) => 'bcdfghjklm'[Number(digit)]).join('a');

async function storeFinished(folder: string): Promise<void> {
  const { store, database } = openEmbedded(folder, { clock: systemClock });
  const now = systemClock.now();
  const ended = { processState: 'Processed', outcome: 'completed', worklist: null, worklistAt: null, nextDueAt: null } as const;
  const workflow = { name: 'parcel', version: 1 };
  for (let start = 0; start < finished; start += 1000)
    await Promise.all(
      Array.from({ length: Math.min(1000, finished - start) }, (_, index) => {
        const [number, submittedAt] = [start + index, now - (finished - start - index) * 20_000];
        const orderId = orderIdOf(client, `finished-${number}`);
        return store.create(
          orderRecord(orderId, { client, reference: `r-${number % 1000}`, submittedAt, workflow, body: { number } }),
          stateRecord(orderId, { ...ended, nextDueFor: null, submittedAt, workflow, blob: 'x'.repeat(1500) }),
          { messages: [], announcements: [] },
        );
      }),
    );
  await database.close();
}

const start = (folder: string): Promise<RunningSystem> =>
  startSystem('sh', ['bin/run', 'bin/local.ts', 'dev/bench/console-app.ts', '--quiet'], {
    cwd: process.cwd(),
    env: { ...process.env, REDRESS_DATA: folder, PORT: '0', REDRESS_SAMPLES: 'off' },
  });

/** Returns a function that submits an order of a client. */
const submitting =
  ({ url }: RunningSystem, token: string) =>
  async (number: number, trouble?: string): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': `parcel-${number}` };
    const body = JSON.stringify({ order: { number, ...(trouble === undefined ? {} : { trouble }) } });
    const answer = await fetch(`${url}/orders`, { method: 'POST', headers, body });
    if (answer.status !== 202) throw new Error(`POST /orders: ${answer.status} ${await answer.text()}`);
  };
type Submit = ReturnType<typeof submitting>;

/** Submits the orders that wait for a person, and waits until each of them has a task. */
async function makeTasks({ url }: RunningSystem, operator: string, submit: Submit): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < tasks) {
        const number = next++;
        await submit(number, word(number % groups));
      }
    }),
  );
  for (let open = 0; open < tasks; await systemClock.sleep(1000)) {
    const answer = await fetch(`${url}/overview`, { headers: { authorization: `Bearer ${operator}` } });
    ({ open } = ((await answer.json()) as { tasks: { open: number } }).tasks);
  }
}

const pageOf = async (browser: Browser, token: string): Promise<Page> =>
  browser.newPage({ viewport: { width: 1440, height: 900 }, extraHTTPHeaders: { authorization: `Bearer ${token}` } });

/** Milliseconds from the navigation until the figures of Home are there and can be clicked. */
async function homeMs(browser: Browser, url: string, token: string, isSlow: boolean): Promise<number> {
  const page = await pageOf(browser, token);
  if (isSlow) {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const bytesPerSecond = 1_600_000 / 8;
    const network = { offline: false, latency: 150, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond / 2 };
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', network);
  }
  const begun = performance.now();
  await page.goto(`${url}/`);
  await page.getByRole('navigation', { name: 'Figures' }).waitFor({ timeout: 60_000 });
  await page.locator('main table tbody tr, main .task, main li').first().waitFor({ timeout: 60_000 });
  const ms = performance.now() - begun;
  await page.close();
  return Math.round(ms);
}

/** Milliseconds from a click on a screen until its first row is there: the median of seven, and the longest. */
async function listMs(page: Page, path: string): Promise<{ readonly p50Ms: number; readonly longestMs: number }> {
  const times: number[] = [];
  for (let turn = 0; turn < 7; turn++) {
    await page.evaluate('location.hash = "#/audit"');
    await page.locator('main[data-place="/audit"] h1').waitFor();
    const begun = performance.now();
    await page.evaluate(`location.hash = ${JSON.stringify(`#${path}`)}`);
    await page
      .locator(`main[data-place="${path.replace(/\?.*$/, '')}"] table tbody tr`)
      .first()
      .waitFor();
    times.push(performance.now() - begun);
  }
  times.sort((one, other) => one - other);
  return { p50Ms: Math.round(times[3] ?? 0), longestMs: Math.round(times[6] ?? 0) };
}

/** Runs in the page: sums up the shifts of its layout, and remembers the longest time for which a script blocked it. */
const watch = `
  globalThis.seen = { shift: 0, longest: 0 };
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration); }).observe({ type: 'longtask', buffered: false });
`;

/** Stays on a screen while orders come in. */
async function stay(page: Page, path: string, submit: Submit, first: number): Promise<object> {
  await page.goto('about:blank');
  await page.goto(`${origin}/#${path}`);
  await page.locator(`main[data-place="${path}"] h1`).waitFor();
  await page.evaluate(watch);
  const until = performance.now() + watchedSeconds * 1000;
  let number = first;
  for (; performance.now() < until; number++) {
    await submit(number, number % 4 === 0 ? word(number % groups) : undefined);
    await systemClock.sleep(100);
  }
  const { shift, longest } = (await page.evaluate('seen')) as { shift: number; longest: number };
  return { screen: path, orders: number - first, layoutShift: Number(shift.toFixed(3)), longestTaskMs: Math.round(longest) };
}

let origin = '';
const folder = mkdtempSync(join(tmpdir(), 'redress-console-bench-'));
try {
  execFileSync('sh', ['bin/run', 'console/build.ts', '--if-needed']);
  const issuer = openLocalIssuer(folder);
  const operator = await issuer.sign({ role: 'operator', subject: 'bench' });
  const token = await issuer.sign({ role: 'client', client });
  const filling = await start(folder);
  await makeTasks(filling, operator, submitting(filling, token));
  await filling.end();
  await storeFinished(folder);
  const system = await start(folder);
  origin = system.url;
  const browser = await openBrowser({ closesPages: true });
  try {
    for (const isSlow of [false, false, true])
      print({ home: isSlow ? 'slow machine and network' : 'as it is', ms: await homeMs(browser, origin, operator, isSlow) });
    const page = await pageOf(browser, operator);
    await page.goto(`${origin}/`);
    await page.locator('main h1').waitFor();
    for (const path of ['/orders', '/orders?state=Error', '/tasks', '/exceptions', '/workflows'])
      print({ list: path, ...(await listMs(page, path)) });
    const submit = submitting(system, token);
    for (const [at, path] of ['/', '/orders', '/tasks', '/exceptions'].entries())
      print(await stay(page, path, submit, 1_000_000 * (at + 1)));
  } finally {
    await browser.close();
    await system.end();
  }
} finally {
  rmSync(folder, { recursive: true });
}

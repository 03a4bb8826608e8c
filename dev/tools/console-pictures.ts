import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { openBrowser } from './browser.ts';
import { root } from './run.ts';
import { startSystem } from './start-system.ts';

/**
 * Takes pictures of every screen of the console, in light, in dark and on a phone, and writes them to `docs/console`. They show a system of
 * its own with orders in many states. `npm run console:pictures [NAME…]`
 */
const wanted = new Set(process.argv.slice(2));
const data = mkdtempSync(join(tmpdir(), 'redress-pictures-'));
const node = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'];
const folder = `${root}docs/console/`;

execFileSync(process.execPath, [...node, `${root}console/build.ts`, '--if-needed'], { cwd: root });
const env = { ...process.env, PORT: '0', REDRESS_DATA: data, REDRESS_SAMPLES: 'off', TASK_DUE_SECONDS: '900' };
const system = await startSystem(process.execPath, [...node, `${root}bin/local.ts`], { cwd: root, env });
const { url } = system;
const found = (pattern: RegExp): string => pattern.exec(system.output())?.[1] ?? '';
const tokenFor = (...options: readonly string[]): string =>
  String(execFileSync(process.execPath, [...node, `${root}lib/cli/main.ts`, 'token', ...options, '--data', data], { cwd: root })).trim();
const client = tokenFor('--role', 'client', '--client', 'acme');
const admin = tokenFor('--role', 'admin', '--subject', 'local');

interface Answer {
  readonly id: string;
  readonly orderId: string;
  readonly processState: string;
  readonly state: string;
  readonly fingerprint: string;
  readonly undo?: { readonly stuck: readonly unknown[] };
  readonly steps: readonly { readonly name: string; readonly result: string | null }[];
  readonly items: readonly Answer[];
}

async function api(method: string, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
  const token = path === '/orders' && method === 'POST' ? client : admin;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as Answer;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Repeats a call until its answer is as it should be. */
async function until(path: string, isThere: (answer: Answer) => boolean): Promise<Answer> {
  for (let tries = 0; tries < 240; tries += 1) {
    const answer = await api('GET', path);
    if (isThere(answer)) return answer;
    await pause(250);
  }
  throw new Error(`GET ${path} did not give the expected answer within a minute.`);
}

const sample = (name: string): object => {
  const read = JSON.parse(readFileSync(`${root}examples/orders/samples/${name}.json`, 'utf8'));
  return read.order ?? read;
};

let submitted = 20_290;
const submit = async (name: string): Promise<string> => {
  submitted += 1;
  const body = { order: sample(name), reference: `A-${submitted}` };
  return (await api('POST', '/orders', body, { 'idempotency-key': `picture-${submitted}` })).orderId;
};

/** Sets how a service of the sample shop behaves. */
const shop = async (service: string, behavior: object): Promise<void> => {
  const response = await fetch(`${found(/sample shop at (\S+)/)}/switches`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ service, ...behavior }),
  });
  if (!response.ok) throw new Error(`The shop answered ${response.status}: ${await response.text()}`);
};

/** Submits orders whose address the carrier refuses, and cancels them, so that the workflow's page has a proposal. */
async function cancelRefused(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const path = `/orders/${await submit('address-invalid')}`;
    const { rev } = (await until(path, ({ processState }) => processState === 'Error')) as unknown as { readonly rev: number };
    await api('POST', `${path}/instructions`, { kind: 'cancel', reason: 'No such address' }, { 'if-match': `"${rev}"` });
    await until(path, ({ processState }) => processState === 'Processed');
  }
}

/** Orders in many states, rules, and a bulk run. */
async function seed() {
  const rules: readonly (readonly [string, object])[] = [
    [
      'address-abroad',
      {
        object: { workflow: 'fulfil-order', step: 'order/parallel/ship' },
        event: { kind: 'exception', type: 'AddressInvalid' },
        condition: 'exception.class == "expected"\n  && order.address.country != "GB"',
        action: { kind: 'task', group: 'logistics', dueSeconds: 1800 },
        mode: 'enforce',
        priority: 20,
      },
    ],
    [
      'payment-lookup',
      { event: { kind: 'exception', type: 'InvalidReply' }, action: { kind: 'retry', afterSeconds: 30 }, mode: 'enforce', priority: 50 },
    ],
    [
      'old-orders',
      {
        event: { kind: 'order-age', afterSeconds: 3600 },
        action: { kind: 'announce', text: 'An order is an hour old.' },
        mode: 'enforce',
        priority: 5,
      },
    ],
    [
      'late-shipments',
      {
        object: { agent: 'shipping' },
        event: { kind: 'step-late', afterSeconds: 5 },
        action: { kind: 'retry' },
        mode: 'dry-run',
        priority: 10,
      },
    ],
  ];
  for (const [id, rule] of rules) await api('PUT', `/rules/${id}`, { ...rule, reason: 'Agreed with the people who ship' });
  for (const name of ['ok', 'two-items', 'ok', 'card-declined', 'out-of-stock', 'ok', 'ok']) await submit(name);
  await cancelRefused(6);
  const blocked: string[] = [];
  for (let count = 0; count < 12; count += 1) blocked.push(await submit('address-invalid'));
  await until('/exceptions/groups?state=open', ({ items }) => ((items[0] as unknown as { open: number } | undefined)?.open ?? 0) >= 12);
  await shop('customer', { silent: true });
  const undone = await submit('ok');
  await until(`/orders/${undone}`, ({ steps }) => steps.some(({ name, result }) => name === 'ship' && result === 'Succeeded'));
  await shop('shipping', { failRate: 1, failStatus: 403 });
  await api('POST', `/orders/${undone}/cancel`, { reason: 'Ordered twice' });
  await until(`/orders/${undone}`, ({ undo }) => (undo?.stuck.length ?? 0) > 0);
  await shop('customer', {});
  await shop('shipping', {});
  const [group] = (await api('GET', '/exceptions/groups?state=open')).items;
  const solutions = [
    ['carrier-knows-again', 'The carrier knows the postal code again', { kind: 'resubmit' }],
    ['customer-left', 'The customer has left', { kind: 'compensate' }],
  ] as const;
  for (const [id, name, instruction] of solutions)
    await api('PUT', `/solutions/${id}`, { name, instruction, fingerprints: [group?.fingerprint], reason: 'It happens every week' });
  const run = await api(
    'POST',
    '/bulk',
    {
      filter: { ids: blocked.slice(4) },
      instruction: { kind: 'resubmit' },
      reason: 'Shipping knows these codes since release 88',
      ratePerSecond: 5,
      canary: 3,
      stopAfterFailures: 5,
    },
    { 'idempotency-key': 'picture-run' },
  );
  await until(`/bulk/${run.id}`, ({ state }) => state === 'ready');
  await api('POST', `/bulk/${run.id}/start`, { reason: 'Shipping knows these codes since release 88' });
  await until(`/bulk/${run.id}`, ({ state }) => state === 'paused' || state === 'stopped');
  await until('/exceptions/groups?state=open', ({ items }) => ((items[0] as unknown as { open: number } | undefined)?.open ?? 0) >= 12);
  const tasks = await api('GET', '/tasks?limit=100');
  const task = tasks.items.find(({ orderId }) => orderId === blocked[1]);
  await api('POST', `/tasks/${task?.id}/claim`);
  await api('POST', `/tasks/${task?.id}/comment`, { text: 'The carrier checks postal codes since last night.' });
  // The supervisor counts every few seconds: the picture of Home shows its figures.
  await until('/overview', (answer) => (answer as unknown as { readonly tasks: { readonly claimed: number } }).tasks.claimed > 0);
  return { blocked: blocked[1] ?? '', undone, run: run.id, task: task?.id ?? '', fingerprint: group?.fingerprint ?? '' };
}

/** Stores the dead letter of a submission that could not be read, whose order has these items. */
async function deadLetter(number: number, items: unknown): Promise<string> {
  const now = Date.now();
  const about = { queue: 'submissions', messageId: `m-${number}`, sentAt: now - 60_000 };
  const id = deadLetterId(about);
  const reason = 'The message is none that this queue takes: /order/items: expected a list.';
  const message = { v: 1, type: 'submission', client: 'acme', idempotencyKey: `A-2028${number}`, order: { ...sample('ok'), items } };
  const story = { reason, attempts: [{ at: now - 50_000, error: reason }], failures: 4, deadAt: now - 50_000, senderId: 'robot' };
  const { store, database } = openEmbedded(data, { clock: systemClock });
  await store.putDocument(deadLetterDocument({ ...about, ...story, id, type: 'submission', body: JSON.stringify(message) }), 0);
  await database.close();
  return id;
}

await api('PUT', '/clients/acme', { senders: ['robot'], responseChannels: [], reason: 'It sends by message' });
const letter = await deadLetter(1, 'tea');
for (const number of [2, 3]) await deadLetter(number, (sample('ok') as { items?: unknown }).items);
const { blocked, undone, run, task, fingerprint } = await seed();

/** Fills the form of a new input, and checks it. */
const correct = async (page: Page): Promise<void> => {
  await page.getByLabel('postalCode').fill('SW1Y 4JH');
  await page.getByLabel('Reason, for the audit').fill('The customer gave the code by telephone');
  await page.getByRole('button', { name: /^Check/ }).click();
  await page.getByText(/^(The|Each) step is tried/).waitFor();
  await page.mouse.wheel(0, -4_000);
};

/** Chooses all dead letters, and checks whether they can be sent again. */
const chooseAll = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'submission', exact: true }).first().waitFor();
  await page.keyboard.press('*');
  if ((page.viewportSize()?.width ?? 0) < 500) return;
  await page.getByRole('button', { name: 'Check and send…' }).click();
  await page.getByText(/can be sent again/).waitFor();
};

/** Replays the stored orders on the first proposal. */
const replay = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Replay stored orders' }).first().click();
  await page.getByText(/^\d+ of \d+ orders would have needed no person[^.]*\.$/).waitFor();
};

let isBroken = false;

/** Injects some faults, so that the page shows one that is over, one that is under way, and one that has not begun. */
const breakSome = async (): Promise<void> => {
  if (isBroken) return;
  isBroken = true;
  const isOver = (answer: Answer): boolean => {
    const { experiments } = answer as unknown as { experiments: readonly { endedAt: string | null }[] };
    return experiments.every(({ endedAt }) => endedAt !== null);
  };
  for (const kind of ['double-message', 'drop-reply']) {
    await api('POST', '/chaos', { kind, agent: 'shipping', sample: 'ok' });
    await until('/chaos', isOver);
  }
  await api('POST', '/chaos', { kind: 'kill-scheduler', sample: 'two-items' });
  await pause(6_500);
};

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly before?: (page: Page) => Promise<void>;
  /** The heading that comes to the top of the picture, instead of the top of the page. */
  readonly from?: string;
}

const pictures: readonly Picture[] = [
  { name: 'home', path: '/' },
  { name: 'tasks', path: '/tasks' },
  { name: 'task', path: `/tasks/${task}`, before: correct },
  { name: 'exceptions', path: `/exceptions?state=open&group=${fingerprint}` },
  { name: 'orders', path: '/orders' },
  { name: 'order', path: `/orders/${blocked}` },
  { name: 'order-timeline', path: `/orders/${blocked}?tab=Timeline` },
  { name: 'order-history', path: `/orders/${blocked}?tab=History` },
  { name: 'order-instruction', path: `/orders/${blocked}?do=replace-input`, before: correct },
  { name: 'order-undo', path: `/orders/${undone}` },
  { name: 'bulk-new', path: `/bulk/new?fingerprint=${fingerprint}` },
  { name: 'bulk', path: '/bulk' },
  { name: 'bulk-run', path: `/bulk/${run}` },
  { name: 'rules', path: '/rules/address-abroad' },
  { name: 'solutions', path: '/solutions' },
  { name: 'solution', path: '/solutions/carrier-knows-again' },
  { name: 'workflows', path: '/workflows' },
  { name: 'workflow', path: '/workflows/fulfil-order/1' },
  { name: 'workflow-proposals', path: '/workflows/fulfil-order/1', before: replay, from: 'Proposals' },
  { name: 'agents', path: '/agents' },
  { name: 'dead-letters', path: `/agents/submissions?id=${letter}` },
  { name: 'dead-letters-many', path: '/agents/submissions', before: chooseAll },
  { name: 'audit', path: '/audit' },
  { name: 'chaos', path: '/chaos?agent=shipping', before: breakSome },
];

const browser = await openBrowser();
const encoder = await browser.newPage();
mkdirSync(folder, { recursive: true });

/** Writes a picture as WebP. The browser has an encoder, so no package is needed. */
async function write(name: string, png: Buffer): Promise<void> {
  const encode = `(async () => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 })).arrayBuffer());
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  })()`;
  writeFileSync(`${folder}${name}.webp`, Buffer.from((await encoder.evaluate(encode)) as string, 'base64'));
}

const looks = [
  { suffix: '', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { suffix: '-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { suffix: '-390', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
] as const;

const page = await browser.newPage({ locale: 'en-GB' });
page.setDefaultTimeout(30_000);

const lookAs = async ({ viewport, colorScheme }: (typeof looks)[number]): Promise<void> => {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
};

async function take({ name, path, before, from }: Picture, suffix: string): Promise<void> {
  await page.evaluate(`sessionStorage.clear(); location.hash = '#/audit'`);
  await page.evaluate(`location.hash = '#${path}'`);
  await pause(1_200);
  await page.locator('main h1').waitFor();
  await before?.(page).catch((error: unknown) => process.stderr.write(`${name}${suffix}: ${String(error)}\n`));
  await page.evaluate('scrollTo(0, 0)');
  if (from !== undefined) {
    await page.getByRole('heading', { name: from }).evaluate((heading) => heading.scrollIntoView());
    await page.evaluate('scrollBy(0, -72)');
  }
  await write(`${name}${suffix}`, await page.screenshot());
  process.stdout.write(`docs/console/${name}${suffix}.webp\n`);
}

await page.goto(`${url}/`);
await page.getByRole('heading', { name: 'Sign in to Redress' }).waitFor();
for (const look of looks) {
  await lookAs(look);
  if (wanted.size === 0 || wanted.has('sign-in')) await write(`sign-in${look.suffix}`, await page.screenshot());
}
// The link has the same page with another fragment, so the page is left first.
await page.goto('about:blank');
await page.goto(found(/console (\S+code=\S+)/));
await page.locator('main h1').waitFor();
await pause(1_500);
for (const look of looks) {
  await lookAs(look);
  for (const picture of pictures) if (wanted.size === 0 || wanted.has(picture.name)) await take(picture, look.suffix);
}
await browser.close();
await system.end();
rmSync(data, { recursive: true, force: true, maxRetries: 5 });

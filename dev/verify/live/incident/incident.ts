import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalIssuer } from '#api/local-issuer';
import type { BulkView } from '#cli/bulk';
import { Warehouse } from './warehouse.ts';

const root = new URL('../../../../', import.meta.url).pathname;
const parallelCalls = 25;
const client = 'shop';

interface Item {
  readonly orderId: string;
  readonly outcome: string;
}
interface Group {
  readonly fingerprint: string;
  readonly count: number;
}

/**
 * A system in a process of its own, with a service that does not work, and the calls of its clients and operators. Each call is repeated
 * while the process is down.
 */
export class Incident {
  readonly warehouse = new Warehouse();
  kills = 0;
  /** The id of each order; the index is the number in the order. */
  private readonly orderIds: string[] = [];
  private readonly folder: string;
  private readonly orders: number;
  private child: ChildProcess | undefined;
  private port = 0;
  private serviceUrl = '';
  private tokens: { readonly [role: string]: string } = {};

  constructor(folder: string, orders: number) {
    this.folder = folder;
    this.orders = orders;
  }

  async start(): Promise<void> {
    this.serviceUrl = await this.warehouse.start();
    this.port = await freePort();
    await this.begin();
    const issuer = openLocalIssuer(this.folder);
    this.tokens = { client: await issuer.sign({ role: 'client', client }), operator: await issuer.sign({ role: 'operator' }) };
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    this.warehouse.close();
  }

  /** Ends the process without warning, and starts another one on its data. */
  async kill(): Promise<void> {
    this.kills += 1;
    await this.end('SIGKILL');
    await this.begin();
  }

  async submitAll(): Promise<void> {
    const numbers = Array.from({ length: this.orders }, (_, index) => index);
    await inParallel(numbers, async (number) => {
      const { orderId } = await this.call<{ orderId: string }>(
        'client',
        'POST',
        '/orders',
        { order: { number } },
        { 'idempotency-key': `parcel-${number}` },
      );
      this.orderIds[number] = orderId;
    });
  }

  /** Waits until all orders wait for a person, and returns the group of their exceptions. */
  async group(): Promise<Group> {
    for (;;) {
      const { items } = await this.call<{ items: readonly Group[] }>('operator', 'GET', '/exceptions/groups?limit=100');
      const [group, ...others] = items;
      if (others.length > 0) throw new Error(`There are ${items.length} groups, expected one.`);
      if (group && group.count >= this.orders) return group;
      await sleep(500);
    }
  }

  /**
   * Ends `count` orders one by one, as another operator would, spread evenly over all. Calls with another `part` (0 to 3) choose other
   * orders. There must be at least four orders for each one chosen.
   */
  async terminateSome(count: number, part: number): Promise<ReadonlySet<string>> {
    const parts = 4;
    const stride = parts * Math.floor(this.orders / (parts * count));
    const chosen = Array.from({ length: count }, (_, index) => this.orderIds[stride * index + part] ?? '');
    await inParallel(chosen, async (orderId) => {
      const key = `terminate-${orderId}`;
      const body = { kind: 'terminate', reason: 'The customer has called.' };
      const { rev } = await this.call<{ rev: number }>('operator', 'GET', `/orders/${orderId}`);
      await this.call('operator', 'POST', `/orders/${orderId}/instructions`, body, { 'idempotency-key': key, 'if-match': `"${rev}"` });
    });
    return new Set(chosen);
  }

  /** Prepares a bulk run that resubmits the group, and resolves when its set is frozen. `whileFreezing` runs meanwhile. */
  async prepare(
    fingerprint: string,
    { canary, whileFreezing }: { readonly canary: number; readonly whileFreezing: () => Promise<unknown> },
  ) {
    const body = {
      filter: { fingerprint },
      instruction: { kind: 'resubmit' },
      reason: 'The printer has paper.',
      ratePerSecond: 100,
      canary,
    };
    const { id } = await this.call<{ id: string }>('operator', 'POST', '/bulk', body, { 'idempotency-key': 'bulk-1' });
    await whileFreezing();
    return this.until(id, ({ state }) => state === 'ready');
  }

  act = (id: string, action: 'start' | 'resume'): Promise<unknown> =>
    this.call('operator', 'POST', `/bulk/${id}/${action}`, { reason: 'as planned' });

  run = (id: string): Promise<BulkView> => this.call('operator', 'GET', `/bulk/${id}`);

  async until(id: string, isSo: (run: BulkView) => boolean): Promise<BulkView> {
    for (;;) {
      const run = await this.run(id);
      if (isSo(run)) return run;
      await sleep(250);
    }
  }

  async untilNoneAtWork(): Promise<void> {
    for (;;) {
      const { items } = await this.call<{ items: readonly unknown[] }>('operator', 'GET', '/orders?state=Processing&limit=1');
      if (items.length === 0) return;
      await sleep(500);
    }
  }

  /**
   * Compares the figures of the run with its items and with the labels of the service. `gone`: orders that ended before the set was
   * frozen. `moved`: orders of the set that ended before the run reached them.
   */
  async recount(id: string, { gone, moved }: { readonly gone: ReadonlySet<string>; readonly moved: ReadonlySet<string> }) {
    const items = await this.items(id);
    const run = await this.run(id);
    const byOutcome = Map.groupBy(items, ({ outcome }) => outcome);
    const numberOf = (outcome: string): number => byOutcome.get(outcome)?.length ?? 0;
    const movedOn = new Set(byOutcome.get('moved-on')?.map(({ orderId }) => orderId));
    const applied = new Set(byOutcome.get('applied')?.map(({ orderId }) => orderId));
    const labeled = this.orderIds.filter((_, number) => this.warehouse.labels.has(number));
    const doubled = [...this.warehouse.labels.values()].filter((keys) => keys.size > 1).length;
    const twice = await this.instructedTwice([...applied].slice(0, sampled));
    const figures = {
      inSet: run.count,
      items: items.length,
      applied: applied.size,
      movedOn: movedOn.size,
      infeasible: numberOf('infeasible'),
      labeled: labeled.length,
    };
    const shortfalls = [
      ...(new Set(items.map(({ orderId }) => orderId)).size === items.length ? [] : ['an order has two items']),
      ...(items.length === run.count ? [] : [`${items.length} items for ${run.count} orders`]),
      ...(run.applied === applied.size && run.movedOn === movedOn.size && run.infeasible === numberOf('infeasible')
        ? []
        : ['the figures differ from a recount of the items']),
      ...(doubled === 0 ? [] : [`${doubled} parcels have two labels`]),
      ...(twice === 0 ? [] : [`${twice} orders were instructed twice`]),
      ...(labeled.length === applied.size && labeled.every((orderId) => applied.has(orderId))
        ? []
        : [`${labeled.length} parcels have a label, and ${applied.size} orders were resubmitted`]),
      ...(movedOn.size === moved.size && [...moved].every((orderId) => movedOn.has(orderId))
        ? []
        : [`${movedOn.size} orders count as moved on, and ${moved.size} had moved on`]),
      ...(items.some(({ orderId }) => gone.has(orderId)) ? ['an order that had ended before is in the set'] : []),
    ];
    return { figures, shortfalls };
  }

  private async items(id: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: readonly Item[]; next: string | null } = await this.call(
        'operator',
        'GET',
        `/bulk/${id}/items?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      items.push(...page.items);
      cursor = page.next;
    }
    return items;
  }

  /** Returns how many of these orders have more than one instruction in the first 100 entries of their history. */
  private async instructedTwice(orderIds: readonly string[]): Promise<number> {
    let twice = 0;
    await inParallel(orderIds, async (orderId) => {
      const { items } = await this.call<{ items: readonly { type: string }[] }>('operator', 'GET', `/orders/${orderId}/history?limit=100`);
      if (items.filter(({ type }) => type === 'InstructionGiven').length > 1) twice += 1;
    });
    return twice;
  }

  private async begin(): Promise<void> {
    const args = [
      '-C',
      'redress-source',
      '--disable-warning=ExperimentalWarning',
      `${root}bin/local.ts`,
      `${root}dev/verify/live/incident/app.ts`,
      '--quiet',
    ];
    const env = { ...process.env, REDRESS_DATA: this.folder, PORT: String(this.port), INCIDENT_URL: this.serviceUrl, LOG_LEVEL: 'error' };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    while (!/^ready http/m.test(output)) {
      if (child.exitCode !== null) throw new Error(`The system did not start:\n${output}`);
      await sleep(50);
    }
  }

  private async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Calls the API, and repeats the call while the process is down or busy. */
  private async call<T>(role: 'client' | 'operator', method: string, path: string, body?: object, more: object = {}): Promise<T> {
    const headers = {
      authorization: `Bearer ${this.tokens[role]}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...more,
    };
    for (;;) {
      const sent = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
      const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, sent).catch(() => undefined);
      if (answer?.ok) return (await answer.json()) as T;
      const isTemporary = !answer || answer.status >= 500 || answer.status === 429;
      if (!isTemporary) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      await sleep(200);
    }
  }
}

/** Maximum number of orders whose histories are read at the end. */
const sampled = 2_000;

async function inParallel<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async (): Promise<void> => {
    for (let index = next++; index < all.length; index = next++) await work(all[index] as T);
  };
  await Promise.all(Array.from({ length: parallelCalls }, loop));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

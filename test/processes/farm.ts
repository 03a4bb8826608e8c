import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { local, type Process, run, type Site, tokenFor, within } from './support.ts';

/** An order as the API lists it. */
export interface Shown {
  readonly orderId: string;
  readonly reference: string;
  readonly processState: string;
  readonly outcome: string | null;
  readonly failureCount: number;
  readonly fault: object | null;
}

/** Short timeouts, so that the work of a killed host is missed soon, and many failures before a person is notified. */
export const hurried = { STEP_COMPLETE_WITHIN_SECONDS: '2', SUPERVISOR_PERIOD_SECONDS: '0.5', MAX_FAILURES: '20' };

/** Hosts that share their data and are killed again and again. A caller waits until one of them is up. */
export type Farm = ReturnType<typeof createFarm>;

/** The number of tries for a start that fails for an external reason, as a service manager retries it. */
const startsMax = 40;

export function createFarm(
  { data, variables, folder }: Site,
  settings: { readonly [name: string]: string },
  { size = 1, startsAgain = false }: { readonly size?: number; readonly startsAgain?: boolean } = {},
) {
  const lives: (Process | undefined)[] = Array.from({ length: size });
  const up: (string | undefined)[] = Array.from({ length: size });
  const startTimes: number[] = [];
  const unattended: (readonly [number, number])[] = [];
  let nobodySince: number | undefined;
  let someone = Promise.withResolvers<void>();
  let refused = 0;
  const environment = { ...variables, ...hurried, ...settings, NODE_COMPILE_CACHE: join(folder, 'cache') };

  async function url(): Promise<string> {
    for (;;) {
      const urls = up.filter((each) => each !== undefined);
      const one = urls[Math.floor(Math.random() * urls.length)];
      if (one !== undefined) return one;
      await someone.promise;
    }
  }

  async function begin(index = 0): Promise<void> {
    for (let starts = 1; ; starts++) {
      const started = performance.now();
      const life = run(undefined, local, environment);
      lives[index] = life;
      const ready = await Promise.race([
        within(life.line(/^ready (http:\S+)$/m), 'bin/local.ts is not ready').catch((error: Error) => error),
        life.ended.then(() => undefined),
      ]);
      // Killed while it started.
      if (lives[index] !== life) return;
      if (Array.isArray(ready)) {
        startTimes.push(performance.now() - started);
        up[index] = ready[1];
        if (nobodySince !== undefined) unattended.push([nobodySince, Date.now()]);
        nobodySince = undefined;
        someone.resolve();
        someone = Promise.withResolvers();
        return;
      }
      refused += 1;
      if (!startsAgain || starts === startsMax) throw new Error(`bin/local.ts does not begin: ${ready?.message} ${life.err()}`);
      await life.kill('SIGKILL');
      await sleep(300);
    }
  }

  const page = async (query: string): Promise<{ readonly items: readonly Shown[]; readonly next: string | null }> => {
    const response = await fetch(`${await url()}/orders?${query}`, {
      headers: { authorization: `Bearer ${await tokenFor(data, 'operator')}` },
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Awaited<ReturnType<typeof page>>;
  };
  /** Returns how often each step of an order was requested. */
  const attemptsOf = async (orderId: string): Promise<readonly number[]> => {
    const response = await fetch(`${await url()}/orders/${orderId}`, {
      headers: { authorization: `Bearer ${await tokenFor(data, 'operator')}` },
    });
    assert.equal(response.status, 200, await response.clone().text());
    const { steps } = (await response.json()) as { readonly steps: readonly { readonly attempts: number }[] };
    return steps.map(({ attempts }) => attempts);
  };
  return {
    /** Returns how many of the orders have a step that was requested more than once. */
    async interrupted(orders: readonly Shown[]): Promise<number> {
      const attempts = await Promise.all(orders.map(({ orderId }) => attemptsOf(orderId)));
      return attempts.filter((each) => each.some((count) => count > 1)).length;
    },
    /** Returns the address of a host, as soon as one listens. */
    url,
    begin,
    startMs: () => Math.round(startTimes.reduce((sum, ms) => sum + ms, 0) / startTimes.length),
    /** Starts that ended by themselves. */
    refused: () => refused,
    /** The intervals in which no host was up, in milliseconds since 1970, rising. */
    unattended: unattended as readonly (readonly [number, number])[],
    page,
    /** Kills one host, while it processes orders or while it starts. */
    async kill(index = 0): Promise<void> {
      up[index] = undefined;
      if (up.every((each) => each === undefined)) nobodySince ??= Date.now();
      const life = lives[index];
      lives[index] = undefined;
      await life?.kill('SIGKILL');
    },
    async stop(index = 0): Promise<{ readonly code: number | null }> {
      up[index] = undefined;
      return (await lives[index]?.kill('SIGTERM')) ?? assert.fail('it is dead');
    },
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

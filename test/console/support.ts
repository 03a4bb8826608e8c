import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../../dev/tools/browser.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const node = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'];

/** A whole system with its sample orders, and a browser. CHROMIUM_PATH names another browser than the one of the packages. */
export interface RunningConsole {
  readonly browser: Browser;
  /** The link that signs in once. */
  readonly link: string;
  readonly url: string;
  /** The folder of its data. */
  readonly data: string;
  /** Returns a bearer token of this system. */
  readonly token: (...options: readonly string[]) => string;
  /** Sets how a service of the sample shop behaves. */
  readonly shop: (service: string, behavior: object) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startConsole(): Promise<RunningConsole> {
  const data = mkdtempSync(join(tmpdir(), 'redress-console-'));
  execFileSync(process.execPath, [...node, `${root}console/build.ts`, '--if-needed'], { cwd: root });
  const env = { ...process.env, PORT: '0', REDRESS_DATA: data };
  const system = spawn(process.execPath, [...node, `${root}bin/local.ts`], { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const end = (): void => {
    system.kill();
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  };
  let printed = '';
  const started = new Promise<string>((resolve, reject) => {
    system.on('exit', (code) => reject(new Error(`The system ended with ${code}.`)));
    system.stdout.on('data', (chunk) => {
      printed += String(chunk);
      const found = /console (\S+code=\S+)/.exec(printed)?.[1];
      if (found && /\(address-invalid\).*blocked/.test(printed)) resolve(found);
    });
  });
  // A system without a test would keep the process of the tests alive.
  const opened = started.then(async (link) => ({ link, browser: await openBrowser() }));
  const { link, browser } = await opened.catch((error: unknown) => {
    end();
    throw error;
  });
  return {
    browser,
    link,
    url: new URL(link).origin,
    data,
    token: (...options) =>
      String(
        execFileSync(process.execPath, [...node, `${root}lib/cli/main.ts`, 'token', ...options, '--data', data], { cwd: root }),
      ).trim(),
    async shop(service, behavior) {
      const response = await fetch(`${/sample shop at (\S+)/.exec(printed)?.[1]}/switches`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ service, ...behavior }),
      });
      if (!response.ok) throw new Error(`The shop answered ${response.status}: ${await response.text()}`);
    },
    async stop() {
      await browser.close();
      end();
    },
  };
}

/** Returns the body of a sample order. */
export const sampleOrder = (name: string): object => JSON.parse(readFileSync(`${root}examples/orders/samples/${name}.json`, 'utf8')).order;

/** Returns a function that calls the API of a system. An answer without success fails the test. */
export const callOf =
  <T>({ url }: Pick<RunningConsole, 'url'>) =>
  async (method: string, path: string, token: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
    return (await response.json()) as T;
  };

/** Opens a page of a context, with room for a whole screen. */
export async function newPage(browser: Browser, headers: { readonly [name: string]: string } = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, extraHTTPHeaders: headers });
  page.setDefaultTimeout(15_000);
  return page;
}

/** Opens Home as the person of this machine. */
export async function signedIn({ browser, link }: RunningConsole): Promise<Page> {
  const page = await newPage(browser);
  await page.goto(link);
  await page.getByRole('heading', { name: /tasks? waits? for a person/ }).waitFor();
  return page;
}

export async function show(path: string, page: Page): Promise<void> {
  await page.evaluate((hash) => ((globalThis as unknown as { location: { hash: string } }).location.hash = hash), `#${path}`);
  await shown(path, page);
}

/** Waits until the screen of an address is on the page, and not the screen before it. */
export async function shown(path: string, page: Page): Promise<void> {
  await page.locator(`main[data-place=${JSON.stringify(path.replace(/\?.*$/, ''))}] h1`).waitFor();
}

/** Returns the rules of axe that the page violates, each with the first element. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // The policy of the page forbids evaluated scripts; the protocol of the browser does not go through it.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(`axe.run(${rules ? JSON.stringify({ runOnly: rules }) : ''})`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
}

/** Returns the violations of a screen in light and in dark, and whether it is too wide for a phone. */
export async function faultsOfScreen(path: string, page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await show(path, page);
  const light = await violationsOf(page);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const dark = await violationsOf(page, ['color-contrast']);
  await page.setViewportSize({ width: 390, height: 844 });
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  await page.setViewportSize({ width: 1440, height: 900 });
  return [...light, ...dark, ...(isWide ? ['The page is wider than a phone.'] : [])].map((fault) => `${path}: ${fault}`);
}

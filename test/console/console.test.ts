import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import axe from 'axe-core';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';

/*
 * The console in a real browser, on a whole system with its sample orders. CHROMIUM_PATH names another browser than the one of the
 * packages.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const node = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'];
const data = mkdtempSync(join(tmpdir(), 'redress-console-'));

let link = '';
let stop = (): void => {};
let browser: Browser;
let page: Page;

before(async () => {
  execFileSync(process.execPath, [...node, `${root}console/build.ts`, '--if-needed'], { cwd: root });
  const env = { ...process.env, PORT: '0', REDRESS_DATA: data };
  const system = spawn(process.execPath, [...node, `${root}bin/local.ts`], { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
  stop = () => void system.kill();
  link = await new Promise<string>((resolve, reject) => {
    system.on('exit', (code) => reject(new Error(`The system ended with ${code}.`)));
    let printed = '';
    system.stdout.on('data', (chunk) => {
      printed += String(chunk);
      const found = /console (\S+code=\S+)/.exec(printed)?.[1];
      if (found && /\(address-invalid\).*blocked/.test(printed)) resolve(found);
    });
  });
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());
  browser = await playwright.launch({ executablePath, args: chromium.args, headless: true });
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(5_000);
});

after(async () => {
  await browser?.close();
  stop();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

test('a link of the machine signs in, and the token is out of reach of scripts', async () => {
  const violations: string[] = [];
  page.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
  await page.goto(link);
  await page.getByRole('heading', { name: /waits? for a person/ }).waitFor();
  assert.equal(await page.evaluate('document.cookie + localStorage.length + sessionStorage.length'), '00');
  assert.deepEqual(violations, []);
});

test('each screen has no violation of axe, in light and in dark', async () => {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const path of ['/', '/orders', '/exceptions', '/agents', '/audit']) {
      await page.evaluate(`location.hash = '#${path}'`);
      await page.locator('main h1').waitFor();
      found.push(...(await violationsOf(page)).map((violation) => `${colorScheme} ${path}: ${violation}`));
    }
  }
  assert.deepEqual(found, []);
});

/** Returns the rules of axe that the page violates, each with the first element. */
async function violationsOf(on: Page): Promise<readonly string[]> {
  // The policy of the page forbids evaluated scripts; the protocol of the browser does not go through it.
  await on.evaluate(axe.source);
  const { violations } = (await on.evaluate('axe.run()')) as { violations: { id: string; nodes: { html: string }[] }[] };
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
}

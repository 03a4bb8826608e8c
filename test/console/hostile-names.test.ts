import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { hostileTexts } from './hostile-texts.ts';
import { type RunningConsole, show, signedIn, startConsole } from './support.ts';

/* Texts that people write, in a real browser: names, reasons and comments of one operator are read by another one. */
let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

let calls = 0;

async function send(method: string, path: string, body?: object): Promise<{ readonly [field: string]: unknown }> {
  const response = await fetch(`${system.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${system.token('--role', 'admin', '--subject', 'mallory')}`,
      'content-type': 'application/json',
      ...(method === 'POST' ? { 'idempotency-key': `hostile-${++calls}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as { readonly [field: string]: unknown };
}

/** Texts of one line without control characters, which names and reasons accept. */
const texts = hostileTexts.filter((text) => /^[ -~]{4,120}$/.test(text));

test('names, reasons and comments that look like code are shown as text on every screen, and fit a phone', async () => {
  const [name = '', reason = '', ...more] = texts.filter((text) => text.includes('<'));
  const { items } = (await send('GET', '/tasks')) as unknown as { items: { id: string }[] };
  const task = items[0]?.id ?? assert.fail('a task waits');
  for (const text of more.slice(0, 12)) await send('POST', `/tasks/${task}/comment`, { text });
  const event = { kind: 'exception', type: 'AddressInvalid' };
  await send('PUT', '/rules/hostile', { name, event, action: { kind: 'announce', text: more[0] }, mode: 'off', priority: 0, reason });
  await send('PUT', '/solutions/hostile', { name, instruction: { kind: 'terminate' }, reason });
  await send('POST', '/channels/shipping/close', { reason });
  await send('POST', '/bulk', { filter: { state: 'Error' }, instruction: { kind: 'suspend' }, ratePerSecond: 10, reason });

  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('dialog', (dialog) => errors.push(dialog.message()));
  const seen: string[] = [];
  for (const path of [
    '/rules',
    '/rules/hostile',
    '/solutions',
    '/solutions/hostile',
    '/tasks',
    `/tasks/${task}`,
    '/agents',
    '/bulk',
    '/audit',
    '/',
  ]) {
    await show(path, page);
    await page.waitForLoadState('networkidle');
    const strange = await page.evaluate(
      'document.querySelectorAll("main :is(img, script, iframe, object, embed, link, style, base, math, video)").length + (globalThis.hostile ?? 0)',
    );
    assert.equal(strange, 0, path);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, `${path} is wider than a phone`);
    await page.setViewportSize({ width: 1440, height: 900 });
    const shown = (await page.locator('main').textContent()) ?? '';
    if (shown.includes(name) || shown.includes(reason) || more.some((text) => shown.includes(text))) seen.push(path);
  }
  assert.ok(seen.length >= 4, `the texts are shown, at least on ${seen.join(', ')}`);
  assert.deepEqual(errors, []);
});

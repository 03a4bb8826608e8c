import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { hostileTexts } from './hostile-texts.ts';
import { newPage, type RunningConsole, root, shown, show as showOn, startConsole, violationsOf } from './support.ts';

/* The console in a real browser, on a whole system with its sample orders. */
let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await newPage(system.browser);
});

after(() => system.stop());

test('a link that the host prints signs a person in, and no script of the page can read the token', async () => {
  const violations: string[] = [];
  page.on('console', (message) => message.type() === 'error' && violations.push(message.text()));
  await page.goto(system.link);
  await page.getByRole('heading', { name: /tasks? waits? for a person/ }).waitFor();
  assert.equal(await page.evaluate('document.cookie + localStorage.length + sessionStorage.length'), '00');
  assert.deepEqual(violations, []);
});

/** The order of the samples that waits for a person. */
async function blockedOrder(): Promise<string> {
  const found = await page.evaluate(async () =>
    (await fetch('/orders?state=Error&reference=address-invalid', { referrerPolicy: 'same-origin' })).json(),
  );
  return (found as { items: { orderId: string }[] }).items[0]?.orderId ?? '';
}

const show = (path: string): Promise<void> => showOn(path, page);

test('axe finds no violation of accessibility on any screen, in light, in dark and on a phone', async () => {
  const found: string[] = [];
  const blocked = await blockedOrder();
  const [order, task] = [`/orders/${blocked}`, `/tasks/tsk_${blocked.slice('ord_'.length)}_1`];
  const parts = ['', '?tab=Timeline', '?do=replace-input'].map((part) => `${order}${part}`);
  for (const path of [
    '/',
    '/orders',
    '/tasks',
    task,
    '/exceptions',
    '/bulk',
    '/bulk/new?state=Error',
    '/rules',
    '/rules/new',
    '/agents',
    '/audit',
    ...parts,
  ]) {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await show(path);
    found.push(...(await violationsOf(page)).map((violation) => `light ${path}: ${violation}`));
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    found.push(...(await violationsOf(page, ['color-contrast'])).map((violation) => `dark ${path}: ${violation}`));
  }
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ['/', '/orders', '/tasks', task, ...parts]) {
    await show(path);
    const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    found.push(...(isWide ? [`phone ${path}: the page is wider than the screen`] : []));
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(found, []);
});

test('no element moves if the browser asks for reduced motion', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await show('/orders');
  assert.deepEqual(await page.evaluate('document.getAnimations().map((each) => each.animationName ?? each.transitionProperty)'), []);
});

test('an operator checks and applies an instruction with the keyboard alone', async () => {
  await show('/');
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('g', 'o');
  await shown('/orders', page);
  const typing = () => page.locator(':is(input, textarea):focus').first().waitFor();
  // Nothing waits for the search: a quick typist must not lose the first letters.
  await press('/');
  await page.keyboard.type('address-invalid');
  await page.getByRole('option', { name: /address-invalid/ }).waitFor();
  await press('Enter');
  await page.getByText('A person decides how').waitFor();
  await press('.');
  await page.getByRole('dialog').waitFor();
  await press('k');
  await typing();
  await page.keyboard.type('I have called the customer');
  await press('Escape', 'c');
  await page.getByText('This is what it would do').waitFor();
  await press('Control+Enter');
  await page.getByText('Applied: Acknowledge.').first().waitFor();
  const { items } = (await page.evaluate(
    async (path) => (await fetch(path, { referrerPolicy: 'same-origin' })).json(),
    `/orders/${await blockedOrder()}/history?limit=100`,
  )) as { items: { type: string; kind?: string; reason?: string }[] };
  const given = items.find(({ type }) => type === 'InstructionGiven');
  assert.deepEqual([given?.kind, given?.reason], ['acknowledge', 'I have called the customer']);
});

test('the text of an unsent instruction survives a reload of the page', async () => {
  await show(`/orders/${await blockedOrder()}?do=suspend`);
  const reason = page.getByRole('region', { name: /^Suspend/ }).getByLabel('Reason, for the audit');
  await reason.fill('stock is counted');
  await page.reload();
  await reason.waitFor();
  assert.equal(await reason.inputValue(), 'stock is counted');
});

test('200 texts that look like code are shown as text wherever the console shows them', async () => {
  const token = system.token('--role', 'client', '--client', 'acme');
  const sample = JSON.parse(readFileSync(`${root}examples/orders/samples/address-invalid.json`, 'utf8'));
  const order = sample.order ?? sample;
  const ids: string[] = [];
  for (const half of [hostileTexts.slice(0, 100), hostileTexts.slice(100)]) {
    const items = half.map((sku) => ({ sku, quantity: 1, unitPrice: 1 }));
    const response = await fetch(`${system.url}/orders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': `hostile-${ids.length}`,
      },
      body: JSON.stringify({ order: { ...order, items, address: { ...order.address, name: half[0] } }, reference: half[1] }),
    });
    assert.equal(response.status, 202, await response.clone().text());
    const { orderId } = (await response.json()) as { orderId: string };
    ids.push(orderId);
  }
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('dialog', (dialog) => errors.push(dialog.message()));
  for (const path of ['/orders', ...ids.flatMap((id) => [`/orders/${id}?tab=Data`, `/orders/${id}`, `/orders/${id}?tab=History`])]) {
    await show(path);
    const strange = await page.evaluate(
      'document.querySelectorAll("main :is(img, script, iframe, object, embed, link, style, form, base, math, video)").length + (globalThis.hostile ?? 0)',
    );
    assert.equal(strange, 0, path);
  }
  await show(`/orders/${ids[0]}?tab=Data`);
  const folded = page.getByRole('button', { name: 'Unfold 100 values' });
  await folded.click();
  const text = await page.locator('main').innerText();
  assert.equal(hostileTexts.slice(0, 100).filter((each) => !/[^ -~]/.test(each) && !text.includes(each)).length, 0);
  assert.deepEqual(errors, []);
});

test('F-153: an operator opens a task in the list and resolves it on its page with four clicks', async () => {
  await show('/tasks');
  await page.locator('main a[href^="#/tasks/tsk_"]').first().click();
  await page.getByLabel('Reason, for the audit').fill('The address is right.');
  await page.getByLabel('Do', { exact: true }).selectOption('terminate');
  await page.getByLabel('Reason, for the audit').fill('The customer has left.');
  await page.getByRole('button', { name: /^Check/ }).click();
  await page.getByText('possible', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Terminate, undo nothing' }).click();
  await page.getByRole('heading', { name: 'Resolved' }).waitFor();
  assert.match(await page.locator('main').innerText(), /decided: Terminate\.\s+The customer has left\./);
});

test('the list of orders shows those of one client and of the last hour, and the address contains the filter', async () => {
  await show('/orders?client=samples');
  await page.getByRole('combobox', { name: /^submitted/ }).selectOption('1');
  await page.getByText('All 5 that match').waitFor();
  assert.match(page.url(), /#\/orders\?client=samples&hours=1$/);
  await page.keyboard.press('*');
  await page.getByText('5 orders', { exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Select all that match' }).count(), 0, 'a bulk run has no filter for a client');
  await show('/orders?client=nobody&state=Error');
  await page.getByText('No order matches.').waitFor();
});

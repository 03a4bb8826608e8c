import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callOf, type RunningConsole, sampleOrder, signedIn, startConsole } from './support.ts';

/* The search of the console, on a system with the sample orders, and with more orders than a page of a list has. */
let system: RunningConsole;
let page: Page;
let operator: string;
let blocked: string;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
  operator = system.token('--role', 'operator', '--subject', 'op-1');
  blocked = (await items('reference=address-invalid'))[0]?.orderId ?? '';
});

after(() => system.stop());

async function submit(reference: string, orders: number): Promise<void> {
  const authorization = `Bearer ${system.token('--role', 'client', '--client', 'acme')}`;
  for (let count = 1; count <= orders; count += 1) {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `${reference}-${count}` };
    const body = JSON.stringify({ order: sampleOrder('ok'), reference: `${reference}-${count}` });
    assert.equal((await fetch(`${system.url}/orders`, { method: 'POST', headers, body })).status, 202);
  }
}

interface Answer {
  readonly items: readonly { readonly orderId: string }[];
}

const items = async (query: string): Promise<Answer['items']> => (await callOf<Answer>(system)('GET', `/orders?${query}`, operator)).items;

async function search(text: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.insertText(text);
}

const found = () => page.getByRole('option', { name: /address-invalid/ });

test('the search shows at most five of the orders whose ids have the same beginning', async () => {
  await submit('early', 6);
  await search('ord_');
  await page.getByRole('option').first().waitFor();
  assert.equal(await page.getByRole('option').count(), 5);
});

test('F-59: the search finds an order by its whole id and by the beginning of its id, even if a hundred orders are newer', async () => {
  await submit('later', 120);
  assert.equal((await items('limit=100')).filter(({ orderId }) => orderId === blocked).length, 0);
  for (const text of [blocked, blocked.slice(0, 14), blocked.slice(4, 14), `${blocked.slice(0, 12)}…`]) {
    await search(text);
    await found().waitFor();
    assert.equal(await page.getByRole('option').count(), 1, text);
  }
  await page.keyboard.press('Enter');
  await page.getByText('A person decides how').waitFor();
});

test('F-59: the search says so if no order has the id that a person has typed', async () => {
  await search(`ord_${'a'.repeat(52)}`);
  await page.getByText('No order has this id.').waitFor();
  await search('ord_aaaaaaaa');
  await page.getByText('No order has such an id.').waitFor();
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { faultsOfScreen, newPage, type RunningConsole, show, shown, signedIn, startConsole } from './support.ts';

/* Faults that a person injects on the page Chaos, with their orders. */
let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

const panel = (name: string) => page.getByRole('region', { name, exact: true });

test('a person duplicates a message with the keyboard alone, and the page ticks each expected consequence as it happens', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await shown('/chaos', page);
  await page.getByRole('combobox', { name: /^agent/ }).selectOption('payment');
  const button = panel('Double a message').getByRole('button', { name: 'Double the next request to payment' });
  await button.focus();
  await page.keyboard.press('Enter');
  await panel('Double a message')
    .getByText(/^as it should, in/)
    .waitFor();
  assert.equal(await panel('Double a message').getByText('happened: ').count(), 3);
  assert.deepEqual(await faultsOfScreen('/chaos?agent=payment', page), []);
  await panel('Double a message').locator('a.id').first().focus();
  await page.keyboard.press('Enter');
  await page.getByText('Completed').first().waitFor();
});

test('a fault stays prepared until an order is submitted, and the person who injected the fault ends it', async () => {
  await show('/chaos?agent=shipping&sample=none', page);
  await panel('Drop a reply').getByRole('button', { name: 'Drop the next reply of shipping' }).click();
  await panel('Drop a reply').getByText('waits for an order', { exact: true }).waitFor();
  assert.deepEqual(await faultsOfScreen('/chaos?agent=shipping&sample=none', page), []);
  await panel('Drop a reply').getByRole('button', { name: 'End it now' }).click();
  await panel('Drop a reply').getByText('ended by a person').waitFor();
});

test('a viewer reads what should happen after each kind of fault, and cannot inject one', async () => {
  const viewer = await newPage(system.browser, { authorization: `Bearer ${system.token('--role', 'viewer')}` });
  await viewer.goto(`${system.url}/#/chaos`);
  await viewer.getByText('You read here. Only an operator breaks something.').waitFor();
  await viewer.getByText('The orders that waited continue.').waitFor();
  assert.equal(await viewer.locator('main').getByRole('button').count(), 0);
});

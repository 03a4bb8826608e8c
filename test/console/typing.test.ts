import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callOf, type RunningConsole, show, shown, signedIn, startConsole } from './support.ts';

let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

const placeOf = (): string => new URL(page.url()).hash.slice(1);

test('a letter that a person types into a field is not a command of the console, even if a refresh removes the field', async () => {
  const operator = system.token('--role', 'operator', '--subject', 'op-5');
  await show('/tasks', page);
  const link = page.locator('main a[href^="#/tasks/tsk_"]').first();
  const place = ((await link.getAttribute('href')) ?? '').slice(1);
  await link.click();
  const reason = page.getByLabel('Reason, for the audit');
  await reason.pressSequentially('The address is wrong');

  const { orderId } = await callOf<{ orderId: string }>(system)('GET', place, operator);
  await callOf(system)('POST', `/orders/${orderId}/cancel`, operator, { reason: 'the customer is gone' });
  for (let letters = 0; (await reason.count()) > 0; letters += 1) {
    assert.ok(letters < 500);
    await page.keyboard.press('x');
    await page.waitForTimeout(20);
  }
  for (const key of ['g', 'u', 'Backspace', 'g', 'r']) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  assert.equal(placeOf(), place, 'the person is still where the text was typed');

  await page.waitForTimeout(2500);
  for (const key of ['g', 'u']) await page.keyboard.press(key);
  await shown('/audit', page);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type RunningConsole, show, signedIn, startConsole } from './support.ts';

/* Forms of instructions with values that few orders need. */
let system: RunningConsole;
let page: Page;
let operator: string;
let path: string;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
  operator = system.token('--role', 'operator', '--subject', 'op-1');
  path = `/orders/${(await read('/orders?reference=address-invalid')).items[0]?.orderId}`;
});

after(() => system.stop());

interface Answer {
  readonly items: readonly { readonly orderId: string }[];
  readonly amended?: { readonly handle?: readonly object[] };
}

async function read(from: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${operator}` };
  return (await (await fetch(`${system.url}${from}`, { headers })).json()) as Answer;
}

const button = (name: RegExp | string) => page.getByRole('button', { name });

test('F-153: the form of an undo is checked for the whole order at once, and for one scope around the blocked step on request', async () => {
  await show(`${path}?do=compensate`, page);
  await page.locator('.effects').getByText('undoes').waitFor();
  assert.match(await page.locator('.effects').innerText(), /undoes\s+charge refund, reserve release/);
  await page.getByLabel('Undo', { exact: true }).selectOption('order/parallel');
  await page.getByText('You have changed the form since you checked.').waitFor();
  await button(/^Check/).click();
  await page.getByText('The output of order/parallel/ship is missing then').first().waitFor();
  assert.ok(await button('Undo what is done').isDisabled());
});

test('F-167: an operator has another workflow handle exceptions of one order', async () => {
  await show(`${path}?do=amend`, page);
  await page.getByLabel(/^Another workflow/).selectOption('fulfil-order');
  assert.equal(await page.getByLabel('Exceptions with this fault').inputValue(), 'AddressInvalid');
  await page.getByLabel('Reason, for the audit').fill('Try it as a new order');
  await button(/^Check/).click();
  await page.getByText('possible', { exact: true }).or(page.locator('.effects')).first().waitFor();
  await button('Change this order').click();
  await page.getByText('Applied: Amend.').waitFor();
  assert.deepEqual((await read(path)).amended?.handle, [{ fault: 'AddressInvalid', workflow: 'fulfil-order' }]);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callOf, type RunningConsole, show, signedIn, startConsole } from './support.ts';

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

const read = (from: string): Promise<Answer> => callOf<Answer>(system)('GET', from, operator);

const button = (name: RegExp | string) => page.getByRole('button', { name });

test('F-153: the form of an undo first shows the check of the whole order, and then of one scope around the blocked step', async () => {
  await show(`${path}?do=compensate`, page);
  await page.locator('.effects').getByText('undoes').waitFor();
  assert.match(await page.locator('.effects').innerText(), /undoes\s+charge refund, reserve release/);
  await page.getByLabel('Undo', { exact: true }).selectOption('order/parallel');
  await page.getByText('The output of order/parallel/ship would be missing').first().waitFor();
  assert.ok(await button('Undo what is done').isDisabled());
});

const background = (name: string): Promise<string> =>
  button(name).evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).backgroundColor ?? '');

test('F-60: a complete form of an instruction shows the check beside its button, and hides fields with ids until a person opens them', async () => {
  await show(`${path}?do=replace-input`, page);
  const usual = page.locator('#instruct-kind optgroup[label=Usual] option');
  await usual.first().waitFor({ state: 'attached' });
  assert.deepEqual((await usual.allTextContents()).slice(0, 2), [
    'Resubmit: requests the failed step again',
    'Correct the input: requests a step with another input',
  ]);
  await page.getByLabel('postalCode').waitFor();
  assert.equal(await page.getByText('[secret] keeps').count(), 0);
  assert.equal(await page.getByLabel('orderId').isVisible(), false);
  await page.getByText('orderId: change it only if it is wrong').click();
  await page.getByLabel('orderId').waitFor();
  const disabled = await background('Request with the new input');
  await page.getByLabel('postalCode').fill('SW1Y 4JH');
  await page.getByText(/^The step is tried at most \d+ times, under one key\.$/).waitFor();
  assert.equal(await page.getByText(/On AWS/).count(), 0, 'the price of one order helps nobody');
  assert.equal(await page.locator('.apply').getByRole('button', { name: 'Check again' }).count(), 1);
  assert.ok(await page.locator('.apply').evaluate((element) => element.getBoundingClientRect().bottom <= 900), 'in sight');

  await show(`${path}?do=cancel`, page);
  await page.getByText('Give a reason.').waitFor();
  assert.equal(await background('Cancel the order'), disabled);
});

test('F-60: the button Decide opens a form with the focus on the value that the fault names, and the result of the instruction gets the focus after it', async () => {
  await page.setViewportSize({ width: 1440, height: 420 });
  await show(path, page);
  await button(/^Decide$/).click();
  const field = page.locator('fieldset.nested:has(> legend:text-is("address")) input:focus');
  await field.waitFor();
  const box = await field.boundingBox();
  assert.ok(box && box.y > 48 && box.y + box.height < 420, JSON.stringify(box));
  await show(`${path}?do=acknowledge`, page);
  await page.getByLabel('Reason, for the audit').fill('I look into it');
  await button('Note that I have seen it').click();
  const note = page.locator('.applied-note:focus');
  await note.getByText('Applied: Acknowledge.').waitFor();
  const top = (await note.boundingBox())?.y ?? 0;
  assert.ok(top > 40 && top < 380, String(top));
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('F-167: an operator lets another workflow handle exceptions of one order', async () => {
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

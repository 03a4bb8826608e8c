import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { callOf, type RunningConsole, sampleOrder, show, shown, signedIn, startConsole } from './support.ts';

/* The page of a bulk run, and the group of exceptions that it is about. */
let system: RunningConsole;
let page: Page;
let call: ReturnType<typeof callOf<Answer & { readonly id: string }>>;
let operator: string;
let client: string;

interface Answer {
  readonly items: readonly { readonly orderId: string; readonly fingerprint: string; readonly outcome: string }[];
  readonly state: string;
}

/** Orders with an address that shipping refuses, and two that only wait for shipping to answer again: as many as a page of a group has. */
const references = [...Array.from({ length: 8 }, (_, index) => `bad-${index + 1}`), 'good-1', 'good-2'];
const fingerprint = async (): Promise<string> => (await read('/exceptions?type=SwitchedToFail&limit=1')).items[0]?.fingerprint ?? '';

before(async () => {
  system = await startConsole();
  call = callOf(system);
  operator = system.token('--role', 'operator', '--subject', 'op-4');
  client = system.token('--role', 'client', '--client', 'acme');
  await system.shop('shipping', { failRate: 1, failStatus: 403 });
  for (const reference of references) await submit(reference);
  await reaches('/orders?state=Error&fault=SwitchedToFail', ({ items }) => items.length === references.length);
  await system.shop('shipping', {});
  page = await signedIn(system);
});

after(() => system.stop());

const read = (path: string): Promise<Answer> => call('GET', path, operator);
const reaches = (path: string, isThere: (answer: Answer) => boolean): Promise<Answer> => until(() => read(path), isThere);

function submit(reference: string): Promise<unknown> {
  const sample = reference.startsWith('bad') ? 'address-invalid' : 'ok';
  return call('POST', '/orders', client, { order: sampleOrder(sample), reference });
}

const left = async (id: string): Promise<readonly string[]> =>
  (await read(`/bulk/${id}/items?outcome=left`)).items.map(({ orderId }) => orderId).toSorted();

test('F-59: the page of a group of exceptions names each order by its reference, and offers more orders only if there are more', async () => {
  const readOrders: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/orders/ord_')) readOrders.push(request.url());
  });
  await show(`/exceptions?group=${await fingerprint()}`, page);
  const group = page.getByRole('region', { name: 'SwitchedToFail at ship' });
  for (const reference of references) await group.getByRole('listitem').filter({ hasText: reference }).waitFor();
  assert.deepEqual(readOrders, [], 'the list reads no order for its reference');
  await group.getByText('The order stands still, and waits for a person.').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /unexpected|Faulting/);
  assert.equal(await group.getByRole('button', { name: 'Show more' }).count(), 0);
  assert.equal(await group.getByText(/^The newest/).count(), 0);
});

test('F-158: the page of a bulk run that its failure limit stopped names the failures, and a new run takes the orders that it left untouched', async () => {
  const { id } = await call('POST', '/bulk', operator, {
    filter: { fingerprint: await fingerprint() },
    instruction: { kind: 'resubmit' },
    reason: 'The carrier answers again',
    ratePerSecond: 10,
    stopAfterFailures: 2,
    start: true,
  });
  await reaches(`/bulk/${id}`, ({ state }) => state === 'stopped');
  await show(`/bulk/${id}`, page);
  const untouched = await left(id);
  await page
    .getByRole('alert')
    .filter({ hasText: /because [23] orders failed: 0 failed again, [23] failed for another reason\. \d orders? (is|are) untouched\./ })
    .waitFor();
  const about = page.getByRole('region', { name: 'What it does' });
  await about.getByText('Stops by itself when 2 have failed').waitFor();
  await about.getByText(/^[23] of 2$/).waitFor();
  await about.getByRole('link', { name: 'SwitchedToFail at ship' }).waitFor();
  await page.getByRole('heading', { name: 'Resubmit: SwitchedToFail at ship' }).waitFor();

  const row = page.getByRole('region', { name: 'Orders' }).getByRole('row').filter({ hasText: 'failed for another reason' }).first();
  await row
    .filter({ hasText: /bad-\d/ })
    .filter({ hasText: 'AddressInvalid: shipping answered 422' })
    .waitFor();
  assert.match((await row.getByRole('link', { name: 'Correct…' }).getAttribute('href')) ?? '', /^#\/orders\/ord_\w+\?do=replace-input$/);
  const orders = page.getByRole('region', { name: 'Orders' });
  const listed = Number(/\d+$/.exec(await orders.getByRole('button', { name: /^Failed or not sent/ }).innerText())?.[0]);
  assert.equal(await orders.locator('tbody tr').count(), listed);
  assert.equal(await orders.getByRole('row').filter({ hasText: 'not sent' }).count(), untouched.length);
  await page.getByRole('term').filter({ hasText: 'not sent' }).waitFor();

  await page.getByRole('link', { name: `Go on with the other ${untouched.length}…` }).click();
  await shown('/bulk/new', page);
  await page.getByRole('region', { name: 'Which orders' }).getByText(`${untouched.length} orders`).waitFor();
  assert.equal(await page.getByLabel('Reason, for the audit').inputValue(), 'The carrier answers again');
  assert.equal(await page.getByLabel('Pause after the first').inputValue(), '');
  await page.locator('main').locator('.btn.go').click();
  await page.getByText(/^ready/).waitFor();
  const next = page.url().split('/').at(-1) ?? '';
  assert.notEqual(next, id);
  assert.deepEqual(await left(next), untouched);
  const together = page.getByText(`Both runs: `, { exact: false });
  await together.filter({ hasText: new RegExp(`Continues ${id.slice(0, 12)}.* ${untouched.length} to do, of 10 orders\\.$`) }).waitFor();
  await together.getByRole('link').click();
  await page.getByRole('link', { name: `Continued by ${next.slice(0, 12)}` }).waitFor();
  assert.equal(await page.getByRole('link', { name: /^Go on with the other/ }).count(), 0);
});

test('F-158: the form of a bulk run explains its canary and its failure limit, and is filled in with their default numbers', async () => {
  await show(`/bulk/new?fingerprint=${await fingerprint()}`, page);
  await page.getByLabel('Reason, for the audit').fill('The carrier answers again');
  await page.getByRole('button', { name: /^Check these \d+ orders$/ }).waitFor();
  assert.equal(await page.getByLabel('Pause after the first').inputValue(), '1');
  assert.equal(await page.getByLabel('Stop when so many have failed').inputValue(), '5');
  await page.getByText('The first orders are the canary:', { exact: false }).waitFor();
  await page.getByLabel('Pause after the first').fill('');
  assert.equal(await page.getByLabel('Pause after the first').getAttribute('placeholder'), 'no pause');
});

test('F-158: while orders of a bulk run have not had their turn, its page does not say that all orders have passed', async () => {
  const { id } = await call('POST', '/bulk', operator, {
    filter: { ids: await left((await read('/bulk')).items.map((run) => (run as unknown as { id: string }).id).at(-1) ?? '') },
    instruction: { kind: 'acknowledge' },
    reason: 'Seen',
    ratePerSecond: 1,
    canary: 1,
    start: true,
  });
  await reaches(`/bulk/${id}`, ({ state }) => state === 'paused');
  await show(`/bulk/${id}`, page);
  await page.getByText(/^Nothing has failed so far: 1 of \d+ dealt with\.$/).waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /as it should|s left/);
});

test('F-158: the button of a paused bulk run says that the result of its canary is not known yet, and asks before the run continues', async () => {
  await system.shop('shipping', { silent: true });
  const { id } = await call('POST', '/bulk', operator, {
    filter: { fingerprint: await fingerprint() },
    instruction: { kind: 'resubmit' },
    reason: 'The carrier answers again',
    ratePerSecond: 10,
    canary: 1,
    start: true,
  });
  await reaches(`/bulk/${id}`, ({ state }) => state === 'paused');
  await show(`/bulk/${id}`, page);
  await page.getByRole('button', { name: /^Go on with \d+ orders… \(the first order's result is not known yet\)$/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText("Too early: the first order's result is not known yet.").waitFor();
  await dialog.getByRole('button', { name: 'Back' }).click();
  await call('POST', `/bulk/${id}/stop`, operator, { reason: 'seen' });
  await system.shop('shipping', {});
});

test('F-59: the search accepts text after one click, has the same label closed and open, and first lists a screen instead of a command that changes something', async () => {
  const words = 'An id, a reference, or a command';
  const closed = page.getByRole('searchbox', { name: words });
  const open = page.getByRole('combobox', { name: words });
  assert.equal(await closed.getAttribute('placeholder'), words);
  const before = await closed.boundingBox();
  await closed.click();
  assert.equal(await open.getAttribute('placeholder'), words);
  assert.match(await page.getByRole('option').first().innerText(), /Home/);
  const after = await open.boundingBox();
  assert.ok(before && after && Math.abs(after.x - before.x) < 4 && Math.abs(after.y - before.y) < 12, 'the caret is where the click was');
  await page.keyboard.type('workfl');
  assert.equal(await open.inputValue(), 'workfl');
  await page.getByRole('option', { name: /^Workflows/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  await shown('/bulk', page);
});

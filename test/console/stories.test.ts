import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { type Hand, handOn } from './hand.ts';
import { callOf, newPage, type RunningConsole, sampleOrder, show, startConsole } from './support.ts';

/* Five stories of an operator. Each begins signed out, goes on from Home, and uses clicks and typed texts alone. */
let system: RunningConsole;
let page: Page;
let session: string;
let client: string;

before(async () => {
  system = await startConsole();
  page = await newPage(system.browser);
  session = system.token('--role', 'operator', '--subject', 'op-4');
  client = system.token('--role', 'client', '--client', 'acme');
});

after(() => system.stop());

/** Signs in at Home, and counts from there. */
async function fromHome(): Promise<Hand> {
  await page.context().clearCookies();
  await page.goto('about:blank');
  await page.goto(`${system.url}/`);
  await page.getByRole('heading', { name: 'Sign in to Redress' }).waitFor();
  await page.context().addCookies([{ name: 'redress_session', value: session, url: system.url, httpOnly: true, sameSite: 'Strict' }]);
  await page.reload();
  await page.getByRole('navigation', { name: 'Figures' }).waitFor();
  return handOn(page);
}

interface Answer {
  readonly orderId: string;
  readonly processState: string;
  readonly outcome: string | null;
  readonly reference: string | null;
  readonly fault: { readonly type: string } | null;
  readonly undo?: { readonly now: string | null };
  readonly steps: readonly { readonly name: string; readonly path: string; readonly attempts: number; readonly result: string | null }[];
  readonly items: readonly Answer[];
}

const read = (path: string): Promise<Answer> => callOf<Answer>(system)('GET', path, session);
const reaches = (path: string, isThere: (answer: Answer) => boolean): Promise<Answer> => until(() => read(path), isThere);

const submit = async (name: string, reference: string): Promise<string> =>
  (await callOf<Answer>(system)('POST', '/orders', client, { order: sampleOrder(name), reference })).orderId;

const reason = (): Locator => page.getByLabel('Reason, for the audit');
const main = (name: RegExp | string): Locator => page.locator('main').getByRole('button', { name });

test('F-60: an operator replaces the input of a blocked order, and it continues at its step', async (context) => {
  const hand = await fromHome();
  await hand.click(page.locator('main').getByRole('link', { name: 'AddressInvalid at ship' }));
  await hand.type(page.getByLabel('postalCode'), 'SW1Y 4JH');
  await hand.type(reason(), 'The customer gave the code by telephone');
  await hand.click(main(/^Check/));
  await page.getByText('possible', { exact: true }).waitFor();
  assert.match(await page.locator('.effects').innerText(), /requests\s+ship/);
  await hand.click(main('Request with the new input'));
  await page.getByText('it worked').waitFor();
  hand.done(context);
  const { items } = await read('/orders?reference=address-invalid');
  const { outcome, steps } = await read(`/orders/${items[0]?.orderId}`);
  assert.equal(outcome, 'completed');
  assert.deepEqual(
    steps.filter(({ name }) => name === 'charge' || name === 'reserve').map(({ attempts }) => attempts),
    [1, 1],
  );
});

test('F-59: an operator finds the orders that failed for one reason, and no others', async (context) => {
  const wrong: string[] = [];
  for (let count = 1; count <= 12; count += 1) wrong.push(await submit('address-invalid', `wrong-${count}`));
  await reaches('/orders?state=Error&fault=AddressInvalid', ({ items }) => items.length === 12);
  await system.shop('shipping', { failRate: 1, failStatus: 403 });
  for (let count = 1; count <= 4; count += 1) await submit('ok', `refused-${count}`);
  await reaches('/orders?state=Error&fault=SwitchedToFail', ({ items }) => items.length === 4);

  const hand = await fromHome();
  const group = page.getByRole('region', { name: 'Open exceptions' }).getByRole('listitem').filter({ hasText: 'AddressInvalid' });
  await hand.click(group.getByRole('link'));
  const region = page.getByRole('region', { name: 'AddressInvalid at ship' });
  await region.getByText('12 open').waitFor();
  await hand.click(region.getByRole('button', { name: 'Show more' }));
  const links = region.locator('a[href^="#/orders/"]');
  await links.nth(11).waitFor();
  const shown = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  assert.deepEqual(shown.toSorted(), wrong.map((orderId) => `#/orders/${orderId}`).toSorted());
  await hand.click(links.first());
  await page.getByText('ship was refused: AddressInvalid.').waitFor();
  hand.done(context);
});

test('F-158: an operator resubmits one order of a group of exceptions first, and then the other orders of the group', async (context) => {
  const hand = await fromHome();
  const group = page.getByRole('region', { name: 'Open exceptions' }).getByRole('listitem').filter({ hasText: 'SwitchedToFail' });
  await hand.click(group.getByRole('link'));
  await hand.click(page.getByRole('link', { name: 'Decide for all 4…' }));
  await hand.type(reason(), 'The carrier takes our parcels again');
  await hand.click(main('Check these 4 orders'));
  await system.shop('shipping', {});
  await hand.click(main('Resubmit 1, then ask me'));
  await page.getByText('The canary has ended: 1 order passed.').waitFor();
  assert.equal((await read('/orders?state=Error&fault=SwitchedToFail')).items.length, 3, 'the others are untouched');
  await hand.click(main('Go on with 3 orders'));
  await page.getByLabel('passed 4').waitFor();
  hand.done(context);
  assert.equal((await read('/orders?state=Error&fault=SwitchedToFail')).items.length, 0);
});

test('F-157: the page of a task says that a resubmission has failed again, and the list of resolved tasks still says so later', async (context) => {
  const hand = await fromHome();
  await hand.click(page.locator('main').getByRole('link', { name: 'AddressInvalid at ship' }).first());
  assert.match((await page.getByRole('link', { name: 'Decide for all…' }).getAttribute('href')) ?? '', /^#\/bulk\/new\?fingerprint=/);
  await hand.choose(page.getByLabel('Do', { exact: true }), 'resubmit');
  await hand.type(reason(), 'The carrier may know the code by now');
  await hand.click(main(/^Check/));
  await page.getByText('possible', { exact: true }).waitFor();
  await hand.click(main('Request the step again'));
  await page.getByText('the same failed again').waitFor();
  await page.getByRole('link', { name: 'The task that came after it' }).waitFor();
  hand.done(context);

  const later = await fromHome();
  await later.click(page.getByRole('navigation', { name: 'Screens', exact: true }).getByRole('link', { name: /^Tasks/ }));
  await later.click(page.locator('main').getByRole('link', { name: 'Resolved' }));
  await page.getByRole('row').filter({ hasText: 'the same failed again' }).waitFor();
  await page.getByRole('row').filter({ hasText: 'it worked' }).first().waitFor();
  later.done(context);
});

test('F-153: an operator sees what is undone, stops the undo, and lets it continue', async (context) => {
  await system.shop('customer', { silent: true });
  const orderId = await submit('ok', 'ordered-twice');
  const path = `/orders/${orderId}`;
  await reaches(path, ({ steps }) => steps.some(({ name, result }) => name === 'ship' && result === 'Succeeded'));
  await system.shop('shipping', { silent: true });
  await callOf(system)('POST', `${path}/cancel`, session, { reason: 'Ordered twice' });
  await reaches(path, ({ undo }) => undo?.now != null);
  await system.shop('customer', {});

  const hand = await fromHome();
  await hand.click(page.getByRole('navigation', { name: 'Figures' }).getByRole('link', { name: /^Processing/ }));
  const row = page.getByRole('row').filter({ hasText: 'ordered-twice' });
  await row.getByText('being undone').waitFor();
  await hand.click(row.getByRole('link'));
  const plan = page.getByRole('region', { name: 'Undo, newest first' });
  await plan.getByText('requested').waitFor();
  assert.match(await plan.innerText(), /ship[\s\S]*charge[\s\S]*reserve/);
  await hand.click(main('Stop the undo…'));
  await hand.type(reason(), 'The parcel may be on its way');
  await hand.click(main(/^Stop the undo$/));
  await page.getByText(/^Suspended by op-4/).waitFor();
  await system.shop('shipping', {});
  await hand.click(main('Resume…').first());
  await hand.type(reason(), 'The parcel is here');
  await hand.click(main('Resume the order'));
  // The undo was requested while its service was silent: it is requested again after its time limit.
  await page.getByText('The order was canceled.').waitFor({ timeout: 90_000 });
  hand.done(context);
});

test('F-158: a bulk run whose first order has failed continues only after a person has confirmed it', async () => {
  const { items } = await read('/orders?state=Error&fault=AddressInvalid');
  const { id } = await callOf<{ id: string }>(system)('POST', '/bulk', session, {
    filter: { ids: items.slice(0, 3).map(({ orderId }) => orderId) },
    instruction: { kind: 'resubmit' },
    reason: 'The carrier may know the codes by now',
    ratePerSecond: 10,
    canary: 1,
    start: true,
  });
  await show(`/bulk/${id}`, page);
  await page.getByText('The canary shows that the instruction does not help: 1 order failed, 0 passed.').waitFor();
  await main('Go on with 2 orders…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 order of this run failed.', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Back' }).click();
  await main('Stop…').waitFor();
});

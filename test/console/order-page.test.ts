import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { callOf, type RunningConsole, sampleOrder, show, signedIn, startConsole } from './support.ts';

/* The page of one order, in particular while the order is suspended or blocked. */
let system: RunningConsole;
let page: Page;
let call: ReturnType<typeof callOf<Answer>>;
let operator: string;
let stuck: string;
let completed: string;

interface Answer {
  readonly orderId: string;
  readonly rev: number;
  readonly outcome: string | null;
  readonly undo?: { readonly stuck: readonly object[] };
  readonly steps: readonly { readonly name: string; readonly result: string | null }[];
}

before(async () => {
  system = await startConsole();
  call = callOf(system);
  operator = system.token('--role', 'operator', '--subject', 'op-4');
  completed = await submit('good-1', 'London');
  await reaches(completed, ({ outcome }) => outcome === 'completed');
  await system.shop('customer', { silent: true });
  // Shipping does not recall a parcel to this city: it has left.
  stuck = await submit('stuck-1', 'Express');
  await reaches(stuck, ({ steps }) => steps.some(({ name, result }) => name === 'ship' && result === 'Succeeded'));
  await call('POST', `/orders/${stuck}/cancel`, operator, { reason: 'Ordered twice' });
  await system.shop('customer', {});
  await reaches(stuck, ({ undo }) => (undo?.stuck.length ?? 0) > 0);
  page = await signedIn(system);
});

after(() => system.stop());

const reaches = (orderId: string, isThere: (answer: Answer) => boolean): Promise<Answer> =>
  until(() => call('GET', `/orders/${orderId}`, operator), isThere);

async function submit(reference: string, city: string): Promise<string> {
  const sample = sampleOrder('ok') as { readonly address: object };
  const order = { ...sample, address: { ...sample.address, city } };
  return (await call('POST', '/orders', system.token('--role', 'client', '--client', 'acme'), { order, reference })).orderId;
}

const button = (name: RegExp | string) => page.locator('main').getByRole('button', { name });

test('F-153: the page of a suspended order says that its undo is stuck and that nothing is requested, and offers the possible instructions', async () => {
  await show(`/orders/${stuck}`, page);
  await page.locator('.o-top').getByText('stuck-1').waitFor();
  await page.getByText(/It is requested again at/).waitFor();
  await button('Stop the undo…').click();
  await page.getByLabel('Reason, for the audit').fill('The carrier is asked');
  await button(/^Stop the undo$/).click();
  await page.getByText('Nothing is requested until somebody resumes the order.', { exact: false }).waitFor();
  const text = await page.locator('main').innerText();
  assert.doesNotMatch(text, /requested again at|Next at/);
  assert.match(await page.locator('.o-top').innerText(), /undo stuck/);
  assert.equal(await page.locator('.o-top .chip.work').count(), 0, 'no spinner');
  assert.equal(await button('Retry…').count(), 0);
  await button('Resume…').first().waitFor();
});

test('F-59: the badge of exceptions counts a stuck undo; the group of its exception says that the undo is stuck, and leads to its task instead of a bulk run', async () => {
  await show('/exceptions', page);
  assert.equal(await button('Open').getAttribute('aria-pressed'), 'true');
  const rail = page.getByRole('navigation', { name: 'Screens', exact: true });
  const open = page.locator('main tbody tr');
  await open.filter({ hasText: 'at undo of ship' }).getByRole('button').click();
  // The samples have one order in Error beside it.
  for (const screen of ['Exceptions', 'Tasks']) await rail.getByRole('link', { name: screen }).locator('.n', { hasText: /^2$/ }).waitFor();
  assert.equal(await open.count(), 2);
  const group = page.getByRole('region', { name: /at undo of ship$/ });
  await group.getByText('The undo of ship is stuck.', { exact: false }).waitFor();
  await group
    .getByText(/shipping answered \d+ to /)
    .first()
    .waitFor();
  assert.equal(await group.getByText(/Decide for all/).count(), 0);
  await group.getByRole('link', { name: 'Decide…' }).click();
  await page.getByText('The undo fails since', { exact: false }).waitFor();
  await show('/exceptions?state=handled&group=none', page);
  await page.getByRole('link', { name: 'Show it' }).click();
  await page.waitForURL(/state=all&group=none/);
});

test('F-153: a step that a person has marked as undone is shown with that person and the reason', async () => {
  await show(`/orders/${stuck}`, page);
  await button('Mark as undone…').click();
  const effects = page.locator('.effects');
  await effects.waitFor();
  assert.match(
    await effects.innerText(),
    /by hand\s+ship counts as undone\s+requests\s+nothing at once\s+undoes next\s+charge refund, reserve release when/,
  );
  const graph = page.getByRole('group', { name: /^fulfil-order/ });
  await graph.getByRole('button', { name: /^ship .* will count as undone by hand/ }).waitFor();
  await graph.getByRole('button', { name: /^charge .* will be undone when somebody resumes the order/ }).waitFor();
  await page.getByLabel('Reason, for the audit').fill('The parcel is back');
  await button(/^Check/).click();
  await button('Mark it as undone').click();
  const panel = page.getByRole('region', { name: 'Step ship' });
  await panel.getByText('marked as undone by local: “The parcel is back”').waitFor();
  assert.doesNotMatch(await panel.innerText(), /recall/);
  await page.getByRole('button', { name: /^ship .* marked as undone by hand/ }).waitFor();
});

test('F-153: the page of a canceled order says that a step without a reply needs no person', async () => {
  await show(`/orders/${stuck}`, page);
  await button('Resume…').first().click();
  await page.getByLabel('Reason, for the audit').fill('The parcel is back');
  await button('Resume the order').click();
  await page.locator('.why').getByText('The order was canceled. 3 of 3 undone, 1 by hand.').waitFor();
  await page.locator('.applied-note:focus').getByText('The order has ended: canceled. 3 of 3 undone, 1 by hand.').waitFor();
  await page.getByRole('button', { name: /^confirm .* perhaps it was done/ }).click();
  const panel = page.getByRole('region', { name: 'Step confirm' });
  await panel.getByText('Perhaps: it was requested, and canceled before its answer came. No person is needed.').waitFor();
});

test('F-153: the graph of a completed order draws the last edge as taken', async () => {
  await show(`/orders/${completed}`, page);
  await page.getByText('The order is completed.').waitFor();
  const [taken, all] = [page.locator('svg.graph path.edge.flow.took'), page.locator('svg.graph path.edge.flow')];
  await taken.first().waitFor({ state: 'attached' });
  // The edges of the handler are not taken: to its step, and from there to the end.
  assert.equal((await all.count()) - (await taken.count()), 2);
});

test('the history of an order says how many of its entries are shown, until the page has read all of them', async () => {
  const order = await call('GET', `/orders/${completed}`, operator);
  const entryOf = (seq: number): object => ({ seq, at: new Date().toISOString(), type: 'StepRequested', path: 'order/charge' });
  const pages = 22;
  let changes = 0;
  await page.route(`**/orders/${completed}`, (route) => route.fulfill({ json: { ...order, rev: order.rev + changes } }));
  await page.route(`**/orders/${completed}/history*`, async (route) => {
    const number = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0');
    const items = Array.from({ length: 100 }, (_, index) => entryOf(100 * number + index + 1));
    await route.fulfill({ json: { items, next: number + 1 < pages ? String(number + 1) : null } });
  });
  await show('/orders', page);
  await show(`/orders/${completed}?tab=History`, page);
  const panel = page.getByRole('region', { name: 'History' });
  await panel.getByText('Only the first 2,000 entries.', { exact: false }).waitFor();
  changes = 1;
  await panel.getByText('2200', { exact: true }).waitFor();
  assert.equal(await panel.getByText('Only the first', { exact: false }).count(), 0);
  await page.unrouteAll();
});

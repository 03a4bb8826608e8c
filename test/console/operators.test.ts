import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { systemClock } from '#ports/clock';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { createDeadDestinations } from '#roles/notifier/dead-destinations';
import { storeIn } from '../cli/support.ts';
import { deadDelivery } from '../support/dead-delivery.ts';
import { callOf, faultsOfScreen, newPage, type RunningConsole, root, show, signedIn, startConsole } from './support.ts';

let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

test('the screen Home reads the figures of the whole system with one call', async () => {
  const calls: string[] = [];
  page.on('request', (request) => calls.push(new URL(request.url()).pathname));
  await page.reload();
  await page.getByRole('navigation', { name: 'Figures' }).waitFor();
  await page.getByRole('img', { name: /^In the last hour \d+ orders/ }).waitFor();
  const reads = new Set(calls.filter((path) => !/^\/(console\/.*|)$/.test(path)));
  assert.deepEqual([...reads].toSorted(), ['/overview', '/session', '/sign-in', '/tasks']);
});

test('the page of a workflow shows where its orders are blocked, on the graph and in the list of steps', async () => {
  await show('/workflows', page);
  assert.deepEqual(await faultsOfScreen('/workflows', page), []);
  await page.getByRole('link', { name: 'fulfil-order' }).click();
  await page.getByRole('button', { name: /ship.*1 blocked/ }).waitFor({ timeout: 60_000 });
  assert.match(await page.locator('.steps li', { hasText: 'ship' }).first().innerText(), /1 blocked/);
  await page.getByRole('cell', { name: 'AddressInvalid' }).first().waitFor();
  const { hash } = new URL(page.url());
  assert.deepEqual(await faultsOfScreen(hash.slice(1), page), []);
});

test('F-153: an operator resolves the task of a destination that gets no messages, with a reason alone', async () => {
  await storeIn(system.data, ({ store }) => createDeadDestinations({ store, clock: systemClock, dueMs: 3_600_000 }).open(deadDelivery));
  await show('/tasks', page);
  await page.getByRole('link', { name: /^Messages for the group claims do not reach/ }).click();
  const panel = page.getByRole('region', { name: 'What can be done' });
  const send = panel.getByRole('button', { name: 'Resolve the task' });
  assert.equal(await send.isDisabled(), true);
  assert.deepEqual(await faultsOfScreen(new URL(page.url()).hash.slice(1), page), []);
  await panel.getByRole('textbox').fill('The room is gone');
  await send.click();
  await page.getByText('resolved', { exact: true }).waitFor();
  await page.getByText('The room is gone').waitFor();
});

test('F-120: an operator corrects a dead letter, checks it and sends it again, and its order is accepted', async () => {
  const admin = system.token('--role', 'admin', '--subject', 'local');
  await callOf(system)('PUT', '/clients/acme', admin, { senders: ['robot'], responseChannels: [], reason: 'It sends by message' });
  const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8'));
  const message = { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'by-message', order };
  const about = { queue: 'submissions', messageId: 'm-1', sentAt: Date.UTC(2026, 0, 1) };
  const [id, reason] = [deadLetterId(about), 'It is none that this queue takes.'];
  const story = { reason, attempts: [{ at: about.sentAt, error: reason }], failures: 1, deadAt: about.sentAt, senderId: 'robot' };
  const body = JSON.stringify({ ...message, order: { ...order, items: 'tea' } });
  await storeIn(system.data, async ({ store }) => {
    await store.putDocument(deadLetterDocument({ ...about, ...story, id, body, type: 'submission' }), 0);
  });

  await show('/agents', page);
  await page.getByRole('link', { name: 'Dead letters of submissions: 1' }).click();
  await page.getByRole('button', { name: 'submission', exact: true }).click();
  await page.getByLabel('Reason, for the audit').fill('The items were a text');
  assert.deepEqual(await faultsOfScreen(`/agents/submissions?id=${id}`, page), []);
  const send = page.getByRole('button', { name: /^Send/ });
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText(/^\/body\/order\/items/).waitFor();
  assert.ok(await send.isDisabled(), 'a refused check allows nothing');
  await page.getByLabel('Body of the message', { exact: true }).fill(JSON.stringify(message));
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText(/^Possible\./).waitFor();
  await send.click();
  await page.getByText('There is no dead letter.').waitFor();
});

/** Opens the page of the task that waits for a person. */
async function openTask(on: Page): Promise<string> {
  await show('/tasks', on);
  const link = on.locator('main a[href^="#/tasks/tsk_"]').first();
  const path = (await link.getAttribute('href')) ?? '';
  await link.click();
  await on.getByLabel('Reason, for the audit').waitFor();
  return path.slice(1);
}

test('when another operator claims a task, the page shows who, keeps the typed text, and no longer lets a person apply an instruction', async () => {
  const other = await newPage(system.browser, { authorization: `Bearer ${system.token('--role', 'operator', '--subject', 'op-5')}` });
  await other.goto(`${system.url}/`);
  await other.locator('main h1').waitFor();
  const path = await openTask(other);
  await other.getByLabel('Reason, for the audit').fill('I call the customer');
  await show(path, page);
  await page.getByRole('button', { name: /^Claim/ }).click();
  await other.getByText('local has it').waitFor();
  await other.getByText('local has this task. You can check, not apply.').waitFor();
  assert.equal(await other.getByLabel('Reason, for the audit').inputValue(), 'I call the customer');
});

test('a lost connection is shown, and the console reconnects without a person', async () => {
  await show('/orders', page);
  const rows = page.locator('main table tbody tr');
  await rows.first().waitFor();
  await page.context().setOffline(true);
  try {
    await page.getByText(/^No connection since/).waitFor();
    assert.ok((await rows.count()) > 0, 'what was read before stays');
  } finally {
    await page.context().setOffline(false);
  }
  await page.getByText(/^No connection since/).waitFor({ state: 'detached' });
});

test('when a session ends, the console asks the person to sign in again, and keeps the typed text', async () => {
  await openTask(page);
  const reason = page.getByLabel('Reason, for the audit');
  await reason.fill('The customer has moved');
  await page.context().clearCookies();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  const value = system.token('--role', 'admin', '--subject', 'local');
  await page.context().addCookies([{ name: 'redress_session', value, url: system.url, httpOnly: true, sameSite: 'Strict' }]);
  await page.getByRole('button', { name: 'I have signed in in another tab' }).click();
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor({ state: 'detached' });
  assert.equal(await reason.inputValue(), 'The customer has moved');
});

test('F-149: the page of an order lists the faults that a recovery has masked', async () => {
  await show('/orders', page);
  const link = page.locator('main a[href^="#/orders/ord_"]').first();
  const path = ((await link.getAttribute('href')) ?? '').slice(1);
  const fault = {
    at: new Date().toISOString(),
    path: 'order/ship',
    type: 'PalletFell',
    message: 'Everything broke.',
    maskedBy: 'order/charge',
  };
  await page.route(`**${path}`, async (route) => {
    const order = await (await route.fetch()).json();
    await route.fulfill({ json: { ...order, maskedFaults: { count: 12, newest: [fault] } } });
  });
  await show(path, page);
  const panel = page.getByRole('region', { name: 'Masked by a recovery' });
  await panel.getByText('12 faults').waitFor();
  assert.match(await panel.innerText(), /PalletFell at ship.* while charge was recovered\s+Everything broke\./s);
  assert.deepEqual(await faultsOfScreen(path, page), []);
  await panel.getByRole('link', { name: 'The history has all of them' }).click();
  await page.waitForURL(/tab=History/);
  await page.unroute(`**${path}`);
});

test('F-152: the page of a finished order with an open exception offers what a person may decide, and nothing else', async () => {
  await show('/orders?outcome=completed', page);
  const link = page.locator('main a[href^="#/orders/ord_"]').first();
  const path = ((await link.getAttribute('href')) ?? '').slice(1);
  await page.route(`**${path}`, async (route) => {
    const order = await (await route.fetch()).json();
    await route.fulfill({ json: { ...order, exceptionId: 'exc_1', taskId: 'tsk_1' } });
  });
  await show(path, page);
  await page.getByRole('button', { name: 'Actions' }).click();
  const menu = page.getByRole('dialog');
  const offered = await menu.locator('button.action:not([disabled]) b').allTextContents();
  assert.deepEqual(offered.toSorted(), ['Acknowledge…', 'Have it handled…', 'Restart…']);
  await menu.getByRole('button', { name: /Resubmit.*the order is finished/ }).waitFor();
  await page.keyboard.press('h');
  await page.getByLabel('Workflow that handles the exception').selectOption('fulfil-order');
  await page.getByRole('button', { name: /^Check/ }).click();
  await page
    .getByText(/^The order is finished \(completed\)/)
    .first()
    .waitFor();
  await page.unroute(`**${path}`);
});

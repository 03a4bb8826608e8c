import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { storeIn } from '../cli/support.ts';
import { callOf, faultsOfScreen, type RunningConsole, root, show, signedIn, startConsole } from './support.ts';

/* Several dead letters together: checked, sent again or discarded, from a list in the browser. */
let system: RunningConsole;
let page: Page;

const { order } = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8'));
const sentAt = Date.UTC(2026, 0, 1);

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
  const client = { senders: ['robot'], responseChannels: [], reason: 'It sends by message' };
  await callOf(system)('PUT', '/clients/acme', system.token('--role', 'admin', '--subject', 'local'), client);
  const bodies = [order, { ...order, items: 'tea' }, order, order].map((each, index) =>
    JSON.stringify({ v: 1, type: 'submission', client: 'acme', idempotencyKey: `by-message-${index}`, order: each }),
  );
  await storeIn(system.data, async ({ store }) => {
    for (const [index, body] of bodies.entries()) {
      const about = { queue: 'submissions', messageId: `m-${index + 1}`, sentAt: sentAt + index };
      const reason = 'The scheduler could not read it.';
      const story = { reason, attempts: [{ at: about.sentAt, error: reason }], failures: 1, deadAt: about.sentAt, senderId: 'robot' };
      await store.putDocument(deadLetterDocument({ ...about, ...story, id: deadLetterId(about), body, type: 'submission' }), 0);
    }
  });
});

after(() => system.stop());

const rows = () => page.locator('main tbody tr');

test('F-120: an operator selects dead letters with the keyboard, and sends those that pass the check', async () => {
  await show('/agents/submissions', page);
  await rows().nth(3).waitFor();
  for (const key of ['j', 'x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key);
  assert.deepEqual(await faultsOfScreen('/agents/submissions', page), []);
  await page.getByText('3 messages', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Check and send…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^2 messages of 3 can be sent again/).waitFor();
  await dialog.getByText('/body/order/items').waitFor();
  const send = dialog.getByRole('button', { name: 'Send 2 messages' });
  assert.ok(await send.isDisabled(), 'nothing is sent without a reason');
  await page.keyboard.type('The scheduler reads them by now');
  await send.click();
  await page.getByText('Sent again: 2 messages.').waitFor();
  await rows().nth(2).waitFor({ state: 'detached' });
  assert.equal(await rows().count(), 2);
  await page.getByText('1 message', { exact: true }).waitFor();
});

test('F-120: an operator discards the selected dead letters after the console has asked', async () => {
  await page.keyboard.press('*');
  await page.getByText('2 messages', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Discard…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/^2 messages of 2 can be discarded/).waitFor();
  await dialog.getByText('This cannot be taken back.', { exact: false }).waitFor();
  await page.keyboard.type('A test of last week');
  await dialog.getByRole('button', { name: 'Discard 2 messages' }).click();
  await page.getByText('There is no dead letter.').waitFor();
});

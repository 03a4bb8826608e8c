import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { faultsOfScreen, type RunningConsole, root, show, signedIn, startConsole } from './support.ts';

let system: RunningConsole;
let page: Page;

before(async () => {
  system = await startConsole();
  page = await signedIn(system);
});

after(() => system.stop());

/** Submits orders with an address that the service refuses, and cancels each as an operator does. */
async function canceled(count: number): Promise<void> {
  const sample = readFileSync(`${root}examples/orders/samples/address-invalid.json`, 'utf8');
  const bearer = (role: string, ...more: readonly string[]) => ({ authorization: `Bearer ${system.token('--role', role, ...more)}` });
  const [client, operator] = [bearer('client', '--client', 'acme'), bearer('operator', '--subject', 'olga')];
  const json = { 'content-type': 'application/json' };
  for (let index = 0; index < count; index++) {
    const headers = { ...client, ...json, 'idempotency-key': `refused-${index}`, prefer: 'wait=20' };
    const submitted = await fetch(`${system.url}/orders`, { method: 'POST', headers, body: sample });
    const { orderId } = (await submitted.json()) as { readonly orderId: string };
    const read = await fetch(`${system.url}/orders/${orderId}?wait=20&until=rest`, { headers: operator });
    const body = JSON.stringify({ kind: 'cancel', reason: 'no such address' });
    const given = { ...operator, ...json, 'if-match': read.headers.get('etag') ?? '' };
    const answer = await fetch(`${system.url}/orders/${orderId}/instructions`, { method: 'POST', headers: given, body });
    assert.equal(answer.status, 202, await answer.text());
    await fetch(`${system.url}/orders/${orderId}?wait=20&until=rest`, { headers: operator });
  }
}

test('F-161: the page of a workflow shows the changes that the exceptions of its orders propose, and a replay says how many orders would have needed no person', async () => {
  await canceled(5);
  await show('/workflows/fulfil-order/1', page);
  const proposals = page.getByRole('region', { name: 'Proposals' });
  await proposals
    .getByText(/AddressInvalid/)
    .first()
    .waitFor({ timeout: 60_000 });
  await proposals.getByText(/cancel: 5 of 5 passed/).waitFor();
  await proposals.getByText(/compensate\(\)/).waitFor();
  await proposals.getByRole('button', { name: 'Replay stored orders' }).click();
  const said = await proposals.getByRole('status').filter({ hasNotText: 'goes on' }).innerText();
  const [, fit, checked] = /^(\d+) of (\d+) orders would have needed no person/.exec(said) ?? [];
  assert.ok(Number(fit) >= 5 && fit === checked, said);
  assert.deepEqual(await faultsOfScreen('/workflows/fulfil-order/1', page), []);
});

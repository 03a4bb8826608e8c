import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, ended, runId, sample, submit } from './support.ts';

const path = `/rules/undo-${runId}`;
const undoes = {
  name: 'An order without a valid address is undone',
  object: { workflow: 'fulfil-order' },
  event: { kind: 'exception', type: 'AddressInvalid' },
  action: { kind: 'compensate' },
  mode: 'enforce',
  priority: 0,
  reason: 'a holiday',
};
/** Within this time a rule that an admin has written is in force in every process. */
const inForceMs = 10_000;

test('F-141, F-156: a rule acts in all functions ten seconds after an admin wrote it, and no longer acts after its removal', async () => {
  const blocked = await submit(sample('address-invalid'));
  assert.equal((await ended(blocked)).processState, 'Error');
  const put = await call('PUT', path, { role: 'admin', body: undoes });
  assert.equal(put.status, 201, await put.text());
  await sleep(inForceMs);
  const orders = await Promise.all(Array.from({ length: 5 }, () => submit(sample('address-invalid'))));
  for (const orderId of orders) assert.equal((await ended(orderId)).outcome, 'compensated');
  const removed = await call('DELETE', `${path}?reason=over`, { role: 'admin', headers: { 'if-match': '"1"' } });
  assert.ok(removed.ok, await removed.text());
  await sleep(inForceMs);
  assert.equal((await ended(await submit(sample('address-invalid')))).processState, 'Error');
});

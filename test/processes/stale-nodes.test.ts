import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reaches, site, startNode, until, within, work } from './support.ts';

/** Stops a process as a long garbage collection or a frozen machine would: it continues later, and does not notice. */
const pause = (node: { child: { kill(signal: 'SIGSTOP' | 'SIGCONT'): boolean } }) => node.child.kill('SIGSTOP');
const goOn = (node: { child: { kill(signal: 'SIGSTOP' | 'SIGCONT'): boolean } }) => node.child.kill('SIGCONT');

test('X-4, F-22: a host that was paused beyond its lease does not take the lease back from its new holder', async (t) => {
  const { variables, open } = site(t);
  const embedded = open();
  const stale = await startNode(t, { ...variables, STEP_COMPLETE_WITHIN_SECONDS: '60' });
  const orderId = await stale.call('submit', 'blocked', work({ refuse: true }), 'line');
  await reaches(embedded, orderId, 'Error');
  await stale.call('hold', orderId, 500);
  pause(stale);

  const next = await startNode(t, variables);
  await until('the lease has run out', () =>
    next.call('hold', orderId, 10_000).then(
      () => true,
      () => false,
    ),
  );
  const { heldBy } = (await embedded.store.head(orderId)) ?? assert.fail('the order is gone');
  goOn(stale);
  await assert.rejects(stale.call('resubmit', orderId), { name: 'InstanceLockedError' });
  await stale.call('release', orderId);
  await sleep(500);
  assert.equal((await embedded.store.head(orderId))?.heldBy, heldBy);
  await stale.kill('SIGTERM');
  assert.equal((await embedded.store.head(orderId))?.heldBy, heldBy);
});

test('X-4, F-39, F-42, S3: a host that was paused in mid-step beyond the step timeout changes nothing when it continues', async (t) => {
  const { variables, open, effects } = site(t);
  const embedded = open();
  const short = { ...variables, STEP_COMPLETE_WITHIN_SECONDS: '1', SUPERVISOR_PERIOD_SECONDS: '0.2' };
  const stale = await startNode(t, short);
  const orderId = await stale.call('submit', 'slow', work({ ms: 300 }), 'line');
  await until('the step has begun', () => effects().length > 0);
  pause(stale);

  const next = await startNode(t, short);
  const end = await reaches(embedded, orderId, 'Processed');
  assert.partialDeepStrictEqual(end, { outcome: 'completed', failureCount: 0 });
  assert.match(end.blob, /"DeadlineExpired"/, 'the step was late, and requested again');
  goOn(stale);
  await within(stale.call('accept', 'wake-ups', '{}'), 'it does not go on');
  await sleep(700);
  assert.deepEqual(await reaches(embedded, orderId, 'Processed'), end);
  assert.deepEqual(new Set(effects().map((line) => line.split(' ')[1])), new Set([`${orderId}/order/one/1`, `${orderId}/order/two/1`]));
  for (const node of [stale, next]) assert.equal((await node.kill('SIGTERM')).code, 0);
});

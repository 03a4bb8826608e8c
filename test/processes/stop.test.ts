import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { decodeInstance } from '#roles/scheduler/instance';
import { app, post, reaches, root, site, startLocal, tokenFor, until, within, work } from './support.ts';

test('the system prints its address, completes the sample order, and ends with code 0 on SIGTERM without leftovers', async (t) => {
  const { data, variables, open } = site(t);
  const system = await startLocal(t, variables);
  assert.match(system.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const sample = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8'));
  const orderId = await post(system.url, data, sample, 'start-and-stop');
  const { outcome } = await reaches(open(), orderId, 'Processed');
  assert.equal(outcome, 'completed');

  const shown = await fetch(`${system.url}/orders/${orderId}`, { headers: { authorization: `Bearer ${await tokenFor(data, 'client')}` } });
  assert.partialDeepStrictEqual(await shown.json(), { orderId, processState: 'Processed', outcome: 'completed', fault: null });
  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });
  assert.equal(system.err(), '');
  await assert.rejects(fetch(system.url));
});

test('at its start, the system prints each warning about a workflow on a line; the sample app has no warnings', async (t) => {
  const { variables } = site(t);
  const odd = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  assert.deepEqual(odd.out().match(/^warn .*$/gm), [
    'warn  odd@1, order/all/work: This step has no undo, so its effect stays when order/all is compensated. Give it one, .undo(…), or declare that its effect stays: .noUndo().',
  ]);
  await odd.kill('SIGTERM');
  const sample = await startLocal(t, { ...variables, REDRESS_DATA: `${variables.REDRESS_DATA}-2` });
  assert.doesNotMatch(sample.out(), /^warn/m);
  await sample.kill('SIGTERM');
});

test('npm start prints one line for each order that ends, with its output; REDRESS_QUIET=on and LOG_FORMAT=json silence it', async (t) => {
  const { data, variables, open } = site(t);
  const sample = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8'));
  for (const [key, silent] of [
    ['a', {}],
    ['b', { REDRESS_QUIET: 'on' }],
    ['c', { LOG_FORMAT: 'json' }],
  ] as const) {
    const system = await startLocal(t, { ...variables, ...silent });
    const orderId = await post(system.url, data, sample, key);
    await reaches(open(), orderId, 'Processed');
    await system.kill('SIGTERM');
    const lines = system.out().match(/^ord_.*$/gm) ?? [];
    assert.equal(lines.length, key === 'a' ? 1 : 0, system.out());
    if (key === 'a')
      assert.match(lines[0] ?? '', new RegExp(`^${orderId.slice(0, 12)}  fulfil-order \\(ok\\)  completed after .* s  \\{"chargeId":`));
  }
});

test('S24: every file in the data folder is readable by its owner alone, also while the system runs', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, { ...variables, INVENTORY_URL: 'http://127.0.0.1:1' });
  const modes = readdirSync(data).map((file) => `${file} ${(statSync(`${data}/${file}`).mode & 0o777).toString(8)}`);
  assert.deepEqual(modes.toSorted(), ['issuer.json 600', 'redress.sqlite 600', 'redress.sqlite-shm 600', 'redress.sqlite-wal 600']);
  await system.kill('SIGTERM');
});

test('F-23: SIGTERM in the middle of a step lets the step finish: its result is written, no lease is left, the exit code is 0', async (t) => {
  const { data, variables, effects, open } = site(t);
  const system = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  const orderId = await post(system.url, data, { order: work({ ms: 1500 }) }, 'in-mid-step');
  await until('the step has begun', () => effects().some((line) => line.startsWith('begin')));
  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });

  assert.deepEqual(
    effects(),
    ['begin', 'done'].map((what) => `${what} ${orderId}/order/one/1 ${system.pid}`),
  );
  const { state } = (await open().store.load(orderId)) ?? assert.fail('the order is gone');
  assert.partialDeepStrictEqual(state, { heldBy: null, heldUntil: null, processState: 'Processing', failureCount: 0 });
  assert.deepEqual(Object.keys(decodeInstance(state).state.activities), ['order', 'order/two']);

  const next = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  assert.equal((await reaches(open(), orderId, 'Processed')).failureCount, 0);
  assert.equal(effects().filter((line) => line.includes('/one/')).length, 2);
  await next.kill('SIGTERM');
});

test('F-23: open client connections do not keep the system from stopping', async (t) => {
  const { variables } = site(t);
  const system = await startLocal(t, variables);
  const { hostname, port } = new URL(system.url);
  const [idle, half] = [connect(Number(port), hostname), connect(Number(port), hostname)];
  for (const socket of [idle, half]) socket.on('error', () => {});
  await Promise.all([once(idle, 'connect'), once(half, 'connect')]);
  half.write('POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });
});

test('F-23: when an agent does not end in time, the system still stops with code 0, and the step stays open for the next host', async (t) => {
  const { data, variables, effects, open } = site(t);
  const system = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line', STEP_COMPLETE_WITHIN_SECONDS: '12' });
  const orderId = await post(system.url, data, { order: work({ ms: 11_000 }) }, 'too-slow');
  await until('the step has begun', () => effects().length > 0);
  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });
  assert.equal(
    effects().some((line) => line.startsWith('done')),
    false,
  );
  assert.partialDeepStrictEqual(await open().store.head(orderId), {
    processState: 'Processing',
    heldBy: null,
    nextDueFor: { kind: 'step', path: 'order/one' },
  });
});

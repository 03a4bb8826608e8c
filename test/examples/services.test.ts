import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { defineApp } from 'redress';
import { startSystem } from 'redress/testing';
import parcels from '../../examples/services/app.ts';
import { createTally } from '../../examples/services/tally.ts';
import { root, site, startLocal, until } from '../processes/support.ts';

test('F-62, F-65, F-173: the listeners and services of an app work in the test kit as in a host', async () => {
  const lines: string[] = [];
  const tally = createTally((line) => void lines.push(line));
  const on = {
    ...tally.on,
    started: ({ role }: { role: string }) => void lines.push(`started ${role}`),
    stopped: ({ role }: { role: string }) => void lines.push(`stopped ${role}`),
  };
  // A slow service: the host reports its stop only after all services have stopped.
  const service = { ...tally.service, stop: () => setImmediate().then(() => tally.service.stop?.()) };
  const system = await startSystem({ ...parcels, services: [service], on });
  for (const street of ['', 'High Street', '']) await system.submit({ street });
  await system.clock.advance(1000);
  assert.deepEqual([...tally.counts], [['Missing', 2]]);
  await system.stop();
  const [begun, ended] = [
    ['tally: started in local', 'started local'],
    ['tally: stopped', 'stopped local'],
  ];
  assert.deepEqual(lines, [...begun, 'tally: Missing 1', 'tally: Missing 2', ...ended]);
});

test('F-62, F-173: an app has exactly the parts that its definition declares', () => {
  const { service, on } = createTally(() => {});
  const local = { variables: ['STOCK_URL'], start: () => Promise.reject(new Error('not here')) };
  const all = { workflows: [], agents: [], local, channels: {}, services: [service], on };
  assert.deepEqual(defineApp(all), all);
  assert.deepEqual(defineApp({ workflows: [], agents: [] }), { workflows: [], agents: [] });
});

test('F-63, F-65: a service that fails for one order logs it, and orders continue', async () => {
  const heard: unknown[] = [];
  const tally = createTally((line) => {
    if (line.includes('Missing')) throw new Error('the disk is full');
  });
  const servicesExceptionNotHandled = ({ service, orderId }: { service: string; orderId?: string }) => void heard.push([service, orderId]);
  const on = { ...tally.on, servicesExceptionNotHandled };
  const system = await startSystem({ ...parcels, services: [tally.service], on });
  const failed = await system.submit({ street: '' });
  const sent = await system.submit({ street: 'High Street' });
  assert.ok(failed.outcome === 'accepted' && sent.outcome === 'accepted');
  await system.clock.advance(1000);
  assert.deepEqual(heard, [['tally', failed.order.orderId]]);
  assert.equal((await system.state(sent.order.orderId)).outcome, 'completed');
  assert.ok(
    system.publisher.published(0, 10).some(({ detailType, detail }) => detailType === 'Service Exception' && detail['source'] === 'tally'),
  );
  await system.stop();
});

test('F-65: when a service does not start, the system does not start, and earlier services are stopped', async () => {
  const lines: string[] = [];
  const tally = createTally((line) => void lines.push(line));
  const broken = { name: 'broken', start: () => Promise.reject(new Error('no license')) };
  await assert.rejects(startSystem({ ...parcels, services: [tally.service, broken] }), /no license/);
  assert.deepEqual(lines, ['tally: started in local', 'tally: stopped']);
});

test('F-173: npm start runs the services of an app, and SIGTERM stops them', async (t) => {
  const { variables } = site(t);
  const system = await startLocal(t, { ...variables, REDRESS_APP: `${root}examples/services/app.ts` });
  await until('the service has started', () => system.out().includes('tally: started in local'));
  await system.kill('SIGTERM');
  assert.match(system.out(), /tally: stopped/);
});

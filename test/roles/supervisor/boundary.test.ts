import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { queueNames } from '#ports/messages';
import { appOf, startStill, stepMs, submittedMany, supervisorOf } from './support.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))].toSorted();

/** All files of the supervisor. */
const source = globSync('lib/roles/supervisor/*.ts', { cwd: root }).map(read).join('\n');

test('F-54: the supervisor imports nothing that knows a workflow, an agent or an instance', () => {
  assert.deepEqual(
    matches(source, /from '(#.+?)'/g).filter((name) => !name.startsWith('#ports/')),
    [
      '#roles/channels/reconciler',
      '#roles/channels/state',
      '#roles/exceptions/causes',
      '#roles/overview/keeper',
      '#roles/overview/steps',
      '#roles/scheduler/deadlines',
    ],
  );
});

test('F-54: the supervisor uses only heads, patches, id lists, breakers, channel states and the sweep position of the store; it sends only wake-ups, and reads the depth of other queues', () => {
  assert.deepEqual(matches(source, /\bstore\.(\w+)\(/g), ['breaker', 'document', 'due', 'head', 'patch', 'putDocument', 'sweep']);
  assert.deepEqual(matches(source, /\bqueues\.(\w+)\(/g), ['depth', 'send']);
  assert.deepEqual(matches(source, /\bqueueNames\.(\w+)/g), ['wakeUps']);
});

test('F-54: whatever the supervisor finds, it sends only wake-ups, and never touches an instance', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one'), { maxFailures: 1 }),
  );
  const orderIds = await submittedMany(system, 20);
  const blobs = await Promise.all(orderIds.map(async (id) => (await system.state(id)).blob));
  const sent = new Set<string>();
  const send = async (messages: readonly { readonly queue: string }[]) => {
    for (const { queue } of messages) sent.add(queue);
  };
  for (let expiry = 0; expiry < 3; expiry++) {
    await system.clock.advance(2 * stepMs);
    await supervisorOf(system, { queues: { ...system.queues, send } }).pass();
  }
  assert.deepEqual([...sent], [queueNames.wakeUps]);
  assert.deepEqual(await Promise.all(orderIds.map(async (id) => (await system.state(id)).blob)), blobs);
});

test('F-55: no role starts, restarts or ends a process', () => {
  const files = globSync('lib/**/*.ts', { cwd: root }).filter((file) => !/^lib\/(cli|api|runtime\/host|infrastructure)\//.test(file));
  const found = [...files, ...globSync('functions/*.ts', { cwd: root })].filter((file) =>
    /child_process|node:cluster|worker_threads|process\.(kill|exit|abort)/.test(read(file)),
  );
  assert.deepEqual(found, []);
});

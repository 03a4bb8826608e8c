import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSystem, runningSystem } from './support.ts';

let system: RunningSystem;
before(async () => {
  system = await runningSystem();
});
after(() => system.stop());

test('W-01: an operator sees the figures of the whole system, and where the orders of a version are', async () => {
  const overview = await system.redress(['overview', '--json']);
  assert.equal(overview.exitCode, 0);
  assert.partialDeepStrictEqual(overview.json, { error: 0, tasks: { open: 0, mine: 0, overdue: 0 } });
  const text = await system.redress(['overview']);
  for (const { name } of overview.json.channels) assert.ok(text.out.includes(name));

  const listed = await system.redress(['workflow', 'list', '--json']);
  const [first] = listed.json.items as { name: string; version: number }[];
  assert.ok(first);
  const ref = `${first.name}@${first.version}`;
  assert.match((await system.redress(['workflow', 'list'])).out, new RegExp(`^${ref} .*new orders`, 'm'));
  const shown = await system.redress(['workflow', 'show', ref, '--json']);
  assert.equal(shown.json.version, first.version);
  for (const { path } of shown.json.steps) assert.ok((await system.redress(['workflow', 'show', ref])).out.includes(path));
});

test('a workflow without a version is refused with an example', async () => {
  const { exitCode, err } = await system.redress(['workflow', 'show', 'fulfil-order']);
  assert.equal(exitCode, 2);
  assert.match(err, /such as fulfil-order@1/);
});

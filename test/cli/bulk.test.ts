import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSystem, runningSystem } from './support.ts';

let system: RunningSystem;
before(async () => {
  system = await runningSystem();
});
after(() => system.stop());

const run = (...args: readonly string[]) => system.redress([...args, '--json']);

test('an operator prepares an instruction for many orders, sees which of them cannot follow it, and stops the run', async () => {
  const preview = ['bulk', 'preview', 'resubmit', '--reason', 'the bank is back'];
  assert.equal((await run(...preview)).exitCode, 1, 'no filter means every order');
  const prepared = await run(...preview, '--ids', 'ord_nobody', '--key', 'a');
  assert.deepEqual([prepared.exitCode, prepared.json.state, prepared.json.infeasible], [0, 'ready', 1]);
  const { id } = prepared.json;
  assert.equal((await run(...preview, '--ids', 'ord_nobody', '--key', 'a')).json.id, id, 'the same key leads to the same run');
  assert.equal((await run('bulk', 'list')).json.items[0].id, id);
  const { out } = await system.redress(['bulk', 'items', id, '--csv']);
  assert.match(out, /^"order","outcome","verified","at","because"\r\n"ord_nobody","infeasible","","[^"]+","no-such-order: /);
  assert.equal((await run('bulk', 'stop', id, '--reason', 'not needed')).json.state, 'stopped');
  assert.equal((await run('bulk', 'watch', id)).json.state, 'stopped');
  assert.equal((await run('bulk', 'start', id, '--reason', 'too late')).exitCode, 1);
});

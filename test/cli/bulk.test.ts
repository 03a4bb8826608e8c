import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BulkView, withoutStop } from '#cli/bulk';
import { declined, type RunningSystem, runningSystem } from './support.ts';

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
  assert.match(out, /^"order","outcome","verified","at","because","reference"\r\n"ord_nobody","infeasible","","[^"]+","no-such-order: /);
  assert.equal((await run('bulk', 'stop', id, '--reason', 'not needed')).json.state, 'stopped');
  assert.equal((await run('bulk', 'watch', id)).json.state, 'stopped');
  assert.equal((await run('bulk', 'start', id, '--reason', 'too late')).exitCode, 1);
});

test('W-07: an instruction with --all goes to the orders that match --where, after the person has seen how many can follow it', async () => {
  declined.add('old');
  const blocked = [await system.order('old'), await system.order('old')];
  declined.delete('old');
  const all = ['order', 'resubmit', '--all', '--where', 'state=Error', '--where', 'fault=CardDeclined', '--reason', 'the bank is back'];
  const planned = await run(...all, '--dry-run');
  assert.deepEqual([planned.json.state, planned.json.feasible], ['ready', 2]);
  assert.match((await run(...all)).err, /only with --yes/);
  const no = await system.redress(all, { answers: () => false });
  assert.match(no.err, /Nothing was changed\. To start it: redress bulk start/);
  const asked: string[] = [];
  const yes = await system.redress(all, { answers: (question) => asked.push(question) > 0 });
  assert.deepEqual([yes.exitCode, asked], [0, ['Start the bulk run for 2 orders?']]);
  for (const id of blocked) assert.equal((await run('order', 'watch', id)).json.outcome, 'completed');
});

test('an instruction is refused with the remedy if it names no order, or an order and --all', async () => {
  const refused = async (...args: readonly string[]) => (await system.redress(['order', 'resubmit', ...args, '--reason', 'x'])).err;
  assert.match(await refused(), /Give the id of an order, or --all with --where/);
  assert.match(await refused('ord_1', '--all', '--where', 'state=Error'), /not both/);
  assert.match(await refused('--all'), /Say with --where which orders/);
  assert.match(await refused('ord_1', '--rate', '5'), /go with --all/);
  assert.match(await refused('--all', '--where', 'color=red'), /state, workflow, fault/);
});

test('F-158: a bulk run without a failure limit gets a warning that proposes 5 % of its orders, and at least 5, as the limit', () => {
  const ready = { state: 'ready', kind: 'resubmit', stopAfterFailures: null } as BulkView;
  const proposed = (run: Partial<BulkView>) => withoutStop({ ...ready, ...run })?.match(/--stop-after (\d+)/)?.[1];
  assert.deepEqual(
    [6, 10, 100, 101, 10_000].map((feasible) => proposed({ feasible })),
    ['5', '5', '5', '6', '500'],
  );
  const needless: readonly Partial<BulkView>[] = [
    { feasible: 5 },
    { feasible: 100, stopAfterFailures: 2 },
    { feasible: 100, kind: 'acknowledge' },
    { feasible: 100, state: 'running' },
  ];
  for (const run of needless) assert.equal(proposed(run), undefined, JSON.stringify(run));
});

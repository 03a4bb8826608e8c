import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { createDeadDestinations } from '#roles/notifier/dead-destinations';
import { deadDelivery } from '../support/dead-delivery.ts';
import { declined, type RunningSystem, runningSystem } from './support.ts';

describe('tasks at the command line', () => {
  let system: RunningSystem;
  let blocked = '';
  before(async () => {
    system = await runningSystem();
  });
  after(() => system.stop());
  beforeEach(async () => {
    declined.add('empty');
    blocked = await system.order('empty');
  });

  const task = async () => (await system.redress(['task', 'show', blocked, '--json'])).json;
  const resolve = (kind: string, ...more: readonly string[]) =>
    system.redress(['task', 'resolve', blocked, kind, '--reason', 'the bank is back', ...more]);

  test('F-61: the open task of a blocked order is listed, and is found by the beginning of its id or of the id of its order', async () => {
    const { json } = await system.redress(['task', 'list', '--json']);
    const listed = json.items.find(({ orderId }: { orderId: string }) => orderId === blocked);
    assert.deepEqual([listed.state, listed.fault.type], ['open', 'CardDeclined']);
    for (const beginning of [blocked.slice(0, 30), listed.id.slice(0, 30), listed.id])
      assert.equal((await system.redress(['task', 'show', beginning, '--json'])).json.id, listed.id);
    const nobody = await system.redress(['task', 'show', 'nobody']);
    assert.deepEqual([nobody.exitCode, nobody.err], [1, 'redress: No open task begins with nobody. List the tasks: redress task list\n']);
  });

  test('F-145: a person claims a task, comments on it, releases it, and assigns it to a group', async () => {
    await system.redress(['task', 'claim', blocked]);
    assert.partialDeepStrictEqual(await task(), { state: 'claimed', assignee: 'cli' });
    await system.redress(['task', 'comment', blocked, '--text', 'The bank is away until noon.']);
    await system.redress(['task', 'release', blocked]);
    await system.redress(['task', 'assign', blocked, '--group', 'night']);
    const { state, group, comments } = await task();
    assert.deepEqual([state, group, comments[0].text], ['open', 'night', 'The bank is away until noon.']);
    assert.match((await system.redress(['task', 'assign', blocked])).err, /^redress: Give a person with --to, or a group with --group\.\n/);
  });

  test('F-145: a person hands over all claimed tasks at the end of a shift', async () => {
    await system.redress(['task', 'claim', blocked]);
    await system.redress(['task', 'hand-over', '--text', 'Ask the bank at noon.', '--group', 'day']);
    assert.partialDeepStrictEqual(await task(), { state: 'open', group: 'day' });
  });

  test('F-153: a check shows what a resolution would do, and neither the order nor the task changes', async () => {
    const before = await task();
    const { exitCode, out } = await resolve('resubmit', '--dry-run');
    assert.equal(exitCode, 0);
    assert.match(out, /will be requested +order\/charge +charge\nAt most \d+ requests, if each .* cost at most \$/);
    assert.deepEqual(await task(), before);
  });

  test('F-60, F-153: a person resolves the task, the order completes, and the task says that the resolution has passed', async () => {
    declined.delete('empty');
    const { exitCode, err } = await resolve('resubmit');
    const wanted = `Accepted. To follow the order: redress order watch ${blocked}\nTo see later whether it helped: redress task show tsk_`;
    assert.deepEqual([exitCode, err.slice(0, wanted.length)], [0, wanted]);
    assert.equal((await system.redress(['order', 'watch', blocked])).exitCode, 0);
    // The order has no open task any more, so its newest resolved one is shown.
    assert.partialDeepStrictEqual(await task(), { orderId: blocked, state: 'resolved', verified: 'passed' });
    assert.match((await system.redress(['task', 'claim', blocked])).err, /^redress: No open task begins with/);
    const { json } = await system.redress(['task', 'list', '--state', 'resolved', '--json']);
    assert.partialDeepStrictEqual(
      json.items.find(({ orderId }: { orderId: string }) => orderId === blocked),
      {
        verified: 'passed',
        resolution: { reason: 'the bank is back', instruction: { kind: 'resubmit' } },
      },
    );
  });

  test('F-154: the command asks before a resolution that cannot be taken back, and requires --yes without a terminal', async () => {
    const unsure = await resolve('skip', '--fields', '{"output":{},"effect":"done"}');
    assert.deepEqual(
      [unsure.exitCode, unsure.err],
      [2, 'redress: skip cannot be taken back. Look at it with --dry-run, and confirm it with --yes.\n'],
    );
    assert.equal((await task()).state, 'open');
    assert.equal((await resolve('skip', '--fields', '{"output":{},"effect":"done"}', '--yes')).exitCode, 0);
  });

  test('a hint begins with npx if npm has started the program, so that a person can repeat it', async () => {
    const claimed = async (environment: { readonly [name: string]: string }) =>
      (await system.redress(['task', 'claim', 'nobody'], { environment })).err;
    assert.equal(await claimed({}), 'redress: No open task begins with nobody. List the tasks: redress task list\n');
    assert.equal(
      await claimed({ npm_execpath: '/usr/lib/npm-cli.js' }),
      'redress: No open task begins with nobody. List the tasks: npx redress task list\n',
    );
  });

  test('F-154: a resolution that the order cannot follow is refused with its reasons, and the task stays open', async () => {
    const checked = await resolve('retry-undo', '--dry-run');
    assert.equal(checked.exitCode, 1);
    assert.match(checked.out, /^refused/);
    assert.equal((await resolve('retry-undo')).exitCode, 1);
    assert.equal((await resolve('resubmit', '--fields', 'no JSON')).exitCode, 2);
    assert.equal((await resolve('nonsense')).exitCode, 1);
    assert.equal((await task()).state, 'open');
  });

  test('F-153: the task of a destination without messages is shown, found, checked and acknowledged, and says how to correct the destination', async (context) => {
    const { store, database } = openEmbedded(system.folder, { clock: systemClock });
    context.after(() => database.close());
    await createDeadDestinations({ store, clock: systemClock, dueMs: 3_600_000 }).open(deadDelivery);
    const [{ id }] = (await system.redress(['task', 'list', '--kind', 'dead-letter', '--json'])).json.items;
    assert.equal((await task()).orderId, blocked, 'tasks of orders are found beside it');
    const shown = await system.redress(['task', 'show', id.slice(0, 30)]);
    assert.match(shown.out, /^Messages for the group claims do not reach https:\/\/room\.example/);
    assert.doesNotMatch(shown.out, /of order|a rule says/);
    assert.match(shown.err, /redress group list[\s\S]*redress task resolve tsk_notifications\S+ acknowledge --reason/);
    assert.match((await system.redress(['task', 'claim', id])).out, /state +claimed, by cli/);
    const resolved = (kind: string, ...more: readonly string[]) =>
      system.redress(['task', 'resolve', id, kind, '--reason', 'the room is gone', ...more]);
    const refused = await resolved('resubmit');
    assert.deepEqual([refused.exitCode, /has no order to instruct/.test(refused.err)], [1, true], refused.err);
    assert.deepEqual([(await resolved('resubmit', '--dry-run')).exitCode, (await resolved('acknowledge', '--dry-run')).exitCode], [1, 0]);
    assert.deepEqual(await resolved('acknowledge').then(({ exitCode, out }) => [exitCode, out]), [
      0,
      'The task is resolved. Nothing else has changed.\n',
    ]);
    assert.match((await system.redress(['task', 'show', id])).out, /^ {2}resolved +by cli at \S+ with acknowledge: the room is gone$/m);
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { replay } from 'redress/testing';
import { declined, type RunningSystem, runningSystem } from './support.ts';

describe('orders at the command line', () => {
  let system: RunningSystem;
  let good = '';
  let bad = '';

  before(async () => {
    declined.add('empty').add('mended later');
    system = await runningSystem();
    good = await system.order('full');
    bad = await system.order('empty');
  });
  after(() => system.stop());

  const body = (card: string, more = {}) => JSON.stringify({ order: { item: 'tea', card }, ...more });

  test('order submit prints only the id', async () => {
    const { exitCode, out, err } = await system.redress(['order', 'submit', '-'], { input: body('full') });
    assert.equal(exitCode, 0);
    assert.match(out, /^ord_[a-z2-7]{52}\n$/);
    assert.equal(err, '');
  });

  test('order submit wraps a bare order into a submission with the options', async () => {
    const file = `${system.folder}/tea.json`;
    writeFileSync(file, '\ufeff{"item":"tea","card":"full"}');
    const { json, exitCode } = await system.redress(['order', 'submit', file, '--reference', 'R-7', '--json']);
    assert.equal(exitCode, 0);
    assert.deepEqual(Object.keys(json), ['orderId', 'processState', 'submittedAt', 'replayed']);
    const found = await system.redress(['order', 'list', '--reference', 'R-7', '--json']);
    assert.deepEqual(
      found.json.items.map(({ orderId }: { orderId: string }) => orderId),
      [json.orderId],
    );
  });

  test('a second submission under the same key prints the same order, and says that the key was used before', async () => {
    const submit = () => system.redress(['order', 'submit', '-', '--key', 'once'], { input: body('full') });
    const [first, second] = [await submit(), await submit()];
    assert.equal(second.out, first.out);
    assert.equal(first.err, '');
    assert.match(second.err, /used before/);
  });

  test('--watch reports every step, and has exit code 0 for a completed order', async () => {
    const { exitCode, out } = await system.redress(['order', 'submit', '-', '--watch'], { input: body('full') });
    assert.equal(exitCode, 0);
    assert.match(out, /^ord_[a-z2-7]{52}\n/);
    assert.match(out, /\nreserve ok \d\.\d s\n/);
    assert.match(out, /\ncharge ok \d\.\d s\n/);
    assert.match(out, /\ncompleted \d\.\d s after its submission\n$/);
  });

  test('--watch has exit code 1 for an order in Error, and prints the reason and the remedy', async () => {
    const { exitCode, out, err } = await system.redress(['order', 'submit', '-', '--watch'], { input: body('empty') });
    assert.equal(exitCode, 1);
    assert.match(out, /\ncharge failed: CardDeclined\nblocked: CardDeclined at order\/charge: The bank says no\.\n$/);
    assert.match(err, /redress order get ord_/);
  });

  test('--watch --json prints one JSON text: the final order', async () => {
    const { exitCode, json } = await system.redress(['order', 'watch', bad, '--json']);
    assert.equal(exitCode, 1);
    assert.deepEqual([json.orderId, json.processState, json.fault.type], [bad, 'Error', 'CardDeclined']);
  });

  test('a refusal names every error with its pointer, and the request id', async () => {
    const { exitCode, err, out } = await system.redress(['order', 'submit', '-'], { input: '{"order":{"item":7,"price":1}}' });
    assert.equal(exitCode, 1);
    for (const said of ['422 invalid', '/order/item ', '/order/card ', '/order/price ', 'requestId ']) assert.ok(err.includes(said), err);
    assert.equal(out, '');
  });

  test('an order is shown with its steps', async () => {
    const { out } = await system.redress(['order', 'get', bad]);
    assert.match(out, /Error, blocked: CardDeclined/);
    assert.match(out, /\nwhy +Blocked: CardDeclined at order\/charge\. It waits for a person: task tsk_\w+\.\n/);
    assert.match(out, /reserve +stock\.reserve +ok/);
    const [, exceptionId = '', taskId] = /\nexception +(exc_\w+)\ntask +(tsk_\w+)\n/.exec(out) ?? [];
    assert.equal((await system.redress(['exception', 'show', exceptionId, '--json'])).json.taskId, taskId);
    assert.match((await system.redress(['exception', 'show', '--help'])).out, /order get/);
    assert.match(out, /charge +till\.charge +failed: CardDeclined/);
    assert.match(out, /\ninput +of order\/charge: \{"card":"[^"]+"\}\n/);
    const { json } = await system.redress(['order', 'get', bad, '--json']);
    assert.deepEqual(
      json.steps.map(({ name }: { name: string }) => name),
      ['reserve', 'charge'],
    );
  });

  test('F-162: a restarted order names its former order, which names the new one', async () => {
    const former = await system.order('empty');
    const again = await system.redress(['order', 'restart', former, '--keep-effects', '--reason', 'another card', '--yes']);
    assert.equal(again.exitCode, 0, again.err);
    await system.redress(['order', 'watch', former]);
    const [, next = ''] = /\nrestarted +as (ord_\w+)\n/.exec((await system.redress(['order', 'get', former])).out) ?? [];
    const found = () => system.redress(['order', 'get', next]);
    // The new order exists only after a message of the former one was handled.
    let { out, exitCode } = await found();
    for (let tries = 0; exitCode !== 0 && tries < 100; tries++) ({ out, exitCode } = await found());
    assert.match(out, new RegExp(`\\nrestart of +${former}\\n`));
  });

  test('a unique prefix of an id is enough to name an order', async () => {
    for (const text of [bad.slice(0, 16), bad.slice(4, 16), `${bad.slice(0, 12)}…`]) {
      assert.equal((await system.redress(['order', 'get', text, '--json'])).json.orderId, bad);
    }
  });

  test('an ambiguous prefix is a usage error that lists the ids', async () => {
    const { exitCode, err } = await system.redress(['order', 'get', 'ord_']);
    assert.equal(exitCode, 2);
    assert.match(err, /matches \d+ orders: ord_/);
  });

  test('an unknown order is refused', async () => {
    assert.equal((await system.redress(['order', 'get', 'zzzz9'])).exitCode, 1);
    const { exitCode, err } = await system.redress(['order', 'get', `ord_${'a'.repeat(52)}`]);
    assert.equal(exitCode, 1);
    assert.match(err, /404 not-found/);
  });

  test('the list of orders is filtered, ends at the limit, and says that there are more orders', async () => {
    const errors = await system.redress(['order', 'list', '--state', 'Error', '--fault', 'CardDeclined', '--json']);
    assert.ok(errors.json.items.some(({ orderId }: { orderId: string }) => orderId === bad));
    assert.ok(!errors.json.items.some(({ orderId }: { orderId: string }) => orderId === good));
    assert.equal(errors.json.more, false);

    const one = await system.redress(['order', 'list', '--limit', '1']);
    assert.equal(one.out.trim().split('\n').length, 2);
    assert.match(one.err, /There are more orders: use --limit 10 or --all/);
    assert.equal((await system.redress(['order', 'list', '--limit', '1', '--json'])).json.more, true);
    assert.ok((await system.redress(['order', 'list', '--all', '--json'])).json.items.length > 2);
  });

  test('the history of an order is printed, oldest entry first', async () => {
    const { json } = await system.redress(['order', 'history', bad, '--json']);
    assert.deepEqual([json.items[0].seq, json.items[0].type], [1, 'OrderSubmitted']);
    assert.match((await system.redress(['order', 'history', bad])).out, /1 .* OrderSubmitted .*workflow=fulfil-order@1/);
  });

  test('an order is exported into a file, and replays as it happened', async () => {
    const { out, json } = await system.redress(['order', 'export', bad.slice(0, 16)]);
    assert.deepEqual([json.v, json.order.orderId, out.endsWith('}\n')], [1, bad, true]);
    const { difference, end } = replay(json);
    assert.deepEqual([difference, end.processState], [undefined, 'Error']);
  });

  test('F-157: a command that cannot be taken back asks at a terminal, after its check; a script must give --yes', async () => {
    declined.add('never paid');
    const orderId = await system.order('never paid');
    const ends = (kind: string, ...more: readonly string[]) => ['order', kind, orderId, '--reason', 'ordered twice', ...more];
    const state = async () => (await system.redress(['order', 'get', orderId, '--json'])).json.processState;
    const asked: string[] = [];
    const answers = (question: string) => asked.push(question) === 0;
    for (const kind of ['cancel', 'compensate', 'terminate']) {
      const { exitCode, err } = await system.redress(ends(kind), { answers });
      assert.deepEqual([exitCode, asked.at(-1), await state()], [1, `${kind} cannot be taken back. Go on?`, 'Error']);
      assert.match(err, /^It is feasible\. Nothing would be requested[\s\S]*Nothing was changed\.\n$/);
    }
    for (const kind of ['cancel', 'compensate', 'mark-compensated', 'terminate', 'recover', 'restart', 'skip']) {
      const { exitCode, err } = await system.redress(ends(kind));
      const said = `redress: ${kind} cannot be taken back. Look at it with --dry-run, and confirm it with --yes.\n`;
      assert.deepEqual([exitCode, err.startsWith(said), await state()], [2, true, 'Error'], err);
    }
    assert.equal((await system.redress(ends('cancel', '--yes'), { answers })).exitCode, 0);
    assert.deepEqual([asked.length, (await system.redress(['order', 'watch', orderId])).exitCode], [3, 0]);
    const erase = ['order', 'erase', orderId, '--reason', 'the client asks'];
    const kept = await system.redress(erase, { answers });
    assert.deepEqual([kept.exitCode, kept.err], [1, 'redress: Nothing was erased.\n']);
    assert.equal((await system.redress(erase)).exitCode, 2);
    assert.equal((await system.redress([...erase, '--yes'])).exitCode, 0);
  });

  test('an order in Error is resubmitted, with the reason in its history; a dry run needs no reason, and changes nothing', async () => {
    const orderId = await system.order('mended later');
    const history = async () => (await system.redress(['order', 'history', orderId, '--json'])).json.items;
    const before = await history();
    const dry = await system.redress(['order', 'resubmit', orderId, '--dry-run']);
    assert.match(dry.out, /requested +order\/charge +charge/);
    assert.deepEqual(await history(), before);

    declined.delete('mended later');
    const { exitCode, err } = await system.redress([
      'order',
      'resubmit',
      orderId.slice(0, 20),
      '--reason',
      'the bank says yes now',
      '--complete-within',
      '60',
    ]);
    assert.equal(exitCode, 0);
    assert.match(err, /Accepted/);
    assert.equal((await system.redress(['order', 'watch', orderId])).exitCode, 0);
    const given = (await history()).find(({ type }: { type: string }) => type === 'InstructionGiven');
    assert.deepEqual([given.reason, given.by], ['the bank says yes now', 'cli']);
  });

  test('W-05, F-155: an order in Error is shown with the commands that list alike orders and the possible instructions', async () => {
    const { out, err } = await system.redress(['order', 'get', bad]);
    const [, listing = ''] = /^alike +redress (exception list .+)$/m.exec(out) ?? [];
    assert.match((await system.redress(listing.split(' '))).out, new RegExp(`CardDeclined.*${bad}`));
    const checked = "--reason '…' --dry-run";
    assert.match(err, new RegExp(`redress order resubmit ${bad} ${checked}[\\s\\S]*redress order resume-at ${bad} --path PATH ${checked}`));
    assert.equal((await system.redress(['order', 'get', good])).err, '');
  });

  test('a finished order has nothing left to undo, and its undo plan says so', async () => {
    const { out } = await system.redress(['order', 'plan', good]);
    assert.equal(out, 'The order is finished (completed), so none of its steps will be undone any more.\n');
  });

  test('an infeasible instruction is refused with every reason', async () => {
    const { exitCode, err } = await system.redress(['order', 'resubmit', good, '--reason', 'why not']);
    assert.equal(exitCode, 1);
    assert.match(err, /409 infeasible[\s\S]*- The order is finished \(completed\)/);
  });

  test('a given token is used, and an invalid one is refused', async () => {
    const { out: token } = await system.redress(['token', '--role', 'client', '--client', 'somebody-else']);
    assert.equal((await system.redress(['order', 'get', good, '--token', token.trim()])).exitCode, 1);
    const { exitCode, err } = await system.redress(['order', 'list'], { environment: { REDRESS_TOKEN: 'nonsense' } });
    assert.equal(exitCode, 1);
    assert.match(err, /401 unauthenticated[\s\S]*--data/);
  });

  test('ids are shortened on a terminal, and whole in a pipe', async () => {
    assert.match((await system.redress(['order', 'list'], { isScreen: true })).out, /^ord_[a-z2-7]{8}… /m);
    assert.match((await system.redress(['order', 'list'])).out, /^ord_[a-z2-7]{52} /m);
  });
});

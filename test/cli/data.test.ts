import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { createDigests } from '#roles/audit/digests';
import { declined, folderFor, launcher, type RunningSystem, redress, runningSystem, runProcess, storeIn } from './support.ts';

describe('the data folder at the command line', () => {
  let system: RunningSystem;
  before(async () => {
    declined.add('empty');
    system = await runningSystem();
  });
  after(() => system.stop());

  test('alerts lists announcements oldest first, after the number that is given', async () => {
    const orderId = await system.order('empty');
    const { items } = (await system.redress(['alerts', '--json'])).json;
    assert.deepEqual([items[0].seq, items[0].detailType, items[0].detail.orderId], [1, 'Order In Error', orderId]);
    assert.deepEqual((await system.redress(['alerts', '--json', '--since', '1'])).json.items, items.slice(1));
    assert.match((await system.redress(['alerts'])).out, new RegExp(`^1 .*Order In Error  ${orderId}  CardDeclined  order/charge`));
  });

  test('alerts --follow prints new announcements, one JSON text per line', async (context) => {
    const data = folderFor(context);
    const announced = (id: string) =>
      storeIn(data, async ({ publisher }) => void (await publisher.publish([{ id, detailType: 'Exception Raised', detail: { id } }])));
    await announced('a');
    const following = runProcess(launcher, ['alerts', '--follow', '--json', '--data', data], { until: /\n.*\n/, signal: 'SIGTERM' });
    await setTimeout(700);
    await announced('b');
    const { out } = await following;
    assert.deepEqual(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).detail.id),
      ['a', 'b'],
    );
  });

  test('a client is registered, listed, and gets the status messages of its order on its own queue', async () => {
    const put = await system.redress([
      'client',
      'put',
      'acme',
      '--channel',
      'redress-response-a',
      'redress-response-b',
      '--sender',
      'local',
      '--app-client',
      'shop-app',
      '--reason',
      'a new client',
      '--json',
    ]);
    const given = { responseChannels: ['redress-response-a', 'redress-response-b'], senders: ['local'], appClients: ['shop-app'] };
    const acme = { id: 'acme', rev: 1, ...given, by: put.json.by, at: put.json.at, reason: 'a new client' };
    assert.deepEqual(put.json, acme);
    assert.deepEqual((await system.redress(['client', 'list', '--json'])).json, { items: [acme] });
    assert.match((await system.redress(['client', 'list'])).out, /acme +redress-response-a, redress-response-b +local +shop-app +/);

    const input = JSON.stringify({ order: { item: 'tea', card: 'full' }, responseChannel: 'redress-response-a' });
    assert.equal((await system.redress(['order', 'submit', '-', '--client', 'acme', '--watch'], { input })).exitCode, 0);

    const statusIn = (ran: { out: string }) =>
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).status);
    const kept = await system.redress(['channel', 'receive', 'redress-response-a', '--wait', '5', '--keep']);
    assert.deepEqual(statusIn(kept), ['received', 'completed']);
    assert.deepEqual(
      (await system.redress(['channel', 'list', '--json'])).json.items.find(({ name }: { name: string }) => name === 'redress-response-a')
        .visible,
      2,
    );
    const { items } = (await system.redress(['channel', 'receive', 'redress-response-a', '--json'])).json;
    assert.deepEqual(
      items.map(({ body }: { body: { status: string } }) => body.status),
      ['received', 'completed'],
    );
    assert.equal((await system.redress(['channel', 'receive', 'redress-response-a'])).out, '');
  });

  test('client put replaces a registration by one with the next version', async () => {
    const put = async (sender: string) =>
      (await system.redress(['client', 'put', 'twice', '--sender', sender, '--reason', sender, '--json'])).json;
    assert.deepEqual((await put('AROAX:*')).rev, 1);
    const { rev, senders, reason } = await put('AROAX:session1');
    assert.deepEqual([rev, senders, reason], [2, ['AROAX:session1'], 'AROAX:session1']);

    const audit = await system.redress(['audit', '--kind', 'client', '--target', 'twice']);
    assert.match(audit.out, /^at .*\n.* change +client +twice +AROAX:session1\n.* register +client +twice +AROAX:\*\n$/);
    const { items } = (await system.redress(['audit', '--target', 'twice', '--limit', '1', '--json'])).json;
    assert.deepEqual([items.length, items[0].before.senders, items[0].after.senders], [1, ['AROAX:*'], ['AROAX:session1']]);
    assert.match(
      (await system.redress(['audit', '--by', 'stranger'])).err,
      /^The audit has no such entries\. With --reads it lists reads of orders, too\.\n$/,
    );
  });

  test('audit verify compares the audit with its digests, and names an entry that has changed', async () => {
    assert.equal((await system.redress(['client', 'put', 'kept', '--reason', 'r'])).exitCode, 0);
    // An hour and a half after the end of the day in UTC: its digest is due.
    const clock = manualClock((Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000 + 5_400_000);
    const telemetry = createTelemetry({ level: 'off', auditLines: false });
    await storeIn(system.folder, ({ store }) => createDigests({ store, clock, telemetry })());
    const fits = await system.redress(['audit', 'verify', '--json']);
    assert.deepEqual([fits.exitCode, fits.json.fits, fits.json.misfits], [0, true, []]);
    assert.equal((await system.redress(['audit', 'verify', '--expect', fits.json.hash])).exitCode, 0);
    assert.match(
      (await system.redress(['audit', 'verify', '--expect', 'x'])).out,
      /^The digest x is not among the daily digests\.\nThe audit does not fit/,
    );

    const [{ id }] = (await system.redress(['audit', '--target', 'kept', '--json'])).json.items;
    await storeIn(system.folder, ({ database }) =>
      database.write(() => void database.prepare("UPDATE documents SET record = replace(record, 'kept', 'gone') WHERE id = ?").run(id)),
    );
    const broken = await system.redress(['audit', 'verify']);
    assert.equal(broken.exitCode, 1);
    assert.match(broken.out, new RegExp(`changed +${id}\\n.*does not fit its digests: `, 's'));
  });

  test('an invalid response queue is refused with the reason', async () => {
    const { exitCode, err } = await system.redress(['client', 'put', 'bad', '--channel', 'somebody-elses', '--reason', 'x']);
    assert.equal(exitCode, 1);
    assert.match(err, /\/responseChannels\/0 /);
  });

  test('channel receive takes no message from a queue of the system, and shows its messages with --keep', async (context) => {
    const data = folderFor(context);
    await storeIn(data, ({ queues }) => queues.send([{ queue: 'stock-requests', body: '{"v":1}' }]));
    assert.equal((await redress(['channel', 'receive', 'stock-requests', '--data', data])).exitCode, 2);
    assert.equal((await redress(['channel', 'receive', 'stock-requests', '--keep', '--data', data])).out, '{"v":1}\n');
    assert.match((await redress(['channel', 'list', '--data', data])).out, /stock-requests +1 /);
  });

  for (const flags of [[], ['--json']])
    test(`messages that could not be printed stay in their queue (channel receive ${flags.join()})`, async (context) => {
      const data = folderFor(context);
      await storeIn(data, ({ queues }) => queues.send([{ queue: 'redress-response-a', body: '{"v":1}' }]));
      const write = () => {
        throw new Error('The output is closed.');
      };
      assert.equal((await redress(['channel', 'receive', 'redress-response-a', '--data', data, ...flags], { write })).exitCode, 1);
      assert.equal((await redress(['channel', 'receive', 'redress-response-a', '--keep', '--data', data])).out, '{"v":1}\n');
    });

  test('the text of a message cannot control the terminal', async (context) => {
    const data = folderFor(context);
    await storeIn(data, ({ queues }) => queues.send([{ queue: 'redress-response-a', body: '\u001b]0;mine\u0007\nline' }]));
    assert.equal((await redress(['channel', 'receive', 'redress-response-a', '--data', data])).out, '\ufffd]0;mine\ufffd\ufffdline\n');
  });

  test('one pass of the supervisor prints its counters', async (context) => {
    const data = folderFor(context);
    await storeIn(data);
    assert.deepEqual((await redress(['supervise', '--json', '--data', data])).json, {
      looked: 0,
      counted: 0,
      woken: 0,
      intoError: 0,
      lost: 0,
    });
    assert.match((await redress(['supervise', '--data', data])).out, /^examined 0 orders: /);
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { type RunningSystem, runningSystem, storeIn } from './support.ts';

describe('dead letters at the command line', () => {
  let system: RunningSystem;
  before(async () => void (system = await runningSystem()));
  after(() => system.stop());

  let messages = 0;
  async function deadLetter(queue: string, body: object | string): Promise<string> {
    const about = { queue, messageId: `m-${++messages}`, sentAt: Date.UTC(2026, 0, 1) + messages };
    const id = deadLetterId(about);
    const reason = 'It is none that this queue takes.';
    const story = { reason, attempts: [{ at: about.sentAt, error: reason }], failures: 1, deadAt: about.sentAt, senderId: 'robot' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await storeIn(system.folder, async ({ store }) => {
      await store.putDocument(
        deadLetterDocument({ ...about, ...story, id, body: text, ...(typeof body === 'string' ? {} : { type: 'submission' }) }),
        0,
      );
    });
    return id;
  }

  test('F-120: a dead letter is listed, shown, edited in a file and sent again, and its order completes', async () => {
    await system.redress(['client', 'put', 'acme', '--sender', 'robot', '--reason', 'it sends by message']);
    const message = { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'by-message', order: { item: 7, card: 'good' } };
    const id = await deadLetter('submissions', message);
    assert.match((await system.redress(['dead-letter', 'list'])).out, new RegExp(`submissions +${id} +submission +It is none`));
    assert.match((await system.redress(['channel', 'status'])).out, /submissions +open( +\S+)* +1 *\n/);
    const shown = await system.redress(['dead-letter', 'show', 'submissions', id]);
    assert.match(shown.out, /^.*sent 2026-01-01T.*\nIt is none that this queue takes\.\n1 failures:\n/);
    const refused = await system.redress(['dead-letter', 'resubmit', 'submissions', id, '--reason', 'again']);
    assert.deepEqual([refused.exitCode, /\/body\/order\/item/.test(refused.err)], [1, true], refused.err);

    const file = join(system.folder, 'message.json');
    const { out } = await system.redress(['dead-letter', 'show', 'submissions', id, '--body']);
    writeFileSync(file, out.replace('"item": 7', '"item": "tea"'));
    const sent = await system.redress(['dead-letter', 'resubmit', 'submissions', id, '--reason', 'a name', '--data', `@${file}`, '--json']);
    assert.equal(sent.exitCode, 0, sent.err);
    const watched = await system.redress(['order', 'watch', sent.json.orderId, '--json']);
    assert.equal(watched.exitCode, 0, watched.err);
    assert.match((await system.redress(['order', 'history', sent.json.orderId])).out, /MessageResubmitted.*reason=a name/);
    assert.match((await system.redress(['dead-letter', 'list'])).err, /No dead letters match/);
  });

  test('F-120: dead letters are discarded by a filter after a dry run, and one by its id', async () => {
    const ids = [
      await deadLetter('till-replies', 'torn'),
      await deadLetter('till-replies', 'torn too'),
      await deadLetter('till-requests', 'other'),
    ];
    const replies = ['till', '--queue', 'till-replies', '--reason', 'nobody knows what it was'];
    const tried = await system.redress(['dead-letter', 'discard', ...replies, '--dry-run', '--json']);
    assert.deepEqual(
      tried.json.items.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]),
      ids.slice(0, 2).map((id) => [id, 'possible']),
    );
    const resubmitted = await system.redress(['dead-letter', 'resubmit', 'till', '--all', '--reason', 'try']);
    assert.deepEqual([resubmitted.exitCode, resubmitted.out.match(/invalid +\/body Expected JSON/g)?.length], [1, 3], resubmitted.err);
    assert.equal((await system.redress(['dead-letter', 'discard', ...replies])).exitCode, 0);
    const shown = await system.redress(['dead-letter', 'show', 'till', ids[2] ?? '']);
    assert.match(shown.out, /This message of 5 bytes is not JSON: it is cut off, or not JSON from its beginning/);
    const alone = await system.redress(['dead-letter', 'show', 'till', ids[2] ?? '', '--body']);
    assert.deepEqual([alone.exitCode, alone.out], [1, '']);
    assert.match(alone.err, /resubmit the message with a complete body: --data @message.json/);
    const discard = ['dead-letter', 'discard', 'till', ids[2] ?? '', '--reason', 'the last'];
    assert.deepEqual([(await system.redress(discard)).err, (await system.redress(discard)).exitCode], ['Discarded.\n', 1]);
  });

  for (const args of [
    ['discard', 'till', '--reason', 'x'],
    ['discard', 'till', 'm', '--all', '--reason', 'x'],
    ['resubmit', 'till', '--all', '--data', '{}', '--reason', 'x'],
    ['resubmit', 'till', 'm'],
  ])
    test(`"redress dead-letter ${args.join(' ')}" is a usage error`, async () =>
      assert.equal((await system.redress(['dead-letter', ...args])).exitCode, 2));
});

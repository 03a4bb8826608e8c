import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openLocalIssuer } from '#api/local-issuer';
import { deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { folderFor, type Ran, type RunningSystem, redress, runningSystem, storeIn } from './support.ts';

const found = ({ json }: Ran, what: string) => json.items.filter((item: { readonly what: string }) => item.what === what);

describe('the doctor of the command line', () => {
  let system: RunningSystem;
  before(async () => void (system = await runningSystem()));
  after(() => system.stop());

  test('finds no problem in a system without problems', async () => {
    const sound = await system.redress(['doctor', '--json']);
    assert.equal(sound.exitCode, 0, sound.out);
    const states = sound.json.items.map(({ what, state }: { readonly what: string; readonly state: string }) => `${what} ${state}`);
    const expected = [
      'node ok',
      'keys ok',
      'store ok',
      'certificate skipped',
      'system ok',
      'clock ok',
      'token ok',
      'channels ok',
      'tasks ok',
    ];
    assert.deepEqual(states, expected);
    assert.match((await system.redress(['doctor'])).out, /^ok {7}node +\d+\.\d+\.\d+$/m);
  });

  test('names closed channels, unavailable services and dead letters, each with the command that helps', async () => {
    await system.redress(['channel', 'close', 'till', '--reason', 'the bank moves']);
    await storeIn(system.folder, async ({ store }) => {
      const at = Date.now();
      await store.putBreaker({ agent: 'stock', rev: 1, openedAt: at, probeAt: at + 60_000, failedProbes: 2, closedAt: null }, 0);
      const about = { queue: 'submissions', messageId: 'm-1', sentAt: at };
      const story = { reason: 'torn', attempts: [{ at, error: 'torn' }], failures: 1, deadAt: at, senderId: 'robot' };
      await store.putDocument(deadLetterDocument({ ...about, ...story, id: deadLetterId(about), body: '{' }), 0);
    });
    const ill = await system.redress(['doctor', '--json']);
    assert.equal(ill.exitCode, 0, 'warnings are no failure');
    assert.partialDeepStrictEqual(found(ill, 'channel till'), [{ state: 'warning', remedy: 'redress channel open till' }]);
    assert.match(found(ill, 'channel till')[0].detail, /^Closed since \S+ by cli: the bank moves\.$/);
    assert.partialDeepStrictEqual(found(ill, 'channel submissions'), [
      { detail: '1 dead letter.', remedy: 'redress dead-letter list submissions' },
    ]);
    assert.match(found(ill, 'service stock')[0].detail, /^Away since \S+, 2 failed probes\.$/);
    const { out } = await system.redress(['doctor'], { environment: { npm_execpath: '/usr/lib/npm-cli.js' } });
    assert.match(out, /^ +npx redress channel open till$/m);
  });

  test('says why a token is refused, and skips the checks that a token does not allow', async () => {
    const elsewhere = openLocalIssuer(`${system.folder}/other`);
    const doctor = (token: string) => system.redress(['doctor', '--json', '--token', token]);
    const foreign = await doctor(await elsewhere.sign({ role: 'operator' }));
    assert.deepEqual([foreign.exitCode, found(foreign, 'token')[0].state, found(foreign, 'tasks')[0].state], [1, 'failed', 'skipped']);
    const expired = await doctor(await openLocalIssuer(system.folder, { now: () => Date.now() - 86_400_000 }).sign({ role: 'operator' }));
    assert.match(found(expired, 'token')[0].detail, /^It expired .* ago\.$/);
    const client = await doctor(await openLocalIssuer(system.folder).sign({ role: 'client', client: 'acme' }));
    assert.deepEqual([client.exitCode, found(client, 'token')[0].state], [0, 'warning']);
    assert.equal((await doctor('no token')).exitCode, 1);
  });

  test('warns of keys that others may read', { skip: process.platform === 'win32' }, async () => {
    const file = join(system.folder, 'issuer.json');
    chmodSync(file, 0o644);
    assert.match(found(await system.redress(['doctor', '--json']), 'keys')[0].remedy, /^chmod 600 /);
    chmodSync(file, 0o600);
  });
});

test('the doctor ends with exit code 3 if the system does not answer, and says how to start the system', async (t) => {
  const folder = folderFor(t);
  const ran = await redress(['doctor', '--json', '--url', 'http://127.0.0.1:9', '--data', folder]);
  assert.equal(ran.exitCode, 3);
  const secure = await redress(['doctor', '--json', '--url', 'https://127.0.0.1:9', '--token', 'x.y.z', '--data', folder]);
  assert.deepEqual([secure.exitCode, found(secure, 'certificate')[0].detail], [3, 'The address does not answer.']);
  assert.equal(found(secure, 'store')[0].state, 'skipped');
  assert.match(found(ran, 'system')[0].remedy, /^Start it with redress start/);
  assert.deepEqual(
    [found(ran, 'keys')[0].state, found(ran, 'store')[0].state, found(ran, 'channels')[0].state],
    ['failed', 'failed', 'skipped'],
  );
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { folderFor, redress, storeIn } from './support.ts';

describe('redress reset', () => {
  test('without a terminal it refuses and deletes nothing', async (context) => {
    const data = folderFor(context);
    await storeIn(data);
    const before = readdirSync(data);
    const { exitCode, err } = await redress(['reset', '--data', data]);
    assert.equal(exitCode, 2);
    assert.match(err, /--yes/);
    assert.deepEqual(readdirSync(data), before);
  });

  test('it deletes the files of redress, and the folder if it is empty', async (context) => {
    const data = `${folderFor(context)}/data`;
    await storeIn(data);
    await redress(['token', '--role', 'operator', '--data', data]);
    for (const name of ['shop.sqlite', 'keys.json']) writeFileSync(`${data}/${name}`, '');
    const { exitCode, json } = await redress(['reset', '--yes', '--json', '--data', data]);
    assert.equal(exitCode, 0);
    assert.deepEqual(json.deleted.filter((name: string) => !/-(wal|shm)$/.test(name)).sort(), [
      'issuer.json',
      'keys.json',
      'redress.sqlite',
      'shop.sqlite',
    ]);
    assert.equal(existsSync(data), false);
  });

  test('it keeps all other files', async (context) => {
    const data = folderFor(context);
    await storeIn(data);
    for (const name of ['notes.txt', 'redress.sqlite.bak', 'my-issuer.json']) writeFileSync(`${data}/${name}`, 'mine');
    const { exitCode, err } = await redress(['reset', '--yes', '--data', data]);
    assert.equal(exitCode, 0);
    assert.match(err, /3 other files are still there/);
    assert.deepEqual(readdirSync(data).sort(), ['my-issuer.json', 'notes.txt', 'redress.sqlite.bak']);
  });

  test('it treats a missing folder as empty', async (context) => {
    const { exitCode, json } = await redress(['reset', '--yes', '--json', '--data', `${folderFor(context)}/none`]);
    assert.equal(exitCode, 0);
    assert.deepEqual(json.deleted, []);
  });
});

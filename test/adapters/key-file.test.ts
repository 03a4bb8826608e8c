import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keysInFile } from '#adapters/sqlite/keys';

test('S24: after a process crashed with the lock of the key file, the next process makes the key of the day, and leaves no lock', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redress-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys.json.lock'), '');
  utimesSync(join(folder, 'keys.json.lock'), 1000, 1000);
  const clock = { now: () => Date.UTC(2026, 0, 1) };
  const { day, key } = await keysInFile(folder, clock).today();
  assert.deepEqual(await keysInFile(folder, clock).of(day), { day, key });
  assert.deepEqual(readdirSync(folder), ['keys.json']);
});

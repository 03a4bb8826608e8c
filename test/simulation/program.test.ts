import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { root } from '../../dev/tools/run.ts';
import { commandFor } from './simulate.ts';

const folder = mkdtempSync(join(tmpdir(), 'redress-simulate-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs `npm run simulate -- …`, as npm starts it. */
const played = (...args: string[]): string =>
  execFileSync('sh', ['bin/run', 'dev/tools/simulate.ts', ...args], { cwd: root, env: { ...process.env, LOG_LEVEL: 'off' } }).toString();

describe('npm run simulate', () => {
  test('plays one world if --trace is given without --runs', () => {
    const file = join(folder, 'all.txt');
    const lines = played('--seed', '3', '--trace', '--coverage', file).trim().split('\n');
    const { seed, runs } = JSON.parse(lines.at(-1) ?? '') as { readonly seed: number; readonly runs: number };
    assert.deepEqual({ seed, runs }, { seed: 3, runs: 1 });
    assert.ok(lines.length > 100, 'a story has more lines than that');
    assert.match(readFileSync(file, 'utf8'), /^\| fault \| where \| none \|/);
  });

  test('a violation is printed with a command that plays its world again, and with the commit', () => {
    assert.match(commandFor(12), /^npm run simulate -- --seed 12 --runs 1 --trace # at [0-9a-f]{7,40}(\+changes)?$/);
  });
});

import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { folderFor, launcher, runProcess as run } from './support.ts';

/** Copies the launcher into a separate folder with these files beside it. */
function installedWith(folder: string, files: { readonly [name: string]: string }): string {
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyFileSync(launcher, join(folder, 'bin/redress.js'));
  return join(folder, 'bin/redress.js');
}

/** A module that makes a process believe in an old Node. */
const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.1.0"}})';

describe('bin/redress.js', () => {
  test('runs the sources of a checkout, and exits with their exit code', async () => {
    assert.match((await run(launcher, ['--version'])).out, /^\d+\.\d+\.\d+\n$/);
    assert.equal((await run(launcher, ['frobnicate'])).code, 2);
  });

  test('prints one line with the remedy before anything is installed', async (context) => {
    const folder = folderFor(context);
    const { code, err } = await run(installedWith(folder, { 'lib/cli/main.ts': '' }), []);
    assert.equal(code, 2);
    assert.equal(err, `redress is not installed: run npm install in ${folder}, or npm start, which installs it\n`);
  });

  test('runs the compiled form of an installed package, with its arguments and exit code', async (context) => {
    const folder = join(folderFor(context), 'node_modules/redress');
    const main = 'process.stdout.write(process.argv.slice(2).join()); process.exitCode = 7;';
    const program = installedWith(folder, {
      '../commander/package.json': '{}',
      'lib/cli/main.ts': 'not this one',
      'dist/lib/cli/main.js': main,
    });
    assert.deepEqual(await run(program, ['a', 'b']), { code: 7, out: 'a,b', err: '' });
  });

  test('says that a package was not built', async (context) => {
    const { code, err } = await run(
      installedWith(join(folderFor(context), 'node_modules/redress'), { '../commander/package.json': '{}' }),
      [],
    );
    assert.equal(code, 2);
    assert.match(err, /is not built: /);
  });

  test('on an old Node, runs the program with a newer Node that is installed as a package', async (context) => {
    const folder = join(folderFor(context), 'node_modules/redress');
    const installed = { '../commander/package.json': '{}', 'dist/lib/cli/main.js': '' };
    assert.match(
      (await run('--import', [old, installedWith(folder, installed)])).err,
      /needs Node 22\.18 or newer, but this is Node 20\.1\.0/,
    );

    const build = `../node-${process.platform}-${process.arch}`;
    const program = installedWith(folder, {
      ...installed,
      [`${build}/package.json`]: '{"version":"24.1.0"}',
      [`${build}/bin/node`]: '#!/bin/sh\necho "newer: $*"',
    });
    chmodSync(join(folder, build, 'bin/node'), 0o755);
    assert.match((await run('--import', [old, program, 'order', 'list'])).out, /^newer: .*main\.js order list\n$/);
  });

  test('on an old Node, ignores a newer Node that npm has not written completely', async (context) => {
    const folder = join(folderFor(context), 'node_modules/redress');
    const build = `../node-${process.platform}-${process.arch}`;
    const program = installedWith(folder, {
      '../commander/package.json': '{}',
      'dist/lib/cli/main.js': '',
      [`${build}/bin/node`]: '',
    });
    const { code, err } = await run('--import', [old, program]);
    assert.deepEqual([code, err.includes('needs Node 22.18 or newer')], [2, true]);
  });

  test('passes signals of the operating system to the program, so that the program can stop in order', async (context) => {
    const folder = folderFor(context);
    const main =
      "process.on('SIGTERM', () => { process.stdout.write(' drained'); process.exit(0); }); setInterval(() => {}, 1000); process.stdout.write('ready');";
    const program = installedWith(folder, { 'node_modules/commander/package.json': '{}', 'lib/cli/main.ts': main });
    assert.deepEqual(await run(program, [], { until: /^ready$/, signal: 'SIGTERM' }), { code: 0, out: 'ready drained', err: '' });
  });

  test('exits with the code that a shell gives for a killed program', async (context) => {
    const main = "setInterval(() => {}, 1000); process.stdout.write('ready');";
    const program = installedWith(folderFor(context), { 'node_modules/commander/package.json': '{}', 'lib/cli/main.ts': main });
    assert.equal((await run(program, [], { until: /ready/, signal: 'SIGTERM' })).code, 143);
  });
});

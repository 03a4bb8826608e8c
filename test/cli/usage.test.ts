import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderFor, launcher, redress, runProcess } from './support.ts';

const samples = fileURLToPath(new URL('../../examples/orders/samples', import.meta.url));

describe('usage errors', () => {
  test('an unknown command gets a suggestion', async () => {
    const { exitCode, err, out } = await redress(['ordr', 'list']);
    assert.equal(exitCode, 2);
    assert.match(err, /unknown command 'ordr'[\s\S]*Did you mean order\?/);
    assert.equal(out, '');
    assert.match((await redress(['order', 'lst'])).err, /Did you mean list\?/);
    assert.match((await redress(['order', 'list', '--stat', 'Error'])).err, /Did you mean --state\?/);
  });

  for (const args of [
    [],
    ['order'],
    ['order', 'get'],
    ['order', 'get', ''],
    ['order', 'get', 'a', 'b'],
    ['order', 'list', '--state', 'Done'],
    ['order', 'list', '--limit', '0'],
    ['order', 'list', '--limit', 'many'],
    ['order', 'resubmit', 'abc'],
    ['order', 'resubmit', 'abc', '--reason', '  '],
    ['order', 'resubmit', 'abc', '--reason', 'x', '--complete-within', '-1'],
    ['order', 'submit', '/no/such/file.json'],
    ['order', 'list', '--url', 'localhost:3000'],
    ['order', 'list', '--token', 'signed by \u20ac'],
    ['alerts', '--since', 'yesterday'],
    ['client', 'put', 'acme'],
    ['client', 'put', 'acme#eu', '--reason', 'x'],
    ['client', 'put', 'acme?eu', '--reason', 'x'],
    ['client', 'put', '..', '--reason', 'x'],
    ['channel', 'receive', 'redress-response-acme', '--wait', 'long'],
    ['demo', '--samples', '/no/such/folder'],
    ['start', '--port', '70000'],
  ]) {
    test(`"redress ${args.join(' ')}" is a usage error, and changes nothing`, async () => {
      const { exitCode, err, out } = await redress(args);
      assert.equal(exitCode, 2);
      assert.notEqual(err, '');
      assert.equal(out, '');
    });
  }

  test('a start without the name of an app does not run the sample app in the folder of another app', async (context) => {
    const folder = folderFor(context);
    writeFileSync(join(folder, 'app.ts'), '');
    const { code, out, err } = await runProcess(launcher, ['start', '--port', '0'], { cwd: folder });
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /^redress: Expected the name of an app, because this folder has an app\.ts\. Run redress start app\.ts\.\n/);
  });

  test('the help of a command says which options are required, and which kinds of instructions exist', async () => {
    assert.match(
      (await redress(['order', 'skip', '--help'])).out,
      /--reason <text> +why; kept in the history of the order \(required, but\s+not with --dry-run\)/,
    );
    assert.match((await redress(['order', 'get', '--help'])).out, /^(?!.*\(required\))/s);
    assert.match((await redress(['bulk', 'preview', '--help'])).out, /kind of the instruction: resubmit, skip,[\s\S]*acknowledge/);
  });

  test('the message about a file that is not JSON names the file', async () => {
    const { exitCode, err } = await redress(['order', 'submit', '-'], { input: 'item: tea' });
    assert.equal(exitCode, 2);
    assert.match(err, /Standard input is not JSON/);
  });

  test('the message about an invalid environment variable names its allowed values', async () => {
    const { exitCode, err } = await redress(['order', 'list'], { environment: { PORT: 'three' } });
    assert.equal(exitCode, 2);
    assert.match(err, /PORT=three/);
  });

  test('a missing data folder is reported, and not created', async (context) => {
    const folder = `${folderFor(context)}/none`;
    for (const command of [['alerts'], ['supervise'], ['channel', 'list'], ['channel', 'receive', 'redress-response-acme']]) {
      const { exitCode, err } = await redress([...command, '--data', folder]);
      assert.equal(exitCode, 2);
      assert.match(err, /The data folder .* has no store\..*--data/);
    }
  });
});

describe('help', () => {
  test('help and the version have exit code 0', async () => {
    for (const args of [['help'], ['--help'], ['help', 'order'], ['order', '--help'], ['help', 'order', 'submit']]) {
      const { exitCode, out } = await redress(args);
      assert.equal(exitCode, 0);
      assert.match(out, /^Usage: redress/);
    }
    assert.match((await redress(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
  });

  test('the help describes each group of commands', async () => {
    const { out } = await redress(['--help']);
    const groups = [...out.matchAll(/^ {2}(\S+) +(\S.*)$/gm)].map(([, name, summary]) => [name, summary]);
    assert.deepEqual(
      groups.filter(([name, summary]) => name === summary),
      [],
    );
    assert.ok(groups.some(([name]) => name === 'bulk'));
  });

  test('help on a command in a group describes that command', async () => {
    const { out } = await redress(['help', 'order', 'submit']);
    assert.match(out, /--watch/);
    assert.match(out, /--json/);
  });
});

describe('when the system does not answer', () => {
  let environment = { PORT: '' };
  before(async () => {
    // A port that was free a moment ago.
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    environment = { PORT: String((server.address() as AddressInfo).port) };
    server.close();
  });

  test('a command that needs the system says how to start it, and has exit code 3', async (context) => {
    const data = folderFor(context);
    for (const command of [
      ['order', 'list'],
      ['order', 'get', 'abc'],
      ['order', 'submit', '-'],
      ['client', 'list'],
      ['client', 'put', 'acme', '--reason', 'x'],
      ['demo', '--samples', samples],
    ]) {
      const { exitCode, err, out } = await redress([...command, '--data', data], { environment, input: '{}' });
      assert.equal(exitCode, 3, command.join(' '));
      assert.match(err, /Cannot reach http:\/\/127\.0\.0\.1:\d+: connection refused\. Start the system with npx redress start, or/);
      assert.equal(err.trim().split('\n').length, 1);
      assert.equal(out, '');
    }
  });

  test('a command that cannot reach the system creates no data folder', async (context) => {
    const data = `${folderFor(context)}/none`;
    await redress(['order', 'list', '--data', data], { environment });
    assert.equal((await redress(['alerts', '--data', data])).exitCode, 2);
  });

  test('a command recognizes that another program answers at the address', async (context) => {
    const other = createServer((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    context.after(() => other.close());
    const { exitCode, err } = await redress(['order', 'list', '--url', `http://127.0.0.1:${(other.address() as AddressInfo).port}`]);
    assert.equal(exitCode, 1);
    assert.match(err, /not from Redress/);
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { dataFile } from '#adapters/sqlite/open';
import { complaintOf, post, root, site, startLocal, tokenFor, within } from './support.ts';

const sample = JSON.parse(readFileSync(`${root}examples/orders/samples/ok.json`, 'utf8'));

test('F-64: when its data folder is deleted, even a host without work ends by itself and says what to do', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, variables);
  rmSync(data, { recursive: true });
  const { code } = await within(system.ended, 'it goes on without its data');
  assert.equal(code, 3);
  assert.match(system.err(), /^redress: lost the store: .*data.* Restore the data folder from a backup, then start again\.\n$/);
});

test('F-64, S22: a host without its data folder accepts nothing more', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, variables);
  const authorization = `Bearer ${await tokenFor(data, 'client')}`;
  renameSync(data, `${data}-moved`);
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'too-late' };
  const answer = await fetch(`${system.url}/orders`, { method: 'POST', headers, body: JSON.stringify(sample) }).then(
    ({ status }) => status,
    () => 'no answer',
  );
  assert.ok(answer === 503 || answer === 'no answer', String(answer));
  assert.equal((await within(system.ended, 'it goes on without its data')).code, 3);

  renameSync(`${data}-moved`, data);
  const next = await startLocal(t, variables);
  await post(next.url, data, sample, 'too-late');
  await next.kill('SIGTERM');
});

/** Asserts that each error message is one line: what failed, on what, and what to do. */
async function refuses(
  t: Parameters<typeof complaintOf>[0],
  variables: Parameters<typeof complaintOf>[1],
  expected: RegExp,
): Promise<void> {
  const { code, lines } = await complaintOf(t, variables);
  assert.equal(code, 2);
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0] ?? '', expected);
}

test('F-64: a data folder whose path is a file is refused with exit code 2 and the remedy', async (t) => {
  const { data, variables } = site(t);
  writeFileSync(data, 'a file');
  await refuses(
    t,
    variables,
    /^redress: The data folder .*data cannot be used: .* Make it writable, or choose another folder with REDRESS_DATA\.$/,
  );
  assert.equal(readFileSync(data, 'utf8'), 'a file');
});

test('F-64: a data file that is not a database is refused and not changed', async (t) => {
  const { data, variables } = site(t);
  mkdirSync(data);
  writeFileSync(dataFile(data), 'this is no database at all, but a text that is long enough to look like one. '.repeat(20));
  await refuses(
    t,
    variables,
    /^redress: The file .*redress\.sqlite is not a data file of redress\. Choose another folder with REDRESS_DATA\.$/,
  );
});

test('F-64: a database of another program is refused and not changed', async (t) => {
  const { data, variables } = site(t);
  mkdirSync(data);
  const foreign = new DatabaseSync(dataFile(data));
  foreign.exec('CREATE TABLE songs (title TEXT)');
  foreign.close();
  await refuses(
    t,
    variables,
    /^redress: The file .*redress\.sqlite belongs to another program\. Choose another folder with REDRESS_DATA\.$/,
  );
  const after = new DatabaseSync(dataFile(data));
  assert.deepEqual(
    after
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map((row) => row['name']),
    ['songs'],
  );
  after.close();
});

test('X-35, F-64: a data folder of a newer version is refused, and still works with that version', async (t) => {
  const { data, variables } = site(t);
  mkdirSync(data);
  const newer = new DatabaseSync(dataFile(data));
  newer.exec('CREATE TABLE orders (id INTEGER); PRAGMA user_version = 99');
  newer.close();
  await refuses(
    t,
    variables,
    /^redress: The data folder .* was written by a newer version of redress: its schema version is 99, and this one reads at most \d+\. Update redress, or choose another folder with REDRESS_DATA\.$/,
  );
});

test('F-64: a damaged key file is refused by its name', async (t) => {
  const { data, variables } = site(t);
  mkdirSync(data);
  writeFileSync(`${data}/issuer.json`, '{');
  await refuses(t, variables, /^redress: The key file .*issuer\.json is damaged\. Delete it: /);
});

test('a port in use is refused with exit code 2 and how to choose another one', async (t) => {
  const { variables } = site(t);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  await refuses(
    t,
    { ...variables, PORT: String(port) },
    new RegExp(
      `^redress: Port ${port} on 127\\.0\\.0\\.1 is in use\\. Choose another port: PORT=${port + 1}, or PORT=0 for any free port\\.$`,
    ),
  );
});

test('F-16: wrong variables are refused with exit code 2, all of them in one answer', async (t) => {
  const { variables } = site(t);
  await refuses(
    t,
    { ...variables, INSTANCE_LOCKED_ACTION: 'SometimesRetry', SUPERVISOR_PERIOD_SECONDS: '0' },
    /^redress: The configuration is invalid: .*SUPERVISOR_PERIOD_SECONDS=0.*INSTANCE_LOCKED_ACTION=SometimesRetry.* Correct or unset these variables\.$/,
  );
});

test('a module that is not an app is refused by its name', async (t) => {
  const { variables } = site(t);
  await refuses(
    t,
    { ...variables, REDRESS_APP: `${root}lib/ports/clock.ts` },
    /^redress: .*lib\/ports\/clock\.ts does not export an app\. Its default export must come from defineApp/,
  );
  await refuses(t, { ...variables, REDRESS_APP: '/nowhere/app.ts' }, /^redress: Cannot find the module \/nowhere\/app\.ts\./);
});

test('a host that other machines reach warns of missing settings, keeps its files private, and reads no body of an unauthorized call', async (t) => {
  const { data, variables } = site(t);
  const system = await startLocal(t, { ...variables, HOST: '0.0.0.0' });
  assert.match(system.out(), /^warn {2}The API listens on 0\.0\.0\.0 without TLS, .* Put a proxy with TLS in front of it\.$/m);
  assert.match(system.out(), /^warn {2}The API accepts any Host header\. Set HOST_NAMES /m);
  assert.equal(statSync(data).mode & 0o777, 0o700);

  const socket = connect(Number(new URL(system.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /orders HTTP/1.1\r\nHost: any\r\nContent-Type: application/json\r\nContent-Length: 250000\r\n\r\n');
  const [answer] = await within(once(socket, 'data'), 'it waits for the body of a stranger');
  assert.match(String(answer), /^HTTP\/1\.1 401 /);
  socket.destroy();
  await system.kill('SIGTERM');
});

import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import { test } from 'node:test';
import { dataFile } from '#adapters/sqlite/open';
import { hurried } from './farm.ts';
import { app, complaintOf, post, reaches, site, startLocal, tokenFor, within, work } from './support.ts';
import { copyOf, fateOfPage, flip, logFile, overwrite, pageBytes, problemsAfter, scratchIn, wreck } from './torn.ts';

test('F-41, S22: when a log is cut or damaged at any byte, only the record with that byte and later ones are lost', async (t) => {
  const place = site(t);
  const left = await wreck(t, place, 20);
  assert.ok(left.answered.some(({ logBytes }) => logBytes > 0) && left.logBytes > 20 * pageBytes);
  const last = 30 * (pageBytes + 24);
  for (let index = 0; index < 120; index++) {
    // Every second cut is near the end, the others spread over the whole log in larger steps.
    const at = index % 2 === 0 ? left.logBytes - 1 - ((index * 1009) % last) : Math.floor((left.logBytes * index) / 120);
    for (const damage of [(file: string) => truncateSync(file, at), (file: string) => flip(file, at)]) {
      const folder = copyOf(left, scratchIn(place));
      damage(logFile(folder));
      assert.deepEqual(await problemsAfter(left, folder, at), [], `byte ${at} of ${left.logBytes}`);
    }
  }
});

test('F-41: a host with a torn log still starts, and completes the orders that are left', async (t) => {
  const place = site(t);
  const left = await wreck(t, place, 20);
  truncateSync(logFile(place.data), left.logBytes - 1000);
  const system = await startLocal(t, { ...place.variables, ...hurried, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  const kept = left.answered.filter(({ logBytes }) => logBytes <= left.logBytes - 1000);
  assert.ok(kept.length > 10);
  for (const { orderId } of kept) await reaches(place.open(), orderId, 'Processed');
  assert.equal((await system.kill('SIGTERM')).code, 0);
});

test('F-64: damage to any page of the data file is reported, or the page is unused; no order is silently missing', async (t) => {
  const place = site(t);
  const left = await wreck(t, place, 10);
  const pages = readFileSync(dataFile(left.folder)).length / pageBytes;
  assert.ok(pages > 20);
  for (const wasOpen of [true, false]) {
    const fates = [];
    for (let page = 0; page < pages; page++) fates.push(await fateOfPage(left, scratchIn(place), page, wasOpen));
    assert.deepEqual(
      fates.filter((fate) => fate instanceof Error),
      [],
    );
    assert.ok(fates.filter((fate) => fate !== 'untouched').length > 5, fates.join());
  }
});

const sayings = {
  /** The message of a host whose file was damaged while in use. */
  atStart:
    /^redress: The data file .*redress\.sqlite is damaged: .*\. Stop all processes that use it, copy its folder, and replace it with a backup\. The \.recover command .*\.$/,
  atWork:
    /^redress: lost the store: The data file .*redress\.sqlite: database disk image is malformed\. Stop all processes that use it, .*\.recover command .*\.$/,
};

test('F-64: a data file with damaged pages that was in use is refused at each start', async (t) => {
  const place = site(t);
  const left = await wreck(t, place, 20);
  truncateSync(logFile(place.data), 0);
  const pages = readFileSync(dataFile(left.folder)).length / pageBytes;
  overwrite(dataFile(place.data), Math.floor(pages / 2) * pageBytes, new Uint8Array(pageBytes).fill(0xa5));
  for (const _ of ['first', 'second']) {
    const { code, lines } = await complaintOf(t, place.variables);
    assert.deepEqual([code, lines.length], [2, 1], lines.join('\n'));
    assert.match(lines[0] ?? '', sayings.atStart);
  }
});

test('F-64: when a host reads a damaged page, it ends with instructions, and the next start is refused', async (t) => {
  const { data, variables } = site(t);
  const first = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  for (let index = 0; index < 20; index++)
    await post(first.url, data, { order: work(), reference: `reference-${index}` }, `order-${index}`);
  assert.equal((await first.kill('SIGTERM')).code, 0);
  const file = readFileSync(dataFile(data));
  // A page full of order records: the host reads it only for a list.
  const page = Array.from({ length: file.length / pageBytes }, (_, index) => index).find(
    (index) => file[index * pageBytes] === 13 && file.subarray(index * pageBytes, (index + 1) * pageBytes).includes('"reference-1'),
  );
  assert.ok(page !== undefined, 'no page contains orders');
  overwrite(dataFile(data), page * pageBytes, new Uint8Array(pageBytes).fill(0xa5));

  const system = await startLocal(t, { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line' });
  const authorization = `Bearer ${await tokenFor(data, 'operator')}`;
  const status = await fetch(`${system.url}/orders?limit=100`, { headers: { authorization } }).then(
    (answer) => answer.status,
    () => 'no answer',
  );
  assert.ok(status === 503 || status === 'no answer', String(status));
  assert.equal((await within(system.ended, 'it goes on with a damaged file')).code, 3);
  assert.match(system.err(), new RegExp(sayings.atWork.source.replace(/\$$/, '\\n$')));
  const { code, lines } = await complaintOf(t, variables);
  assert.equal(code, 2);
  assert.match(lines[0] ?? '', sayings.atStart);
});

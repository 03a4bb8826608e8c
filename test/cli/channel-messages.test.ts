import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock, systemClock } from '#ports/clock';
import { collections } from '#ports/documents';
import { folderFor, redress } from './support.ts';

const app = fileURLToPath(new URL('../../examples/expenses/app.ts', import.meta.url));
const message = (name: string) => fileURLToPath(new URL(`../../examples/expenses/messages/${name}.json`, import.meta.url));

test('F-115, F-174: channel consume handles what channel send has sent, and ends when no message is left', async (context) => {
  const data = folderFor(context);
  const run = (...args: readonly string[]) => redress([...args, '--data', data], { environment: { LOG_LEVEL: 'off' } });
  const consume = (consumer: string) => run('channel', 'consume', app, consumer, '--idle', '0.1', '--json');
  assert.deepEqual((await consume('expenses')).json, { ended: 'idle', deadLetters: 0 });
  assert.equal((await run('channel', 'send', 'expenses-messages', message('expense-report'))).exitCode, 0);
  assert.equal((await run('channel', 'send', 'stock', message('unknown-article'))).exitCode, 0);
  assert.deepEqual((await consume('expenses')).json, { ended: 'idle', deadLetters: 0 });
  assert.deepEqual((await consume('stock')).json, { ended: 'idle', deadLetters: 1 });

  const { store, database } = openEmbedded(data, { clock: systemClock });
  context.after(() => database.close());
  const { items } = await store.list({ client: 'expenses' }, undefined, 10);
  assert.deepEqual(
    items.map(({ order }) => order.workflow.name),
    ['reimburse'],
  );
  assert.equal((await store.documents(collections.deadLetters('stock'), undefined, 10)).length, 1);
});

/** The run looks for messages twenty times a second. */
const soonMs = 100;

for (const { options, idleMs } of [
  { options: ['--idle', '2'], idleMs: 2000 },
  { options: ['--idle', '0.3'], idleMs: 300 },
  { options: [], idleMs: 500 },
])
  test(`F-115: ${['channel consume', ...options].join(' ')} ends after ${idleMs} ms without a message`, async (context) => {
    const data = folderFor(context);
    const clock = manualClock();
    context.mock.method(systemClock, 'now', clock.now);
    context.mock.method(systemClock, 'sleep', clock.sleep);
    const start = clock.now();
    let ended: number | undefined;
    const words = ['channel', 'consume', app, 'expenses', ...options, '--data', data];
    const running = redress(words, { environment: { LOG_LEVEL: 'off' } }).then(({ exitCode }) => (ended = exitCode));
    // The clock stands still until the run sleeps, so the start of the run takes no time.
    for (const end = start + 10 * idleMs; ended === undefined && clock.now() < end; ) await clock.next();
    const tookMs = clock.now() - start;
    assert.equal(ended, 0, `it has not ended after ${tookMs} ms`);
    await running;
    assert.ok(tookMs >= idleMs && tookMs <= idleMs + soonMs, `it ended after ${tookMs} ms`);
  });

test('F-108: channel consume ends when the channel is closed, and says how to open it', async (context) => {
  const data = folderFor(context);
  const failing = join(data, 'report.json');
  const run = (...args: readonly string[]) => redress([...args, '--data', data], { environment: { LOG_LEVEL: 'off' } });
  const consume = () => run('channel', 'consume', app, 'expenses', '--idle', '0.1');
  await consume();
  for (const employeeId of [11, 12, 13, 14, 15]) {
    writeFileSync(failing, JSON.stringify({ v: 1, type: 'expense-report', body: { employeeId, amount: 1 } }));
    await run('channel', 'send', 'expenses-messages', failing);
  }
  const { exitCode, err } = await consume();
  assert.deepEqual([exitCode, /expenses is closed\. To open it: redress channel open expenses/.test(err)], [1, true], err);
});

test('F-174: an unknown consumer and a file that does not exist are refused with a remedy', async (context) => {
  const data = folderFor(context);
  const unknown = await redress(['channel', 'consume', app, 'expense', '--data', data]);
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.err, /The app has no consumer "expense"\. Name one of: expenses, receipts, statuses, stock\./);
  const missing = await redress(['channel', 'send', 'expenses-messages', 'nowhere.json', '--data', data]);
  assert.equal(missing.exitCode, 2);
  assert.match(missing.err, /Cannot read nowhere\.json: .*Check the path\./);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedded } from '#adapters/sqlite/open';
import { collections } from '#ports/documents';
import { type Attempt, deadLetterIn } from '#roles/dead-letters/dead-letter';
import { noResult } from '#roles/dead-letters/failure-counts';
import { orderIdOf } from '#roles/submission/submission';
import { app, local, type Process, post, reaches, run, site, startLocal, until, work } from './support.ts';

const livesMax = 12;
/** A time longer than the visibility timeout. */
const hiddenMs = 120_000;

/** Ends all visibility timeouts: unacknowledged messages are redelivered, and their former receivers no longer work. */
async function timePasses({ store, database }: Embedded): Promise<void> {
  for (const { rev, content, ...track } of await store.documents(collections.tracks('first'), undefined, 10)) {
    const attempts = (content['attempts'] as unknown as readonly Attempt[]).map(({ at, error }) => ({ at: at - hiddenMs, error }));
    await store.putDocument({ ...track, rev: rev + 1, content: { ...content, attempts } }, rev);
  }
  database.prepare('UPDATE messages SET visibleAt = 0').run();
}

test('X-14, S25: when a step crashes its process each time, its message is dead-lettered in the end, and other orders complete', async (t) => {
  const { data, variables, open } = site(t);
  const settings = { ...variables, REDRESS_APP: app, DEFAULT_WORKFLOW: 'line', STEP_COMPLETE_WITHIN_SECONDS: '3600' };
  const first = await startLocal(t, settings);
  const good = await Promise.all([1, 2, 3].map((index) => post(first.url, data, { order: work({ ms: 300 }) }, `good-${index}`)));
  // The process may crash before it answers.
  await post(first.url, data, { order: work({ ms: -1 }) }, 'deadly').catch(() => undefined);
  const deadly = orderIdOf('acme', 'deadly');
  const kept = async () => (await open().store.documents(collections.deadLetters('first'), undefined, 10)).map(deadLetterIn);

  let system: Process = first;
  let lives = 1;
  for (; lives < livesMax; lives++) {
    const over = await Promise.race([
      system.ended,
      until('it is dead-lettered', async () => (await kept()).length > 0).then(() => undefined),
    ]);
    if (!over) break;
    assert.equal(over.signal, 'SIGKILL');
    await timePasses(open());
    system = run(t, local, settings);
  }

  const [message, ...others] = await kept();
  assert.deepEqual([message?.orderId, message?.attempts.at(-1)?.error, others], [deadly, noResult, []]);
  assert.equal((await reaches(open(), deadly, 'Error')).fault?.type, 'RequestRejected');
  for (const orderId of good) assert.equal((await reaches(open(), orderId, 'Processed')).outcome, 'completed');
  assert.ok(lives > 2, 'it has crashed a process before');
  await system.kill('SIGTERM');
});

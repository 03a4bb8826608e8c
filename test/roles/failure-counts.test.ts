import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import { manualClock } from '#ports/clock';
import { createFailureCounts, noResult, withFailure, without } from '#roles/dead-letters/failure-counts';

const message = { queue: 'expenses-messages', messageId: 'm-1', body: '{"conversation":"report-1"}' };
const begun = (at: number) => ({ at, error: noResult });

test('S52: a writer that has read a failure count before a success adds its failure to the count that began after it', async () => {
  const clock = manualClock();
  const counts = createFailureCounts({ store: sqliteStore(openDatabase(':memory:'), () => []), clock });
  const first = await counts.change(message, withFailure(begun(1)));
  await counts.correct(message, () => undefined, first);
  await clock.advance(1);
  await counts.change(message, withFailure(begun(2)));
  const last = await counts.change(message, withFailure(begun(3)), first);
  assert.deepEqual(last.count, { attempts: [begun(2), begun(3)], failures: 2 });
  await counts.correct(message, without(2));
  await counts.correct(message, without(3), last);
  assert.equal((await counts.read(message)).count, undefined);
});

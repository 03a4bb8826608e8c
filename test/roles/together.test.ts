import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '#ports/clock';
import { allSettledOrThrow } from '#ports/util/all-settled';

test('X-17: when one of several parallel writes or sends fails, the failure is reported after all of them have ended', async () => {
  const clock = manualClock();
  const ended: string[] = [];
  const refused = async () => {
    ended.push('refused');
    throw new Error('refused');
  };
  const slow = async () => {
    await clock.sleep(1000);
    ended.push('slow');
  };
  const failing = allSettledOrThrow([refused(), slow()]).catch((error: Error) => ended.push(`answered: ${error.message}`));
  await clock.advance(1000);
  await failing;
  assert.deepEqual(ended, ['refused', 'slow', 'answered: refused']);
  assert.deepEqual(await allSettledOrThrow([Promise.resolve(1), Promise.resolve(2)]), [1, 2]);
});

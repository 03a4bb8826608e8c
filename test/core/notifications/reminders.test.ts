import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type RemindedTask, reminderAt, reminderMaxMs, reminderOf } from '#core/notifications/reminders';

const hourMs = 3_600_000;
const openedAt = 1_800_000_000_000;
const open: RemindedTask = { state: 'open', openedAt, dueAt: openedAt + 4 * hourMs, group: 'claims' };

/** Reminds a task as often as said, always in time. */
function reminded(task: RemindedTask, times: number): readonly (RemindedTask & { readonly at: number })[] {
  const all: (RemindedTask & { readonly at: number })[] = [];
  let current = task;
  for (let index = 0; index < times; index++) {
    const at = reminderAt(current) as number;
    current = { ...current, ...reminderOf(current, at, hourMs) };
    all.push({ ...current, at });
  }
  return all;
}

describe('the reminders of a task', () => {
  test('F-154: come first when the task is due, then at intervals that double up to a day', () => {
    const hours = reminded(open, 9).map(({ at }) => (at - open.dueAt) / hourMs);
    assert.deepEqual(hours, [0, 1, 3, 7, 15, 31, 55, 79, 103]);
  });

  test('F-154: go to the next group every second time, and keep going to the last group', () => {
    const told = reminded({ ...open, escalateTo: ['leads', 'managers'] }, 7).map(({ escalation }) => escalation?.to ?? 'claims');
    assert.deepEqual(told, ['claims', 'leads', 'leads', 'managers', 'managers', 'managers', 'managers']);
  });

  test('F-154: come, after a claim, only when the claim has lasted as long as the time limit of the task', () => {
    const claimedAt = openedAt + hourMs;
    const claimed: RemindedTask = { ...open, state: 'claimed', claimedAt };
    assert.equal(reminderAt(claimed), claimedAt + 4 * hourMs);
    assert.equal(reminderAt({ ...claimed, state: 'resolved' }), undefined);
  });

  test('come at intervals that never get shorter, and that are at most a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400_000 }), fc.integer({ min: 2, max: 30 }), (every, times) => {
        const at = reminded({ ...open, every }, times).map((each) => each.at);
        const intervals = at.slice(1).map((each, index) => each - (at[index] as number));
        for (const [index, interval] of intervals.entries()) {
          assert.ok(interval >= (intervals[index - 1] ?? 0) && interval <= reminderMaxMs);
          if (index > 0 && interval < reminderMaxMs) assert.equal(interval, 2 * (intervals[index - 1] as number));
        }
      }),
    );
  });
});

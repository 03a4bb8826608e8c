import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  allowanceLimits,
  decideNotice,
  looksAt,
  type Notice,
  pauseAfter,
  quietMs,
  takeMessage,
  withNews,
} from '#core/notifications/notice';

const begin = 1_800_000_000_000;
const dayMs = 86_400_000;

/** Plays tasks that are opened at these times, and returns the times of the messages, with the number of tasks that each tells of. */
function played(openedAt: readonly number[], muted: readonly [from: number, to: number] = [0, 0]) {
  const messages: { readonly at: number; readonly message: string; readonly opened: number }[] = [];
  let notice: Notice | undefined;
  const look = (now: number): void => {
    const mutedUntil = now >= muted[0] && now < muted[1] ? muted[1] : 0;
    const decision = notice && decideNotice(notice, now, mutedUntil);
    if (decision?.kind === 'forget') notice = undefined;
    if (decision?.kind !== 'send') return;
    messages.push({ at: now, message: decision.message, opened: notice?.news?.opened ?? 0 });
    notice = decision.notice;
  };
  const lookUntil = (until: number): void => {
    for (let at = notice && nextLook(notice, muted); at !== undefined && at <= until; at = notice && nextLook(notice, muted)) look(at);
  };
  for (const at of openedAt.toSorted((one, other) => one - other)) {
    lookUntil(at);
    notice = withNews(notice, { opened: 1, reminded: 0, lastAt: at });
    lookUntil(at);
  }
  lookUntil(Number.MAX_SAFE_INTEGER);
  return messages;
}

/** The agenda never looks at a muted notice before its mute ends. */
function nextLook(notice: Notice, [from, to]: readonly [number, number]): number {
  const at = looksAt(notice);
  return notice.news && at >= from && at < to ? to : at;
}

const times = fc
  .array(fc.integer({ min: 0, max: 10 * dayMs }), { minLength: 1, maxLength: 200 })
  .map((each) => each.map((at) => begin + at));

describe('the notices of a group of people', () => {
  test('F-153: a group is notified of the first task of a kind at once, and of later ones in summaries at growing intervals', () => {
    const minute = 60_000;
    const every = Array.from({ length: 8 * 60 }, (_, index) => begin + index * minute);
    assert.deepEqual(
      played(every)
        .slice(0, 6)
        .map(({ at, message, opened }) => [(at - begin) / minute, message, opened]),
      [
        [0, 'first', 1],
        [15, 'summary', 14],
        [45, 'summary', 30],
        [105, 'summary', 60],
        [225, 'summary', 120],
        [465, 'summary', 240],
      ],
    );
  });

  test('exactly one message tells of each task, whatever happens', () => {
    fc.assert(
      fc.property(times, (openedAt) => {
        assert.equal(
          played(openedAt).reduce((sum, { opened }) => sum + opened, 0),
          openedAt.length,
        );
      }),
    );
  });

  test('the pause before each message is at least as long as the number of messages already sent requires', () => {
    fc.assert(
      fc.property(times, (openedAt) => {
        let sent = 0;
        const messages = played(openedAt);
        for (const [index, { at, message }] of messages.entries()) {
          const before = messages[index - 1];
          if (message === 'first') {
            if (before) assert.ok(at - before.at >= quietMs, 'a new first message comes after a quiet day');
            sent = 0;
          } else assert.ok(before && at - before.at >= pauseAfter(sent));
          sent++;
        }
      }),
    );
  });

  test('10,000 tasks of one kind in a day make at most eight messages', () => {
    const openedAt = Array.from({ length: 10_000 }, (_, index) => begin + Math.floor((index * dayMs) / 10_000));
    assert.ok(played(openedAt).filter(({ at }) => at < begin + dayMs).length <= 8);
  });

  test('a muted notice sends nothing until its mute ends, and then names all its tasks in one message', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 5 * dayMs }), fc.integer({ min: 1, max: 5 * dayMs }), (openedAt, from, length) => {
        const muted = [begin + from, begin + from + length] as const;
        const messages = played(openedAt, muted);
        assert.ok(messages.every(({ at }) => at < muted[0] || at >= muted[1]));
        assert.equal(
          messages.reduce((sum, { opened }) => sum + opened, 0),
          openedAt.length,
        );
      }),
    );
  });

  test('tasks of hundreds of kinds make at most ten messages for one group in a quarter of an hour', () => {
    fc.assert(
      fc.property(times, (wanted) => {
        const sent: number[] = [];
        let allowance: Parameters<typeof takeMessage>[0];
        for (const at of wanted.toSorted((one, other) => one - other)) {
          const taken = takeMessage(allowance, at);
          if ('until' in taken) assert.ok(taken.until > at);
          else {
            ({ allowance } = taken);
            sent.push(at);
          }
        }
        for (const at of sent) {
          const near = sent.filter((other) => other >= at && other < at + allowanceLimits.periodMs);
          assert.ok(near.length <= 2 * allowanceLimits.messagesMax);
        }
      }),
    );
  });
});

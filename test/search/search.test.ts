import assert from 'node:assert/strict';
import { test } from 'node:test';
import { broken } from './broken.ts';
import { type Scenario, searched } from './scenarios.ts';
import { search } from './search.ts';
import { searchIn } from './worker.ts';

const one = { schedulers: 1, supervisors: 1, copies: 1 } as const;

const small: { readonly [what: string]: Scenario } = {
  'two schedulers and two supervisors at once': searched({ copies: 1 }),
  'every message comes twice': searched({ ...one, copies: 2 }),
  'any process crashes, at any call': searched({ ...one, crashes: 1 }),
  'the answer to a write is lost': searched({ ...one, schedulers: 2, lostAnswers: 1 }),
  'the second step is refused for good, and a process crashes': searched({ ...one, refuses: true, crashes: 1 }),
  'the client cancels': searched({ ...one, cancels: true }),
  'a deadline passes while other roles work, and the order is reset': searched({ ...one, workflow: 'by-order', hurries: 1 }),
};

for (const [what, scenario] of Object.entries(small)) {
  test(`G7, S1–S18, S26, L1: no sequence of events makes an order break a law or get stuck: ${what}`, async () => {
    const { wrong, complete, states, ends } = await search(scenario);
    assert.deepEqual(wrong, undefined);
    assert.ok(complete && states > 400 && ends > 0, `${states} states, ${ends} ends`);
  });
}

for (const { what, scenario, ...line } of broken) {
  test(`G7: the search finds this bug and the shortest sequence of events that shows it: ${what}`, async () => {
    const { wrong } = await searchIn({ scenario, broken: line });
    assert.ok(wrong, 'nothing was found');
    assert.ok(wrong.story.length <= 30, wrong.story.join('\n'));
  });
}

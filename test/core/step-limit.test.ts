import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '#core/checks/check';
import type { Activity } from '#core/definition/definition';
import { faultPathsOf, silence } from '#core/views/fault-paths';
import { play } from '../support/play.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const limited = (withinSeconds: number, more: object = {}): Activity => ({ ...step('a'), withinSeconds, ...more }) as Activity;
const handled = (activity: Activity) =>
  workflow({
    ...sequence('order', activity),
    faultHandlers: [{ fault: 'Engine/DeadlineExceeded', do: sequence('late', step('b')) }],
  } as never);
const problemsOf = (activity: Activity) =>
  check(workflow(sequence('order', activity))).flatMap(({ severity, message }) => (severity === 'error' ? [message] : []));

describe('a step with a time limit', () => {
  test('F-37: the limit ends the last attempt, and the handler of its fault runs', () => {
    play(
      handled(limited(40)),
      `
      start
      -> agent order/a key order/a/1 attempt 1

      after 30s

      expire
      -> agent order/a key order/a/1 attempt 2 by +10s

      after 10s
      -> agent order/late/b key order/late/b/1 attempt 1

      ok order/late/b
      == closed
      `,
    );
  });

  test('S14: a wake-up before the limit changes nothing, and without a handler the limit blocks the order', () => {
    play(
      workflow(sequence('order', limited(20))),
      `
      start
      -> agent order/a key order/a/1 attempt 1 by +20s

      after 19s

      after 1s
      == blocked order/a Engine/DeadlineExceeded

      # A person gives it its time anew, under the same key: nobody knows whether it was done.

      resubmit
      -> agent order/a key order/a/1 attempt 2 by +20s
      == unblocked

      ok order/a
      == closed
      `,
    );
  });

  test('F-163: the fault table shows that a step without a reply ends at the handler of the limit', () => {
    const found = faultPathsOf(handled(limited(40))).find(({ path, fault }) => path === 'order/a' && fault === silence);
    assert.equal(found?.end.kind, 'handled');
  });

  for (const [what, activity, message] of [
    ['a limit of zero seconds', limited(0), 'withinSeconds is 0; it must be a number above 0.'],
    ['a limit of two years', limited(63_072_000), 'withinSeconds is 63072000; the maximum is 31622400 seconds (a year).'],
    [
      'a limit of an undo',
      { ...step('a'), undo: { ...step('undo'), withinSeconds: 5 } } as Activity,
      'Its undo has a time limit, which no undo can have: it is repeated until it succeeds. Leave out .within(…).',
    ],
  ] as const)
    test(`the check of a definition refuses ${what}`, () => assert.deepEqual(problemsOf(activity), [message]));
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import type { StepReply } from '#core/data/event';
import { after } from '../support/journal.ts';
import { fault, ok, type Run, rejected, startRun, stepMs } from '../support/run.ts';
import { parallel, sequence, step, workflow } from '../support/workflows.ts';

const undo = { undo: step('undo', { operation: 'un-ship' }) as Step };
const path = 'order/ship';
const undoPath = `${path}/undo`;

/** Starts an order and cancels it while its only step is requested. */
function canceled(more: Partial<Step> = {}): Run {
  const run = startRun(workflow(sequence('', step('ship', { ...undo, ...more }))));
  run.happen({ type: 'started', stepMs });
  run.happen({ type: 'canceled', outcome: 'canceled' });
  return run;
}
const own = (run: Run, at: string) => run.state.activities[at]?.local as { phase: string; completeBy: number; attempt: number } | undefined;
/** Milliseconds until it is requested again. */
const pause = (run: Run, at: string): number => (own(run, at)?.completeBy ?? 0) - run.now;
const rest = (run: Run, at: string): void => {
  run.now += pause(run, at);
  run.happen({ type: 'woken' });
};
/** Moves the time to the end of the step's first attempt. */
const timeIsOver = (run: Run): void => {
  run.now = run.latestRequest(path).completeBy;
  run.happen({ type: 'woken' });
};

describe('F-103: an undo that fails', () => {
  const undoing = (): Run => {
    const run = canceled();
    run.reply(path, ok());
    return run;
  };
  const fail = (run: Run, permanent: boolean): readonly [number, boolean] => {
    const [line = ''] = after(run, () => run.reply(undoPath, fault('Odd', { permanent })));
    const said = [pause(run, undoPath) / 1000, line.includes('stuck true')] as const;
    rest(run, undoPath);
    return said;
  };

  test('each pause is twice as long as the one before, up to an hour; an alert follows the third failure, and the next alert an hour later', () => {
    const run = undoing();
    const all = Array.from({ length: 12 }, () => fail(run, false));
    for (const [index, most] of [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].entries()) {
      const seconds = all[index]?.[0] ?? 0;
      assert.ok(seconds <= most && seconds > most / 2, `${seconds} of ${most} s`);
    }
    assert.deepEqual(
      all.flatMap(([, stuck], index) => (stuck ? [index + 1] : [])),
      [3, 11],
    );
  });

  test('after a permanent refusal the undo is requested every hour; alerts follow at once, then at intervals that double up to a day', () => {
    const run = undoing();
    const all = Array.from({ length: 150 }, () => fail(run, true));
    const alertsAt = all.flatMap(([, stuck], index) => (stuck ? [all.slice(0, index).reduce((sum, [seconds]) => sum + seconds, 0)] : []));
    const hours = alertsAt.map((at, index) => (at - (alertsAt[index - 1] ?? 0)) / 3600);
    for (const [index, least] of [0, 1, 2, 4, 8, 16, 24, 24].entries()) {
      const between = hours[index] ?? -1;
      assert.ok(between >= least && between < least + 1, `reminder ${index} after ${between} hours, at least ${least}`);
    }
    for (const [seconds] of all) assert.ok(seconds <= 3600 && seconds > 1800, `${seconds} s`);
  });

  test('an agent may reject the request of an undo like any other; an undo without a reply is requested again after a pause', () => {
    const run = undoing();
    assert.deepEqual(
      after(run, () => run.reply(undoPath, rejected)),
      ['UndoFailed order/ship/undo 1#1.1 stuck true Engine/RequestRejected'],
    );
    rest(run, undoPath);
    run.now += stepMs;
    assert.deepEqual(
      after(run, () => run.happen({ type: 'woken' })),
      ['UndoFailed order/ship/undo 1#1.2 stuck false'],
    );
    assert.equal(own(run, undoPath)?.phase, 'waitingToRetry');
    assert.ok(pause(run, undoPath) <= 10_000);
  });
});

describe('S11: the confirmation of an effect', () => {
  test('F-80: the effect is not confirmed while its request may still run: a canceled request is sent again after its time limit', () => {
    const run = canceled();
    for (const _ of ['answered', 'answered by a second delivery']) {
      run.reply(path, fault('Canceled', { permanent: false, unknown: true }));
      assert.equal(run.latestRequest(path).attempt, 1);
    }
    run.now += stepMs - 1;
    run.happen({ type: 'woken' });
    assert.equal(run.latestRequest(path).attempt, 1);
    timeIsOver(run);
    assert.partialDeepStrictEqual(run.latestRequest(path), { attempt: 2, confirming: true });
  });

  test('F-80: a reply to a second delivery of the same request confirms the effect', () => {
    const run = canceled();
    run.reply(path, fault('Canceled', { permanent: false, unknown: true }));
    run.reply(path, ok());
    assert.deepEqual([run.latestRequest(undoPath).attempt, run.latestRequest(path).attempt], [1, 1]);
  });

  test('F-80, F-103: any success under the idempotency key confirms the effect, whichever attempt it answers and however late it is', () => {
    for (const more of [{}, { atMostOnce: true }] as const) {
      const run = canceled(more);
      const first = run.latestRequest(path);
      timeIsOver(run);
      run.reply(path, fault('OutcomeUnknown', { unknown: true }));
      assert.equal(own(run, path)?.phase, 'waitingToRetry');
      run.reply(path, ok(), { ask: first, sentAt: first.completeBy + 1 });
      assert.equal(run.latestRequest(undoPath).attempt, 1);
      run.reply(undoPath, ok());
      assert.deepEqual([run.state.outcome, run.state.undone], ['canceled', true]);
    }
  });

  test('a refusal of an earlier attempt confirms nothing: the next attempt may be running', () => {
    const run = canceled();
    const first = run.latestRequest(path);
    timeIsOver(run);
    run.reply(path, fault('No'), { ask: first });
    assert.partialDeepStrictEqual(own(run, path), { phase: 'requested', attempt: 2 });
  });

  test('X-20: the effect of a step that runs at most once is confirmed immediately, since a confirmation does not run the step again', () => {
    const run = canceled({ atMostOnce: true });
    run.reply(path, fault('Canceled', { permanent: false, unknown: true }));
    assert.partialDeepStrictEqual(run.latestRequest(path), { attempt: 2, confirming: true });
  });

  test('the scheduler sends requests under the idempotency key until the outcome is definite', () => {
    const run = canceled();
    run.reply(path, fault('Odd', { unknown: true }));
    timeIsOver(run);
    assert.partialDeepStrictEqual(run.latestRequest(path), { attempt: 2, confirming: true, idempotencyKey: 'o1/order/ship/1' });
    for (const answer of [fault('Busy', { permanent: false }), fault('Odd', { unknown: true })]) {
      run.reply(path, answer);
      assert.equal(own(run, path)?.phase, 'waitingToRetry');
      rest(run, path);
    }
    run.reply(path, rejected);
    assert.equal(run.state.outcome, 'canceled');
  });

  test('a step that is confirmed as done is undone', () => {
    const run = canceled();
    run.reply(path, fault('Odd', { unknown: true }));
    run.reply(path, ok({ id: 1 }));
    assert.equal(run.latestRequest(undoPath).confirming, undefined);
    run.reply(undoPath, ok());
    assert.deepEqual([run.state.outcome, run.state.undone], ['canceled', true]);
  });

  test('with a lookup, "not found" counts only when no earlier request can arrive any more', () => {
    const run = canceled({ lookup: true, longestSeconds: 600 });
    run.reply(path, fault('Odd', { unknown: true }));
    run.now += 1000;
    run.reply(path, fault('NotFound'));
    assert.deepEqual([own(run, path)?.phase, pause(run, path)], ['waitingToRetry', 599_000]);
    rest(run, path);
    assert.equal(run.latestRequest(path).attempt, 3);
    run.reply(path, fault('NotFound'));
    assert.equal(run.state.outcome, 'canceled');
  });

  test('when clocks differ, "not found" counts only after the time limit by the slowest clock', () => {
    const run = canceled({ lookup: true, longestSeconds: 600 });
    run.reply(path, fault('Odd', { unknown: true }));
    const notFound = () =>
      run.happen({
        type: 'replied',
        requestId: run.latestRequest(path).requestId,
        sentAt: run.now,
        clocksApartMs: 2000,
        reply: fault('NotFound'),
      });
    run.now += 1000;
    notFound();
    assert.deepEqual([own(run, path)?.phase, pause(run, path)], ['waitingToRetry', 601_000]);
    rest(run, path);
    notFound();
    assert.equal(run.state.outcome, 'canceled');
  });

  test("when the agent's clock is behind the scheduler's, the next lookup waits for the agent's time limit", () => {
    const run = canceled({ lookup: true, longestSeconds: 600 });
    run.reply(path, fault('Odd', { unknown: true }));
    const notFound = (sentAt: number) =>
      run.happen({ type: 'replied', requestId: run.latestRequest(path).requestId, sentAt, reply: fault('NotFound') });
    notFound(run.now);
    rest(run, path);
    notFound(run.now - 150_000);
    assert.deepEqual([own(run, path)?.phase, pause(run, path)], ['waitingToRetry', 150_000]);
    rest(run, path);
    notFound(run.now - 150_000);
    assert.equal(run.state.outcome, 'canceled');
  });

  test('a step that the lookup finds is undone; without a lookup, a refusal is enough', () => {
    const found = canceled({ lookup: true, longestSeconds: 600 });
    found.reply(path, fault('Odd', { unknown: true }));
    found.reply(path, ok());
    assert.equal(found.latestRequest(undoPath).attempt, 1);
    const canceledStep = canceled({ longestSeconds: 600 });
    canceledStep.reply(path, fault('Odd', { unknown: true }));
    canceledStep.reply(path, fault('NotFound'));
    assert.equal(canceledStep.state.outcome, 'canceled');
  });

  test('a step that failed is confirmed as not done only when its requests can no longer take effect', () => {
    const root = parallel('', step('ship', { ...undo, lookup: true, longestSeconds: 600, faults: ['Odd'] }));
    const handler = { fault: 'Odd', do: { activity: 'compensate' as const, name: 'compensate' } };
    const run = startRun(workflow({ ...root, faultHandlers: [handler] }));
    run.happen({ type: 'started', stepMs });
    run.now += 10_000;
    run.reply(path, fault('Odd', { unknown: true }));
    run.reply(path, fault('NotFound'));
    assert.deepEqual([own(run, path)?.phase, pause(run, path)], ['waitingToRetry', 590_000]);
    rest(run, path);
    run.reply(path, fault('NotFound'));
    assert.equal(run.state.outcome, 'rejected');
  });
});

describe('S25: a request whose processing failed', () => {
  const perhapsDone: StepReply = { status: 'rejected', message: 'Unable to process message.', outcomeUnknown: true };
  const canceledAfter = (reply: StepReply): Run => {
    const run = startRun(workflow(sequence('', step('ship', undo))));
    run.happen({ type: 'started', stepMs });
    run.reply(path, reply);
    assert.equal(run.state.blocked?.fault.type, 'Engine/RequestRejected');
    run.happen({ type: 'canceled', outcome: 'canceled' });
    return run;
  };

  test('if its failure is certain to precede any effect, there is nothing to undo', () => {
    const run = canceledAfter(rejected);
    assert.deepEqual([run.state.outcome, run.requests.length], ['canceled', 1]);
  });

  test('if it failed while an agent processed it, its effect is confirmed before the order ends', () => {
    const run = canceledAfter(perhapsDone);
    assert.equal(run.state.outcome, undefined);
    run.reply(path, ok());
    run.reply(undoPath, ok());
    assert.equal(run.state.outcome, 'canceled');
  });

  test('if it was a confirmation, the outcome stays unknown', () => {
    const run = canceled();
    run.reply(path, perhapsDone);
    assert.equal(run.state.outcome, undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Judge } from '#testing/laws/judge';
import { ordinary } from '#testing/laws/ordinary';
import { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';

const responseQueue = 'redress-response-client';

/** Returns the violations in a history of these observations. */
function judged(...observations: readonly Observation[]): readonly string[] {
  const judge = new Judge(new History({ definitions: { program: () => undefined }, responseQueue }), {
    ...ordinary([]),
    client: 'client',
    responseQueue,
    mayWait: false,
    toleranceMs: 0,
    now: () => 0,
    maxFailures: 1,
    claimsOnSubmit: true,
    writesAndSendsAtomically: false,
    announcesProcessed: false,
    closedForMs: () => undefined,
    quietSince: () => 0,
  });
  for (const observation of observations) judge.take(observation);
  judge.judgeEnd();
  return judge.broken;
}

const effect = (path: string, more: object = {}) =>
  ({ type: 'effect', operation: 'bank.charge', key: `ord_1/${path}/1`, ...more }) as const;

describe('the judge of a run', () => {
  test('finds nothing in an empty history', () => {
    assert.deepEqual(judged(), []);
  });

  test('S7: names the law and the effect that happened twice', () => {
    assert.deepEqual(judged(effect('order/charge'), effect('order/charge')), [
      'effects: bank.charge took effect twice under ord_1/order/charge/1',
    ]);
  });

  test('S7: finds a second effect of a step under another key', () => {
    const other = effect('order/charge', { key: 'ord_1/order/charge/2' });
    assert.deepEqual(judged(effect('order/charge'), other), [
      'effects: bank.charge took effect twice, under ord_1/order/charge/1 and ord_1/order/charge/2',
    ]);
  });

  test('S11: finds an undo without an effect', () => {
    const undo = effect('order/charge/undo', { operation: 'bank.refund', undoes: 'ord_1/order/charge/1' });
    assert.deepEqual(judged(undo), ['effects: bank.refund undid ord_1/order/charge/1, which had no effect']);
    assert.deepEqual(judged(effect('order/charge'), undo), []);
  });

  test('S25: finds a valid message among the dead letters, and an invalid message that is not among them', () => {
    const message = { id: 'm', queue: 'bank-requests', body: '{}', reason: 'Processing failed 4 times.', failures: 4, deadAt: 0 };
    const dead = { type: 'dead-lettered', message } as unknown as Observation;
    const [valid, unannounced] = judged(dead);
    assert.equal(valid, 'valid messages: a valid message became a dead letter: {}');
    assert.match(String(unannounced), /^dead letters: /);
    assert.deepEqual(judged({ type: 'poisoned', body: 'nonsense' }), [
      'poison messages: message nonsense neither became a dead letter nor was purged',
    ]);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after } from '../support/journal.ts';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { outline } from '../support/workflows.ts';

const prepared = (definition: string): Run => startRun(outline(definition));

describe('the journal contains every event of an order', () => {
  test('F-32: a reply that arrives while the order is blocked is recorded, and what follows from it is recorded after it', () => {
    const run = prepared(`
      workflow
        parallel
          charge by payment
          sequence post
            pack by warehouse
            tell by customer with {"box": {"$cel": "steps.pack.box"}}
    `);
    assert.deepEqual(
      after(run, () => run.happen({ type: 'started', stepMs })),
      [
        'ActivityStarted order',
        'StepRequested order/charge 1#1.1 by +30s',
        'ActivityStarted order/post',
        'StepRequested order/post/pack 1#1.1 by +30s',
      ],
    );
    assert.deepEqual(
      after(run, () => run.reply('order/charge', fault('Declined'))),
      ['OrderBlocked order/charge Declined of order/charge'],
    );
    assert.deepEqual(
      after(run, () => run.reply('order/post/pack', ok({ box: 7 }))),
      ['ReplyRecorded order/post/pack 1#1.1 succeeded'],
    );
    assert.deepEqual(
      after(run, () => run.happen({ type: 'resubmitted' })),
      [
        'OrderUnblocked order/charge',
        'StepRequested order/charge 2#1.2 by +30s',
        'ActivityClosed order/post/pack Succeeded 1#1.1 output {"box":7}',
        'StepRequested order/post/tell 1#1.1 by +30s',
      ],
    );
  });

  test('F-93: each failed run of a retry is recorded, and so is the handler of the last fault', () => {
    const run = prepared(`
      workflow
        sequence
          retry 1 every 5s
            charge by payment
          on Busy
            tell by customer
    `);
    run.happen({ type: 'started', stepMs });
    const busy = fault('Busy', { permanent: false });
    assert.deepEqual(
      after(run, () => run.reply('order/retry/charge', busy)),
      [
        'FaultRaised order/retry/charge Busy of order/retry/charge',
        'ActivityClosed order/retry/charge Faulted 1#1.1',
        'RunFailed order/retry attempt 1 Busy of order/retry/charge',
      ],
    );
    run.now += 5000;
    assert.deepEqual(
      after(run, () => run.happen({ type: 'woken' })),
      ['StepRequested order/retry/charge 1#1.2 by +30s'],
    );
    assert.deepEqual(
      after(run, () => run.reply('order/retry/charge', busy)),
      [
        'FaultRaised order/retry/charge Busy of order/retry/charge',
        'ActivityClosed order/retry/charge Faulted 1#1.2',
        'ActivityFaulting order/retry order/retry/charge',
        'ActivityClosed order/retry Faulted',
        'ActivityFaulting order order/retry',
        'FaultHandled order tell Busy of order/retry/charge',
        'StepRequested order/tell 1#1.1 by +30s',
      ],
    );
  });

  test('F-79: the outcomes of canceled steps are recorded', () => {
    const run = prepared(`
      workflow
        parallel
          ship by shipping longest 60s
            undo recall by shipping
          tell by customer
          count by stock
          book by ledger
            undo unbook by ledger
    `);
    run.happen({ type: 'started', stepMs });
    const paths = ['order/ship', 'order/tell', 'order/count', 'order/book'];
    assert.deepEqual(
      after(run, () =>
        run.happen({ type: 'heartbeat', requestId: run.latestRequest('order/ship').requestId, completeBy: run.now + 40_000 }),
      ),
      ['StepExtended order/ship 1#1.1 by +40s'],
    );
    assert.deepEqual(
      after(run, () => run.happen({ type: 'canceled', outcome: 'canceled' })),
      paths.map((path) => `CancelRequested ${path} 1#1.1`),
    );
    const answers = [ok(), ok(), fault('Odd', { unknown: true }), fault('Odd', { unknown: true })];
    assert.deepEqual(
      answers.map((answer, index) => after(run, () => run.reply(paths[index] ?? '', answer))),
      [
        ['LateResult order/ship 1#1.1', 'StepRequested order/ship/undo 1#1.1 by +30s'],
        ['LateResult order/tell 1#1.1', 'ActivityClosed order/tell Canceled 1#1.1'],
        ['OutcomeUnknown order/count 1#1.1', 'ActivityClosed order/count Canceled 1#1.1'],
        ['AttemptFailed order/book 1#1.1 Odd'],
      ],
    );
    assert.deepEqual(
      after(run, () => run.reply('order/ship/undo', fault('No'))),
      ['UndoFailed order/ship/undo 1#1.1 stuck true No'],
    );
    run.now = run.latestRequest('order/book').completeBy;
    assert.deepEqual(
      after(run, () => run.happen({ type: 'woken' })).filter((line) => line.includes('book')),
      ['StepRequested order/book 1#1.2 by +30s'],
    );
    assert.deepEqual(
      after(run, () => run.reply('order/book', fault('No'))),
      ['ActivityClosed order/book Canceled 1#1.2'],
    );
  });

  test('a temporary failure of a step is recorded as a failed attempt', () => {
    const run = prepared('workflow\n  sequence\n    charge by payment');
    run.happen({ type: 'started', stepMs });
    assert.deepEqual(
      after(run, () => run.reply('order/charge', fault('Busy', { permanent: false }))),
      ['AttemptFailed order/charge 1#1.1 Busy'],
    );
  });
});

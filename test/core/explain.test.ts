import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { explain } from '#core/views/explain';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

/** 2026-01-01 00:00:00 is when it starts. */
const started = (root: Activity, more: Partial<WorkflowDefinition> = {}): Run => {
  const run = startRun(workflow(root, more));
  run.happen({ type: 'started', stepMs });
  return run;
};
const why = (run: Run, now: number | undefined = run.now): string => explain(run.program, run.state, now);
const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: `un-${name}` }) as never });
const undoing = (...children: Activity[]): Activity => ({
  ...sequence('order', ...children),
  faultHandlers: [{ fault: 'No', do: { activity: 'compensate', name: 'compensate' } }],
});

describe('why an order is where it is', () => {
  test('it has not begun', () => {
    assert.equal(why(startRun(workflow(sequence('order')))), 'Waits to be taken up.');
  });

  test('it waits for an answer, for the first time or again', () => {
    const run = started(sequence('order', step('charge')));
    assert.equal(why(run), 'Waits for agent to answer order/charge until 00:00:30.');
    run.now += stepMs;
    run.happen({ type: 'expired' });
    assert.equal(why(run), 'Waits for agent to answer order/charge (2nd asking) until 00:01:00.');
  });

  test('it is suspended, and answers have come meanwhile', () => {
    const run = started(parallel('order', step('charge'), step('ship')));
    run.happen({ type: 'suspended' });
    const text = 'Suspended by an operator at 00:00:00: its time stands still, and nothing is begun until it is resumed';
    assert.equal(why(run), `${text}.`);
    run.reply('order/charge', ok());
    assert.equal(why(run), `${text}; an answer that came meanwhile is kept.`);
    run.reply('order/ship', ok());
    assert.equal(why(run), `${text}; 2 answers that came meanwhile are kept.`);
  });

  test('it waits for a signal, with or without an end', () => {
    const signal = (withinSeconds: object): Activity => ({ activity: 'waitFor', name: 'wait', signal: 'visa', ...withinSeconds });
    assert.equal(why(started(sequence('order', signal({})))), 'Waits for the signal visa at order/wait.');
    assert.equal(why(started(sequence('order', signal({ withinSeconds: 90 })))), 'Waits for the signal visa until 00:01:30 at order/wait.');
  });

  test('it waits for a person to answer', () => {
    const run = started(sequence('order', { activity: 'askOperator', name: 'price', question: 'What is the price?' }));
    assert.equal(why(run), 'Waits for a person to answer order/price: What is the price?');
  });

  test('it waits for an order that it has called, whose id whoever asks may know', () => {
    const call: Activity = { activity: 'call', name: 'ship', agent: 'workflows', operation: 'ship-one@1', input: {} };
    const run = started(sequence('order', call));
    assert.equal(why(run), 'Waits for an order of ship-one@1 at order/ship.');
    assert.equal(
      explain(run.program, run.state, run.now, (path, generation) => `ord_${path.length}${generation}`),
      'Waits for the order ord_101 of ship-one@1 at order/ship.',
    );
  });

  test('it waits for several, of which three are named', () => {
    const run = started(parallel('order', ...['a', 'b', 'c', 'd', 'e'].map((name) => step(name))));
    assert.equal(
      why(run),
      'Waits for agent to answer order/a until 00:00:30; waits for agent to answer order/b until 00:00:30; waits for agent to answer order/c until 00:00:30; 2 more like these.',
    );
  });

  test('an agent could not do it for now', () => {
    const run = started(sequence('order', step('charge')));
    run.reply('order/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run), 'Agent could not do order/charge for now, and is asked again at 00:00:30.');
  });

  test('a retry waits before its next run', () => {
    const run = started(sequence('order', { activity: 'retry', name: 'retry', retries: 3, intervalSeconds: 20, do: step('charge') }));
    run.reply('order/retry/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run, run.now + 5000), 'Waits 15 s before it runs order/retry once more, after one failure.');
    assert.equal(
      explain(run.program, run.state),
      'Waits until 2026-01-01 00:00:20 before it runs order/retry once more, after one failure.',
    );
    run.now += 20_000;
    run.happen({ type: 'woken' });
    run.reply('order/retry/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run), 'Waits 20 s before it runs order/retry once more, after 2 failures.');
  });

  test('how long it waits, in units that are not longer than the wait', () => {
    const at = (seconds: number) => why(started(sequence('order', delay('rest', seconds))));
    assert.deepEqual([119, 120, 7199, 7200].map(at), [
      'Waits 119 s at order/rest.',
      'Waits 2 min at order/rest.',
      'Waits 120 min at order/rest.',
      'Waits 2 h at order/rest.',
    ]);
  });

  test('how often it has asked, as people count', () => {
    const run = started(sequence('order', step('charge')));
    const count = (attempt: number): string | undefined => {
      const { activities } = run.state;
      const own = { ...(activities['order/charge']?.local as object), attempt };
      const state = { ...run.state, activities: { ...activities, 'order/charge': { status: 'Executing' as const, local: own } } };
      return /\((\w+) asking\)/.exec(explain(run.program, state, run.now))?.[1];
    };
    assert.deepEqual(
      [2, 3, 4, 9, 10, 11, 12, 13, 14, 20, 21, 22, 23, 111, 112, 121].map(count),
      '2nd 3rd 4th 9th 10th 11th 12th 13th 14th 20th 21st 22nd 23rd 111th 112th 121st'.split(' '),
    );
  });

  test('several wait for a person: the first of them, and what comes after it', () => {
    const raise = (name: string, fault: string): Activity => ({ activity: 'raise', name, fault, message: 'no' });
    const run = started(parallel('order', raise('charge', 'Refused/CardDeclined'), raise('ship', 'AddressInvalid'), raise('tell', 'Busy')));
    assert.equal(
      why(run),
      'Waits for a person: CardDeclined at order/charge; after that, for AddressInvalid at order/ship and Busy at order/tell.',
    );
  });

  test('an operator has it undone', () => {
    const run = started(sequence('order', undoable('reserve'), step('charge')));
    run.reply('order/reserve', ok());
    run.happen({ type: 'canceled', outcome: 'compensated' });
    run.reply('order/charge', fault('No'));
    assert.equal(why(run), 'To be undone: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
  });

  test('a step that was done although nobody wanted it any more: only its undo is waited for', () => {
    const run = started(sequence('order', undoable('reserve')));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/reserve', ok());
    assert.equal(why(run), 'Canceled: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
  });

  test('a delay, with its day where it is another one', () => {
    assert.equal(why(started(sequence('order', delay('rest', 600)))), 'Waits 10 min at order/rest.');
    assert.equal(why(started(sequence('order', delay('rest', 3 * 86_400)))), 'Waits 72 h at order/rest.');
    const run = started(sequence('order', step('charge', { completeWithinSeconds: 90_000 })));
    assert.equal(why(run), 'Waits for agent to answer order/charge until 2026-01-02 01:00:00.');
  });

  test('a signal, and a question to a person', () => {
    const waiting = started(
      outline(`
      workflow
        parallel
          approval waits for approved within 600s
          payment waits for paid
    `).root,
    );
    assert.equal(
      why(waiting),
      'Waits for the signal approved until 00:10:00 at order/approval; waits for the signal paid at order/payment.',
    );
    const asking = started(
      outline(`
      workflow
        sequence
          decision asks a person "Ship without a signature?"
    `).root,
    );
    assert.equal(why(asking), 'Waits for a person to answer order/decision: Ship without a signature?');
  });

  test('an undo that cannot be asked', () => {
    const run = started(
      outline(`
      workflow
        sequence
          charge by agent
            undo refund by agent with {"id": {"$cel": "steps.charge.id"}}
          ship by agent
    `).root,
    );
    run.reply('order/charge', ok());
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/ship', fault('TooLate'));
    assert.equal(why(run), 'Canceled: a person must see to the undo of order/charge: its input could not be evaluated.');
  });

  test('it undoes what was done, and is not heard', () => {
    const run = started(undoing(undoable('reserve'), undoable('charge'), step('ship')));
    run.reply('order/reserve', ok());
    run.reply('order/charge', ok());
    run.reply('order/ship', fault('No'));
    assert.equal(why(run), 'Undoes what was done: waits for agent to un-charge (order/charge/undo); 1 more to undo.');
    run.reply('order/charge/undo', fault('Down', { permanent: false }));
    assert.equal(
      why(run),
      'Undoes what was done: agent failed to un-charge (order/charge/undo), and is asked again at 00:00:05; 1 more to undo.',
    );
  });

  test('nobody knows whether something was done', () => {
    const run = started(undoing(undoable('charge')));
    run.reply('order/charge', fault('No', { unknown: true }));
    assert.equal(why(run), 'Nobody knows whether order/charge was done: waits for agent to say so until 00:00:30.');
    run.reply('order/charge', fault('Down', { permanent: false }));
    assert.equal(why(run), 'Nobody knows whether order/charge was done: agent is asked again at 00:00:04.');
  });

  test('a person has to decide, and after that once more', () => {
    const run = started(parallel('order', step('ship'), step('tell'), step('thank')));
    run.reply('order/ship', fault('AddressInvalid'));
    assert.equal(why(run), 'Waits for a person: AddressInvalid at order/ship.');

    const doubtful = started(sequence('order', step('ship')));
    doubtful.reply('order/ship', fault('Engine/InvalidReply', { unknown: true }));
    assert.equal(why(doubtful), 'Waits for a person: InvalidReply at order/ship; nobody knows whether that was done.');
  });

  test('it was canceled, and what is under way is waited for', () => {
    const run = started(sequence('order', undoable('reserve'), step('charge')));
    run.reply('order/reserve', ok());
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.equal(why(run), 'Canceled: waits for agent to answer order/charge, which is not wanted any more, until 00:00:30.');
    run.reply('order/charge', ok());
    assert.equal(why(run), 'Canceled: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
    run.reply('order/reserve/undo', ok());
    assert.equal(why(run), 'Canceled: what it had done was undone.');
  });

  test('it has ended', () => {
    const completed = started(sequence('order', step('charge')));
    completed.reply('order/charge', ok());
    assert.equal(why(completed), 'Completed.');
    const rejected = started(undoing(step('charge')));
    rejected.reply('order/charge', fault('No'));
    assert.equal(why(rejected), 'Rejected: nothing was left to undo.');
    const terminated = started(sequence('order', step('charge')));
    terminated.happen({ type: 'terminated' });
    assert.equal(why(terminated), 'Terminated: it ended as it was, and nothing was undone.');
  });
});

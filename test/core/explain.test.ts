import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { explain, type Obstacle } from '#core/views/explain';
import { lastAnswers } from '#core/views/last-answers';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { delay, outline, parallel, sequence, step, workflow } from '../support/workflows.ts';

/** The order starts at 2026-01-01 00:00:00. */
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

describe("the explanation of an order's current state", () => {
  test('the order has not begun', () => {
    assert.equal(why(startRun(workflow(sequence('order')))), 'Waits to be started.');
  });

  test('the order waits for a reply, for the first time or again', () => {
    const run = started(sequence('order', step('charge')));
    assert.equal(why(run), 'Waits for agent to answer order/charge until 00:00:30.');
    run.now += stepMs;
    run.happen({ type: 'expired' });
    assert.equal(why(run), 'Waits for agent to answer order/charge (attempt 2) until 00:01:00.');
  });

  test('the order is suspended, and replies have arrived meanwhile', () => {
    const run = started(parallel('order', step('charge'), step('ship')));
    run.happen({ type: 'suspended' });
    const text = 'Suspended by an operator at 00:00:00: its time stands still, and nothing is requested until somebody resumes it';
    assert.equal(why(run), `${text}.`);
    run.reply('order/charge', ok());
    assert.equal(why(run), `${text}; an answer that came meanwhile is kept.`);
    run.reply('order/ship', ok());
    assert.equal(why(run), `${text}; 2 answers that came meanwhile are kept.`);
  });

  test('the order waits for a signal, with or without a time limit', () => {
    const signal = (withinSeconds: object): Activity => ({ activity: 'waitFor', name: 'wait', signal: 'visa', ...withinSeconds });
    assert.equal(why(started(sequence('order', signal({})))), 'Waits for the signal visa at order/wait.');
    assert.equal(why(started(sequence('order', signal({ withinSeconds: 90 })))), 'Waits for the signal visa until 00:01:30 at order/wait.');
  });

  test('the order waits for a person to answer a question', () => {
    const run = started(sequence('order', { activity: 'askOperator', name: 'price', question: 'What is the price?' }));
    assert.equal(why(run), 'Waits for an answer at order/price: What is the price?');
  });

  test('the order waits for several answers: the explanation names the first question, and the steps of those after it', () => {
    const ask = (name: string): Activity => ({ activity: 'askOperator', name, question: `What is the ${name}?` });
    const run = started(parallel('order', ask('price'), ask('date')));
    assert.equal(why(run), 'Waits for an answer: What is the price? (order/price); after that: an answer at order/date.');
  });

  test("the order waits for an order that it has called, and the explanation shows that order's id only on demand", () => {
    const call: Activity = { activity: 'call', name: 'ship', agent: 'workflows', operation: 'ship-one@1', input: {} };
    const run = started(sequence('order', call));
    assert.equal(why(run), 'Waits for an order of ship-one@1 at order/ship.');
    assert.equal(
      explain(run.program, run.state, run.now, { childOf: (path, generation) => `ord_${path.length}${generation}` }),
      'Waits for the order ord_101 of ship-one@1 at order/ship.',
    );
  });

  test('the order waits for several activities, and the explanation names three of them', () => {
    const run = started(parallel('order', ...['a', 'b', 'c', 'd', 'e'].map((name) => step(name))));
    assert.equal(
      why(run),
      'Waits for agent to answer order/a until 00:00:30; waits for agent to answer order/b until 00:00:30; waits for agent to answer order/c until 00:00:30; 2 more like these.',
    );
  });

  test('the agent cannot work: the explanation says why, since when, and what ends it', () => {
    const run = started(sequence('order', step('charge')));
    const { now: since } = run;
    const text = 'Waits for agent to answer order/charge until 00:00:30';
    const because = (obstacle: Obstacle): string => explain(run.program, run.state, run.now, { obstacleOf: () => obstacle });
    assert.equal(
      because({ kind: 'away', since, nextProbeAt: since + 5000 }),
      `${text}, but the service of agent has been unavailable since 00:00:00 (its circuit breaker is open): requests continue when a probe succeeds; the next probe is at 00:00:05.`,
    );
    assert.equal(
      because({ kind: 'recovering', since }),
      `${text}, and the service of agent has answered again since 00:00:00: the waiting requests are released one after another.`,
    );
    assert.equal(
      because({ kind: 'closed-channel', since, by: 'olga', reason: 'the bank moves' }),
      `${text}, but olga closed the channel agent at 00:00:00 (the bank moves): requests continue when an operator opens it.`,
    );
    assert.equal(explain(run.program, run.state, run.now, { obstacleOf: () => undefined }), `${text}.`);
  });

  test('another host has locked the order', () => {
    const run = started(sequence('order', step('charge')));
    const lock = { by: 'host-1', until: run.now + 9000 };
    assert.match(explain(run.program, run.state, run.now, { lock }), /\. host-1 has locked it until 00:00:09\.$/);
  });

  test('the last failure of the step at work is named, in at most 300 characters, until the step closes', () => {
    const run = started(sequence('order', step('charge'), step('ship')));
    const busy = (message: string) => ({ type: 'T/Busy', class: 'expected', permanent: false, message });
    const heard = (message: string) => ({ type: 'AttemptFailed', path: 'order/charge', attemptId: '1#1.1', fault: busy(message) });
    const of = (journal: readonly { readonly type: string }[]): string => {
      const answers = lastAnswers(journal);
      return explain(run.program, run.state, run.now, { lastAnswerOf: (path) => answers.get(path) });
    };
    const closed = { type: 'ActivityClosed', path: 'order/charge', result: 'Succeeded' };
    assert.match(of([heard('one.'), heard('The bank is closed.')]), / \(last answer: Busy: The bank is closed\)\.$/);
    assert.ok(of([heard('x'.repeat(9000))]).length < 400);
    assert.doesNotMatch(of([heard('one.'), closed]), /last answer/);
    assert.doesNotMatch(of([]), /last answer/);
  });

  test('an agent has answered with a temporary failure', () => {
    const run = started(sequence('order', step('charge')));
    run.reply('order/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run), 'Agent could not do order/charge for now, and gets the next request at 00:00:30.');
  });

  test('a retry pauses before its next run', () => {
    const run = started(sequence('order', { activity: 'retry', name: 'retry', retries: 3, intervalSeconds: 20, do: step('charge') }));
    run.reply('order/retry/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run, run.now + 5000), 'Waits 15 s before it runs order/retry once more, after one failure.');
    assert.equal(
      explain(run.program, run.state),
      'Waits until 2026-01-01T00:00:20Z before it runs order/retry once more, after one failure.',
    );
    run.now += 20_000;
    run.happen({ type: 'woken' });
    run.reply('order/retry/charge', fault('Engine/ServiceUnavailable', { permanent: false }));
    assert.equal(why(run), 'Waits 20 s before it runs order/retry once more, after 2 failures.');
  });

  test('the length of a pause is given in units no longer than the pause', () => {
    const at = (seconds: number) => why(started(sequence('order', delay('rest', seconds))));
    assert.deepEqual([119, 120, 7199, 7200].map(at), [
      'Waits 119 s at order/rest.',
      'Waits 2 min at order/rest.',
      'Waits 120 min at order/rest.',
      'Waits 2 h at order/rest.',
    ]);
  });

  test('attempts are counted from one', () => {
    const run = started(sequence('order', step('charge')));
    const shown = (attempt: number): string | undefined => {
      const { activities } = run.state;
      const local = { ...(activities['order/charge']?.local as object), attempt };
      const state = { ...run.state, activities: { ...activities, 'order/charge': { status: 'Executing' as const, local } } };
      return /\(attempt (\d+)\)/.exec(explain(run.program, state, run.now))?.[1];
    };
    assert.deepEqual([1, 2, 11, 121].map(shown), [undefined, '2', '11', '121']);
  });

  test('several activities wait for a person: the explanation names the first and the consequences', () => {
    const raise = (name: string, fault: string): Activity => ({ activity: 'raise', name, fault, message: 'no' });
    const run = started(parallel('order', raise('charge', 'Refused/CardDeclined'), raise('ship', 'AddressInvalid'), raise('tell', 'Busy')));
    assert.equal(why(run), 'Blocked: CardDeclined at order/charge; after that: AddressInvalid at order/ship and Busy at order/tell.');
  });

  test('an operator compensates the order', () => {
    const run = started(sequence('order', undoable('reserve'), step('charge')));
    run.reply('order/reserve', ok());
    run.happen({ type: 'canceled', outcome: 'compensated' });
    run.reply('order/charge', fault('No'));
    assert.equal(why(run), 'To be undone: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
  });

  test('a canceled step was done after all, and the order waits only for its undo', () => {
    const run = started(sequence('order', undoable('reserve')));
    run.happen({ type: 'canceled', outcome: 'canceled' });
    run.reply('order/reserve', ok());
    assert.equal(why(run), 'Canceled: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
  });

  test('the order waits for a delay, and the date is shown if it is another day', () => {
    assert.equal(why(started(sequence('order', delay('rest', 600)))), 'Waits 10 min at order/rest.');
    assert.equal(why(started(sequence('order', delay('rest', 3 * 86_400)))), 'Waits 72 h at order/rest.');
    const run = started(sequence('order', step('charge', { completeWithinSeconds: 90_000 })));
    assert.equal(why(run), 'Waits for agent to answer order/charge until 2026-01-02T01:00:00Z.');
  });

  test('the order waits for a signal, and then for an answer of a person', () => {
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
    const forAnswer = started(
      outline(`
      workflow
        sequence
          decision asks a person "Ship without a signature?"
    `).root,
    );
    assert.equal(why(forAnswer), 'Waits for an answer at order/decision: Ship without a signature?');
  });

  test('an undo whose input cannot be evaluated blocks the order', () => {
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
    assert.equal(why(run), 'Canceled: a person must do the undo of order/charge by hand, because its input could not be evaluated.');
  });

  test('the order compensates, and an undo gets no reply', () => {
    const run = started(undoing(undoable('reserve'), undoable('charge'), step('ship')));
    run.reply('order/reserve', ok());
    run.reply('order/charge', ok());
    run.reply('order/ship', fault('No'));
    assert.equal(why(run), 'Undoes what was done: waits for agent to un-charge (order/charge/undo); 1 more to undo.');
    run.reply('order/charge/undo', fault('Down', { permanent: false }));
    assert.equal(
      why(run),
      'Undoes what was done: agent failed to un-charge (order/charge/undo), and gets the next request at 00:00:05; 1 more to undo.',
    );
  });

  test('the outcome of a step is unknown', () => {
    const run = started(undoing(undoable('charge')));
    run.reply('order/charge', fault('No', { unknown: true }));
    assert.equal(why(run), 'The outcome of order/charge is unknown: waits until 00:00:30 for agent to report it.');
    run.reply('order/charge', fault('Down', { permanent: false }));
    assert.equal(why(run), 'The outcome of order/charge is unknown: agent gets the next request at 00:00:04.');
  });

  test('a person must decide, and must decide once more after that', () => {
    const run = started(parallel('order', step('ship'), step('tell'), step('thank')));
    run.reply('order/ship', fault('AddressInvalid'));
    assert.equal(why(run), 'Blocked: AddressInvalid at order/ship.');

    const doubtful = started(sequence('order', step('ship')));
    doubtful.reply('order/ship', fault('Engine/InvalidReply', { unknown: true }));
    assert.equal(why(doubtful), 'Blocked: InvalidReply at order/ship; its outcome is unknown.');
  });

  test('the order was canceled, and waits for the requests under way', () => {
    const run = started(sequence('order', undoable('reserve'), step('charge')));
    run.reply('order/reserve', ok());
    run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.equal(why(run), 'Canceled: waits until 00:00:30 for agent to answer order/charge, which is canceled.');
    run.reply('order/charge', ok());
    assert.equal(why(run), 'Canceled: undoes what was done: waits for agent to un-reserve (order/reserve/undo).');
    run.reply('order/reserve/undo', ok());
    assert.equal(why(run), 'Canceled: what it had done was undone.');
  });

  test('the order has ended', () => {
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

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import { callProblems } from '#core/checks/calls';
import { requestIdOf } from '#core/data/ids';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const call = (more: object = {}): Activity =>
  ({
    activity: 'call',
    name: 'ship',
    agent: 'workflows',
    operation: 'ship-one@1',
    input: { of: { $cel: 'orderId' } },
    ...more,
  }) as Activity;
const tell = step('tell', { input: { $cel: 'steps.ship' } });

const started = (definition: WorkflowDefinition, called = false): Run => {
  const run = startRun(definition);
  run.happen({ type: 'started', stepMs, ...(called ? { called: true as const } : {}) });
  return run;
};
const after = (run: Run, seconds: number) => {
  run.now += seconds * 1000;
  return run.happen({ type: 'woken' });
};
const path = 'order/ship';

describe('an order calls another workflow', () => {
  test('the request for the called order has an idempotency key, and the result of the called order can be read', () => {
    const run = started(workflow(sequence('', call(), tell)));
    assert.partialDeepStrictEqual(run.latestRequest(path), {
      agent: 'workflows',
      operation: 'ship-one@1',
      idempotencyKey: 'o1/order/ship/1',
      attempt: 1,
      completeBy: run.now + 600_000,
      input: { of: 'o1' },
    });
    run.reply(path, ok({ parcel: 7 }));
    assert.deepEqual(run.latestRequest('order/tell').input, { parcel: 7 });
  });

  test('the call requests the status of the called order every ten minutes while that order runs, under the same key', () => {
    const run = started(workflow(sequence('', call())));
    assert.deepEqual(after(run, 599).commands, []);
    for (const attempt of [2, 3]) {
      const { commands } = after(run, attempt === 2 ? 1 : 600);
      assert.partialDeepStrictEqual(commands, [{ type: 'request', attempt, idempotencyKey: 'o1/order/ship/1', input: { of: 'o1' } }]);
    }
  });

  test('a called order ends once: its reply counts, whichever request it names and however late it was sent', () => {
    const run = started(workflow(sequence('', call(), tell)));
    const [first] = run.requests;
    after(run, 600);
    run.epoch += 1;
    run.happen({ type: 'reclaimed' });
    run.now += 1e9;
    run.reply(path, ok('late'), { ask: first, sentAt: run.now });
    assert.equal(run.latestRequest('order/tell').input, 'late');
  });

  test('the reply of an abandoned called order no longer counts', () => {
    const run = started(workflow(sequence('', call())));
    const [first] = run.requests;
    run.reply(path, fault('Refused'));
    run.happen({ type: 'resubmitted' });
    assert.equal(run.latestRequest(path).idempotencyKey, 'o1/order/ship/2');
    run.reply(path, ok(), { ask: first });
    run.happen({ type: 'replied', requestId: requestIdOf('o2', path, { generation: 2, attempt: 2, epoch: 1 }), sentAt: 0, reply: ok() });
    assert.equal(run.state.phase, 'running');
    run.reply(path, ok());
    assert.equal(run.state.outcome, 'completed');
  });

  test('a call may set its own interval for status requests', () => {
    const run = started(workflow(sequence('', call({ completeWithinSeconds: 60 }))));
    assert.equal(run.latestRequest(path).completeBy, run.now + 60_000);
  });

  test('when the time limit of the whole order has passed, the order no longer waits for the called order', () => {
    const run = started(workflow(sequence('', call()), { completeWithinSeconds: 900 }));
    after(run, 600);
    assert.equal(run.latestRequest(path).completeBy, run.now + 300_000);
    after(run, 300);
    assert.partialDeepStrictEqual(run.state.blocked, { path, fault: { type: 'Engine/DeadlineExceeded' } });
    assert.partialDeepStrictEqual(run.state.activities[path], { local: { phase: 'unknown' } });
  });

  test('a call with a temporary failure is requested again after its pause', () => {
    const run = started(workflow(sequence('', call())));
    run.reply(path, fault('Busy', { permanent: false }));
    assert.deepEqual(run.state.phase, 'running');
    after(run, 600);
    assert.equal(run.latestRequest(path).attempt, 2);
  });

  test('a call that has blocked its order is not requested again until a person resubmits it', () => {
    const run = started(workflow(sequence('', call())));
    run.reply(path, fault('Odd', { unknown: true }));
    after(run, 600);
    assert.equal(run.requests.length, 1);
    run.happen({ type: 'resubmitted' });
    assert.equal(run.latestRequest(path).idempotencyKey, 'o1/order/ship/1');
  });

  test('the effect of a canceled call is confirmed, but only when its last request can no longer arrive', () => {
    const undo = step('undo', { agent: 'workflows', operation: 'undo' });
    const run = started(workflow(sequence('', call({ undo }))));
    const { commands } = run.happen({ type: 'canceled', outcome: 'canceled' });
    assert.partialDeepStrictEqual(commands, [{ type: 'cancel', agent: 'workflows', idempotencyKey: 'o1/order/ship/1' }]);
    after(run, 600);
    assert.partialDeepStrictEqual(run.latestRequest(path), { attempt: 2, confirming: true, idempotencyKey: 'o1/order/ship/1' });
    run.reply(path, fault('Refused'));
    assert.equal(run.state.outcome, 'canceled');
  });
});

describe('an order that another one called', () => {
  const quote = step('quote', { undo: { ...step('undo'), activity: 'step' } as never });
  const definition = workflow(sequence('', quote, step('pay')), { toCaller: ['Refused'] });

  test('the called order ends with a fault for its caller after all its work is undone', () => {
    const run = started(definition, true);
    run.reply('order/quote', ok());
    run.reply('order/pay', fault('Refused/CardDeclined'));
    assert.equal(run.state.phase, 'running');
    run.reply('order/quote/undo', ok());
    assert.partialDeepStrictEqual(run.state, { outcome: 'compensated', failure: { type: 'Refused/CardDeclined', source: 'order/pay' } });
  });

  test('the called order ends as rejected if it had done nothing', () => {
    const run = started(definition, true);
    run.reply('order/quote', fault('Refused'));
    assert.partialDeepStrictEqual(run.state, { outcome: 'rejected', failure: { type: 'Refused' } });
  });

  test('any fault that toCaller does not name blocks the called order, as it would block an order without a caller', () => {
    const other = started(definition, true);
    other.reply('order/quote', fault('Odd'));
    const own = started(definition);
    own.reply('order/quote', fault('Refused'));
    assert.deepEqual([other.state.blocked?.fault.type, own.state.blocked?.fault.type], ['Odd', 'Refused']);
  });

  test('the caller can compensate the called order as a whole after it was completed', () => {
    const run = started(definition, true);
    run.reply('order/quote', ok());
    run.reply('order/pay', ok());
    assert.deepEqual([run.state.outcome, run.state.undo?.length], ['completed', 1]);
    run.happen({ type: 'compensatedByCaller' });
    assert.partialDeepStrictEqual(run.state, { phase: 'running', compensatedByCaller: true });
    run.reply('order/quote/undo', ok());
    assert.partialDeepStrictEqual(run.state, { phase: 'closed', outcome: 'compensated', undone: true });
  });

  test('the caller can compensate a called order whose only activity is a step', () => {
    const run = started(workflow(step('charge', { undo: step('undo') as Step })), true);
    run.reply('order', ok());
    run.happen({ type: 'compensatedByCaller' });
    run.reply('order/undo', ok());
    assert.partialDeepStrictEqual(run.state, { phase: 'closed', outcome: 'compensated', undone: true });
  });

  test('an order is not compensated for a caller if it was not completed, or if it has no caller', () => {
    const open = started(definition, true);
    const own = started(definition);
    for (const run of [open, own]) run.reply('order/quote', ok());
    own.reply('order/pay', ok());
    const gone = started(definition, true);
    gone.happen({ type: 'terminated' });
    for (const run of [open, own, gone]) {
      const { state } = run;
      run.happen({ type: 'compensatedByCaller' });
      assert.deepEqual(run.state, state);
    }
  });

  test('an order that has ended keeps no undo entries if it has no caller, or if it was canceled', () => {
    const own = started(definition);
    own.reply('order/quote', ok());
    own.reply('order/pay', ok());
    const terminated = started(definition, true);
    terminated.reply('order/quote', ok());
    terminated.happen({ type: 'terminated' });
    assert.deepEqual([own.state.undo, terminated.state.undo], [undefined, undefined]);
  });
});

describe('workflows that call each other', () => {
  const named = (name: string, root: Activity): WorkflowDefinition => workflow(root, { name, version: 1 });
  const calling = (name: string, ...operations: string[]): WorkflowDefinition =>
    named(name, sequence('', ...operations.map((operation, index) => call({ name: `c${index}`, operation }))));
  const back = (...way: string[]) =>
    `The workflow calls itself: ${way.join(' → ')}. Such an order could never end. Remove one of these calls.`;

  test('each cycle is reported at every call that belongs to it, and the message lists the workflows of the cycle', () => {
    assert.deepEqual(callProblems([calling('a', 'b@1'), calling('b', 'c@1', 'd@1'), calling('c'), calling('d', 'a@1')]), [
      { workflow: 'a@1', path: 'order/c0', message: back('a@1', 'b@1', 'd@1', 'a@1') },
      { workflow: 'b@1', path: 'order/c1', message: back('b@1', 'd@1', 'a@1', 'b@1') },
      { workflow: 'd@1', path: 'order/c0', message: back('d@1', 'a@1', 'b@1', 'd@1') },
    ]);
    assert.deepEqual(callProblems([calling('a', 'a@1')]), [{ workflow: 'a@1', path: 'order/c0', message: back('a@1', 'a@1') }]);
  });

  test('calls without a cycle are valid, even if they name a workflow that does not exist', () => {
    assert.deepEqual(callProblems([calling('a', 'b@1', 'b@1', 'nope@1'), calling('b', 'c@1'), calling('c')]), []);
    assert.deepEqual(callProblems([calling('a', 'b@1'), calling('b', 'b@2'), workflow(step('x'), { name: 'b', version: 2 })]), []);
    const loop = callProblems([calling('x', 'a@1'), calling('a', 'b@1'), calling('b', 'a@1')]);
    assert.deepEqual(
      loop.map(({ workflow }) => workflow),
      ['a@1', 'b@1'],
    );
  });

  test('the check of definitions finds calls wherever they may stand, and only calls', () => {
    const inside = { ...sequence('s', step('x')), faultHandlers: [{ fault: 'Engine', do: call({ operation: 'a@1' }) }] };
    const others = [
      step('y', { agent: 'workflows', operation: 'a@1' }),
      call({ agent: 'other', operation: 'a@1' }),
      call({ operation: 5 }),
    ];
    assert.deepEqual(
      callProblems([named('a', sequence('', ...others, inside))]).map(({ path }) => path),
      ['order/s/ship'],
    );
    assert.deepEqual(callProblems([named('a', null as never), named('b', 'text' as never)]), []);
  });
});

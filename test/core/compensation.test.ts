import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Step } from '#core/activities/step';
import type { StepReply } from '#core/data/event';
import type { StepState } from '#core/data/step-state';
import type { Activity } from '#core/definition/definition';
import { fault, ok, type Run, startRun, stepMs } from '../support/run.ts';
import { listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

const undoable = (name: string): Activity => step(name, { undo: step('undo', { operation: 'undo' }) as Step });
const refused = { fault: 'Refused', do: sequence('refused', { activity: 'compensate', name: 'compensate' }, step('tell')) };

/** Answers each new request in turn, as `replyTo` says; `ok` by default. */
function answerAll(run: Run, replyTo: (path: string, attempt: number) => StepReply | undefined = () => undefined): readonly string[] {
  run.happen({ type: 'started', stepMs });
  for (let next = 0; run.state.phase === 'running'; next++) {
    const ask = run.requests[next];
    if (ask) run.reply(ask.path, replyTo(ask.path, ask.attempt) ?? ok(), { ask });
    else {
      next -= 1;
      run.now += 3_600_000;
      run.happen({ type: 'woken' });
    }
  }
  return run.requests.map(({ path }) => path.slice('order/'.length));
}

const steps = (count: number): readonly string[] => listOf(count, (index) => `t${index}`);

for (const failing of [0, 1, 2, 3, 4, 5]) {
  test(`F-100: ${failing === 5 ? 'five steps that succeed are not undone' : `when step ${failing} of five fails, the steps before it are undone, newest first`}`, () => {
    const run = startRun(workflow({ ...sequence('order', ...steps(5).map(undoable)), faultHandlers: [refused] }));
    const requested = answerAll(run, (path) => (path === `order/t${failing}` ? fault('Refused') : undefined));
    const done = steps(failing);
    const undone = done.toReversed().map((name) => `${name}/undo`);
    assert.deepEqual(requested, failing === 5 ? done : [...done, `t${failing}`, ...undone, 'refused/tell']);
    assert.equal(run.state.outcome, failing === 5 ? 'completed' : failing === 0 ? 'rejected' : 'compensated');
  });
}

/** With any number of attempts: only a long run shows that the engine never abandons an undo. */
const failures = fc.oneof(fc.nat(4), fc.nat(60));

test('F-103: an undo that fails k times is requested k + 1 times, and the next undo waits for it', () => {
  fc.assert(
    fc.property(failures, failures, fc.boolean(), (first, second, permanent) => {
      const run = startRun(workflow({ ...sequence('order', ...steps(3).map(undoable)), faultHandlers: [refused] }));
      const requested = answerAll(run, (path, attempt) => {
        if (path === 'order/t2') return fault('Refused');
        const times = path === 'order/t1/undo' ? first : path === 'order/t0/undo' ? second : 0;
        return attempt <= times ? fault('Busy', { permanent }) : undefined;
      });
      const undos = [...listOf(first + 1, () => 't1/undo'), ...listOf(second + 1, () => 't0/undo')];
      assert.deepEqual(requested, ['t0', 't1', 't2', ...undos, 'refused/tell']);
      const stuck = run.turns.flatMap(({ facts }) => facts).filter((fact) => fact.type === 'UndoFailed' && fact.stuck);
      assert.equal(stuck.length > 0, permanent ? first + second > 0 : Math.max(first, second) >= 3, 'a person is notified');
    }),
  );
});

test('F-103: undos that fail together do not retry together: each pause varies by a fifth', () => {
  const pauses = listOf(20, (index) => {
    const run = startRun(workflow({ ...sequence('order', undoable('a'), step('fails')), faultHandlers: [refused] }), {
      orderId: `order-${index}`,
    });
    run.happen({ type: 'started', stepMs });
    run.reply('order/a', ok());
    run.reply('order/fails', fault('Refused'));
    run.reply('order/a/undo', fault('Busy', { permanent: false }));
    const own = run.state.activities['order/a/undo']?.local as StepState | undefined;
    return (own?.completeBy ?? 0) - run.now;
  });
  for (const pause of pauses) assert.ok(pause >= 4000 && pause <= 6000, `${pause} ms are 5 s, more or less`);
  assert.ok(new Set(pauses).size > 15, `${pauses} are not the same`);
});

test('F-80: one event cancels a thousand branches, and each agent receives the cancellation', () => {
  const run = startRun(workflow(parallel('order', ...steps(1000).map((name) => sequence(`branch-${name}`, undoable(name))))));
  run.happen({ type: 'started', stepMs });
  const { commands } = run.happen({ type: 'canceled', outcome: 'canceled' });
  assert.equal(commands.filter(({ type }) => type === 'cancel').length, 1000);
});

test('F-107: branches are undone in the reverse of their completion order, whatever that order was', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(['t0', 't1', 't2', 't3', 't4'], { minLength: 5 }), (order) => {
      const run = startRun(
        workflow({ ...sequence('order', parallel('all', ...steps(5).map(undoable)), step('pay')), faultHandlers: [refused] }),
      );
      run.happen({ type: 'started', stepMs });
      for (const name of order) run.reply(`order/all/${name}`, ok());
      run.reply('order/pay', fault('Refused'));
      for (const name of order.toReversed()) run.reply(`order/all/${name}/undo`, ok());
      run.reply('order/refused/tell', ok());
      assert.equal(run.state.outcome, 'compensated');
    }),
  );
});

test('F-101: a scope undoes the steps inside it, and an outer scope later undoes its other steps', () => {
  const inner: Activity = { ...sequence('inner', undoable('b'), undoable('c'), step('fails')), faultHandlers: [refused] };
  const run = startRun(
    workflow({ ...sequence('order', undoable('a'), inner, undoable('d'), step('fails-too')), faultHandlers: [refused] }),
  );
  const requested = answerAll(run, (path) => (path.includes('fails') ? fault('Refused') : undefined));
  assert.deepEqual(requested, [
    ...['a', 'inner/b', 'inner/c', 'inner/fails', 'inner/c/undo', 'inner/b/undo', 'inner/refused/tell'],
    ...['d', 'fails-too', 'd/undo', 'a/undo', 'refused/tell'],
  ]);
});

test('F-105: the input of an undo is stored when its step succeeds, so no step is requested again to compute it', () => {
  const charge = step('charge', { undo: step('undo', { operation: 'undo', input: { id: { $cel: 'steps.charge.id' } } }) as Step });
  const turns: Activity = { activity: 'forEach', name: 'turns', list: ['x', 'y'], maxConcurrency: 1, do: charge };
  const run = startRun(workflow({ ...sequence('order', turns, step('fails')), faultHandlers: [refused] }));
  answerAll(run, (path) => (path === 'order/fails' ? fault('Refused') : ok({ id: path })));
  const undos = run.requests.filter(({ path }) => path.endsWith('/undo')).map(({ input }) => input);
  assert.deepEqual(undos, [{ id: 'order/turns[1]/charge' }, { id: 'order/turns[0]/charge' }]);
});

test('F-80, F-106: an order that is canceled after any event undoes exactly the effects it had', () => {
  const definition = workflow(
    sequence('order', undoable('a'), parallel('both', sequence('left', undoable('b'), undoable('c')), undoable('d')), step('e')),
  );
  for (let after = 0; after < 6; after++) {
    for (const recorded of [false, true]) {
      const run = startRun(definition);
      const done: string[] = [];
      run.happen({ type: 'started', stepMs });
      for (let next = 0; next < after; next++) {
        const ask = run.requests[next];
        if (!ask) continue;
        run.reply(ask.path, ok(), { ask });
        if (ask.path !== 'order/e') done.push(ask.path);
      }
      if (run.state.phase === 'closed') continue;
      // Also if the replies came while the order was blocked.
      const open = Object.keys(run.state.activities).filter((path) => run.requests.some((ask) => ask.path === path));
      if (recorded) run.happen({ type: 'exhausted' });
      if (recorded) for (const path of open) run.reply(path, ok());
      run.happen({ type: 'canceled', outcome: 'canceled' });
      if (!recorded) for (const path of open) run.reply(path, ok());
      for (let next = 0; run.state.phase === 'running'; next++) {
        const ask = run.requests.filter(({ path }) => path.endsWith('/undo'))[next];
        assert.ok(ask, `nothing more is undone after ${after}: ${JSON.stringify(run.state)}`);
        run.reply(ask.path, ok(), { ask });
      }
      const undone = run.requests.filter(({ path }) => path.endsWith('/undo')).map(({ path }) => path.slice(0, -'/undo'.length));
      const expected = [...done, ...open.filter((path) => path !== 'order/e')];
      assert.deepEqual(undone.toSorted(), expected.toSorted(), `canceled after ${after} answers`);
      assert.deepEqual(undone.slice(-done.length || undone.length), done.toReversed(), 'earlier steps are undone last, newest first');
      assert.equal(run.state.outcome, 'canceled');
    }
  }
});

test('F-43, F-106: an undo that succeeded while the order was blocked counts when the order is canceled', () => {
  const run = startRun(workflow({ ...sequence('order', undoable('a'), undoable('b'), step('fails')), faultHandlers: [refused] }));
  run.happen({ type: 'started', stepMs });
  run.reply('order/a', ok());
  run.reply('order/b', ok());
  run.reply('order/fails', fault('Refused'));
  run.happen({ type: 'exhausted' });
  run.reply('order/b/undo', ok());
  run.happen({ type: 'canceled', outcome: 'canceled' });
  run.reply('order/a/undo', ok());
  assert.equal(run.state.outcome, 'canceled');
  assert.equal(run.requests.filter(({ path }) => path === 'order/b/undo').length, 1);
});

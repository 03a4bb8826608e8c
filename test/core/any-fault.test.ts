import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '#core/checks/check';
import type { Activity } from '#core/definition/definition';
import { faultPathsOf } from '#core/views/fault-paths';
import { play } from '../support/play.ts';
import { startRun, stepMs } from '../support/run.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

type Handlers = readonly { readonly fault: string; readonly do: Activity }[];
const handling = (activity: Activity, ...faultHandlers: Handlers): Activity => ({ ...activity, faultHandlers }) as Activity;
const again = { activity: 'rethrow', name: 'again' } as Activity;
const notified = (name: string) => sequence(name, step('tell'));
const declaring = { ...step('a'), faults: ['Refused/CardDeclined'] } as Activity;

describe('a handler for every fault', () => {
  test('F-171: a handler for every fault handles a fault that no operation declares', () => {
    play(
      workflow(handling(sequence('order', step('a')), { fault: '*', do: notified('any') })),
      `
      start
      -> agent order/a key order/a/1 attempt 1

      fault order/a TillBroken permanent
      -> agent order/any/tell key order/any/tell/1 attempt 1

      ok order/any/tell
      == closed
      `,
    );
  });

  test('F-171: a handler for every fault handles a fault of the engine, but not a fault that only a person can resolve', () => {
    const question = { activity: 'askOperator', name: 'ask', question: 'Go on?' } as Activity;
    const run = startRun(workflow(handling(sequence('order', question, step('a')), { fault: '*', do: notified('any') })));
    run.happen({ type: 'started', stepMs });
    assert.equal(run.state.phase, 'blocked');
    run.happen({ type: 'resubmitted', answer: {} });
    run.now += stepMs;
    run.happen({ type: 'overdue', path: 'order/a' });
    assert.deepEqual([run.state.phase, run.state.activities['order/any/tell']?.status], ['running', 'Executing']);
  });

  test('F-171, F-69: a handler for every fault must be the last one, or the definition is refused', () => {
    const [first, last] = [
      { fault: '*', do: notified('any') },
      { fault: 'Refused', do: notified('no') },
    ];
    const errors = check(workflow(handling(sequence('order', declaring), first, last))).filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      errors.map(({ message }) => message),
      [
        'The handler for "Refused" can never run: the one for "*" comes before it and catches the fault. Put the handler for "Refused" before it.',
      ],
    );
    const twice = check(workflow(handling(sequence('order', declaring), last, { ...last, do: notified('no-2') })));
    assert.match(twice.find(({ severity }) => severity === 'error')?.message ?? '', /^A second handler for "Refused"/);
    assert.deepEqual(
      check(workflow(handling(sequence('order', declaring), last, first))).filter(({ severity }) => severity === 'error'),
      [],
    );
  });
});

describe('a handler that raises the caught fault again', () => {
  const inner = handling(sequence('inner', declaring), { fault: 'Refused', do: sequence('no', again) });
  const outer = handling(sequence('order', inner), { fault: 'Refused/CardDeclined', do: notified('declined') });

  test('F-172: an outer handler of the exact type handles the fault, which keeps its source', () => {
    const run = play(
      workflow(outer),
      `
      start
      -> agent order/inner/a key order/inner/a/1 attempt 1

      fault order/inner/a Refused/CardDeclined permanent
      -> agent order/declined/tell key order/declined/tell/1 attempt 1

      ok order/declined/tell
      == closed
      `,
    );
    const raised = run.turns.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'FaultRaised' ? [fact] : [])));
    assert.deepEqual(raised[1]?.fault, raised[0]?.fault);
    assert.deepEqual(
      raised.map(({ path, fault }) => [path, fault.type, fault.source]),
      [
        ['order/inner/a', 'Refused/CardDeclined', 'order/inner/a'],
        ['order/inner/no/again', 'Refused/CardDeclined', 'order/inner/a'],
      ],
    );
  });

  test('F-172: a fault that is raised again keeps its class and its data, and a temporary fault stays temporary', () => {
    const run = startRun(workflow(handling(sequence('order', inner), { fault: '*', do: notified('any') })));
    run.happen({ type: 'started', stepMs });
    const busy = { type: 'Refused/CardDeclined', class: 'expected', message: 'not now', permanent: false, data: { till: 7 } } as const;
    run.reply('order/inner/a', { status: 'failed', fault: busy });
    const raised = run.turns.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'FaultRaised' ? [fact.fault] : [])));
    assert.deepEqual(
      raised,
      [0, 1].map(() => ({ ...busy, source: 'order/inner/a' })),
    );
  });

  test('F-163, F-172: the table of faults shows that the handler raises the fault again', () => {
    const [declined] = faultPathsOf(workflow(outer)).filter(({ fault }) => fault === 'Refused/CardDeclined');
    assert.deepEqual(declined?.end.kind === 'handled' && declined.end.does, [{ kind: 'raises', fault: 'Refused/CardDeclined' }]);
  });

  test('F-172: a definition that raises a fault again outside of a handler is refused', () => {
    const errors = check(workflow(sequence('order', again))).filter(({ severity }) => severity === 'error');
    assert.match(errors[0]?.message ?? '', /A rethrow needs a fault handler around it/);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Catalog } from '#core/definition/catalog';
import { registerActivity } from '#core/definition/custom';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { registerFunction } from '#core/definition/functions';
import type { Behavior } from '#core/engine/behavior';
import { catalog, closed, order, said } from '../support/typed-order.ts';
import { delay, parallel, sequence, step, workflow } from '../support/workflows.ts';

const written = (activity: string, name: string, fields: object): Activity => ({ activity, name, ...fields }) as unknown as Activity;
const read = (name: string, expression: string): Activity => step(name, { input: { value: { $cel: expression } } });
const on = (activity: Activity, ...handlers: (readonly [fault: string, body: Activity])[]): Activity => ({
  ...activity,
  faultHandlers: handlers.map(([fault, body]) => ({ fault, do: body })),
});
const forEach = (name: string, body: Activity, more: object = {}) =>
  written('forEach', name, { list: { $cel: 'order.items' }, do: body, ...more });
const repeatWhile = (name: string, body: Activity) => written('while', name, { condition: { $cel: 'order.total > 1' }, do: body });
const scope = (name: string, body: Activity) => written('scope', name, { do: body });
const raise = (fault: string, name = 'raise') => written('raise', name, { fault, message: 'no' });
const compensate = (name?: string) => written('compensate', 'compensate', name ? { scope: name } : {});
const faulty = (name: string, ...faults: string[]) => step(name, { faults });
const call = (operation: string) => written('call', 'child', { agent: 'workflows', operation, input: {} });
registerFunction('checked@1', (input) => input);
registerActivity('test:leaf', { children: () => [], templates: () => [], execute: () => ({}) } as unknown as Behavior);
registerActivity('test:around', {
  children: ({ do: body }: { do: Activity }) => [body],
  templates: () => [],
  execute: () => ({}),
} as unknown as Behavior);

const wrong = (root: Activity, more: Partial<WorkflowDefinition> = {}, known?: Catalog) =>
  said(workflow(root, { order, ...more }), known).map((each) => each.split('\n')[0]);

describe('the results of activities that an expression may read', () => {
  const payload = closed({ amount: { type: 'number' } });

  test('signals and answers of people have the fields of their schemas; the results of calls and functions have any type', () => {
    const root = sequence(
      '',
      written('waitFor', 'paid', { signal: 'paid', payload }),
      written('askOperator', 'asked', { question: 'Well?', answer: payload }),
      call('ship-one@1'),
      written('compute', 'quoted', { function: 'checked@1', input: 1 }),
      read('a', 'steps.paid.amount + steps.asked.amount + steps.child.x + steps.quoted.y'),
      read('b', 'steps.paid.amuont'),
      read('c', 'steps.asked.amuont'),
    );
    assert.deepEqual(wrong(root), [
      'error order/b /value: steps.paid has no field "amuont". Did you mean "amount"?',
      'error order/c /value: steps.asked has no field "amuont". Did you mean "amount"?',
    ]);
  });

  test('results can be read after the activity, but not before', () => {
    const names = ['paid', 'asked', 'child', 'quoted'];
    const all = [
      written('waitFor', 'paid', { signal: 'paid' }),
      written('askOperator', 'asked', { question: 'Well?' }),
      call('ship-one@1'),
      written('compute', 'quoted', { function: 'checked@1', input: 1 }),
    ];
    const reads = names.map((name, index) => read(`r${index}`, `steps.${name}.x`));
    assert.deepEqual(wrong(sequence('', ...all, ...reads)), []);
    assert.deepEqual(
      wrong(sequence('', ...reads, ...all)).map((each) => each?.split(': ').at(-1)),
      names.map(() => 'it comes later.'),
    );
  });

  test('a question is a text, its details have any type, and the duration of a wait is a number', () => {
    const root = sequence(
      '',
      written('askOperator', 'one', { question: { $cel: 'order.total' }, details: { $cel: 'order.items' } }),
      written('askOperator', 'two', { question: 5 }),
      written('waitFor', 'paid', { signal: 'paid', withinSeconds: { $cel: 'order.name' } }),
      written('while', 'loop', { condition: { $cel: 'order.name' }, do: step('a') }),
    );
    assert.deepEqual(wrong(root), [
      'error order/one Expected a string, got a number.',
      'error order/two Expected a string, got 5.',
      'error order/paid Expected a number, got a string.',
      'error order/loop Expected a condition, got a string.',
    ]);
  });

  test("a call names a workflow of the app, and its input is checked against that workflow's order", () => {
    const known: Catalog = {
      schemasOf: (agent, operation) =>
        agent === 'workflows' && operation === 'ship-one@1' ? { input: closed({ of: { type: 'string' } }) } : undefined,
      all: new Map([['workflows', ['ship-one@1']]]),
    };
    assert.deepEqual(wrong(sequence('', call('ship-one@2')), {}, known), [
      'error order/child It calls ship-one@2, which is not a workflow of this app. Did you mean "ship-one@1"?',
    ]);
    assert.deepEqual(wrong(sequence('', call('ship-one@1')), {}, known), [
      'error order/child /of: missing; workflows.ship-one@1 expects a string.',
    ]);
  });

  test('in nested loops, each loop has its own entries', () => {
    const inner = written('forEach', 'inner', {
      list: { $cel: 'order.tree.parts' },
      do: read('a', 'each.outer.item.sku + each.inner.item.label'),
    });
    assert.deepEqual(wrong(sequence('', forEach('outer', inner))), []);
    assert.deepEqual(wrong(sequence('', forEach('outer', { ...inner, do: read('a', 'each.outer.item.label') } as Activity))), [
      'error order/outer/inner/a /value: each.outer.item has no field "label". It has "sku", "quantity".',
    ]);
  });

  test('a variable that is assigned only from itself has any type', () => {
    const assign = (name: string, value: string) => written('assign', name, { variable: 'n', value: { $cel: value } });
    assert.deepEqual(
      wrong(sequence('', assign('a', 'orElse(vars.?n, vars.?n)'), read('r', 'vars.n.x + 1'))).filter((each) =>
        each?.includes('has no field'),
      ),
      [],
    );
  });
});

describe('which handler handles which fault', () => {
  const warned = (root: Activity, ...toOperator: string[]) => wrong(root, { toOperator });

  test('a fault that a handler handles does not escape, but a fault that the handler raises does', () => {
    assert.deepEqual(warned(on(sequence('', faulty('a', 'Refused', 'Odd/Late')), ['Refused', faulty('b', 'Broken')])), [
      'warning order/a "Odd/Late" is not handled: handle it, or name it in toOperator or toCaller.',
      'warning order/b "Broken" is not handled: handle it, or name it in toOperator or toCaller.',
    ]);
    assert.deepEqual(warned(on(sequence('', faulty('a', 'Refused', 'Odd/Late')), ['Refused', step('b')]), 'Odd'), []);
  });

  test('a handler handles faults raised inside its activity, also by a raise, but not those of the handler', () => {
    assert.deepEqual(warned(on(scope('', raise('Refused/Late')), ['Refused', step('b')])), []);
    assert.deepEqual(warned(on(sequence('', step('a')), ['Refused', raise('Refused')]), 'Refused'), [
      'warning order/raise Nothing inside order declares or raises "Refused". Correct the name, or remove the handler.',
    ]);
  });

  test('a handler on a custom activity handles the faults of the activity itself', () => {
    assert.deepEqual(warned(on(written('test:around', 'around', { faults: ['Late'], do: step('a') }), ['Late', step('b')])), []);
  });

  test("the engine's own faults need no declaration", () => {
    assert.deepEqual(warned(on(sequence('', step('a')), ['Engine/NoSignal', step('b')], ['Engine', step('c')])), []);
    assert.deepEqual(warned(sequence('', raise('Engine'))), []);
  });

  test('a fault that a retry names in "except" or "only" must be raised inside it, unless the engine raises it', () => {
    const retry = (more: object) => written('retry', 'retry', { retries: 1, intervalSeconds: 1, ...more, do: faulty('a', 'Refused/Late') });
    const named = ['Refused', 'Fraud', 'Engine/NoSignal', '*'];
    assert.deepEqual(warned(sequence('', retry({ except: named })), 'Refused'), [
      'warning order/retry Nothing inside the retry declares or raises "Fraud", which "except" names. Correct the name, or remove it.',
    ]);
    assert.deepEqual(warned(sequence('', retry({ only: named })), 'Refused'), [
      'warning order/retry Nothing inside the retry declares or raises "Fraud", which "only" names. Correct the name, or remove it.',
    ]);
  });

  test('a malformed handler is refused, also as one of several', () => {
    const none = 'error order Its faultHandlers must be a list of {fault, do}.';
    const handlers = (...faultHandlers: unknown[]) => warned({ ...sequence('', step('a')), faultHandlers } as unknown as Activity)[0];
    assert.equal(handlers({ fault: 'Engine', do: step('b') }, { do: step('c') }), none);
    assert.equal(handlers({ fault: '', do: step('b') }), none);
    assert.equal(handlers({ fault: 5, do: step('b') }), none);
    assert.equal(handlers(null), none);
  });

  test("an app's own activity can have handlers if it has activities inside", () => {
    const handled = (activity: Activity) => warned(sequence('', on(activity, ['Engine', step('b')])));
    assert.deepEqual(handled(written('test:around', 'own', { do: step('a') })), []);
    assert.deepEqual(handled(written('test:leaf', 'own', {})), [
      'error order/own Only an activity with inner activities can have fault handlers. Put it into a scope.',
    ]);
  });
});

describe('the reason why a step may not have run', () => {
  const why = (root: Activity): string | undefined => wrong(root)[0]?.split(': ').at(-1);

  test('the step is in a handler, before or after the activity that reads it', () => {
    assert.equal(
      why(on(sequence('', faulty('a', 'Refused'), read('r', 'steps.b.x')), ['Refused', step('b')])),
      'it is in a handler of order.',
    );
    assert.equal(
      why(on(sequence('', faulty('a', 'Refused', 'Odd')), ['Refused', step('b')], ['Odd', read('r', 'steps.b.x')])),
      'a handler of order runs after a failure at any point.',
    );
  });

  test('the step comes later, whatever surrounds it', () => {
    const choice = written('choice', 'big', { branches: [{ when: true, do: step('b') }] });
    assert.equal(why(sequence('', read('r', 'steps.b.x'), choice)), 'it comes later.');
    assert.equal(
      why(sequence('', read('r', 'steps.b.x'), on(scope('s', faulty('b', 'Refused')), ['Refused', step('c')]))),
      'it comes later.',
    );
    assert.equal(why(sequence('', sequence('one', read('r', 'steps.b.x')), sequence('two', step('b')))), 'it comes later.');
  });

  test('the step is the reading activity itself, even if the read has a default', () => {
    assert.equal(why(sequence('', read('r', 'orElse(steps.?r.?x, 1)'))), 'it reads its own output.');
  });

  test('a read with a default is valid if the step may have run', () => {
    const choice = written('choice', 'big', { branches: [{ when: true, do: step('b') }] });
    assert.equal(why(sequence('', choice, read('r', 'orElse(steps.?b.?x, 1)'))), undefined);
  });

  test('a step in a choice is certain to have run afterwards if every other branch ends the order', () => {
    const choice = written('choice', 'big', {
      branches: [{ when: true, do: sequence('s', step('b')) }],
      otherwise: written('terminate', 'end', {}),
    });
    assert.deepEqual(wrong(sequence('', choice, read('r', 'steps.b.x'))), []);
    const both = parallel('both', written('terminate', 'end', {}), step('c'));
    assert.deepEqual(wrong(sequence('', both, step('never'))), [
      'warning order/never Unreachable: before this activity, a fault is raised or the order ends. Move or remove it.',
    ]);
  });
});

describe('F-99: steps that stay when their scope is compensated', () => {
  const stays = (root: Activity) =>
    wrong(root, { toOperator: ['Refused'] }).map((each) => each?.replace(/, so its effect stays when (\S+) is compensated.*/, ' in $1'));
  const undoable = (name: string) => step(name, { undo: step('undo') as never });

  test('each step is reported once, with the first scope that is compensated', () => {
    const root = on(sequence('', scope('s', step('a')), faulty('b', 'Refused'), compensate('s')), ['Refused', compensate()]);
    assert.deepEqual(stays({ ...root, faultHandlers: [{ fault: 'Refused', do: { ...compensate(), name: 'all' } as Activity }] }), [
      'warning order/s/a This step has no undo in order/s',
      'warning order/b This step has no undo in order',
    ]);
  });

  test('a step with an undo is undone, alone or as part of a whole, and is not reported', () => {
    const whole = { ...sequence('whole', step('c')), undo: step('undo') } as unknown as Activity;
    const root = on(sequence('', undoable('a'), whole, faulty('b', 'Refused')), ['Refused', sequence('h', compensate(), step('d'))]);
    assert.deepEqual(stays(root), ['warning order/b This step has no undo in order']);
    const inside = { ...sequence('outer', sequence('inner', step('a')), compensate('inner')), undo: step('undo') } as unknown as Activity;
    assert.deepEqual(stays(sequence('', inside)), ['warning order/outer/inner/a This step has no undo in order/outer/inner']);
  });

  test('a scope in a loop is named only in the same turn', () => {
    const many =
      'error order/compensate "s" (order/loop/s) is inside a loop, so it is not one scope but many. Compensate it inside the loop, or name a scope around the loop.';
    for (const loop of [forEach('loop', scope('s', undoable('a'))), repeatWhile('loop', scope('s', undoable('a')))])
      assert.deepEqual(stays(sequence('', loop, compensate('s'))), [many]);
    assert.deepEqual(stays(sequence('', forEach('loop', sequence('turn', scope('s', undoable('a')), compensate('s'))))), []);
    assert.deepEqual(stays(sequence('', sequence('plain', scope('s', undoable('a'))), compensate('s'))), []);
  });

  test('the check of a definition proposes as scopes only activities that contain others', () => {
    assert.deepEqual(stays(sequence('', step('trap'), scope('trip', undoable('a')), compensate('trop'))), [
      'error order/compensate No scope is named "trop". Did you mean "trip"?',
    ]);
  });
});

test('an undo is a step named undo, whatever it undoes', () => {
  const undo = (undo: unknown) => wrong({ ...step('a'), undo } as unknown as Activity)[0];
  for (const each of [5, null, { ...step('undo'), name: 'other' }, { ...delay('undo', 1) }])
    assert.equal(undo(each), 'error order Its undo must be a step named "undo".');
});

test('a problem is shown in its line, with a caret below it', () => {
  assert.deepEqual(said(workflow(read('a', '1 +\n\norder.totl\n+ 2'), { order })), [
    'error order /value: order has no field "totl". Did you mean "total"?\n  order.totl\n        ^',
  ]);
  assert.deepEqual(said(workflow(read('a', 'totl'))), ['error order /value: Unknown variable: totl\n  totl\n  ^']);
});

test('a step that names an agent or an operation outside the catalog is refused, with the nearest name', () => {
  const known: Catalog = { ...catalog, all: new Map([['payment', ['charge']]]) };
  assert.deepEqual(wrong(sequence('', step('a', { agent: 'paymnt' }), step('b', { agent: 'payment', operation: 'chrge' })), {}, known), [
    'error order/a The app has no agent "paymnt". Did you mean "payment"?',
    'error order/b The agent "payment" has no operation "chrge". Did you mean "charge"?',
  ]);
});

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Step } from '#core/activities/step';
import { check, type Problem } from '#core/checks/check';
import type { Catalog } from '#core/definition/catalog';
import { type Activity, limits, type WorkflowDefinition } from '#core/definition/definition';
import { delay, listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

const reading = (name: string, expression: string): Activity => step(name, { input: { value: { $cel: expression } } });
const wrong = (activity: object): Activity => activity as Activity;

const on = (activity: Activity, ...handlers: (readonly [fault: string, body: Activity])[]): Activity => ({
  ...activity,
  faultHandlers: handlers.map(([fault, body]) => ({ fault, do: body })),
});
const faulty = (name: string, ...faults: string[]): Activity => step(name, { faults });
const undoable = (name: string, expression: string): Activity =>
  step(name, { undo: { ...step('undo', { input: { value: { $cel: expression } } }) } as Step });
const choice = (name: string, one: Activity, otherwise?: Activity): Activity => ({
  activity: 'choice',
  name,
  branches: [{ when: { $cel: 'order.big' }, do: one }],
  ...(otherwise ? { otherwise } : {}),
});
const forEach = (name: string, body: Activity, until?: string): Activity => ({
  activity: 'forEach',
  name,
  list: { $cel: 'order.items' },
  do: body,
  ...(until === undefined ? {} : { until: { $cel: until } }),
});
const collecting = (name: string, body: Activity, collect: string): Activity =>
  ({ ...forEach(name, body), collect: { $cel: collect } }) as Activity;
const repeatWhile = (name: string, condition: string, body: Activity): Activity => ({
  activity: 'while',
  name,
  condition: { $cel: condition },
  do: body,
});
const scope = (name: string, body: Activity): Activity => ({ activity: 'scope', name, do: body });
const retry = (body: Activity, more: object = {}): Activity => ({
  activity: 'retry',
  name: 'retry',
  retries: 1,
  intervalSeconds: 1,
  do: body,
  ...more,
});
const assign = (variable: string, expression = '1'): Activity => ({
  activity: 'assign',
  name: `set-${variable}`,
  variable,
  value: { $cel: expression },
});
const raise = (fault: string): Activity => ({ activity: 'raise', name: 'raise', fault, message: 'no' });
const compensate = (name?: string): Activity => ({ activity: 'compensate', name: 'compensate', ...(name ? { scope: name } : {}) });

const deep = (levels: number): Activity => (levels === 1 ? step('leaf') : sequence('level', deep(levels - 1)));

/** The place that is wrong, the place that is reported, and the essential words of the message. */
const table: readonly (readonly [what: string, definition: WorkflowDefinition, path: string, ...words: string[]])[] = [
  ['a workflow name with a capital', workflow(step('a'), { name: 'Fulfil' }), '', '"Fulfil" is not a valid workflow name'],
  ['a workflow name of 65 characters', workflow(step('a'), { name: 'x'.repeat(65) }), '', 'at most 64'],
  ['version 0', workflow(step('a'), { version: 0 }), '', 'version is 0', 'at least 1'],
  ['a fractional version', workflow(step('a'), { version: 1.5 }), '', 'version is 1.5'],
  ['another expression language', workflow(step('a'), { exprVersion: 2 as 1 }), '', 'exprVersion is 2', 'supports 1'],

  [
    'two steps with one path',
    workflow(sequence('', step('a'), step('b'), step('a'))),
    'order/a',
    'Two activities have this path',
    '.named(',
  ],
  ['two composites with one path', workflow(parallel('', sequence('x'), sequence('x'))), 'order/x', 'Two activities have this path'],
  ['a name that begins with a digit', workflow(sequence('', step('1st'))), 'order/1st', '"1st" is not a valid activity name'],
  ['a name with a slash', workflow(sequence('', step('a/b'))), 'order/a/b', 'is not a valid activity name'],
  ['a name of 65 characters', workflow(sequence('', step('x'.repeat(65)))), `order/${'x'.repeat(65)}`, 'at most 64'],
  [
    'no name',
    workflow(sequence('', wrong({ activity: 'step', agent: 'a', operation: 'b', input: {} }))),
    'order/undefined',
    'is not a valid activity name',
  ],

  ['an unknown activity', workflow(sequence('', wrong({ activity: 'dance', name: 'x' }))), 'order/x', 'Unknown activity type "dance"'],
  [
    'a misspelt activity',
    workflow(sequence('', wrong({ activity: 'paralel', name: 'x' }))),
    'order/x',
    'Unknown activity type "paralel".',
    'Did you mean "parallel"?',
  ],
  [
    'an activity type named like a property of every object',
    workflow(sequence('', wrong({ activity: 'constructor', name: 'x' }))),
    'order/x',
    'Unknown activity type',
  ],
  ['no activity at all', workflow(sequence('', wrong({ name: 'x' }))), 'order/x', 'Unknown activity type'],
  ['a child that is null', workflow(sequence('', null as unknown as Activity)), 'order/undefined', 'Unknown activity type'],
  ['a composite without children', workflow(wrong({ activity: 'parallel' })), 'order', 'children', 'list'],
  ['a step without an agent', workflow(wrong({ activity: 'step', operation: 'charge', input: {} })), 'order', 'agent'],
  ['a step without an operation', workflow(wrong({ activity: 'step', agent: 'payment', input: {} })), 'order', 'operation'],
  ['a step with a time limit of zero', workflow(step('a', { completeWithinSeconds: 0 })), 'order', 'completeWithinSeconds', '0'],
  [
    'a step whose time limit is a text',
    workflow(step('a', { completeWithinSeconds: '60' as unknown as number })),
    'order',
    'completeWithinSeconds is "60"',
  ],
  ['a step with a negative time limit', workflow(step('a', { completeWithinSeconds: -1 })), 'order', 'completeWithinSeconds', '-1'],
  [
    'a step with a time limit of more than a year',
    workflow(step('a', { completeWithinSeconds: Number.MAX_SAFE_INTEGER })),
    'order',
    'a year',
  ],
  [
    'a step whose heartbeats may extend it beyond a year',
    workflow(step('a', { longestSeconds: 31_622_401 })),
    'order',
    '31622400',
    'a year',
  ],
  ['an order with a time limit of more than a year', workflow(step('a'), { completeWithinSeconds: 1e13 }), '', 'a year'],
  ['an order with a negative time limit', workflow(step('a'), { completeWithinSeconds: -5 }), '', 'completeWithinSeconds', '-5'],
  ['a delay of a negative duration', workflow(delay('d', -1)), 'order', '-1'],
  ['a delay whose duration is a text', workflow(delay('d', 'soon')), 'order', '"soon"'],
  ['33 levels', workflow(deep(limits.depthMax + 1)), `order${'/level'.repeat(31)}/leaf`, 'more than 32 levels', 'Split the workflow'],
  [
    '10,001 activities',
    workflow(sequence('', ...listOf(limits.activitiesMax, (index) => step(`s${index}`)))),
    'order',
    '10001 activities',
    'the maximum is 10000',
  ],

  [
    'an unknown step',
    workflow(sequence('', step('charge'), reading('ship', 'steps.charged.id'))),
    'order/ship',
    '/value: no step is named "charged"',
    'Did you mean "charge"?',
  ],
  [
    'a read of a later step',
    workflow(sequence('', reading('ship', 'steps.charge.id'), step('charge'))),
    'order/ship',
    '"charge" (order/charge) may not have run before order/ship',
  ],
  ['a step that reads its own output', workflow(sequence('', reading('charge', 'steps.charge.id'))), 'order/charge', 'may not have run'],
  [
    'a read of a step in another branch',
    workflow(parallel('', sequence('a', step('charge')), sequence('b', reading('ship', 'steps.charge.id')))),
    'order/b/ship',
    '"charge" (order/a/charge) may not have run',
  ],
  [
    'a delay that reads another branch',
    workflow(parallel('', step('quote'), delay('pause', { $cel: 'steps.quote.seconds' }))),
    'order/pause',
    'may not have run',
  ],
  [
    'a read of a name that two steps share',
    workflow(sequence('', sequence('a', step('ask')), sequence('b', step('ask')), reading('ship', 'steps.ask.id'))),
    'order/ship',
    '2 steps are named "ask"',
    'order/a/ask, order/b/ask',
  ],
  ['a read of a composite', workflow(sequence('', sequence('a'), reading('ship', 'steps.a.id'))), 'order/ship', 'no step is named "a"'],

  [
    'an incomplete expression',
    workflow(reading('a', 'order.total +')),
    'order',
    '/value: Unexpected token: EOF',
    '\n  order.total +\n               ^',
  ],
  [
    'an unknown name in an expression',
    workflow(reading('a', '1 + orders.total')),
    'order',
    'Unknown variable: orders',
    '\n  1 + orders.total\n      ^',
  ],
  [
    'a read of a later step in a long expression',
    workflow(reading('a', 'order.shipment + steps.ship')),
    'order',
    'no step is named "ship"',
    '\n  order.shipment + steps.ship\n                   ^',
  ],
  [
    'an error on the second line of an expression',
    workflow(reading('a', 'order.total +\n  totl')),
    'order',
    'Unknown variable: totl',
    '\n    totl\n    ^',
  ],
  [
    'a call of matches(), which takes a regular expression',
    workflow(reading('a', 'order.city.matches("(a+)+")')),
    'order',
    'use like(text, pattern)',
  ],
  [
    'an invalid expression deep inside an input',
    workflow(step('a', { input: { list: [1, { 'a/b': { $cel: ')' } }] } })),
    'order',
    '/list/1/a~1b: ',
  ],
];

/** The values that may be read at each place. */
const reads: typeof table = [
  [
    'a read of a step in another branch of a choice',
    workflow(choice('', step('charge'), reading('ship', 'steps.charge.id'))),
    'order/ship',
    '"charge" (order/charge) may not have run before order/ship',
    'another branch of order',
  ],
  [
    'a read with a default of a step in another branch of a choice',
    workflow(parallel('', step('find'), reading('charge', 'orElse(steps.?find.?id, "none")'))),
    'order/charge',
    '"find" (order/find) may not have run before order/charge',
    'another branch of order',
  ],
  [
    'a read of a step in a branch that may not run',
    workflow(sequence('', choice('big', step('charge')), reading('ship', 'steps.charge.id'))),
    'order/ship',
    'a branch of order/big that may not be taken',
  ],
  [
    'a read of a step in one of two branches',
    workflow(sequence('', choice('big', step('charge'), step('bill')), reading('ship', 'steps.bill.id'))),
    'order/ship',
    'a branch of order/big',
  ],
  [
    'a read from outside of a step in a forEach',
    workflow(sequence('', forEach('items', step('pack')), reading('ship', 'steps.pack.id'))),
    'order/ship',
    'inside the loop order/items',
  ],
  [
    'a read of a collected list inside its loop',
    workflow(sequence('', collecting('items', reading('pack', 'steps.items.size()'), 'steps.pack.id'))),
    'order/items/pack',
    'the collected list exists only after that loop is complete',
  ],
  [
    'a loop that reads its own collected list',
    workflow(sequence('', collecting('items', step('pack'), 'orElse(steps.?items, [])'))),
    'order/items',
    'it reads its own output',
  ],
  [
    'a read of a collected list before its loop',
    workflow(sequence('', reading('ship', 'steps.items.size()'), collecting('items', step('pack'), 'steps.pack.id'))),
    'order/ship',
    'it comes later',
  ],
  [
    'a read of a collected list in another branch',
    workflow(parallel('', reading('ship', 'orElse(steps.?items, [])'), collecting('items', step('pack'), 'steps.pack.id'))),
    'order/ship',
    'it is in another branch of order',
  ],
  [
    'a read of a collected list in a handler of its loop',
    workflow(
      sequence(
        '',
        on(collecting('items', faulty('pack', 'Refused'), 'steps.pack.id'), ['Refused', reading('b', 'orElse(steps.?items, [])')]),
      ),
    ),
    'order/items/b',
    'a handler of that loop runs after the loop has failed',
  ],
  [
    'a read of the list of a loop without collect',
    workflow(sequence('', forEach('items', step('pack')), reading('ship', 'steps.items'))),
    'order/ship',
    'no step is named "items"',
  ],
  [
    'a collected value of a step that may not have run',
    workflow(collecting('', choice('choice', step('a')), 'steps.a.id')),
    'order',
    'a turn may end without it',
  ],
  [
    'a read with a default, from outside, of a step in a while',
    workflow(sequence('', repeatWhile('polling', 'order.big', step('poll')), reading('ship', 'orElse(steps.?poll.?id, 1)'))),
    'order/ship',
    'inside the loop order/polling',
  ],
  [
    'a condition that reads a step of its own loop',
    workflow(repeatWhile('', 'steps.poll.busy', step('poll'))),
    'order',
    'it is inside order, which evaluates this expression first',
  ],
  [
    'a turn that reads the previous turn',
    workflow(repeatWhile('', 'order.big', sequence('turn', reading('wait', 'steps.poll.pause'), step('poll')))),
    'order/turn/wait',
    '"poll" (order/turn/poll) may not have run',
    'comes later',
  ],
  [
    'a handler that reads a step of its scope',
    workflow(on(sequence('', step('reserve'), faulty('charge', 'Refused')), ['Refused', reading('tell', 'steps.reserve.id')])),
    'order/tell',
    '"reserve" (order/reserve) may not have run before order/tell',
    'a handler of order runs after a failure at any point',
  ],
  [
    'a read of a step in an earlier handler',
    workflow(sequence('', on(sequence('paid', faulty('charge', 'Refused')), ['Refused', step('note')]), reading('tell', 'steps.note.id'))),
    'order/tell',
    '"note" (order/paid/note) may not have run',
  ],
  [
    'a read of a step whose scope may have ended in its handler',
    workflow(
      sequence('', on(sequence('paid', faulty('charge', 'Refused')), ['Refused', step('note')]), reading('tell', 'steps.charge.id')),
    ),
    'order/tell',
    'a handler of order/paid may have taken over',
  ],
  ['an undo that reads a later step', workflow(sequence('', undoable('a', 'steps.b.id'), step('b'))), 'order/a/undo', 'comes later'],
  [
    'a read of an undo',
    workflow(sequence('', undoable('a', 'steps.a.id'), reading('b', 'steps.undo.id'))),
    'order/b',
    'no step is named "undo"',
  ],
  ['a step named undo', workflow(sequence('', step('undo'))), 'order/undo', 'The name "undo" is reserved'],

  [
    'a read of a variable that no activity sets',
    workflow(sequence('', assign('left'), reading('a', 'vars.lefd'))),
    'order/a',
    '/value: no activity sets the variable "lefd".',
    'Did you mean "left"?',
  ],
  [
    'a read of a variable that is set later',
    workflow(sequence('', reading('a', 'vars.left'), assign('left'))),
    'order/a',
    'the variable "left" may not be set before order/a',
    '\n  vars.left\n  ^',
  ],
  ['a variable whose first value reads itself', workflow(assign('left', 'vars.left - 1')), 'order', 'the variable "left" may not be set'],
  [
    'a read of a variable that only one branch sets',
    workflow(sequence('', choice('big', assign('left'), step('b')), reading('a', 'vars.left'))),
    'order/a',
    'may not be set',
  ],
  [
    'a read of a variable that only a turn sets',
    workflow(repeatWhile('', 'vars.left > 0', assign('left'))),
    'order',
    'the variable "left" may not be set',
  ],
  [
    'a read of a variable that a handler does not set',
    workflow(sequence('', on(sequence('s', assign('left'), faulty('b', 'Refused')), ['Refused', step('c')]), reading('a', 'vars.left'))),
    'order/a',
    'may not be set',
  ],
  ['a read of all variables at once', workflow(reading('a', 'vars')), 'order', 'vars cannot be read as a whole'],

  [
    "a read of a loop's entry outside of the loop",
    workflow(sequence('', forEach('items', step('a')), reading('b', 'each.items.item'))),
    'order/b',
    'no forEach around it is named "items"',
  ],
  [
    'a read of an entry under a misspelt loop name',
    workflow(sequence('', forEach('items', reading('a', 'each.item.index')))),
    'order/items/a',
    'no forEach around it is named "item".',
    'Did you mean "items"?',
  ],
  [
    'a loop whose list reads its own entries',
    workflow(sequence('', { ...forEach('items', step('a')), list: { $cel: 'each.items.item' } } as Activity)),
    'order/items',
    'no forEach around it',
  ],
  [
    "a read of a loop's entry in a handler of the loop",
    workflow(sequence('', on(forEach('items', faulty('a', 'Refused')), ['Refused', reading('b', 'each.items.item')]))),
    'order/items/b',
    'no forEach around it is named "items"',
  ],
  [
    'two nested loops with the same name',
    workflow(sequence('', forEach('items', forEach('items', step('a'))))),
    'order/items/items',
    'has the same name',
    'order/items',
  ],
  [
    'a read of the fault outside of a handler',
    workflow(reading('a', '"no: " + fault.message')),
    'order',
    'only inside a fault handler',
    '\n           ^',
  ],

  [
    'a condition that is a text',
    workflow({ ...choice('', step('a')), branches: [{ when: 'yes', do: step('a') }] } as Activity),
    'order',
    'Expected a condition, got "yes"',
  ],
  [
    'a condition that yields a number',
    workflow(repeatWhile('', 'size(orderId)', step('a'))),
    'order',
    'Expected a condition, got a number.',
    '\n  size(orderId)\n  ^',
  ],
  [
    'an end condition of a loop that is not a boolean',
    workflow(forEach('', step('a'), 'orderId')),
    'order',
    'Expected a condition, got a string.',
  ],
  [
    'a loop whose list is a text',
    workflow({ ...forEach('', step('a')), list: { $cel: 'orderId' } } as Activity),
    'order',
    'Expected a list, got a string.',
  ],
];

const handling: typeof table = [
  [
    'F-69: a handler for a supertype before one for its subtype',
    workflow(on(sequence('', faulty('a', 'Refused/CardDeclined')), ['Refused', step('b')], ['Refused/CardDeclined', step('c')])),
    'order/c',
    'The handler for "Refused/CardDeclined" can never run',
    'the one for "Refused" comes before it',
  ],
  [
    'two handlers for one fault',
    workflow(on(sequence('', faulty('a', 'Refused')), ['Refused', step('b')], ['Refused', step('c')])),
    'order/c',
    'A second handler for "Refused"',
  ],
  [
    'a handler named like a child',
    workflow(on(sequence('', faulty('a', 'Refused')), ['Refused', step('a')])),
    'order/a',
    'Two activities have this path',
  ],
  ['a handler on a step', workflow(sequence('', on(faulty('a', 'Refused'), ['Refused', step('b')]))), 'order/a', 'Put it into a scope'],
  [
    'handlers that are not a list',
    workflow(wrong({ ...sequence(''), faultHandlers: { Refused: step('a') } })),
    'order',
    'faultHandlers must be a list',
  ],
  [
    'a handler without a fault type',
    workflow(wrong({ ...sequence(''), faultHandlers: [{ do: step('a') }] })),
    'order',
    'faultHandlers must be a list',
  ],
  [
    'a handler without an activity',
    workflow(wrong({ ...sequence(''), faultHandlers: [{ fault: 'A' }] })),
    'order/undefined',
    'Unknown activity type',
  ],
  [
    'an undo of an undo',
    workflow(step('a', { undo: { ...step('undo', { undo: step('undo') as Step }) } as Step })),
    'order/undo',
    'An undo cannot have an undo',
  ],
  [
    'a step with both an undo and noUndo',
    workflow(step('a', { noUndo: true, undo: step('undo') as Step })),
    'order',
    'It has both an undo and noUndo',
  ],
  [
    'a noUndo that is not true',
    workflow(step('a', { noUndo: 'yes' as never })),
    'order',
    'noUndo is "yes"; it must be true, or be left out',
  ],
  [
    'an undo whose name is not undo',
    workflow(step('a', { undo: step('release') as Step })),
    'order',
    'Its undo must be a step named "undo"',
  ],
  [
    'a compensation without a scope, outside of a handler',
    workflow(sequence('', undoable('a', '1'), compensate())),
    'order/compensate',
    'compensate must name its scope',
  ],
  [
    'a compensation of an unknown scope',
    workflow(sequence('', scope('travel', step('a')), compensate('travl'))),
    'order/compensate',
    'No scope is named "travl".',
    'Did you mean "travel"?',
  ],
  [
    'a compensation of a name that two scopes share',
    workflow(sequence('', sequence('x', scope('travel', step('a'))), sequence('y', scope('travel', step('b'))), compensate('travel'))),
    'order/compensate',
    '2 activities are named "travel" (order/x/travel, order/y/travel)',
  ],
  [
    'a compensation of a step',
    workflow(sequence('', undoable('a', '1'), compensate('a'))),
    'order/compensate',
    '"a" (order/a) has no inner activities',
  ],
  [
    'a compensation of a scope inside a loop',
    workflow(sequence('', forEach('items', scope('travel', step('a'))), compensate('travel'))),
    'order/compensate',
    '"travel" (order/items/travel) is inside a loop',
  ],
  [
    'a compensation of a scope in a parallel branch',
    workflow(parallel('', scope('travel', undoable('a', '1')), sequence('then', step('b'), compensate('travel')))),
    'order/then/compensate',
    '"travel" (order/travel) may still be running here',
    'Compensate the scope after its end, or in one of its handlers.',
  ],
  [
    'a compensation of the scope that contains it',
    workflow(sequence('', scope('travel', sequence('both', undoable('a', '1'), compensate('travel'))))),
    'order/travel/both/compensate',
    'may still be running here',
  ],
  [
    'a compensation, in a handler, of an outer scope that is still running',
    workflow(scope('travel', parallel('both', on(sequence('one', faulty('b', 'Refused')), ['Refused', compensate('order')]), step('c')))),
    'order/both/one/compensate',
    '"order" (order) may still be running here',
  ],
];

const isSaid = ({ severity, path, message }: Problem, expectedPath: string, words: readonly string[]): boolean =>
  severity === 'error' && path === expectedPath && words.every((word) => message.includes(word));

/** Keeps a requirement id at the beginning of a title: `F-69: a handler`. */
const title = (what: string): string => what.replace(/^(F-\d+: )?/, '$1a definition with ');

for (const [what, definition, path, ...words] of [...table, ...reads, ...handling]) {
  test(`${title(what)} is refused, and the message says where and why`, () => {
    const problems = check(definition);
    assert.ok(
      problems.some((problem) => isSaid(problem, path, words)),
      JSON.stringify(problems, undefined, 2),
    );
  });
}

test('a correct definition has no problems', () => {
  const right = [
    workflow(sequence('')),
    workflow(parallel('', step('a'), step('b'))),
    workflow(deep(limits.depthMax)),
    workflow(sequence('', ...listOf(limits.activitiesMax - 1, (index) => step(`s${index}`)))),
    workflow(
      sequence('', step('charge'), parallel('both', reading('ship', 'steps.charge.id'), reading('tell', 'steps["charge"].id + orderId'))),
    ),
    workflow(sequence('', parallel('both', step('a'), step('b')), reading('c', 'steps.a.x + steps.b.y'))),
    workflow(sequence('', delay('pause', 0), delay('longer', { $cel: 'order.seconds * 2' }))),
    workflow(step('a', { completeWithinSeconds: 0.5, longestSeconds: 600 }), { completeWithinSeconds: 60 }),
  ];
  for (const definition of right) assert.deepEqual(check(definition), []);
});

test('values that are certain to exist may be read: after either branch, in the same turn, in an undo, in a handler', () => {
  const right = [
    workflow(sequence('', choice('big', assign('left'), sequence('else', assign('left'))), reading('a', 'vars.left'))),
    workflow(sequence('', choice('big', raise('Refused'), step('charge')), reading('a', 'steps.charge.id')), { toOperator: ['Refused'] }),
    workflow(
      sequence(
        '',
        assign('left'),
        repeatWhile('l', 'vars.left > 0', sequence('turn', step('b'), reading('a', 'steps.b.id'), assign('left'))),
      ),
    ),
    workflow(
      sequence('', collecting('items', sequence('turn', step('a'), reading('b', 'steps.a.id')), 'steps.b.id'), reading('c', 'steps.items')),
    ),
    workflow(sequence('', step('a'), undoable('b', 'steps.a.id + steps.b.id'))),
    workflow(sequence('', step('a'), on(scope('s', faulty('b', 'Refused')), ['Refused', reading('c', 'steps.a.id + fault.message')]))),
    workflow(
      sequence(
        '',
        on(sequence('s', assign('left'), faulty('b', 'Refused')), ['Refused', sequence('h', raise('Refused'))]),
        reading('a', 'vars.left + steps.b.id'),
      ),
      { toOperator: ['Refused'] },
    ),
    workflow(
      on(
        sequence('', step('a'), faulty('b', 'Refused')),
        ['Refused', reading('c', 'orElse(steps.?a.?id, vars.?left)')],
        ['Engine', assign('left')],
      ),
    ),
    workflow(sequence('', retry(sequence('s', step('a'), assign('left'))), scope('t', reading('b', 'steps.a.id + vars.left')))),
    workflow(
      sequence(
        '',
        forEach(
          'items',
          forEach(
            'parts',
            sequence('s', step('a'), reading('b', 'each.items.item.x + each.parts.index + steps.a.id')),
            'each.parts.index > 3',
          ),
          'order.enough',
        ),
      ),
    ),
    workflow(
      sequence('', forEach('items', sequence('s', step('a'), assign('best', 'steps.a.price')), 'steps.a.price < 10 || vars.best == 1')),
    ),
    workflow(on(sequence('', undoable('a', '1'), step('letter', { noUndo: true }), raise('Refused')), ['Refused', compensate()])),
    workflow(sequence('', scope('travel', undoable('a', '1')), compensate('travel'))),
    workflow(on(sequence('', scope('travel', undoable('a', '1')), raise('Refused')), ['Refused', compensate('travel')])),
    workflow(on(parallel('', scope('travel', undoable('a', '1')), raise('Refused')), ['Refused', compensate('travel')])),
    workflow(sequence('', forEach('items', sequence('s', scope('travel', undoable('a', 'each.items.item')), compensate('travel'))))),
  ];
  for (const definition of right) assert.deepEqual(check(definition), []);
});

/** Warnings: unusual, but possibly intended. The definition can still be loaded. */
const odd: typeof table = [
  [
    'a handler for a fault that nothing inside raises',
    workflow(on(sequence('', faulty('a', 'Refused')), ['Refused', step('b')], ['Fraud', step('c')])),
    'order/c',
    'Nothing inside order declares or raises "Fraud"',
  ],
  [
    'a handler for a fault that an inner handler handles',
    workflow(on(sequence('', on(scope('s', faulty('a', 'Refused')), ['Refused', step('b')])), ['Refused', step('c')])),
    'order/c',
    'Nothing inside order',
  ],
  [
    'F-163: a fault without a handler',
    workflow(sequence('', faulty('a', 'Refused/CardDeclined'))),
    'order/a',
    '"Refused/CardDeclined" is not handled',
  ],
  [
    'an excepted fault that cannot occur',
    workflow(retry(faulty('a', 'Refused'), { except: ['Fraud'] }), { toOperator: ['Refused'] }),
    'order',
    '"Fraud", which "except" names',
  ],
  [
    'F-93: a retry only for faults that cannot occur',
    workflow(retry(faulty('a', 'Refused'), { only: ['Fraud', 'Engine/DeadlineExceeded'] }), { toOperator: ['Refused'] }),
    'order',
    '"Fraud", which "only" names',
  ],
  [
    'an unreachable activity',
    workflow(sequence('', raise('Refused'), step('a'), step('b')), { toOperator: ['Refused'] }),
    'order/a',
    'Unreachable: ',
  ],
  [
    'F-99: a step without an undo in a scope that is compensated',
    workflow(on(sequence('', sequence('s', step('a')), faulty('b', 'Refused')), ['Refused', sequence('h', compensate(), step('c'))])),
    'order/s/a',
    'This step has no undo, so its effect stays when order is compensated',
  ],
];

for (const [what, definition, path, ...words] of odd) {
  test(`${title(what)} gives a warning, and the definition can be loaded`, () => {
    const problems = check(definition);
    assert.ok(
      problems.some((problem) => isSaid({ ...problem, severity: 'error' }, path, words)),
      JSON.stringify(problems, undefined, 2),
    );
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
  });
}

test('each warning is given once, and only where it applies', () => {
  const paths = odd.map(([, definition]) => check(definition).map(({ path }) => path));
  assert.deepEqual(paths, [['order/c'], ['order/c'], ['order/a'], ['order'], ['order'], ['order/a'], ['order/s/a', 'order/b']]);
});

test('F-91: a retry has exactly one activity inside it, and its count and its interval are not negative', () => {
  const wrong = (part: object) =>
    check(workflow({ ...retry(step('a')), ...part } as never)).map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual(wrong({ retries: -1 }), ['order: retries is -1; it must be an integer of at least 0.']);
  assert.deepEqual(wrong({ intervalSeconds: -1 }), ['order: intervalSeconds is -1; it must be a number of seconds of at least 0.']);
  assert.match(wrong({ only: ['No'], except: ['Never'] })[0] ?? '', /^order: It has both "only" and "except"/);
  assert.match(wrong({ only: ['No'], evenPermanent: true })[0] ?? '', /^order: It has both "only" and "evenPermanent"/);
  for (const only of [[], 'No']) assert.match(wrong({ only })[0] ?? '', /^order: "only" names no fault/);
  for (const body of [undefined, [step('a'), step('b')]]) {
    const [first = ''] = wrong({ do: body });
    assert.match(first, /^order\/undefined: .* is no/);
  }
});

test('all problems are reported together', () => {
  const definition = workflow(
    sequence('', step('1'), reading('a', ')'), reading('b', 'steps.nope'), wrong({ activity: 'stepp', name: 'c' })),
    { version: -1 },
  );
  assert.deepEqual(
    check(definition).map(({ path }) => path),
    ['', 'order/1', 'order/c', 'order/a', 'order/b'],
  );
});

/**
 * `problems.txt`: the full messages about each definition above, as its author reads them. `UPDATE_TRANSCRIPTS=1`
 * rewrites the file; review the difference.
 */
test('every message matches the recorded text in full', () => {
  const said = [...table, ...reads, ...handling, ...odd].map(([what, definition]) =>
    [
      `# ${title(what)}`,
      ...check(definition).map(({ severity, path, message }) => `${severity}${path === '' ? '' : ` at ${path}`}: ${message}`),
    ].join('\n'),
  );
  const file = new URL('problems.txt', import.meta.url);
  if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${said.join('\n\n')}\n`);
  const agreed = readFileSync(file, 'utf8').trimEnd().split('\n\n');
  for (const [index, each] of said.entries()) assert.equal(each, agreed[index]);
  assert.equal(said.length, agreed.length);
});

test('problems of syntax, order, types and operations are reported together', () => {
  const catalog: Catalog = {
    schemasOf: () => ({ input: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] } }),
    all: new Map([['agent', ['charge', 'ship', 'tell']]]),
  };
  const order = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'], additionalProperties: false };
  const definition = workflow(
    sequence(
      '',
      reading('charge', 'order.totl'),
      reading('ship', 'steps.later.id'),
      reading('shipp', ')'),
      step('later', { agent: 'agnt', operation: 'ship', input: { value: 'none' } }),
      step('tell'),
    ),
    { order },
  );
  assert.deepEqual(
    check(definition, catalog).map(({ path, message }) => `${path} ${message.split('\n')[0]}`),
    [
      'order/ship /value: "later" (order/later) may not have run before order/ship: it comes later.',
      'order/shipp /value: Unexpected token: RPAREN',
      'order/charge /value: order has no field "totl". Did you mean "total"?',
      'order/shipp The agent "agent" has no operation "shipp". Did you mean "ship"?',
      'order/later The app has no agent "agnt". Did you mean "agent"?',
      'order/later /value: Expected a number, got "none".',
      'order/tell /value: missing; agent.tell expects a number.',
    ],
  );
});

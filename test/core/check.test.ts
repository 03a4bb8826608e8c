import assert from 'node:assert/strict';
import test from 'node:test';
import { check, type Problem } from '../../lib/core/check.ts';
import { type Activity, limits, type WorkflowDefinition } from '../../lib/core/definition.ts';
import { delay, listOf, parallel, sequence, step, workflow } from '../support/workflows.ts';

const reading = (name: string, expression: string): Activity => step(name, { input: { value: { $cel: expression } } });
const wrong = (activity: object): Activity => activity as Activity;

const deep = (levels: number): Activity => (levels === 1 ? step('leaf') : sequence('level', deep(levels - 1)));

/** What is wrong, where it is said to be wrong, and the essential words of the message. */
const table: readonly (readonly [what: string, definition: WorkflowDefinition, path: string, ...words: string[]])[] = [
  ['a workflow name with a capital', workflow(step('a'), { name: 'Fulfil' }), '', '"Fulfil" is no name for a workflow'],
  ['a workflow name of 65 characters', workflow(step('a'), { name: 'x'.repeat(65) }), '', 'at most 64'],
  ['version 0', workflow(step('a'), { version: 0 }), '', 'version is 0', 'from 1 up'],
  ['half a version', workflow(step('a'), { version: 1.5 }), '', 'version is 1.5'],
  ['another expression language', workflow(step('a'), { exprVersion: 2 as 1 }), '', 'exprVersion is 2', 'reads 1'],

  [
    'two steps with one path',
    workflow(sequence('', step('a'), step('b'), step('a'))),
    'order/a',
    'Two activities have this path',
    '.named(',
  ],
  ['two composites with one path', workflow(parallel('', sequence('x'), sequence('x'))), 'order/x', 'Two activities have this path'],
  ['a name that begins with a digit', workflow(sequence('', step('1st'))), 'order/1st', '"1st" is no name for an activity'],
  ['a name with a slash', workflow(sequence('', step('a/b'))), 'order/a/b', 'is no name'],
  ['a name of 65 characters', workflow(sequence('', step('x'.repeat(65)))), `order/${'x'.repeat(65)}`, 'at most 64'],
  ['no name', workflow(sequence('', wrong({ activity: 'step', agent: 'a', operation: 'b', input: {} }))), 'order/undefined', 'is no name'],

  ['an unknown activity', workflow(sequence('', wrong({ activity: 'dance', name: 'x' }))), 'order/x', '"dance" is no activity'],
  [
    'a misspelt activity',
    workflow(sequence('', wrong({ activity: 'paralel', name: 'x' }))),
    'order/x',
    '"paralel" is no activity.',
    'Did you mean "parallel"?',
  ],
  ['a name that every object has', workflow(sequence('', wrong({ activity: 'constructor', name: 'x' }))), 'order/x', 'is no activity'],
  ['no activity at all', workflow(sequence('', wrong({ name: 'x' }))), 'order/x', 'is no activity'],
  ['a child that is null', workflow(sequence('', null as unknown as Activity)), 'order/undefined', 'is no activity'],
  ['a composite without children', workflow(wrong({ activity: 'parallel' })), 'order', 'children', 'list'],
  ['a step that asks nobody', workflow(wrong({ activity: 'step', operation: 'charge', input: {} })), 'order', 'agent'],
  ['a step that asks for nothing', workflow(wrong({ activity: 'step', agent: 'payment', input: {} })), 'order', 'operation'],
  ['a step without time', workflow(step('a', { completeWithinSeconds: 0 })), 'order', 'completeWithinSeconds', '0'],
  [
    'a step whose time is a text',
    workflow(step('a', { completeWithinSeconds: '60' as unknown as number })),
    'order',
    'completeWithinSeconds is "60"',
  ],
  ['a step that is over before it begins', workflow(step('a', { completeWithinSeconds: -1 })), 'order', 'completeWithinSeconds', '-1'],
  ['an order without time', workflow(step('a'), { completeWithinSeconds: -5 }), '', 'completeWithinSeconds', '-5'],
  ['a wait of less than nothing', workflow(delay('d', -1)), 'order', '-1'],
  ['a wait of a word', workflow(delay('d', 'soon')), 'order', '"soon"'],
  ['33 levels', workflow(deep(limits.depthMax + 1)), `order${'/level'.repeat(31)}/leaf`, 'More than 32 levels', 'child workflow'],
  [
    '10,001 activities',
    workflow(sequence('', ...listOf(limits.activitiesMax, (index) => step(`s${index}`)))),
    'order',
    '10001 activities',
    'at most 10000',
  ],

  [
    'an unknown step',
    workflow(sequence('', step('charge'), reading('ship', 'steps.charged.id'))),
    'order/ship',
    '/value: no step is named "charged"',
    'Did you mean "charge"?',
  ],
  [
    'a step read before it runs',
    workflow(sequence('', reading('ship', 'steps.charge.id'), step('charge'))),
    'order/ship',
    '"charge" (order/charge) need not have run before order/ship',
  ],
  ['a step that reads itself', workflow(sequence('', reading('charge', 'steps.charge.id'))), 'order/charge', 'need not have run'],
  [
    'a step of another branch',
    workflow(parallel('', sequence('a', step('charge')), sequence('b', reading('ship', 'steps.charge.id')))),
    'order/b/ship',
    '"charge" (order/a/charge) need not have run',
  ],
  [
    'a wait that reads another branch',
    workflow(parallel('', step('quote'), delay('pause', { $cel: 'steps.quote.seconds' }))),
    'order/pause',
    'need not have run',
  ],
  [
    'a name that two steps share',
    workflow(sequence('', sequence('a', step('ask')), sequence('b', step('ask')), reading('ship', 'steps.ask.id'))),
    'order/ship',
    '2 steps are named "ask"',
    'order/a/ask, order/b/ask',
  ],
  [
    'a composite read like a step',
    workflow(sequence('', sequence('a'), reading('ship', 'steps.a.id'))),
    'order/ship',
    'no step is named "a"',
  ],

  [
    'an expression that does not end',
    workflow(reading('a', 'order.total +')),
    'order',
    '/value: Unexpected token: EOF',
    '\n  order.total +\n               ^',
  ],
  [
    'a variable that there is not',
    workflow(reading('a', '1 + orders.total')),
    'order',
    'Unknown variable: orders',
    '\n  1 + orders.total\n      ^',
  ],
  [
    'a misplaced step in a long expression',
    workflow(reading('a', 'order.shipment + steps.ship')),
    'order',
    'no step is named "ship"',
    '\n  order.shipment + steps.ship\n                   ^',
  ],
  ['a mistake in the second line', workflow(reading('a', 'order.total +\n  totl')), 'order', 'Unknown variable: totl', '\n    totl\n    ^'],
  ['a regular expression', workflow(reading('a', 'order.city.matches("(a+)+")')), 'order', 'use like(text, pattern)'],
  ['an expression deep in the input', workflow(step('a', { input: { list: [1, { 'a/b': { $cel: ')' } }] } })), 'order', '/list/1/a~1b: '],
];

const isSaid = ({ severity, path, message }: Problem, expectedPath: string, words: readonly string[]): boolean =>
  severity === 'error' && path === expectedPath && words.every((word) => message.includes(word));

for (const [what, definition, path, ...words] of table) {
  test(`a definition with ${what} is refused, and the message says where and why`, () => {
    const problems = check(definition);
    assert.ok(
      problems.some((problem) => isSaid(problem, path, words)),
      JSON.stringify(problems, undefined, 2),
    );
  });
}

test('a definition that is right has no problems', () => {
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

test('everything that is wrong is said at once', () => {
  const definition = workflow(
    sequence('', step('1'), reading('a', ')'), reading('b', 'steps.nope'), wrong({ activity: 'stepp', name: 'c' })),
    { version: -1 },
  );
  assert.deepEqual(
    check(definition).map(({ path }) => path),
    ['', 'order/1', 'order/c', 'order/a', 'order/b'],
  );
});

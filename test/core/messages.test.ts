import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import { type Activity, limits, type Template } from '#core/definition/definition';
import { fault, ok, type Run, rejected, startRun, stepMs } from '../support/run.ts';
import { delay, listOf, sequence, step, workflow } from '../support/workflows.ts';

const cel = ($cel: string): Template => ({ $cel });
const forEach = (list: Template, more: object = {}): Activity => ({ activity: 'forEach', name: 'each', list, do: step('a'), ...more });
const repeatWhile = (condition: Template, more: object = {}): Activity => ({
  activity: 'while',
  name: 'while',
  condition,
  do: delay('none', 0),
  ...more,
});
const raise = (message: Template, data?: Template): Activity => ({
  activity: 'raise',
  name: 'raise',
  fault: 'Refused/Late',
  message,
  ...(data === undefined ? {} : { data }),
});

/** The fault that blocks an order made of this activity, after these events. */
function blockedFor(
  root: Activity,
  happen: (run: Run) => void = () => {},
  more: { completeWithinSeconds?: number } = {},
): Fault | undefined {
  const order: Json = { word: 'w'.repeat(120), number: 5, list: listOf(1001, () => 0), late: { by: 3 } };
  const run = startRun(workflow(sequence('', root), more), { order });
  run.happen({ type: 'started', stepMs });
  happen(run);
  return run.state.blocked?.fault;
}

const engine = (type: string, message: string, more: Partial<Fault> = {}): Fault => ({
  type: `Engine/${type}`,
  class: 'basic-failure',
  permanent: true,
  message,
  ...more,
});
const w100 = `"${'w'.repeat(99)}`;

/** An order that cannot continue, and the complete message about it. */
const table: readonly (readonly [what: string, held: () => Fault | undefined, expected: Fault])[] = [
  [
    'loops over a text instead of a list',
    () => blockedFor(forEach(cel('order.word'))),
    engine('ExpressionFailed', `A forEach needs a list, not ${w100}.`, { source: 'order/each' }),
  ],
  [
    'loops over too many entries',
    () => blockedFor(forEach(cel('order.list'))),
    engine(
      'TooManyItems',
      `The list has 1001 entries; a forEach has at most ${limits.itemsMax}. Split the list into chunks, each in a called order.`,
      { source: 'order/each' },
    ),
  ],
  [
    'exceeds the turns of its loop',
    () => blockedFor(repeatWhile(true, { maxTurns: 3 })),
    engine('TooManyTurns', 'The loop has reached its limit of 3 turns. Set maxTurns to allow more.', { source: 'order/while' }),
  ],
  [
    'has a text as a condition',
    () => blockedFor(repeatWhile(cel('order.word'))),
    engine('ExpressionFailed', `A condition must be true or false, not ${w100}.`, { source: 'order/while' }),
  ],
  [
    'has a delay of a negative duration',
    () => blockedFor(delay('pause', cel('-1'))),
    engine('ExpressionFailed', 'Expected 0 to 31622400 seconds (a year), got -1.', { source: 'order/pause' }),
  ],
  [
    'has a delay of more than a year',
    () => blockedFor(delay('pause', cel('31622401'))),
    engine('ExpressionFailed', 'Expected 0 to 31622400 seconds (a year), got 31622401.', { source: 'order/pause' }),
  ],
  [
    'has a delay whose duration is a text',
    () => blockedFor(delay('pause', cel('orderId'))),
    engine('ExpressionFailed', 'Expected 0 to 31622400 seconds (a year), got "o1".', { source: 'order/pause' }),
  ],
  [
    'sends a request after its time limit',
    () =>
      blockedFor(
        sequence('both', delay('pause', 60), step('a')),
        (run) => {
          run.now += 60_000;
          run.happen({ type: 'woken' });
        },
        { completeWithinSeconds: 60 },
      ),
    engine('DeadlineExceeded', 'The time limit of the order has passed. No more requests are sent.', { source: 'order/both/a' }),
  ],
  [
    'exceeds the failure limit of a step without a reply',
    () => blockedFor(step('a'), (run) => run.happen({ type: 'exhausted', path: 'order/a' })),
    engine(
      'DeadlineExceeded',
      'No attempt was answered in time. The agent sent no reply: the tries took too long, or the agent does not run.',
      {
        source: 'order/a',
        outcomeUnknown: true,
        permanent: false,
      },
    ),
  ],
  [
    'exceeds the failure limit of a step with only the reply "not now"',
    () =>
      blockedFor(step('a'), (run) => {
        run.reply('order/a', fault('Busy', { permanent: false }));
        run.happen({ type: 'exhausted', path: 'order/a' });
      }),
    engine('DeadlineExceeded', 'No attempt was answered in time. The last attempt failed: Busy: the agent reports Busy', {
      source: 'order/a',
      outcomeUnknown: true,
      permanent: false,
    }),
  ],
  [
    'gets no reply to an at-most-once step',
    () => blockedFor(step('a', { atMostOnce: true }), (run) => run.happen({ type: 'exhausted', path: 'order/a' })),
    engine('OutcomeUnknown', 'No reply came in time. The operation runs at most once, so its outcome is unknown.', {
      source: 'order/a',
      outcomeUnknown: true,
      class: 'application-failure',
    }),
  ],
  [
    'sends a request that its agent cannot process',
    () => blockedFor(step('a'), (run) => run.reply('order/a', rejected)),
    engine('RequestRejected', 'Unable to process message.', { source: 'order/a' }),
  ],
  [
    'gets too large an output',
    () => blockedFor(step('a'), (run) => run.reply('order/a', ok('x'.repeat(limits.outputBytesMax - 1)))),
    engine(
      'OutputTooLarge',
      `The output has ${limits.outputBytesMax + 1} bytes; the maximum is ${limits.outputBytesMax}. Return a reference to the data instead.`,
      { source: 'order/a', outcomeUnknown: true, class: 'application-failure' },
    ),
  ],
  [
    'has too large an input',
    () => blockedFor(step('a', { input: 'x'.repeat(limits.inputBytesMax - 1) })),
    engine(
      'InputTooLarge',
      `The input has ${limits.inputBytesMax + 1} bytes; the maximum is ${limits.inputBytesMax}. Pass a reference to the data instead.`,
      { source: 'order/a' },
    ),
  ],
  [
    'is refused',
    () => blockedFor(step('a'), (run) => run.reply('order/a', fault('Refused'))),
    { type: 'Refused', class: 'expected', permanent: true, message: 'the agent reports Refused', source: 'order/a' },
  ],
  [
    'raises a fault',
    () => blockedFor(raise('It is late.')),
    { type: 'Refused/Late', class: 'expected', permanent: true, message: 'It is late.', source: 'order/raise' },
  ],
  [
    'raises a fault with data',
    () => blockedFor(raise(cel('order.late'), cel('order.late.by'))),
    { type: 'Refused/Late', class: 'expected', permanent: true, message: '{"by":3}', data: 3, source: 'order/raise' },
  ],
  [
    'reads a missing field',
    () => blockedFor(step('a', { input: cel('order.nothing') })),
    engine('ExpressionFailed', 'order.nothing: No such key: nothing', { source: 'order/a' }),
  ],
  [
    'has an expression with a syntax error',
    () => blockedFor(step('a', { input: { b: [{ $cel: ')' }] } })),
    engine('ExpressionFailed', '): Unexpected token: RPAREN', { source: 'order/a' }),
  ],
];

describe('F-43, F-59: a person who must decide about an order learns the problem, its place and the remedies', () => {
  for (const [what, actual, expected] of table) test(`an order that ${what}`, () => assert.deepEqual(actual(), expected));
});

/** Each place in which an order may read a missing value. */
const unreadable: readonly (readonly [where: string, path: string, root: Activity])[] = [
  ['the input of a step', 'order/a', step('a', { input: { deep: [{ $cel: 'order.nothing' }] } })],
  ['a list', 'order/each', forEach(cel('order.nothing'))],
  ['the condition of a loop', 'order/while', repeatWhile(cel('order.nothing'))],
  ['the duration of a delay', 'order/pause', delay('pause', cel('order.nothing'))],
  ['the message of a fault', 'order/raise', raise(cel('order.nothing'))],
  ['the data of a fault', 'order/raise', raise('late', cel('order.nothing'))],
  ['a variable', 'order/set', { activity: 'assign', name: 'set', variable: 'x', value: cel('order.nothing') }],
  ['a choice', 'order/choice', { activity: 'choice', name: 'choice', branches: [{ when: cel('order.nothing'), do: step('a') }] }],
];

for (const [where, path, root] of unreadable) {
  test(`if an expression in ${where} cannot be evaluated, its activity has a fault, and no part of the activity begins`, () => {
    const { type, source } = blockedFor(root) ?? {};
    assert.deepEqual({ type, source }, { type: 'Engine/ExpressionFailed', source: path });
  });
}

test('an output of the maximum size is kept, and one byte more is too large, whatever its characters', () => {
  for (const letter of ['x', 'é']) {
    const most = letter.repeat((limits.outputBytesMax - 2) / new TextEncoder().encode(letter).length);
    assert.equal(
      blockedFor(step('a'), (run) => run.reply('order/a', ok(most))),
      undefined,
    );
    assert.equal(blockedFor(step('a'), (run) => run.reply('order/a', ok(`${most}x`)))?.type, 'Engine/OutputTooLarge');
  }
});

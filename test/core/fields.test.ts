import assert from 'node:assert/strict';
import test from 'node:test';
import { check } from '#core/checks/check';
import type { Activity, WorkflowDefinition } from '#core/definition/definition';
import { sequence, step, workflow } from '../support/workflows.ts';

/** An activity as a person may have written it by hand. */
const written = (activity: string, fields: object): Activity => ({ activity, name: 'x', ...fields }) as unknown as Activity;

const forEach = (fields: object) => written('forEach', { list: [], do: step('a'), ...fields });
const repeatWhile = (fields: object) => written('while', { condition: true, do: step('a'), ...fields });
const retry = (fields: object) => written('retry', { retries: 0, intervalSeconds: 0, do: step('a'), ...fields });
const assign = (variable: string) => written('assign', { variable, value: 1 });
const raise = (fault: unknown) => written('raise', { fault, message: 'no' });
const wait = (seconds: unknown) => written('delay', { seconds });
const waitFor = (fields: object) => written('waitFor', { signal: 'paid', ...fields });
const call = (fields: object) => written('call', { agent: 'workflows', operation: 'ship-one@1', input: {}, ...fields });

const lengths = 'Expected 0 to 31622400 seconds (a year), got';
const signals = 'is not a valid signal name. Use at most 64 letters, digits, "-" and "_", and begin with a letter.';
const calls = 'is not a workflow with a version. Write its name, "@" and its version: ship-one@1.';
const long = 'x'.repeat(65);

/** A field that is wrong, and its complete message. */
const wrong: readonly (readonly [what: string, activity: Activity, message: string])[] = [
  ['a sequence without children', written('sequence', {}), 'The field "children" must be a list of activities.'],
  ['a parallel without children', written('parallel', { children: 'a' }), 'The field "children" must be a list of activities.'],
  ['a choice without branches', written('choice', {}), 'The field "branches" must be a list of {when, do}.'],
  ['a forEach with a concurrency of zero', forEach({ maxConcurrency: 0 }), 'maxConcurrency is 0; it must be an integer of at least 1.'],
  [
    'a forEach with a fractional concurrency',
    forEach({ maxConcurrency: 1.5 }),
    'maxConcurrency is 1.5; it must be an integer of at least 1.',
  ],
  ['a while with at most zero turns', repeatWhile({ maxTurns: 0 }), 'maxTurns is 0; it must be an integer of at least 1.'],
  ['a while with a fractional number of turns', repeatWhile({ maxTurns: 1.5 }), 'maxTurns is 1.5; it must be an integer of at least 1.'],
  ['a retry with a negative count', retry({ retries: -1 }), 'retries is -1; it must be an integer of at least 0.'],
  ['a retry with a fractional count', retry({ retries: 1.5 }), 'retries is 1.5; it must be an integer of at least 0.'],
  [
    'a retry with a negative interval',
    retry({ intervalSeconds: -1 }),
    'intervalSeconds is -1; it must be a number of seconds of at least 0.',
  ],
  [
    'a retry with an interval of more than a year',
    retry({ intervalSeconds: 1e12 }),
    'intervalSeconds is 1000000000000; the maximum is 31622400 seconds (a year).',
  ],
  [
    'a retry whose interval is a text',
    retry({ intervalSeconds: '5' }),
    'intervalSeconds is "5"; it must be a number of seconds of at least 0.',
  ],
  [
    'a variable that begins with a digit',
    assign('1st'),
    '"1st" is not a valid variable name. Use at most 64 letters, digits and "_", and do not begin with a digit.',
  ],
  [
    'a variable with a dot',
    assign('a.b'),
    '"a.b" is not a valid variable name. Use at most 64 letters, digits and "_", and do not begin with a digit.',
  ],
  [
    'a variable of 65 letters',
    assign(long),
    `"${long}" is not a valid variable name. Use at most 64 letters, digits and "_", and do not begin with a digit.`,
  ],
  ['a fault whose type is a number', raise(5), 'The field "fault" must name a fault type, such as "Refused/CardDeclined".'],
  ['a fault with an empty type', raise(''), 'The field "fault" must name a fault type, such as "Refused/CardDeclined".'],
  ['a delay of a negative duration', wait(-0.1), `${lengths} -0.1.`],
  ['a delay whose duration is a text', wait('60'), `${lengths} "60".`],
  ['a delay of more than a year', wait(31_622_401), `${lengths} 31622401.`],
  ['a signal without a name', waitFor({ signal: '' }), `"" ${signals}`],
  ['a signal that is a number', waitFor({ signal: 5 }), `"5" ${signals}`],
  ['a signal that begins with a digit', waitFor({ signal: '1st' }), `"1st" ${signals}`],
  ['a signal with a dot', waitFor({ signal: 'a.b' }), `"a.b" ${signals}`],
  ['a signal of 65 letters', waitFor({ signal: long }), `"${long}" ${signals}`],
  ['a wait for a signal whose time limit is a text', waitFor({ withinSeconds: 'soon' }), `${lengths} "soon".`],
  ['a call with another agent', call({ agent: 'payment' }), 'Its agent is "payment"; the agent of a call must be "workflows".'],
  ['a call without a version', call({ operation: 'ship-one' }), `"ship-one" ${calls}`],
  ['a call of version 0', call({ operation: 'ship-one@0' }), `"ship-one@0" ${calls}`],
  ['a call of a fractional version', call({ operation: 'ship-one@1.5' }), `"ship-one@1.5" ${calls}`],
  ['a call of a name with a capital', call({ operation: 'Ship@1' }), `"Ship@1" ${calls}`],
  ['a call of a name with a dot', call({ operation: 'a.b@1' }), `"a.b@1" ${calls}`],
  ['a call of a name of 65 letters', call({ operation: `${long}@1` }), `"${long}@1" ${calls}`],
  [
    'a function without a version',
    written('compute', { function: 'nope@1', input: {} }),
    'Unknown function "nope@1". Define it with compute(…) in a module that the app imports.',
  ],
  ['a step with an empty agent name', step('x', { agent: '' }), 'The field "agent" must be a name, and not empty.'],
  ['a step whose agent is a number', step('x', { agent: 5 as unknown as string }), 'The field "agent" must be a name, and not empty.'],
  ['a step with a maximum time of zero', step('x', { longestSeconds: 0 }), 'longestSeconds is 0; it must be a number above 0.'],
];

for (const [what, activity, message] of wrong) {
  test(`${what} is refused, and the message reports every problem`, () => {
    assert.deepEqual(check(workflow(sequence('', activity))), [{ severity: 'error', path: 'order/x', message }]);
  });
}

/** The minimum and the maximum of a field. */
const right: readonly Activity[] = [
  forEach({}),
  forEach({ maxConcurrency: 1 }),
  repeatWhile({}),
  repeatWhile({ maxTurns: 1 }),
  retry({}),
  retry({ retries: 1, intervalSeconds: 0.5 }),
  assign('_'),
  assign('x'.repeat(64)),
  wait(0),
  wait(31_622_400),
  waitFor({ withinSeconds: 0 }),
  waitFor({ withinSeconds: 31_622_400, signal: 'x'.repeat(64) }),
  waitFor({ withinSeconds: { $cel: 'order.seconds' }, signal: 'A' }),
  call({ operation: `${'x'.repeat(64)}@10` }),
  call({ operation: 'a@1' }),
  written('askOperator', { question: 'Well?' }),
  step('x', { completeWithinSeconds: 0.1 }),
  { ...step('x'), name: 'x'.repeat(64) },
];

test('fields at their minimum and maximum are valid', () => {
  for (const activity of right) assert.deepEqual(check(workflow(sequence('', activity))), [], JSON.stringify(activity));
  assert.deepEqual(check(workflow(sequence('', raise('Refused')), { toOperator: ['Refused'] })), []);
});

test('a workflow at all limits is valid', () => {
  const definitions: readonly Partial<WorkflowDefinition>[] = [
    { name: 'a' },
    { name: `a${'-1'.repeat(31)}b` },
    { version: 1 },
    { maxFailures: 0 },
    { onExhausted: 'wait', longWaitSeconds: 31_622_400 },
    { completeWithinSeconds: 0.5 },
  ];
  for (const more of definitions) assert.deepEqual(check(workflow(step('a'), more)), [], JSON.stringify(more));
});

test('a workflow beyond the limits is refused', () => {
  const messages = (more: Partial<WorkflowDefinition>) =>
    check(workflow(step('a'), more)).map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual(messages({ maxFailures: -1 }), [': maxFailures is -1; it must be an integer of at least 0.']);
  assert.deepEqual(messages({ maxFailures: 0.5 }), [': maxFailures is 0.5; it must be an integer of at least 0.']);
  assert.deepEqual(messages({ completeWithinSeconds: 0 }), [': completeWithinSeconds is 0; it must be a number above 0.']);
  for (const longWaitSeconds of [0, 31_622_401])
    assert.match(messages({ onExhausted: 'wait', longWaitSeconds }).join(), new RegExp(`^: longWaitSeconds is ${longWaitSeconds}; `));
  assert.deepEqual(messages({ longWaitSeconds: 5 }), [
    ': longWaitSeconds has no effect with onExhausted "error": set onExhausted to "wait", or leave it out.',
  ]);
  const name = '"1a" is not a valid workflow name. Use at most 64 lowercase letters, digits and "-", and begin with a letter.';
  assert.deepEqual(messages({ name: '1a' }), [`: ${name}`]);
  assert.deepEqual(messages({ name: 'a.b' }), [`: ${name.replace('1a', 'a.b')}`]);
});

test('every activity declares its fields with expressions: a problem in any of them is found', () => {
  const bad = { $cel: ')' };
  const places: readonly Activity[] = [
    forEach({ list: bad }),
    forEach({ until: bad }),
    repeatWhile({ condition: bad }),
    written('choice', { branches: [{ when: bad, do: step('a') }] }),
    written('assign', { variable: 'a', value: bad }),
    written('raise', { fault: 'Refused', message: bad }),
    written('raise', { fault: 'Refused', message: 'no', data: bad }),
    wait(bad),
    waitFor({ withinSeconds: bad }),
    written('askOperator', { question: bad }),
    written('askOperator', { question: 'Well?', details: bad }),
    step('x', { input: bad }),
    call({ input: bad }),
  ];
  for (const activity of places) {
    const [problem, ...more] = check(workflow(sequence('', activity), { toOperator: ['Refused'] }));
    assert.deepEqual([problem?.path, problem?.message, more], ['order/x', 'Unexpected token: RPAREN\n  )\n  ^', []], activity.activity);
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/data/json';
import { whyApplies } from '#core/solutions/applies';
import { solutionProblems } from '#core/solutions/check-solution';
import { generalized } from '#core/solutions/generalize';
import { filledPlaces, placesIn } from '#core/solutions/places';
import { noFigures, ranked, trustIn, wilsonLowerBound } from '#core/solutions/rank';
import type { SolutionInstruction } from '#core/solutions/solution';

const general = (instruction: SolutionInstruction, blockedAt?: string) => generalized(instruction, blockedAt);

describe('an instruction that is kept for other orders', () => {
  test('F-155: has a parameter in place of each value of its order', () => {
    const output = { chargeId: 'ch_1', amount: 12.5, paid: true, lines: [1], note: null, '9 x': 'y' };
    assert.deepEqual(general({ kind: 'skip', path: 'order/charge', output, effect: 'done' }, 'order/charge'), {
      instruction: {
        kind: 'skip',
        output: {
          chargeId: '{{chargeId}}',
          amount: '{{amount}}',
          paid: '{{paid}}',
          lines: '{{lines}}',
          note: '{{note}}',
          '9 x': '{{p_9_x}}',
        },
        effect: 'done',
      },
      parameters: [
        { name: 'chargeId', schema: { type: 'string' } },
        { name: 'amount', schema: { type: 'number' } },
        { name: 'paid', schema: { type: 'boolean' } },
        { name: 'lines', schema: { type: 'array' } },
        { name: 'note', schema: {} },
        { name: 'p_9_x', schema: { type: 'string' } },
      ],
    });
  });

  const kept: readonly (readonly [string, JsonObject & { kind: string }, JsonObject])[] = [
    ['an answer', { kind: 'resubmit', answer: 'yes', completeWithinSeconds: 60 }, { answer: '{{answer}}', completeWithinSeconds: 60 }],
    [
      'the body of a new order',
      { kind: 'restart', order: { sku: 'tea' }, undoFirst: true },
      { order: { sku: '{{sku}}' }, undoFirst: true },
    ],
    ['a time', { kind: 'amend', endBy: '2026-01-01T00:00:00Z', maxFailures: 3 }, { endBy: '{{endBy}}', maxFailures: 3 }],
    ['a variable', { kind: 'amend', variables: { left: 5 } }, { variables: { left: '{{left}}' } }],
    ['the turn of a loop', { kind: 'resume-at', path: 'order/all[3]/pick', undoBetween: true }, { path: '{{path}}', undoBetween: true }],
    ['the turn of a retry', { kind: 'amend', retry: { path: 'order/all[3]', retries: 1 } }, { retry: { path: '{{path}}', retries: 1 } }],
    ['no step of the workflow', { kind: 'resume-at', path: 'order/pick', undoBetween: true }, { path: 'order/pick', undoBetween: true }],
    [
      'no expression',
      { kind: 'skip', output: { id: { $cel: 'order.id' } }, effect: 'none' },
      { output: { id: { $cel: 'order.id' } }, effect: 'none' },
    ],
  ];
  for (const [what, instruction, expected] of kept)
    test(`F-155: a parameter stands for ${what}`, () => {
      assert.deepEqual(general(instruction).instruction, { kind: instruction.kind, ...expected });
    });

  test('two fields of an instruction with one name become two parameters of a solution', () => {
    const found = general({ kind: 'amend', variables: { endBy: 1 }, endBy: 'then' });
    assert.deepEqual(
      found.parameters.map(({ name }) => name),
      ['endBy', 'endBy_2'],
    );
  });
});

describe('the places of an instruction', () => {
  const values = { amount: 5, who: 'Ö', list: [{ a: '{{who}}' }] };
  test('a text that is only a place becomes the value itself; in a longer text, each place becomes the text of its value', () => {
    const given = { a: '{{amount}}', b: ['to {{ who }}: {{amount}} {{list}}', '{{list}}'], c: '{{other}}', d: 7 };
    assert.deepEqual(filledPlaces(given, values), {
      a: 5,
      b: ['to Ö: 5 [{"a":"{{who}}"}]', [{ a: '{{who}}' }]],
      c: '{{other}}',
      d: 7,
    });
  });

  test('are found, each with its position in the instruction', () => {
    assert.deepEqual(
      [...placesIn({ a: ['x', '{{b}}-{{c}}'], e: '{{d}}' })],
      [
        { name: 'b', path: ['a', 1], isAlone: false },
        { name: 'c', path: ['a', 1], isAlone: false },
        { name: 'd', path: ['e'], isAlone: true },
      ],
    );
  });
});

describe('the check of a solution', () => {
  const said = (draft: Partial<Parameters<typeof solutionProblems>[0]>): readonly string[] =>
    solutionProblems({ instruction: { kind: 'resubmit' }, parameters: [], ...draft }).map(
      ({ pointer, code, column }) => `${pointer} ${code}${column === undefined ? '' : ` ${column}`}`,
    );
  const parameter = (name: string) => ({ name, schema: {} });

  test('F-155: names each place without a parameter, each parameter without a place, and braces that are not a place', () => {
    const instruction = { kind: 'replace-input', input: { 'a/b': ['{{x}}', '{{y', '{{1}}'] } };
    assert.deepEqual(said({ instruction, parameters: [parameter('z'), parameter('z')] }), [
      '/instruction/input/a~1b/1 invalid-place',
      '/instruction/input/a~1b/2 invalid-place',
      '/instruction/input/a~1b/0 unknown-parameter',
      '/parameters/0/name unused-parameter',
      '/parameters/1/name duplicate',
    ]);
  });

  const conditions: readonly (readonly [string, readonly string[]])[] = [
    ['exception.type == "Declined" && order.total < 100.0 && exception.data.code == "x"', []],
    ['order.total <', ['/appliesWhen invalid-expression 14']],
    ['outputs.charge.id == "x" || at > "2026"', ['/appliesWhen not-readable 1', '/appliesWhen not-readable 29']],
    ['exception.typ == "x"', ['/appliesWhen wrong-type 11']],
    ['exception.type', ['/appliesWhen wrong-type 1']],
  ];
  for (const [appliesWhen, expected] of conditions)
    test(`a condition reads the exception and the order: ${appliesWhen}`, () => {
      assert.deepEqual(said({ appliesWhen }), expected);
    });

  test('a solution has at most 8 KB', () => {
    assert.deepEqual(said({ instruction: { kind: 'resubmit', answer: 'ü'.repeat(5000) } }), [' too-large']);
  });
});

describe('a solution is suggested', () => {
  const sought = { fingerprint: 'f1', exception: { type: 'Declined' }, order: { total: 50 }, at: '2026-01-01T00:00:00Z' };
  const why = (fingerprints: readonly string[], appliesWhen?: string) =>
    whyApplies({ fingerprints, ...(appliesWhen === undefined ? {} : { appliesWhen }) }, sought);

  test('F-155: for exceptions with its fingerprints, and where its condition is true', () => {
    assert.equal(why(['f0', 'f1']), 'same-fingerprint');
    assert.equal(why(['f0']), undefined);
    assert.equal(why([], 'order.total < 100.0'), 'condition');
    assert.equal(why(['f1'], 'order.total < 100.0'), 'same-fingerprint');
    assert.equal(why(['f1'], 'order.total > 100.0'), undefined, 'a condition narrows');
    assert.equal(why(['f1'], 'order.missing > 100.0'), undefined, 'one that cannot be evaluated is not true');
    assert.equal(whyApplies({ fingerprints: ['f1'], appliesWhen: 'true' }, { at: sought.at, fingerprint: 'f1' }), undefined);
  });
});

describe('the rank of solutions', () => {
  const entry = (id: string, passed: number, failedAgain: number, failedOtherwise = 0) => ({
    solution: { id },
    figures: { ...noFigures, used: passed + failedAgain + failedOtherwise, passed, failedAgain, failedOtherwise },
  });

  test('F-155: is lower after 1 passed use of 1 than after 92 of 100, and higher than after no use', () => {
    const order = ranked([entry('none', 0, 0), entry('one', 1, 0), entry('most', 92, 8), entry('never', 0, 9)]).map(
      ({ solution: { id } }) => id,
    );
    assert.deepEqual(order, ['most', 'one', 'none', 'never']);
    assert.equal(wilsonLowerBound(1, 1).toFixed(4), '0.2065');
    assert.equal(wilsonLowerBound(92, 100).toFixed(4), '0.8500');
    assert.equal(wilsonLowerBound(0, 0), 0);
  });

  test('falls for a use that ended in another exception', () => {
    assert.ok(trustIn(entry('a', 9, 0, 3).figures) < trustIn(entry('b', 9, 1).figures));
  });
});

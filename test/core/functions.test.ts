import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '#core/data/json';
import type { Activity, Template } from '#core/definition/definition';
import { limits } from '#core/definition/definition';
import { compute, functionOf, registerFunction } from '#core/definition/functions';
import { type Run, startRun, stepMs } from '../support/run.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

registerFunction('odd-double@1', (input) => Number(input) * 2);
registerFunction('odd-change@1', (input) => {
  ((input as { list: { n: number }[] }).list[0] as { n: number }).n = 2;
  return input;
});
registerFunction('odd-fail@1', () => {
  throw new Error('Nothing costs that much.');
});
registerFunction('odd-fail@2', () => {
  throw 'a word';
});
registerFunction('odd-repeat@1', (input) => 'x'.repeat(Number(input)));

const started = (name: string, input: Template): Run => {
  const quote = { activity: 'compute', name: 'quote', function: name, input } as Activity;
  const run = startRun(workflow(sequence('', quote, step('tell', { input: { $cel: 'steps.quote' } }))));
  run.happen({ type: 'started', stepMs });
  return run;
};

describe('an order computes a value in a function of the app', () => {
  test("the function's result can be read at once", () => {
    assert.equal(started('odd-double@1', { $cel: '20 + 1' }).latestRequest('order/tell').input, 42);
  });

  const failures: readonly (readonly [what: string, name: string, input: Template, fault: object])[] = [
    ['throws', 'odd-fail@1', null, { type: 'Engine/ComputeFailed', message: 'odd-fail@1: Nothing costs that much.' }],
    ['throws a value that is not an Error', 'odd-fail@2', null, { type: 'Engine/ComputeFailed', message: 'odd-fail@2: a word' }],
    [
      'is not registered',
      'odd-double@2',
      1,
      {
        type: 'Engine/ComputeFailed',
        message: 'Unknown function "odd-double@2". Deploy an app that still defines it: running orders need it.',
      },
    ],
    ['has an input that cannot be evaluated', 'odd-double@1', { $cel: 'order.nothing' }, { type: 'Engine/ExpressionFailed' }],
    ['returns too large a value', 'odd-repeat@1', limits.outputBytesMax, { type: 'Engine/OutputTooLarge', outcomeUnknown: false }],
  ];
  for (const [what, name, input, fault] of failures) {
    test(`a function that ${what} gives the order a fault`, () => {
      assert.partialDeepStrictEqual(started(name, input).state.blocked, { path: 'order/quote', fault });
    });
  }

  test('a function cannot change its input', () => {
    const input: Json = { list: [{ n: 1 }] };
    assert.partialDeepStrictEqual(compute('odd-change@1', input), { ok: false });
    assert.deepEqual(input, { list: [{ n: 1 }] });
  });

  test('a function name can be registered only once', () => {
    assert.throws(
      () => registerFunction('odd-double@1', () => null),
      /Two functions are called "odd-double@1"\. Give one of them another name/,
    );
    assert.equal(functionOf('odd-double@2'), undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askOperator, call, cel, defineAgent, defineWorkflow, fault, forEach, operation, retry, sequence, waitFor } from 'redress';
import * as z from 'zod';
import type { WorkflowDefinition } from '#core/definition/definition';
import { firstDifference, steeringOf, steeringText } from '#core/definition/steering';
import { hashOf } from '#roles/definitions/pinning';

const order = z.object({ item: z.string() });
const Declined = fault('Declined');
const effect = { input: z.object({ item: z.string() }), output: z.object({ id: z.string() }), run: () => ({ id: 'x' }) };
const ship = defineWorkflow('ship', { version: 1, order }, () => waitFor('sent', z.object({})));

interface Written {
  readonly item?: string;
  readonly retries?: number;
  readonly name?: string;
  readonly question?: string;
  readonly about?: string;
  readonly operation?: object;
  readonly options?: object;
  readonly shape?: z.ZodType<{ item: string }>;
}

/** Returns a workflow in which a test writes one part in another way. */
function written({
  item = 'tea',
  retries = 2,
  name = 'charge',
  question = 'Well?',
  about = 'a word',
  ...more
}: Written = {}): WorkflowDefinition {
  const bank = defineAgent('bank', { charge: operation({ ...effect, ...more.operation }), refund: operation(effect) });
  const charge = bank
    .charge({ item })
    .named(name)
    .undo(() => bank.refund({ item }));
  const answer = z.object({ yes: z.boolean().describe(about) });
  return defineWorkflow('sale', { version: 1, order: more.shape ?? order, toOperator: [Declined], ...more.options }, () =>
    sequence(
      retry(charge, { retries, intervalSeconds: 5 }),
      askOperator('sure', { question, answer }),
      call(ship, { item: cel<string>`order.item` }),
    ),
  );
}

describe('the parts of a definition that steer a workflow', () => {
  test('the collected value and the list of a loop are steering parts', () => {
    const loop = (list: readonly string[], price: number) =>
      defineWorkflow('sale', { version: 1, order }, () => forEach(list, (name) => ({ do: sequence(), collect: { name, price } })));
    const hash = hashOf(loop(['a', 'b'], 1));
    assert.equal(hashOf(loop(['a', 'b'], 1)), hash);
    for (const other of [loop(['a', 'b'], 2), loop(['b', 'a'], 1), loop(['a'], 1)]) assert.notEqual(hashOf(other), hash);
  });

  const same: readonly (readonly [what: string, more: Written])[] = [
    ['a second evaluation of the definition', {}],
    ['properties of the operation', { operation: { faults: [Declined], completeWithinSeconds: 9, longestSeconds: 90 } }],
    ['a lookup and an at-most-once operation', { operation: { lookup: () => undefined, atMostOnce: true } }],
    ['the text of a question and the description of a field', { question: 'Sure?', about: 'another word' }],
    ['the schema of a new order', { shape: z.object({ item: z.string(), more: z.string().optional() }) }],
    [
      'options that an order gets at its start',
      { options: { maxFailures: 9, onExhausted: 'wait', recover: 'order', completeWithinSeconds: 60 } },
    ],
  ];
  for (const [what, more] of same)
    test(`S20: no steering part changes with ${what}`, () => assert.equal(steeringText(written(more)), steeringText(written())));

  const others: readonly (readonly [what: string, more: Written, where: string])[] = [
    ['another input', { item: 'cup' }, 'order/retry/charge input/item'],
    ['another count of a retry', { retries: 3 }, 'order/retry retries'],
    ['another name of a step', { name: 'pay' }, 'order/retry/charge'],
  ];
  for (const [what, more, where] of others)
    test(`S20: ${what} makes another workflow, and the place is named`, () => {
      assert.notEqual(steeringText(written(more)), steeringText(written()));
      assert.equal(firstDifference(steeringOf(written()), steeringOf(written(more))), where);
    });

  test('S20: a workflow has the same hash in this release as in the previous one; otherwise no running order could continue', () => {
    assert.equal(hashOf(written()), '8JKwSHug3YUwP25s');
  });

  test('S20: the sequence of fields makes no difference', () => {
    const definition = written();
    const turned = JSON.parse(JSON.stringify(definition), (_, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).reverse()) : value,
    );
    assert.equal(steeringText(turned), steeringText(definition));
    assert.equal(firstDifference(steeringOf(turned), steeringOf(definition)), undefined);
  });

  test('S20: swapped, added and removed steps are found at the first difference', () => {
    const worker = defineAgent('worker', { a: operation(effect), b: operation(effect), c: operation(effect), d: operation(effect) });
    const line = (...names: readonly ('a' | 'b' | 'c' | 'd')[]) =>
      steeringOf(
        defineWorkflow('line', { version: 1, order }, () => sequence(...names.map((name) => worker[name]({ item: 'tea' }).noUndo()))),
      );
    const places = [line('a', 'c', 'b'), line('a', 'b'), line('a', 'b', 'c', 'd')].map((edited) =>
      firstDifference(line('a', 'b', 'c'), edited),
    );
    assert.deepEqual(places, ['order/b', 'order/c', 'order/d']);
  });
});

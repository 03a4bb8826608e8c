import assert from 'node:assert/strict';
import test from 'node:test';
import { didYouMean } from '#core/checks/suggest';
import { isKindOf, shortType } from '#core/data/fault';
import { attemptIdOf, generationOf, requestIdFrom, requestIdOf, stepOfRequest } from '#core/data/ids';
import { fits, utf8Bytes } from '#core/data/json';
import { mayChange } from '#core/definition/template';

const ids = { generation: 12, epoch: 345, attempt: 67 };

test('a request id names one attempt of one step of one order', () => {
  const id = requestIdOf('o1', 'order/items[3]/pack', ids);
  assert.equal(id, 'o1/order/items[3]/pack/12#345.67');
  assert.equal(requestIdFrom('o1', 'order/items[3]/pack', attemptIdOf(ids)), id);
  assert.deepEqual([stepOfRequest('o1', id), generationOf(id)], ['order/items[3]/pack', 12]);
  assert.deepEqual(
    ['order', 'order[1]/a', 'order/a'].map((path) => stepOfRequest('o1', requestIdOf('o1', path, ids))),
    ['order', 'order[1]/a', 'order/a'],
  );
});

test('an id that is not a request id of the order names no step of it', () => {
  const others = [
    'o2/order/a/1#1.1',
    'o1/order/a',
    'o1/order/a/',
    'o1/order/a/1#1',
    'o1/order/a/1.1',
    'o1/order/a/x1#1.1',
    'o1/order/a/1#1.1x',
    'o1/constructor/1#1.1',
    'o1/orders/a/1#1.1',
    'o1/other/order/a/1#1.1',
    'order/a/1#1.1',
    '',
  ];
  for (const id of others) assert.equal(stepOfRequest('o1', id), undefined, id);
  assert.ok(Number.isNaN(generationOf('o1/order/a')));
  assert.ok(Number.isNaN(generationOf('o1/order/a/1#1.1x')));
});

test('a fault has its declared type and each supertype; only whole names count', () => {
  assert.deepEqual(
    ['Refused', 'Refused/Card', 'Refused/Card/Declined', 'Card', 'Refused/Ca'].map((kind) => isKindOf('Refused/Card', kind)),
    [true, true, false, false, false],
  );
  assert.deepEqual(['Refused/Card', 'Refused'].map(shortType), ['Card', 'Refused']);
});

test('a similar name is proposed, and a different one is not', () => {
  const known = ['charge', 'ship', 'notify-customer'];
  assert.equal(didYouMean('Chagre', known), ' Did you mean "charge"?');
  assert.equal(didYouMean('shp', known), ' Did you mean "ship"?');
  assert.equal(didYouMean('ships', known), ' Did you mean "ship"?');
  assert.equal(didYouMean('shop-it', known), '');
  assert.equal(didYouMean('notify-custoxxxx', known), ' Did you mean "notify-customer"?');
  assert.equal(didYouMean('charge', []), '');
  assert.equal(didYouMean('b', ['a']), ' Did you mean "a"?');
});

test('the search for similar names stays fast for texts of any length', () => {
  const name = (length: number) => 'x'.repeat(length);
  assert.equal(didYouMean(name(101), [name(101)]), '');
  assert.equal(didYouMean(name(100), [name(101)]), '');
  assert.equal(didYouMean(name(101), [name(100)]), '');
  assert.equal(didYouMean(name(100), [name(100)]), ` Did you mean "${name(100)}"?`);
});

test('bytes are counted in the encoding that is sent', () => {
  assert.deepEqual([utf8Bytes('é'), utf8Bytes({ a: '€' })], [4, 11]);
  assert.deepEqual(
    [3, 4, 5].map((most) => fits('é', most)),
    [false, true, true],
  );
  assert.deepEqual(
    [3, 4].map((most) => fits('xx', most)),
    [false, true],
  );
});

test('F-44: only expressions that read variables, or optional outputs, may give another result later', () => {
  for (const template of [
    null,
    'vars',
    5,
    true,
    {},
    { a: { $cel: 'order.varsity' } },
    [{ $cel: 'steps.myvars' }],
    { $cel: 'steps.find.?id' },
  ])
    assert.equal(mayChange(template as never), false, JSON.stringify(template));
  for (const template of [
    { $cel: 'vars.left' },
    { a: [{ $cel: '1 + vars["left"]' }] },
    { $cel: 'steps.?find.?id' },
    { $cel: 'steps[?"look-up"]' },
  ]) {
    assert.equal(mayChange(template), true);
    assert.equal(mayChange(template), true);
  }
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { didYouMean } from '#core/checks/suggest';
import { idempotencyKeyOf, requestIdOf, stepOfRequest } from '#core/data/ids';
import { fill, nodeAt, parentOf, programOf } from '#core/definition/program';
import { deepFreeze, delay, sequence, step, workflow } from '../support/workflows.ts';

const scope = deepFreeze({ orderId: 'o1', order: { total: 3, city: 'Bonn' }, steps: { charge: { id: 'c1' } } });

test('a template evaluates the expressions in it, and copies everything else', () => {
  const template = {
    amount: { $cel: 'order.total * 2' },
    list: ['plain', { $cel: 'steps.charge.id' }, [null, true]],
    deep: { $cel: 1, other: 'no expression' },
    same: '$cel',
  };
  assert.deepEqual(fill(deepFreeze(template), scope), {
    ok: true,
    value: { amount: 6, list: ['plain', 'c1', [null, true]], deep: { $cel: 1, other: 'no expression' }, same: '$cel' },
  });
});

test('a template with one failing expression has no result', () => {
  for (const template of [{ a: 1, b: { $cel: 'order.nope' } }, [1, { $cel: 'order.nope' }], { $cel: 'order.nope' }, { $cel: 'order.' }]) {
    const filled = fill(template, scope);
    assert.ok(!filled.ok);
    assert.equal(filled.fault.type, 'Engine/ExpressionFailed');
  }
});

test('a field named __proto__ is an ordinary field', () => {
  const filled = fill(JSON.parse('{"__proto__": {"$cel": "order.city"}, "a": 1}'), scope);
  assert.ok(filled.ok);
  assert.equal(JSON.stringify(filled.value), '{"__proto__":"Bonn","a":1}');
});

test('a program knows every node by its path, in the order of the definition, and which outputs are read', () => {
  const definition = workflow(
    sequence(
      '',
      step('charge'),
      sequence('post', step('ship', { input: { $cel: 'steps.charge.id' } }), delay('pause', { $cel: 'steps.ship.seconds' })),
    ),
  );
  const program = programOf(definition);
  assert.equal(programOf(definition), program);
  assert.deepEqual([...program.nodes.keys()], ['order', 'order/charge', 'order/post', 'order/post/ship', 'order/post/pause']);
  assert.deepEqual(
    [...program.readOutputs],
    [
      ['charge', 'order/charge'],
      ['ship', 'order/post/ship'],
    ],
  );
  assert.throws(() => nodeAt(program, 'order/nope'), /has no activity at order\/nope/);
});

test('the parent of an activity in a turn of a loop is the loop: the tree has no level for turns', () => {
  assert.equal(parentOf('order/items[3]/pack'), 'order/items');
  assert.equal(parentOf('order/charge'), 'order');
  assert.equal(parentOf('order'), undefined);
});

test('F-44: a request id names an attempt, an idempotency key names an effect, and both lead back to the step', () => {
  const attemptId = { generation: 2, epoch: 3, attempt: 4 };
  const requestId = requestIdOf('o1', 'order/post/ship', attemptId);
  assert.ok(requestId.startsWith(idempotencyKeyOf('o1', 'order/post/ship', 2)));
  assert.equal(stepOfRequest('o1', requestId), 'order/post/ship');
  assert.equal(stepOfRequest('o1', requestIdOf('o1', 'order', attemptId)), 'order');
  assert.equal(stepOfRequest('o2', requestId), undefined);
  assert.equal(stepOfRequest('o', requestId), undefined);
  for (const path of ['constructor', '__proto__', 'orders', 'order.charge'])
    assert.equal(stepOfRequest('o1', requestIdOf('o1', path, attemptId)), undefined, path);
  const ids = [{ ...attemptId, generation: 1 }, { ...attemptId, epoch: 2 }, { ...attemptId, attempt: 3 }, attemptId].map((each) =>
    requestIdOf('o1', 'order', each),
  );
  assert.equal(new Set(ids).size, 4);
});

test('a misspelt name gets the most similar name proposed, and a name similar to none gets no proposal', () => {
  const known = ['charge', 'reserve', 'ship'];
  assert.equal(didYouMean('chrage', known), ' Did you mean "charge"?');
  assert.equal(didYouMean('CHARGE', known), ' Did you mean "charge"?');
  assert.equal(didYouMean('sip', known), ' Did you mean "ship"?');
  assert.equal(didYouMean('refund', known), '');
  assert.equal(didYouMean('x'.repeat(5000), known), '');
  assert.equal(didYouMean('charge', []), '');
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/data/json';
import type { Activity } from '#core/definition/definition';
import { catalog, closed, order, said } from '../support/typed-order.ts';
import { delay, listOf, sequence, step, workflow } from '../support/workflows.ts';

const charge = (input: object): Activity => step('charge', { agent: 'payment', operation: 'charge', input: input as JsonObject });
const problemsWith = (input: object): readonly string[] =>
  said(workflow(charge(input), { order }), catalog).map((each) => each.replace('error order ', ''));
const amount = { minorUnits: 100, currency: 'EUR' };

describe('the input of a step', () => {
  test('a step with the input of its operation has no problems', () => {
    const cel = (text: string) => ({ $cel: text });
    assert.deepEqual(problemsWith({ card: 'c', amount }), []);
    assert.deepEqual(
      problemsWith({ card: cel('order.name'), amount: { minorUnits: cel('order.total * 100'), currency: 'USD' }, tags: ['a'] }),
      [],
    );
    assert.deepEqual(
      problemsWith({ card: cel('order.meta.card'), amount: cel('order.meta.amount'), tags: cel('order.items.map(i, i.sku)') }),
      [],
    );
    assert.deepEqual(problemsWith({ card: cel('order.code'), amount: cel('{"minorUnits": 1, "currency": "EUR"}') }), []);
  });

  test('fields that are missing, misspelt or of another type are all reported, each with its pointer', () => {
    assert.deepEqual(problemsWith({ crd: 'c', amount: { minorUnits: { $cel: 'order.name' }, currency: 'EURO' }, tags: 'a' }), [
      '/crd: payment.charge has no such input field. Did you mean "card"?',
      '/amount/minorUnits: Expected a number, got a string.\n  order.name\n  ^',
      '/amount/currency: "EURO" is none of "EUR", "USD". Did you mean "EUR"?',
      '/tags: Expected a list, got "a".',
      '/card: missing; payment.charge expects a string.',
    ]);
  });

  test('an object that an expression yields must have the required fields', () => {
    assert.deepEqual(problemsWith({ card: 'c', amount, to: { $cel: 'order.address' } }), [
      '/to: It has no field "zip", which is required here.\n  order.address\n  ^',
    ]);
    assert.deepEqual(problemsWith({ card: 'c', amount, tags: { $cel: 'order.items.map(i, i.quantity)' } }), [
      '/tags: In its entries: Expected a string, got a number.\n  order.items.map(i, i.quantity)\n  ^',
    ]);
  });

  test('the constants in an input select one of several forms', () => {
    const pay = (input: JsonObject) => said(workflow(step('pay', { agent: 'shop', operation: 'pay', input }), { order }), catalog);
    assert.deepEqual(pay({ by: 'card', card: { $cel: 'order.name' } }), []);
    assert.deepEqual(pay({ by: 'cash', till: { $cel: 'order.name' } }), [
      'error order /till: Expected a number, got a string.\n  order.name\n  ^',
    ]);
    assert.deepEqual(pay({ by: 'cheque', bank: 'x' }), ['error order /by: "cheque" is none of "card", "cash".']);
  });

  test('a point in time is a text', () => {
    assert.deepEqual(problemsWith({ card: { $cel: 'timestamp(order.name)' }, amount }), []);
  });

  test('an input that is not an object is refused', () => {
    assert.deepEqual(problemsWith({ $cel: 'order.total' }), ['Expected an object, got a number.\n  order.total\n  ^']);
  });
});

const read = (expression: string): Activity => step('read', { input: { value: { $cel: expression } } });
const assign = (name: string, variable: string, value: object | string | number): Activity =>
  ({ activity: 'assign', name, variable, value }) as Activity;
const forEach = (name: string, list: string, body: Activity, until?: string): Activity => ({
  activity: 'forEach',
  name,
  list: { $cel: list },
  do: body,
  ...(until ? { until: { $cel: until } } : {}),
});

describe('the types of the names that an expression reads, other than the order', () => {
  test("a list that a loop collects has the type of its turns' results", () => {
    const collecting = (collect: object) => ({ ...forEach('paid', 'order.items', charge({ card: 'c', amount })), collect }) as Activity;
    const collected = (collect: object, expression: string) =>
      said(workflow(sequence('', collecting(collect), read(expression)), { order }), catalog).map((message) => message.split('\n')[0]);
    const id = { $cel: 'steps.charge.chargeId' };
    assert.deepEqual(collected(id, 'steps.paid.map(id, id.size() + 1)'), []);
    assert.deepEqual(collected({ id }, 'steps.paid[0].id'), []);
    assert.deepEqual(collected({ id, at: { $cel: 'each.paid.index' } }, 'steps.paid.map(one, one.at * 2.0)'), []);
    assert.match(collected({ id }, 'steps.paid[0].ids')[0] ?? '', /has no field "ids"/);
    assert.match(collected(id, 'steps.paid.id')[0] ?? '', /error order\/read/);
    assert.match(collected({ $cel: 'steps.charge.chargId' }, 'steps.paid')[0] ?? '', /error order\/paid .*no field "chargId"/);
  });

  test('a step has the output fields of its operation', () => {
    const root = sequence('', charge({ card: 'c', amount }), read('steps.charge.chargId'));
    assert.deepEqual(said(workflow(root, { order }), catalog), [
      'error order/read /value: steps.charge has no field "chargId". Did you mean "chargeId"?\n  steps.charge.chargId\n               ^',
    ]);
    assert.deepEqual(said(workflow(root, { order })), []);
  });

  test('an operation without schemas, or outside the catalog, has any input and any output', () => {
    const look = step('look', { agent: 'shop', operation: 'look', input: { whatever: 1 } });
    assert.deepEqual(said(workflow(sequence('', look, step('other'), read('steps.look.a + steps.other.b')), { order }), catalog), []);
  });

  test('an undo reads the output of the step that it undoes', () => {
    const undo = { ...step('undo', { input: { id: { $cel: 'steps.charge.id' } } }), activity: 'step' } as Activity & { activity: 'step' };
    assert.deepEqual(said(workflow(sequence('', { ...charge({ card: 'c', amount }), undo } as Activity), { order }), catalog), [
      'error order/charge/undo /id: steps.charge has no field "id". It has "chargeId".\n  steps.charge.id\n               ^',
    ]);
  });

  test('a loop has an entry and an index, in its turns and in its end condition', () => {
    const body = read('each.items.item.skuu + each.items.idx');
    const root = sequence('', forEach('items', 'order.items', body, 'each.items.item.quantity > "x"'));
    assert.deepEqual(said(workflow(root, { order })), [
      'error order/items ">" cannot take a number and a string.\n  each.items.item.quantity > "x"\n  ^',
      'error order/items/read /value: each.items.item has no field "skuu". Did you mean "sku"?\n  each.items.item.skuu + each.items.idx\n                  ^',
      'error order/items/read /value: each.items has no field "idx". It has "item", "index".\n  each.items.item.skuu + each.items.idx\n                                    ^',
    ]);
  });

  test('F-69: a handler reads the type, the message, the source and the data of its fault, data of any form', () => {
    const handler = { fault: 'Engine', do: step('told', { input: { $cel: 'fault.mesage + fault.data.anything' } }) };
    assert.deepEqual(said(workflow({ ...sequence('', step('a')), faultHandlers: [handler] } as Activity, { order })), [
      'error order/told fault has no field "mesage". Did you mean "message"?\n  fault.mesage + fault.data.anything\n        ^',
    ]);
  });

  test('a variable has the types of all its assignments, also of those that read the variable itself', () => {
    const sets = [assign('zero', 'total', 0), assign('more', 'total', { $cel: 'vars.total + order.total' })];
    const root = (...more: Activity[]) => workflow(sequence('', ...sets, ...more, read('vars.total + "x"')), { order });
    assert.deepEqual(said(root()), [
      'error order/read /value: "+" cannot take a number and a string. Put string(…) around the number.\n  vars.total + "x"\n  ^',
    ]);
    assert.deepEqual(said(root(assign('text', 'total', 'none'))), []);
    assert.deepEqual(said(root(assign('text', 'total', { $cel: 'string(vars.total)' }))), []);
  });

  test('a variable also has the types of later assignments, from an earlier turn of a loop', () => {
    const turn = sequence(
      'turn',
      assign('one', 'one', { $cel: 'orElse(vars.?other, 0)' }),
      assign('other', 'other', 'x'),
      read('size(vars.one)'),
    );
    const loop = { activity: 'while', name: 'loop', condition: { $cel: 'order.total > 1' }, do: turn } as Activity;
    assert.deepEqual(said(workflow(sequence('', loop), { order })), []);
  });

  test('a count and a numeric field have the same type', () => {
    const counts = [assign('a', 'n', { $cel: 'size(order.items)' }), assign('b', 'n', { $cel: 'order.total' })];
    assert.deepEqual(said(workflow(sequence('', ...counts, read('size(vars.n)')), { order })), [
      'error order/read /value: size() cannot take a number.\n  size(vars.n)\n  ^',
    ]);
  });

  test('a name that two steps share has only the type that both allow', () => {
    const look = step('charge', { agent: 'shop', operation: 'look' });
    const root = sequence('', sequence('x', look), sequence('y', charge({ card: 'c', amount })), read('steps.charge.seen'));
    assert.deepEqual(
      said(workflow(root, { order }), catalog).map((each) => each.split(' (')[0]),
      ['error order/read /value: 2 steps are named "charge"'],
    );
  });

  test('assigned objects with the same fields count as one type', () => {
    const best = (name: string, price: number) => assign(name, 'best', { price, sku: { $cel: 'order.name' } });
    assert.deepEqual(said(workflow(sequence('', best('a', 1), best('b', 2), read('vars.best.prize')), { order })), [
      'error order/read /value: vars.best has no field "prize". Did you mean "price"?\n  vars.best.prize\n            ^',
    ]);
  });
});

test('a wait requires a number, a condition a boolean, a loop a list, and a fault message a text', () => {
  const choice = { activity: 'choice', name: 'choice', branches: [{ when: { $cel: 'order.items' }, do: step('x') }] } as Activity;
  const raise = {
    activity: 'raise',
    name: 'raise',
    fault: 'Engine',
    message: { $cel: 'order.total' },
    data: { $cel: 'order' },
  } as Activity;
  const root = sequence('', delay('pause', { $cel: 'order.name' }), choice, forEach('loop', 'order.address', step('y')), raise);
  assert.deepEqual(said(workflow(root, { order })), [
    'error order/pause Expected a number, got a string.\n  order.name\n  ^',
    'error order/choice Expected a condition, got a list.\n  order.items\n  ^',
    'error order/loop Expected a list, got an object.\n  order.address\n  ^',
    'error order/raise Expected a string, got a number.\n  order.total\n  ^',
  ]);
});

test('a definition that tests for a field gets no warning where it reads that field', () => {
  const choice = {
    activity: 'choice',
    name: 'choice',
    branches: [{ when: { $cel: 'has(order.note)' }, do: read('order.note') }],
  } as Activity;
  assert.deepEqual(said(workflow(sequence('', choice), { order })), []);
});

test('recursive and dangling schemas are handled', () => {
  const odd = {
    a: { $ref: '#/properties/a' },
    b: { $ref: '#' },
    c: { $ref: 'https://example.com/c' },
    d: { anyOf: [{ $ref: '#/properties/d' }] },
  };
  const reads = ['order.a.x', 'order.b.b.b.c.x', 'order.c.x', 'order.d.x'];
  const steps = listOf(reads.length, (index) => step(`s${index}`, { input: { $cel: reads[index] ?? '' } }));
  assert.deepEqual(said(workflow(sequence('', ...steps), { order: closed(odd) })), []);
});

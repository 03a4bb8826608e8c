import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Catalogue } from '../../lib/core/catalogue.ts';
import { check } from '../../lib/core/check.ts';
import type { Activity, WorkflowDefinition } from '../../lib/core/definition.ts';
import type { JsonObject } from '../../lib/core/json.ts';
import { delay, listOf, sequence, step, workflow } from '../support/workflows.ts';

const closed = (properties: JsonObject, ...optional: string[]): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const order = {
  ...closed(
    {
      total: { type: 'number' },
      name: { type: 'string' },
      note: { type: 'string' },
      kind: { enum: ['gift', 'purchase'] },
      items: { type: 'array', items: closed({ sku: { type: 'string' }, quantity: { type: 'integer' } }) },
      address: { $ref: '#/$defs/Address' },
      billing: { anyOf: [{ $ref: '#/$defs/Address' }, { type: 'null' }] },
      prices: { type: 'object', additionalProperties: { type: 'number' } },
      meta: { type: 'object' },
      tree: { $ref: '#/$defs/Tree' },
      code: { type: ['string', 'number'] },
      loose: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
      both: { allOf: [closed({ a: { type: 'number' } })] },
    },
    'note',
  ),
  $defs: {
    Address: closed({ city: { type: 'string' } }),
    Tree: closed({ label: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/$defs/Tree' } } }),
  },
};

const operations: { readonly [name: string]: { readonly input?: JsonObject; readonly output?: JsonObject } } = {
  'payment.charge': {
    input: closed(
      {
        card: { type: 'string' },
        amount: closed({ minorUnits: { type: 'integer' }, currency: { enum: ['EUR', 'USD'] } }),
        tags: { type: 'array', items: { type: 'string' } },
        to: closed({ city: { type: 'string' }, zip: { type: 'string' } }),
      },
      'tags',
      'to',
    ),
    output: closed({ chargeId: { type: 'string' } }),
  },
  'shop.look': {},
};
const catalogue: Catalogue = { schemasOf: (agent, operation) => operations[`${agent}.${operation}`] };

const said = (definition: WorkflowDefinition, known?: Catalogue): readonly string[] =>
  check(definition, known).map(({ severity, path, message }) => `${severity} ${path} ${message}`);
const inStep = (expression: string): readonly string[] =>
  said(workflow(step('a', { input: { value: { $cel: expression } } }), { order })).map((each) => each.replace(' order /value:', ''));

/** What is wrong with it, and what is said; the caret stands below the place. */
const wrong: readonly (readonly [what: string, expression: string, message: string])[] = [
  ['a misspelt field', 'order.totl', 'error order has no field "totl". Did you mean "total"?\n  order.totl\n        ^'],
  [
    'a misspelt field further in, in a longer expression',
    'order.total > 1 && order.address.citty == "Bonn"',
    'error order.address has no field "citty". Did you mean "city"?\n  order.total > 1 && order.address.citty == "Bonn"\n                                   ^',
  ],
  ['a misspelt field in brackets', 'order["totl"]', 'error order has no field "totl". Did you mean "total"?\n  order["totl"]\n        ^'],
  [
    'a misspelt field on a second line',
    '1 +\n  order.totl',
    'error order has no field "totl". Did you mean "total"?\n    order.totl\n          ^',
  ],
  [
    'a field that is like no other',
    'order.address.street',
    'error order.address has no field "street". It has "city".\n  order.address.street\n                ^',
  ],
  [
    'a misspelt field that is asked for',
    'has(order.nte)',
    'error order has no field "nte". Did you mean "note"?\n  has(order.nte)\n            ^',
  ],
  [
    'a misspelt field that may be missing',
    'orElse(order.?nte, "")',
    'error order has no field "nte". Did you mean "note"?\n  orElse(order.?nte, "")\n                ^',
  ],
  ['a misspelt field, looked for by name', '"nte" in order', 'error order has no field "nte". Did you mean "note"?\n  "nte" in order\n  ^'],
  [
    'a misspelt field of what may be null',
    'order.billing.citty',
    'error order.billing has no field "citty". Did you mean "city"?\n  order.billing.citty\n                ^',
  ],
  [
    'a misspelt field of each entry',
    'sum(order.items.map(i, i.qantity * 2))',
    'error i has no field "qantity". Did you mean "quantity"?\n  sum(order.items.map(i, i.qantity * 2))\n                           ^',
  ],
  [
    'a field of a number',
    'order.total.cents',
    'error order.total is a number and has no field "cents".\n  order.total.cents\n              ^',
  ],
  ['a field of a list', 'order.items.sku', 'error order.items is a list and has no field "sku".\n  order.items.sku\n              ^'],
  [
    'an entry of a number',
    'order.total[0]',
    'error Entries are read of a list or an object, not of a number.\n  order.total[0]\n              ^',
  ],
  [
    'a field that may be missing',
    'order.note',
    'warning "note" may be missing, and then this fails. Say what stands there instead: orElse(order.?note, …), in TypeScript orElse(order.note, …).\n  order.note\n        ^',
  ],
  [
    'a field of which an open schema says nothing',
    'order.loose.color',
    'warning The schema of order.loose says nothing of a field "color". Did you mean "colour"?\n  order.loose.color\n              ^',
  ],
  [
    'an optional that nobody has opened',
    'order.?note',
    'error What may be missing (.?) is no value. Say what stands there instead: orElse(…, …).\n  order.?note\n  ^',
  ],

  [
    'a text and a number added',
    'order.name + 1.0',
    'error "+" cannot take a string and a number. Put string(…) around the number.\n  order.name + 1.0\n  ^',
  ],
  ['a number compared with a text', 'order.total > "x"', 'error ">" cannot take a number and a string.\n  order.total > "x"\n  ^'],
  ['a number that never equals a text', 'order.total == "x"', 'error A number and a string are never equal.\n  order.total == "x"\n  ^'],
  ['no number', '!order.total', 'error "!" cannot take a number.\n  !order.total\n  ^'],
  [
    'a number as a condition',
    'order.total ? 1 : 2',
    'error What stands before "?" is true or false, not a number.\n  order.total ? 1 : 2\n  ^',
  ],
  ['a text beside an and', 'order.name && true', 'error Each side of "&&" is true or false, not a string.\n  order.name && true\n  ^'],
  ['the size of a number', 'size(order.total)', 'error size() cannot take a number.\n  size(order.total)\n  ^'],
  [
    'a pattern for a number',
    'like(order.total, "1.*")',
    'error like() cannot take a number and a string.\n  like(order.total, "1.*")\n  ^',
  ],
  [
    'a method that numbers lack',
    'order.total.startsWith("1")',
    'error A number has no startsWith().\n  order.total.startsWith("1")\n              ^',
  ],
  [
    'a method with something else',
    'order.name.startsWith(1)',
    'error startsWith() cannot take a number.\n  order.name.startsWith(1)\n             ^',
  ],
  [
    'a sum of texts',
    'sum(order.items.map(i, i.sku))',
    'error sum() takes a list of numbers; here each entry is a string.\n  sum(order.items.map(i, i.sku))\n  ^',
  ],
  ['entries of a text', 'order.name.map(c, c)', 'error map() goes through a list, not through a string.\n  order.name.map(c, c)\n  ^'],
  [
    'a number for each entry where a condition is wanted',
    'order.items.exists(i, i.quantity)',
    'error What exists() asks of each entry is true or false, not a number.\n  order.items.exists(i, i.quantity)\n                        ^',
  ],
  [
    'a text outside an enumeration',
    'order.kind == "gfit"',
    'error "gfit" is none of "gift", "purchase".\n  order.kind == "gfit"\n                ^',
  ],
  [
    'a text outside an enumeration, in a list',
    'order.kind in ["gift", "purchas"]',
    'error "purchas" is none of "gift", "purchase". Did you mean "purchase"?\n  order.kind in ["gift", "purchas"]\n                         ^',
  ],
];

describe('types of expressions', () => {
  for (const [what, expression, message] of wrong)
    test(`${what} is told of, with a caret below the place`, () => {
      assert.deepEqual(inStep(expression), [message]);
    });

  test('nothing is said against what is right, and of what schemas leave open', () => {
    const right = [
      'order.total * 2 + 1',
      'order.total % 2 == 0',
      'order.total == 120 || order.total in [1, 2.5]',
      'size(order.items) == order.total',
      'sum(order.items.map(i, i.quantity * order.total)) / size(order.items)',
      'order.items.filter(i, i.quantity > 1).map(i, i.sku).join(", ")',
      'order.items.map(i, i.quantity > 1, i.sku)[0] + orderId',
      'order.items[size(order.items) - 1].sku',
      'order.name.split(",").map(part, part.trim())',
      'order.kind == "gift" ? order.name : string(order.total)',
      'has(order.note) ? order.note : ""',
      '"note" in order && order.note.startsWith("!")',
      'orElse(order.?note, "") + orElse(order.?address.?city, "")',
      'order.?note.orValue("none").upperAscii()',
      'order.billing == null || order.billing.city == "Bonn"',
      'order.name != null',
      'order.prices.tea + order.prices["milk tea"]',
      'order.prices.exists(name, name == "tea")',
      'order.meta.anything.at.all + 1',
      'order.tree.parts[0].parts[0].label',
      'order.code == 1 || order.code == "x" || string(order.code) == "1"',
      'order.both.b + 1',
      'timestamp(order.name).getHours() > 7',
      '{"city": order.address.city}.city',
      '[1, "a", {"b": null}]',
      'dyn(order.name) + 1',
    ];
    for (const expression of right) assert.deepEqual(inStep(expression), [], expression);
  });

  test('where nothing is known, nothing is said', () => {
    const anything = ['order.a.b + order.c', 'order.x > "a" && order.y', 'size(order) + order.z', 'steps.b.c.d * vars.e', '!order.f'];
    const assign: Activity = { activity: 'assign', name: 'e', variable: 'e', value: { $cel: 'order.e' } };
    const steps = anything.map((expression, index) => step(`s${index}`, { input: { $cel: expression } }));
    assert.deepEqual(said(workflow(sequence('', step('b'), assign, ...steps))), []);
  });
});

const charge = (input: object): Activity => step('charge', { agent: 'payment', operation: 'charge', input: input as JsonObject });
const asked = (input: object): readonly string[] =>
  said(workflow(charge(input), { order }), catalogue).map((each) => each.replace('error order ', ''));
const amount = { minorUnits: 100, currency: 'EUR' };

describe('what a step is asked with', () => {
  test('a step that is asked as its operation wants has no problems', () => {
    const cel = (text: string) => ({ $cel: text });
    assert.deepEqual(asked({ card: 'c', amount }), []);
    assert.deepEqual(
      asked({ card: cel('order.name'), amount: { minorUnits: cel('order.total * 100'), currency: 'USD' }, tags: ['a'] }),
      [],
    );
    assert.deepEqual(asked({ card: cel('order.meta.card'), amount: cel('order.meta.amount'), tags: cel('order.items.map(i, i.sku)') }), []);
    assert.deepEqual(asked({ card: cel('order.code'), amount: cel('{"minorUnits": 1, "currency": "EUR"}') }), []);
  });

  test('fields that are missing, misspelt or of another type are all told of, each with its pointer', () => {
    assert.deepEqual(asked({ crd: 'c', amount: { minorUnits: { $cel: 'order.name' }, currency: 'EURO' }, tags: 'a' }), [
      '/crd: payment.charge takes no such field. Did you mean "card"?',
      '/amount/minorUnits: A number is wanted, not a string.\n  order.name\n  ^',
      '/amount/currency: "EURO" is none of "EUR", "USD". Did you mean "EUR"?',
      '/tags: A list is wanted, not "a".',
      '/card: missing; payment.charge wants a string there.',
    ]);
  });

  test('an object that an expression yields must have the fields that are wanted', () => {
    assert.deepEqual(asked({ card: 'c', amount, to: { $cel: 'order.address' } }), [
      '/to: It has no field "zip", which is wanted here.\n  order.address\n  ^',
    ]);
    assert.deepEqual(asked({ card: 'c', amount, tags: { $cel: 'order.items.map(i, i.quantity)' } }), [
      '/tags: In its entries: A string is wanted, not a number.\n  order.items.map(i, i.quantity)\n  ^',
    ]);
  });

  test('an input that is no object at all is refused', () => {
    assert.deepEqual(asked({ $cel: 'order.total' }), ['An object is wanted, not a number.\n  order.total\n  ^']);
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

describe('what expressions read beside the order', () => {
  test('a step has the fields that its operation answers with', () => {
    const root = sequence('', charge({ card: 'c', amount }), read('steps.charge.chargId'));
    assert.deepEqual(said(workflow(root, { order }), catalogue), [
      'error order/read /value: steps.charge has no field "chargId". Did you mean "chargeId"?\n  steps.charge.chargId\n               ^',
    ]);
    assert.deepEqual(said(workflow(root, { order })), []);
  });

  test('an operation without schemas, and one that the catalogue lacks, may be asked with anything and answer anything', () => {
    const look = step('look', { agent: 'shop', operation: 'look', input: { whatever: 1 } });
    assert.deepEqual(said(workflow(sequence('', look, step('other'), read('steps.look.a + steps.other.b')), { order }), catalogue), []);
  });

  test('an undo reads what its own step has answered', () => {
    const undo = { ...step('undo', { input: { id: { $cel: 'steps.charge.id' } } }), activity: 'step' } as Activity & { activity: 'step' };
    assert.deepEqual(said(workflow(sequence('', { ...charge({ card: 'c', amount }), undo } as Activity), { order }), catalogue), [
      'error order/charge/undo /id: steps.charge has no field "id". It has "chargeId".\n  steps.charge.id\n               ^',
    ]);
  });

  test('a loop has the entries of its list and a number, in its turns and where its end is asked', () => {
    const body = read('each.items.item.skuu + each.items.idx');
    const root = sequence('', forEach('items', 'order.items', body, 'each.items.item.quantity > "x"'));
    assert.deepEqual(said(workflow(root, { order })), [
      'error order/items ">" cannot take a number and a string.\n  each.items.item.quantity > "x"\n  ^',
      'error order/items/read /value: each.items.item has no field "skuu". Did you mean "sku"?\n  each.items.item.skuu + each.items.idx\n                  ^',
      'error order/items/read /value: each.items has no field "idx". It has "item", "index".\n  each.items.item.skuu + each.items.idx\n                                    ^',
    ]);
  });

  test('F-69: a fault in its handler has a type, a message, a source and data of any form', () => {
    const handler = { fault: 'Engine', do: step('told', { input: { $cel: 'fault.mesage + fault.data.anything' } }) };
    assert.deepEqual(said(workflow({ ...sequence('', step('a')), faultHandlers: [handler] } as Activity, { order })), [
      'error order/told fault has no field "mesage". Did you mean "message"?\n  fault.mesage + fault.data.anything\n        ^',
    ]);
  });

  test('a variable is what all its assignments yield, also of itself', () => {
    const sets = [assign('zero', 'total', 0), assign('more', 'total', { $cel: 'vars.total + order.total' })];
    const root = (...more: Activity[]) => workflow(sequence('', ...sets, ...more, read('vars.total + "x"')), { order });
    assert.deepEqual(said(root()), [
      'error order/read /value: "+" cannot take a number and a string. Put string(…) around the number.\n  vars.total + "x"\n  ^',
    ]);
    assert.deepEqual(said(root(assign('text', 'total', 'none'))), []);
    assert.deepEqual(said(root(assign('text', 'total', { $cel: 'string(vars.total)' }))), []);
  });

  test('objects that are assigned are taken for one where their fields are alike', () => {
    const best = (name: string, price: number) => assign(name, 'best', { price, sku: { $cel: 'order.name' } });
    assert.deepEqual(said(workflow(sequence('', best('a', 1), best('b', 2), read('vars.best.prize')), { order })), [
      'error order/read /value: vars.best has no field "prize". Did you mean "price"?\n  vars.best.prize\n            ^',
    ]);
  });
});

test('a wait wants a number, a condition true or false, a loop a list, and a fault a text as its message', () => {
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
    'error order/pause A number is wanted, not a string.\n  order.name\n  ^',
    'error order/choice A condition is wanted, not a list.\n  order.items\n  ^',
    'error order/loop A list is wanted, not an object.\n  order.address\n  ^',
    'error order/raise A string is wanted, not a number.\n  order.total\n  ^',
  ]);
});

test('whoever asks somewhere whether there is a field is not warned of it elsewhere', () => {
  const choice = {
    activity: 'choice',
    name: 'choice',
    branches: [{ when: { $cel: 'has(order.note)' }, do: read('order.note') }],
  } as Activity;
  assert.deepEqual(said(workflow(sequence('', choice), { order })), []);
});

test('a schema that contains itself, or leads nowhere, is no trouble', () => {
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

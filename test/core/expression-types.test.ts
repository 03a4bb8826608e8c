import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Activity } from '#core/definition/definition';
import { order, said } from '../support/typed-order.ts';
import { sequence, step, workflow } from '../support/workflows.ts';

const inStep = (expression: string): readonly string[] =>
  said(workflow(step('a', { input: { value: { $cel: expression } } }), { order })).map((each) => each.replace(' order /value:', ''));

/** A wrong expression and its message; the caret is below the place. */
const wrong: readonly (readonly [what: string, expression: string, message: string])[] = [
  ['a misspelt field', 'order.totl', 'error order has no field "totl". Did you mean "total"?\n  order.totl\n        ^'],
  [
    'a misspelt nested field in a longer expression',
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
    'an unknown field without a similar name',
    'order.address.street',
    'error order.address has no field "street". It has "city".\n  order.address.street\n                ^',
  ],
  ['a misspelt field in has()', 'has(order.nte)', 'error order has no field "nte". Did you mean "note"?\n  has(order.nte)\n            ^'],
  [
    'a misspelt optional field',
    'orElse(order.?nte, "")',
    'error order has no field "nte". Did you mean "note"?\n  orElse(order.?nte, "")\n                ^',
  ],
  ['a misspelt field before "in"', '"nte" in order', 'error order has no field "nte". Did you mean "note"?\n  "nte" in order\n  ^'],
  [
    'a misspelt field of an object that may be null',
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
    'error Cannot index a number; only lists and objects can be indexed.\n  order.total[0]\n              ^',
  ],
  [
    'a field that may be missing',
    'order.note',
    'warning "note" may be missing, and then the expression fails. Give a default: in CEL orElse(order.?note, …), in TypeScript orElse(order.note, …).\n  order.note\n        ^',
  ],
  [
    'a field that an open schema does not mention',
    'order.loose.color',
    'warning The schema of order.loose does not mention a field "color". Did you mean "colour"?\n  order.loose.color\n              ^',
  ],
  [
    'an optional value without a default',
    'order.?note',
    'error The value may be missing (.?). Give a default: orElse(…, …).\n  order.?note\n  ^',
  ],

  [
    'a sum of a text and a number',
    'order.name + 1.0',
    'error "+" cannot take a string and a number. Put string(…) around the number.\n  order.name + 1.0\n  ^',
  ],
  ['a number compared with a text', 'order.total > "x"', 'error ">" cannot take a number and a string.\n  order.total > "x"\n  ^'],
  [
    'an equality between a number and a text',
    'order.total == "x"',
    'error A number and a string are never equal.\n  order.total == "x"\n  ^',
  ],
  [
    'a sum of an object with a default and a number',
    'orElse(order.billing, order.address) + 1',
    'error "+" cannot take an object and a number.\n  orElse(order.billing, order.address) + 1\n  ^',
  ],
  ['a negated number', '!order.total', 'error "!" cannot take a number.\n  !order.total\n  ^'],
  [
    'a number as a condition',
    'order.total ? 1 : 2',
    'error The condition before "?" must be true or false, not a number.\n  order.total ? 1 : 2\n  ^',
  ],
  [
    'a text as an operand of &&',
    'order.name && true',
    'error Each side of "&&" must be true or false, not a string.\n  order.name && true\n  ^',
  ],
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
    'a method with an argument of another type',
    'order.name.startsWith(1)',
    'error startsWith() cannot take a number.\n  order.name.startsWith(1)\n             ^',
  ],
  [
    'a sum of texts',
    'sum(order.items.map(i, i.sku))',
    'error sum() takes a list of numbers; here each entry is a string.\n  sum(order.items.map(i, i.sku))\n  ^',
  ],
  ['a loop over the characters of a text', 'order.name.map(c, c)', 'error map() needs a list, not a string.\n  order.name.map(c, c)\n  ^'],
  [
    'a number as the condition for each entry',
    'order.items.exists(i, i.quantity)',
    'error The condition of exists() must be true or false, not a number.\n  order.items.exists(i, i.quantity)\n                        ^',
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
    test(`${what} is reported, with a caret below the place`, () => {
      assert.deepEqual(inStep(expression), [message]);
    });

  test('correct expressions give no messages, nor do values that schemas leave open', () => {
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
      'order.pair[0] + 1',
      'order.code == 1 || order.code == "x" || string(order.code) == "1"',
      'order.both.b + 1',
      'timestamp(order.name).getHours() > 7',
      '{"city": order.address.city}.city',
      '[1, "a", {"b": null}]',
      'dyn(order.name) + 1',
    ];
    for (const expression of right) assert.deepEqual(inStep(expression), [], expression);
  });

  test('values of unknown type give no messages', () => {
    const anything = ['order.a.b + order.c', 'order.x > "a" && order.y', 'size(order) + order.z', 'steps.b.c.d * vars.e', '!order.f'];
    const assign: Activity = { activity: 'assign', name: 'e', variable: 'e', value: { $cel: 'order.e' } };
    const steps = anything.map((expression, index) => step(`s${index}`, { input: { $cel: expression } }));
    assert.deepEqual(said(workflow(sequence('', step('b'), assign, ...steps))), []);
  });
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '#core/data/json';
import { expressionLimits, parseExpression, type Scope } from '#core/definition/expression';
import { stepsMax, stepsTaken } from '#core/definition/expression-budget';

const scope: Scope = { orderId: 'o1', order: { n: 2, none: null }, steps: { a: { x: 1 } }, vars: { v: 'vars' } };
const parsed = (text: string) => {
  const result = parseExpression(text);
  assert.ok(result.ok, text);
  return result.expression;
};
/** An expression and its result, or the message about it. */
const yields = (text: string, order: Json = scope.order): Json => {
  const result = parsed(text).evaluate({ ...scope, order });
  return result.ok ? result.value : `${result.fault.type}: ${result.fault.message}`;
};

test('numbers that JSON represents exactly are valid results, and the next larger ones are faults', () => {
  const beyond = (text: string, number: string) => `Engine/ExpressionFailed: ${text}: ${number} is beyond what JSON numbers hold exactly`;
  assert.deepEqual([yields('9007199254740991'), yields('-9007199254740991')], [9_007_199_254_740_991, -9_007_199_254_740_991]);
  for (const number of ['9007199254740992', '-9007199254740992']) assert.equal(yields(number), beyond(number, number));
  assert.equal(yields('9007199254740992.0'), beyond('9007199254740992.0', '9007199254740992'));
  assert.equal(yields('-9007199254740992.0'), beyond('-9007199254740992.0', '-9007199254740992'));
  assert.deepEqual([yields('5.5 % 2.0'), yields('1e20 / 3.0 < 1e20'), yields('0.5')], [1.5, true, 0.5]);
});

test('patterns and texts of the maximum length are matched, and longer ones are a fault', () => {
  const { patternCharactersMax, matchedCharactersMax } = expressionLimits;
  const like = (text: string, pattern: string) => yields('like(order.text, order.pattern)', { text, pattern });
  const refused = (what: string) => `Engine/ExpressionTooLarge: like(order.text, order.pattern): a ${what} characters`;
  assert.equal(like('a', `a${'b?'.repeat((patternCharactersMax - 1) >> 1)}`), true);
  assert.equal(like('a', 'a'.repeat(patternCharactersMax)), false);
  assert.equal(like('a', 'a'.repeat(patternCharactersMax + 1)), refused(`pattern has at most ${patternCharactersMax}`));
  assert.equal(like('a'.repeat(matchedCharactersMax), 'a*'), true);
  assert.equal(like('a'.repeat(matchedCharactersMax + 1), 'a*'), refused(`matched text has at most ${matchedCharactersMax}`));
});

const rows = Array.from({ length: 500 }, (_, number) => ({ sku: `${'abcx'.repeat(25)}${number}`, note: 'n'.repeat(300), number }));

/** The texts with which the search of V8 takes longest. */
const long = 'a'.repeat(200_000);
const needle = `${'a'.repeat(511)}b${'a'.repeat(512)}`;
/** The search for a long text is charged before it begins. */
const overshootMax = 200_000 * 128;

for (const [what, expression, says] of [
  ['a result that repeats the order 500 times', 'order.rows.map(r, order.rows)', /the result has more than 1000000 characters/],
  [
    'keys that are longer than their values',
    `order.rows.map(r, {"${'k'.repeat(4000)}": 1})`,
    /the result has more than 1000000 characters/,
  ],
  ['a pattern with thousands of states', "order.rows.map(r, like(r.sku, '(a|b|c|x){1000}.*'))", /more than 5000000 steps/],
  [
    'a text that is built from the order for each row',
    "order.rows.filter(r, order.texts.join('') + r.note == '')",
    /more than 5000000 steps/,
  ],
  [
    'comparisons of the whole order for each row',
    'order.rows.filter(r, [order.rows, order.rows, order.rows, order.rows, order.rows, order.rows] == [r])',
    /more than 5000000 steps/,
  ],
  [
    'a search for a long text in a longer one',
    'order.rows.filter(r, order.texts.join("").contains(order.needle))',
    /more than 5000000 steps/,
  ],
  ['a search from the end', 'order.rows.map(r, order.long.lastIndexOf(order.needle))', /more than 5000000 steps/],
  ['a text that is split at each row', 'order.rows.map(r, order.long.split(order.needle).size())', /more than 5000000 steps/],
  ['a text whose characters are counted for each row', 'order.rows.filter(r, order.long.size() == r.number)', /more than 5000000 steps/],
  ['a text that becomes bytes for each row', 'order.rows.filter(r, bytes(order.long) == b"")', /more than 5000000 steps/],
  [
    'times in time zones for each row',
    `order.rows.filter(r, ${Array(8).fill('timestamp(order.at).getHours("Asia/Tokyo")').join(' + ')} == r.number)`,
    /more than 5000000 steps/,
  ],
  ['an operator that ignores errors', "order.rows.exists(r, like(r.sku, '(a|b|c|x){1000}.*y')) || true", /more than 5000000 steps/],
] as const)
  test(`G14, A10: an expression has a budget that clients cannot exceed with ${what}`, () => {
    const value = yields(expression, { rows, texts: rows.map(({ note }) => note), long, needle, at: '2026-01-01T00:00:00Z' });
    assert.match(String(value), new RegExp(`^Engine/ExpressionTooLarge: .*${says.source}`));
    assert.ok(stepsTaken() <= stepsMax + overshootMax, `${stepsTaken()} steps`);
  });

test('G14, A10: an evaluation that exceeds its budget stops within a few rows of 500', () => {
  let [skus, notes] = [0, 0];
  const counted = rows.map(({ sku, note, number }) => ({
    get sku() {
      skus += 1;
      return sku;
    },
    get note() {
      notes += 1;
      return note;
    },
    number,
  }));
  assert.match(String(yields("order.rows.map(r, like(r.sku, '(a|b|c|x){1000}.*'))", { rows: counted })), /steps/);
  assert.ok(skus > 0 && skus < 20, `${skus} texts were matched`);
  skus = 0;
  assert.match(String(yields("order.rows.all(r, like(r.sku, '(a|b|c|x){1000}.*') || r.number >= 0)", { rows: counted })), /steps/);
  assert.ok(skus < 20, `${skus} texts were read by an operator that ignores errors`);
  assert.match(String(yields('order.rows.map(r, order.rows)', { rows: counted })), /characters as JSON/);
  assert.ok(notes > 0 && notes < 5_000, `${notes} of 250,000 texts were copied`);
});

test('the largest orders stay within the budget of ordinary expressions', () => {
  const order = { rows, texts: rows.map(({ sku }) => sku) };
  assert.equal(yields('order.rows.filter(r, r.sku in order.texts).size()', order), 500);
  assert.equal(yields("order.rows.filter(r, like(r.sku, '(abcx)+[0-9]+')).size()", order), 500);
  assert.equal(yields("order.rows.map(r, r.note + ': ' + r.sku).join(', ').size()", order), 203_388);
  const at = { ...order, at: '2026-01-01T00:00:00Z' };
  assert.equal(yields('order.rows.filter(r, timestamp(order.at).getHours("Europe/Berlin") == 1).size()', at), 500);
  assert.equal((yields('order.rows.map(r, {"sku": r.sku, "note": r.note})', order) as unknown[]).length, 500);
  assert.equal(yields('order.rows.filter(r, r.note.contains(r.sku) || r.note.size() == 300).size()', order), 500);
});

test('a value that is read once without a default must exist, even if other reads of it have a default', () => {
  const reads = (text: string) => parsed(text).steps.map(({ name, optional, position }) => ({ name, optional, position }));
  assert.deepEqual(reads('orElse(steps.?a.?x, 1) + steps.a.x'), [{ name: 'a', optional: false, position: 7 }]);
  assert.deepEqual(reads('steps.a.x + orElse(steps.?a.?x, 1)'), [{ name: 'a', optional: false, position: 0 }]);
  assert.deepEqual(reads('orElse(steps[?"a"].?x, 1) + orElse(steps.?a.?x, 1)'), [{ name: 'a', optional: true, position: 7 }]);
  assert.deepEqual(
    parsed('"vars" + vars.v + order.vars.w').vars.map(({ name }) => name),
    ['v'],
  );
  assert.deepEqual([parsed('order.fault').fault, parsed('"fault" + fault.type').fault], [undefined, 10]);
});

test('a list that is too long is also found within another list', () => {
  const long = Array.from({ length: expressionLimits.listEntriesMax + 1 }, () => [1]);
  assert.match(
    String(yields('order.lists.map(l, sum(l))', { lists: long })),
    /ExpressionTooLarge: .*the list has \d+ entries; the maximum is/,
  );
  assert.match(String(yields('order.rows.filter(r, r > 0).map(l, l)', { rows: long.map(() => 1) })), /ExpressionTooLarge/);
  assert.equal(yields('size(order.none) == 0 || order.nothing.exists(x, x)', { none: [] }), true);
});

test('data that looks like an optional output is ordinary data', () => {
  assert.deepEqual(yields('orElse(order, 1)', { hasValue: 5 }), { hasValue: 5 });
  assert.deepEqual([yields('orElse(order.none, 1)'), yields('orElse(order.?nope, 1)'), yields('orElse(order.?n, 1)')], [1, 1, 2]);
});

test('dates, maps and lists become JSON', () => {
  assert.equal(yields('timestamp("2026-01-01T00:00:00Z")'), '2026-01-01T00:00:00.000Z');
  assert.deepEqual(yields('{"a": [1, {"b": null}], "c": order.n}'), { a: [1, { b: null }], c: 2 });
  assert.match(String(yields('duration("1s")')), /the result is a Duration, which JSON cannot hold/);
});

test('a problem is shown at its place, on the first line of the message', () => {
  const refused = (text: string) => {
    const result = parseExpression(text);
    return result.ok ? undefined : { message: result.message, position: result.position };
  };
  assert.deepEqual(refused('1 +'), { message: 'Unexpected token: EOF', position: 3 });
  assert.deepEqual(refused('order.items.map(fault, 1)'), {
    message: '"fault" is a reserved name; choose another name for the entry',
    position: 0,
  });
  assert.deepEqual(
    refused('order.a.map(x, order.b.map(y, y)).size()')?.message,
    'map() is inside another map(), filter(), all(), exists() or exists_one(): only one level is allowed',
  );
  assert.deepEqual(
    refused('order.a.map(x, x).filter(y, steps)')?.message,
    'steps cannot be read as a whole; use steps.name or steps["name"]',
  );
  assert.deepEqual(refused('each')?.message, 'each cannot be read as a whole; use each.name or each["name"]');
});

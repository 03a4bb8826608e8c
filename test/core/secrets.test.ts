import assert from 'node:assert/strict';
import test from 'node:test';
import * as z from 'zod';
import { operation, secret } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import type { Json } from '#core/data/json';
import { declares } from '#core/definition/sealed';
import { mask, masked, secretPointers, secretTexts, withoutTexts } from '#core/definition/secrets';
import { deepFreeze } from '../support/workflows.ts';

const pointersOf = (schema: z.ZodType): readonly string[] => secretPointers(z.toJSONSchema(schema) as Json);
const card = secret(z.string());

/** Every place in which a schema can contain a secret, a value with a secret, and its masked form. */
const places: readonly (readonly [where: string, schema: z.ZodType, value: Json, shown: Json])[] = [
  ['a field', z.object({ card, sku: z.string() }), { card: '4111', sku: 'a' }, { card: mask, sku: 'a' }],
  ['a whole object', z.object({ payer: secret(z.object({ iban: z.string() })) }), { payer: { iban: 'DE02' } }, { payer: mask }],
  ['a field within a field', z.object({ payment: z.object({ card }) }), { payment: { card: '4111' } }, { payment: { card: mask } }],
  ['an optional field that is there', z.object({ card: card.optional() }), { card: '4111' }, { card: mask }],
  ['an optional field that is not there', z.object({ card: card.optional() }), {}, {}],
  ['an optional secret', z.object({ card: secret(z.string().optional()) }), { card: '4111' }, { card: mask }],
  ['a field that may be null', z.object({ card: card.nullable() }), { card: '4111' }, { card: mask }],
  ['a field with a default', z.object({ card: card.default('none') }), { card: '4111' }, { card: mask }],
  ['each entry of a list', z.object({ cards: z.array(card) }), { cards: ['4111', '4222'] }, { cards: [mask, mask] }],
  [
    'a field of each entry',
    z.object({ payers: z.array(z.object({ card })) }),
    { payers: [{ card: '4111' }] },
    { payers: [{ card: mask }] },
  ],
  ['one place of a tuple', z.object({ pair: z.tuple([z.string(), card]) }), { pair: ['a', '4111'] }, { pair: ['a', mask] }],
  ['the rest of a tuple', z.object({ pair: z.tuple([z.string()]).rest(card) }), { pair: ['a', '4111'] }, { pair: [mask, mask] }],
  [
    'each value of a record',
    z.object({ cards: z.record(z.string(), card) }),
    { cards: { his: '4111', hers: '4222' } },
    { cards: { his: mask, hers: mask } },
  ],
  [
    'the fields whose names match a pattern',
    z.object({ cards: z.looseRecord(z.string().regex(/^card/), card) }),
    { cards: { cardHers: '4111', cardHis: '4222' } },
    { cards: { cardHers: mask, cardHis: mask } },
  ],
  ['the names of the fields', z.object({ names: z.record(card, z.int()) }), { names: { '4111': 1 } }, { names: mask }],
  [
    'one of several forms',
    z.object({ pay: z.union([z.object({ card }), z.object({ invoice: z.string() })]) }),
    { pay: { card: '4111' } },
    { pay: { card: mask } },
  ],
  [
    'an intersection',
    z.object({ pay: z.intersection(z.object({ card }), z.object({ name: z.string() })) }),
    { pay: { card: '4111', name: 'x' } },
    { pay: { card: mask, name: 'x' } },
  ],
  ['a field with a slash and a tilde', z.object({ 'a/b~c': card }), { 'a/b~c': '4111' }, { 'a/b~c': mask }],
  ['a schema that is used twice', z.object({ a: card, b: card }), { a: '4111', b: '4222' }, { a: mask, b: mask }],
  [
    'a schema with an id',
    z.object({ a: z.object({ card }).meta({ id: 'Payer' }), b: z.string() }),
    { a: { card: '4111' }, b: 'x' },
    { a: { card: mask }, b: 'x' },
  ],
  ['a number', z.object({ pin: secret(z.int()) }), { pin: 1234 }, { pin: mask }],
];

for (const [where, schema, value, shown] of places) {
  test(`S24: a secret of an order is masked in ${where}`, () => {
    schema.parse(value);
    assert.deepEqual(masked(deepFreeze(value), pointersOf(schema)), shown);
  });
}

test('S24: a recursive schema is masked to its full depth, or as a whole', () => {
  const Node: z.ZodType = z.object({
    card,
    get next() {
      return Node.optional();
    },
  });
  const value = { card: '4111', next: { card: '4222', next: { card: '4333' } } };
  assert.doesNotMatch(JSON.stringify(masked(value, pointersOf(Node))), /4111|4222|4333/);
});

test('S24: an order that violates its schema is masked as far as the schema reaches, without an error', () => {
  const pointers = pointersOf(z.object({ card, cards: z.array(card), payment: z.object({ card }) }));
  for (const value of [null, 'text', 5, [], {}, { card: null }, { cards: 'x' }, { payment: null }, { payment: [] }] as Json[])
    masked(deepFreeze(value), pointers);
  assert.deepEqual(masked({ card: { number: '4111' } }, pointers), { card: mask });
});

test('S24: a secret that a service quotes is removed from every text, name and number, the longest secret first', () => {
  const body = { card: '4111 1111', cvc: '4111', city: 'Bonn', pin: 98765, short: 'abc' };
  const pointers = ['/cvc', '/card', '/pin', '/short', '/nope'];
  const texts = secretTexts(body, pointers);
  const quoted = {
    message: 'card 4111 1111 (4111) refused, pin 98765',
    list: [{ city: 'Bonn' }, '4111'],
    abc: 'abc',
    pin: 98765,
    total: 987,
    'for 98765': true,
  };
  assert.deepEqual(withoutTexts(deepFreeze(quoted), texts), {
    message: `card ${mask} (${mask}) refused, pin ${mask}`,
    list: [{ city: 'Bonn' }, mask],
    abc: 'abc',
    pin: mask,
    total: 987,
    [`for ${mask}`]: true,
  });
});

test('S24: a secret of three characters is masked at its place, but not removed from other texts', () => {
  assert.deepEqual(secretTexts({ cvc: '123' }, ['/cvc']), []);
  assert.deepEqual(masked({ cvc: '123' }, ['/cvc']), { cvc: mask });
});

test('S24: secret texts of any length are removed, numbers as they are written, and no other text changes', () => {
  const body = {
    payer: { name: 'Ada Byron', pins: [1234, 123], paid: true, none: null },
    payers: [{ card: '4111' }, { card: '4222' }],
    sku: 'abcd',
  };
  assert.deepEqual(secretTexts(body, ['/payer']), ['Ada Byron', '1234']);
  assert.deepEqual(secretTexts(body, ['/payers/*/card']), ['4111', '4222']);
  assert.deepEqual(secretTexts(body, ['/payers/1/card', '/sku/0', '/payer/paid', '/payer/none/x']), ['4222']);
});

test('S24: without secrets nothing is removed, and undefined stays undefined', () => {
  const value = { sku: 'abcd' };
  assert.equal(withoutTexts(value, []), value);
  assert.equal(withoutTexts(undefined, ['abcd']), undefined);
});

test('S24: a secret field is found inside anyOf, oneOf and allOf of a handwritten schema, and "secret": false marks nothing', () => {
  const part = { properties: { card: { type: 'string', secret: true } } };
  for (const form of ['anyOf', 'oneOf', 'allOf'])
    assert.deepEqual(secretPointers({ properties: { pay: { [form]: [{}, part] } } }), ['/pay/card']);
  assert.deepEqual(secretPointers({ properties: { card: { secret: false } }, description: '"secret"' }), []);
  assert.deepEqual(secretPointers(undefined), []);
});

/** Schemas that no zod type has. An author can write them with `meta`. */
const part = { properties: { card: { type: 'string', secret: true } } };
for (const [keyword, schema, pointers] of [
  ['patternProperties', { '^a': part }, ['/*/card']],
  ['unevaluatedProperties', part, ['/*/card']],
  ['unevaluatedItems', part, ['/*/card']],
  ['contains', part, ['/*/card']],
  ['additionalItems', part, ['/*/card']],
  ['items', [{}, part], ['/1/card']],
  ['if', part, ['/card']],
  ['then', part, ['/card']],
  ['else', part, ['/card']],
  ['not', part, ['/card']],
  ['propertyNames', { secret: true }, ['']],
  ['dependentSchemas', { sku: part }, ['/card']],
  ['dependencies', { sku: part, name: ['sku'] }, ['/card']],
] as const)
  test(`S24: a secret field is found below ${keyword} of a handwritten schema`, () => {
    assert.deepEqual(secretPointers({ [keyword]: schema } as Json), pointers);
  });

test('S24: a part of a schema that a reference does not find counts as secret if the schema marks any secret', () => {
  assert.deepEqual(secretPointers({ properties: { a: { $ref: '#payer' }, b: { secret: true } } }), ['/a', '/b']);
  assert.deepEqual(secretPointers({ properties: { a: { $ref: '#payer' } } }), []);
});

test('S24: an operation declares the secrets that its input names by a pattern', () => {
  const schema = z.toJSONSchema(z.object({ cards: z.looseRecord(z.string().regex(/^card/), card) })) as Json;
  assert.ok(declares(schema, ['cards', 'cardHers']));
  assert.ok(!declares(schema, ['cards', 'pin']));
  assert.ok(!declares(schema, ['pin']));
});

const cardNumber = '4242-4242-4242-4242';
for (const [what, quoted] of [
  ['without its dashes', '4242424242424242'],
  ['with spaces', '4242 4242 4242 4242'],
  ['in base64', btoa(cardNumber)],
  ['in base64 behind a name', btoa(`user:${cardNumber}`)],
  ['in base64 behind another text', `token-${btoa(`{"card":"${cardNumber}"}`)}`],
] as const)
  test(`S24: a secret ${what} is removed from messages`, () => {
    const message = withoutTexts(`The bank refused ${quoted} today.`, [cardNumber]);
    assert.ok(!message.includes(quoted) && message.startsWith('The bank refused ') && message.includes(mask), message);
  });

test('S24: a secret in uppercase, in lowercase or as a part of a URL is removed from messages', () => {
  const secret = 'Ada (Byron)/Lovelace';
  for (const quoted of [secret.toLowerCase(), secret.toUpperCase(), encodeURIComponent(secret)])
    assert.equal(withoutTexts(`no ${quoted}!`, [secret]), `no ${mask}!`);
});

test('S24: encoded secrets of fewer than eight characters, and ordinary ids, stay as they are', () => {
  const text = 'Savannah ord_abcdefghijklmnop/order/charge/1 QW5uYQ== 12 34-5678';
  assert.equal(withoutTexts(text, ['Anna', cardNumber]), text);
});

test('S24: the search for encoded secrets takes linear time', () => {
  const before = performance.now();
  withoutTexts('4- '.repeat(100_000), [cardNumber, '4'.repeat(200)]);
  withoutTexts('A'.repeat(100_000), ['a'.repeat(256), cardNumber]);
  assert.ok(performance.now() - before < 5_000);
});

test('S24: a mark on one schema of a pipe makes the value secret, whichever of the two schemas is shown', () => {
  const lastDigits = {
    decode: ({ number }: { number: string }) => ({ last: number.slice(-4) }),
    encode: ({ last }: { last: string }) => ({ number: last }),
  };
  const pipes: readonly (readonly [schema: z.ZodType, before: readonly string[], after: readonly string[]])[] = [
    [card.pipe(z.string().min(4)), ['/card'], ['/card']],
    [z.string().pipe(card), ['/card'], ['/card']],
    [z.object({ number: card }).pipe(z.object({ number: card })), ['/card/number'], ['/card/number']],
    [z.codec(z.object({ number: card }), z.object({ last: z.string() }), lastDigits), ['/card/number'], ['/card']],
    [z.string().pipe(z.string()), [], []],
  ];
  for (const [schema, before, after] of pipes) {
    const { input, output } = schemasOf(
      operation({ input: z.object({ card: schema }), output: z.object({ card: schema }), run: (given) => given as never }),
    );
    assert.deepEqual([secretPointers(input), secretPointers(output)], [before, after]);
  }
});

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { typeOfSchema } from '#core/checks/json-schema-types';
import {
  asJson,
  capital,
  described,
  double,
  keyOf,
  listed,
  never,
  nothing,
  objectOf,
  type Type,
  text,
  typeOfLiteral,
  unionOf,
  unknown,
} from '#core/checks/types';
import type { Json } from '#core/data/json';
import { shown, typed } from '../support/typed.ts';
import { closed } from '../support/typed-order.ts';
import { listOf } from '../support/workflows.ts';

/**
 * `types.txt`: expressions on the order of `typed-order.ts`, each with the type of its result and all messages.
 * `UPDATE_TRANSCRIPTS=1` rewrites the file; review the difference.
 */
const file = new URL('types.txt', import.meta.url);
const sections = readFileSync(file, 'utf8')
  .trimEnd()
  .split(/^# /m)
  .slice(1)
  .map((section) => section.trimEnd().split('\n\n'));
const typedBlock = (block: string): string => {
  const [expression = ''] = block.split('\n');
  return [expression, ...typed(expression).map((line) => `  ${line}`)].join('\n');
};

describe('the types of expressions', () => {
  for (const [about = '', ...blocks] of sections)
    test(about, () => {
      if (!process.env['UPDATE_TRANSCRIPTS']) for (const block of blocks) assert.equal(typedBlock(block), block);
    });
  test('every expression of the transcript is covered', () => {
    const all = sections.map(([about = '', ...blocks]) => [`# ${about}`, ...blocks.map(typedBlock)].join('\n\n')).join('\n\n');
    if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${all}\n`);
    else assert.ok(all.split('\n\n').length > 200);
  });
});

const gift: Type = { kind: 'string', among: ['gift'] };
const time: Type = { kind: 'cel', name: 'google.protobuf.Timestamp' };
const list = (item: Type): Type => ({ kind: 'list', item });
const int: Type = { kind: 'number', whole: true };

describe('the type model', () => {
  test('a union counts equal types once, merges field names, and is unknown if one part is unknown', () => {
    const unions: readonly (readonly [Type[], string])[] = [
      [[], 'never'],
      [[text], 'string'],
      [[text, text], 'string'],
      [[gift, { kind: 'string', among: ['a', 'gift'] }], '"gift" or "a"'],
      [[gift, text], 'string'],
      [[text, gift], 'string'],
      [[int, double], '(int | double)'],
      [[text, unknown], 'unknown'],
      [[unionOf([text, nothing]), unionOf([nothing, double])], '(string | null | double)'],
      [[never, text], 'string'],
      [[list(text), list(text)], 'list of string'],
      [[list(text), list(double)], '(list of string | list of double)'],
      [[time, time], 'google.protobuf.Timestamp'],
    ];
    for (const [types, expected] of unions) assert.equal(shown(unionOf(types)), expected);
  });

  test('types are equal if their keys are equal', () => {
    const one = objectOf({ a: text });
    const shaped = { ...one, shape: '{a}' } as const;
    const lists = list(list(text));
    assert.deepEqual(
      [int, double, time, text, nothing, list(text), list(one), shaped].map(keyOf).map((key) => key.replace(/\d+$/, 'N')),
      ['int', 'double', 'google.protobuf.Timestamp', 'string', 'null', 'list string', 'list object N', 'object {a}'],
    );
    assert.equal(keyOf(unionOf([text, nothing])), 'null|string');
    assert.equal(keyOf({ kind: 'optional', of: int }), 'optional int');
    const either = list(unionOf([text, nothing]));
    // Whether a type has a key, which it caches.
    const others = [objectOf({ a: text }), list(list(text)), list(unionOf([text, nothing]))];
    for (const [index, type] of [one, lists, either].entries()) {
      const key = keyOf(type);
      assert.equal(keyOf(type), key);
      assert.notEqual(keyOf(others[index] ?? never), key);
    }
  });

  test('a type has a JSON form', () => {
    const types = [
      int,
      time,
      { kind: 'cel', name: 'google.protobuf.Duration' },
      list(int),
      list(text),
      unionOf([int, time]),
      gift,
    ] as const;
    assert.deepEqual(
      types.map((type) => shown(asJson(type))),
      ['double', 'string', 'unknown', 'list of double', 'list of string', '(double | string)', '"gift"'],
    );
  });

  test('a value of a definition has a type', () => {
    assert.deepEqual(
      ['a', 1, 1n, true, null, {}, [], undefined].map((value) => shown(typeOfLiteral(value))),
      ['"a"', 'double', 'int', 'bool', 'null', 'unknown', 'unknown', 'other'],
    );
  });

  test('a type has a description in words', () => {
    const bool: Type = { kind: 'bool' };
    const optional: Type = { kind: 'optional', of: text };
    assert.deepEqual(
      [bool, nothing, objectOf({}), optional, unionOf([text, nothing, gift]), time, unknown, int, gift, list(int)].map(described),
      [
        'true or false',
        'null',
        'an object',
        'an optional value (.?)',
        'a string or null',
        'a timestamp',
        'anything',
        'a number',
        'a string',
        'a list',
      ],
    );
    assert.equal(described(unionOf([int, double])), 'a number');
    assert.equal(capital('a list'), 'A list');
    const names = listOf(10, (index) => `n${index}`);
    assert.equal(listed(names), '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7" and 2 more');
    assert.equal(listed(names.slice(0, 8)), '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"');
    assert.equal(listed(names.slice(0, 2), 1), '"n0" and 1 more');
  });
});

const string = { type: 'string' };
/** A schema, and the type of the values that it accepts. */
const schemas: readonly (readonly [what: string, schema: Json, shown: string])[] = [
  ['a schema of null', null, 'unknown'],
  ['the schema true', true, 'unknown'],
  ['an empty schema', {}, 'unknown'],
  ['a boolean', { type: 'boolean' }, 'bool'],
  ['an integer', { type: 'integer' }, 'double'],
  ['null', { type: 'null' }, 'null'],
  ['an unknown type', { type: 'text' }, 'unknown'],
  ['several types', { type: ['string', 'null'] }, '(string | null)'],
  [
    'several types with fields',
    { type: ['object', 'null'], properties: { a: string }, additionalProperties: false },
    '({a?: string} | null)',
  ],
  ['a constant', { const: 5 }, 'double'],
  ['an enumeration', { enum: ['a', 'b'] }, '"a" or "b"'],
  ['an enumeration with null', { enum: ['a', null] }, '("a" | null)'],
  ['an enumeration that is not a list', { enum: 'a' }, 'unknown'],
  ['anyOf', { anyOf: [string, { type: 'null' }] }, '(string | null)'],
  ['anyOf beside fields', { anyOf: [string, { type: 'null' }], properties: { a: string } }, 'unknown'],
  ['anyOf that is not a list', { anyOf: string }, 'unknown'],
  ['allOf', { allOf: [string], type: 'string' }, 'unknown'],
  ['not', { not: string, type: 'string' }, 'unknown'],
  ['if', { if: string, type: 'string' }, 'unknown'],
  ['patternProperties', { type: 'object', patternProperties: {} }, 'unknown'],
  ['dependentSchemas', { type: 'object', dependentSchemas: {} }, 'unknown'],
  ['a dynamic reference', { $dynamicRef: '#a', type: 'string' }, 'unknown'],
  ['a list', { type: 'array', items: string }, 'list of string'],
  ['a list of anything', { type: 'array' }, 'list of unknown'],
  ['a tuple', { type: 'array', prefixItems: [string], items: string }, 'list of unknown'],
  ['fields', { type: 'object', properties: { a: string, b: string }, required: ['a'] }, '{a: string, b?: string, ...unsaid}'],
  ['fields without a type', { properties: { a: string }, required: 'a' }, '{a?: string, ...unsaid}'],
  ['fields that are not an object', { type: 'object', properties: [] }, '{...unknown}'],
  ['fields of one type', { type: 'object', additionalProperties: string }, '{...string}'],
  ['fields, and others of one type', { properties: { a: string }, additionalProperties: { type: 'null' } }, '{a?: string, ...null}'],
  ['fields, and any others', { properties: { a: string }, additionalProperties: true }, '{a?: string, ...unknown}'],
  ['no fields', closed({}), '{}'],
  ['a reference to the whole schema', { $ref: '#' }, 'unknown'],
  ['a reference to a definition', { $ref: '#/$defs/A', $defs: { A: string } }, 'string'],
  ['a reference with escaped characters', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': string } }, 'string'],
  ['a reference with an invalid escape', { $ref: '#/$defs/a%', $defs: { 'a%': string } }, 'string'],
  ['a reference to a missing definition', { $ref: '#/$defs/B', $defs: { A: string } }, 'unknown'],
  ['a reference below a missing definition', { $ref: '#/$defs/A/b/c', $defs: { A: string } }, 'unknown'],
  ['a reference to a property of every object', { $ref: '#/constructor' }, 'unknown'],
  ['a reference to another document', { $ref: 'other.json#/$defs/A', $defs: { A: string } }, 'unknown'],
  ['a reference to an anchor', { $ref: '#A', $defs: { A: string } }, 'unknown'],
];

describe('the type of the values that a schema accepts', () => {
  for (const [what, schema, expected] of schemas) test(what, () => assert.equal(shown(typeOfSchema(schema)), expected));
});

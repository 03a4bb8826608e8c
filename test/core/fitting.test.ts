import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Json } from '#core/data/json';
import { fitted } from '../support/typed.ts';
import { closed } from '../support/typed-order.ts';
import { listOf } from '../support/workflows.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const list = (items: Json): Json => ({ type: 'array', items });
const oneOf = (...forms: Json[]): Json => ({ oneOf: forms });
const nested = (levels: number): Json => listOf(levels, () => 0).reduce<Json>((inner) => closed({ n: inner }), text);

/** The expected types, by name; `a condition` has its own wording. */
const wanted: { readonly [name: string]: Json } = {
  anything: {},
  text,
  number,
  condition: { type: 'boolean' },
  'text or null': { type: ['string', 'null'] },
  'number or null': { anyOf: [number, { type: 'null' }] },
  'b or c': { enum: ['b', 'c'] },
  gift: { enum: ['gift'] },
  texts: list(text),
  'lists of numbers': list(list(number)),
  'numbers or texts': { anyOf: [list(number), list(text)] },
  'numbers or a text': { anyOf: [list(number), text] },
  'names "a"': list({ enum: ['a'] }),
  'number a': closed({ a: number }),
  'number a, perhaps text b': closed({ a: number, b: text }, 'b'),
  'odd names': closed({ 'a/b': number, 'c~d': text }),
  'list of numbers b in a': closed({ a: list(closed({ b: number })) }),
  'text b in a': closed({ a: closed({ b: text }) }),
  'record of texts': { type: 'object', additionalProperties: text },
  'text a, and who knows': { type: 'object', properties: { a: text } },
  object: { type: 'object' },
  'number a or text b': oneOf(closed({ a: number }), closed({ b: text })),
  'number a or condition a': oneOf(closed({ a: number }), closed({ a: { type: 'boolean' } })),
  'x with text, y with number': oneOf(closed({ t: { const: 'x' }, v: text }), closed({ t: { const: 'y' }, v: number })),
  'x or y with text': oneOf(closed({ t: { const: 'x' }, v: text }), closed({ t: { const: 'y' }, v: text })),
  'text city': closed({ city: text }),
  'number city': closed({ city: number }),
  'perhaps number city': closed({ city: number }, 'city'),
  'text town': closed({ town: text }),
  'perhaps text town': closed({ town: text }, 'town'),
  'items with number sku': list(closed({ sku: number })),
  'items with text sku': list(closed({ sku: text })),
  'six levels': nested(6),
  'seven levels': nested(7),
};

/**
 * `fitting.txt`: a value in a definition, the type of its result, and the messages about it. `UPDATE_TRANSCRIPTS=1`
 * rewrites the file; review the difference.
 */
const file = new URL('fitting.txt', import.meta.url);
const blocks = readFileSync(file, 'utf8').trimEnd().split('\n\n');

function checkedBlock(block: string): string {
  const [head = ''] = block.split('\n');
  const [, name = '', template = ''] = /^(.*?) <- (.*)$/.exec(head) ?? [];
  assert.ok(wanted[name], head);
  const lines = fitted(JSON.parse(template) as Json, wanted[name], name === 'condition' ? 'A condition' : undefined);
  return [head, ...lines.map((line) => `  ${line.replaceAll('\n', '\n    ')}`)].join('\n');
}

test('a value in a definition has the expected type, or a message with a pointer says why not', () => {
  if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${blocks.map(checkedBlock).join('\n\n')}\n`);
  else for (const block of blocks) assert.equal(checkedBlock(block), block);
});

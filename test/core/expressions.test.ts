import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { check } from '#core/checks/check';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { exprVersion, parseExpression, type Scope } from '#core/definition/expression';
import { deepFreeze, listOf, sequence, step, workflow } from '../support/workflows.ts';

type Row = { readonly expression: string } & (
  | { readonly gives: Json }
  | { readonly fault: string; readonly says: string }
  | { readonly refused: string; readonly at?: number }
);
interface Corpus {
  readonly exprVersion: number;
  readonly scope: Omit<Scope, 'order'> & { readonly order: JsonObject };
  readonly groups: readonly { readonly about: string; readonly rows: readonly Row[] }[];
}

const corpus = JSON.parse(readFileSync(new URL('expressions.json', import.meta.url), 'utf8')) as Corpus;
const large = {
  upTo1000: listOf(1000, (index) => index),
  upTo1001: listOf(1001, (index) => index),
  keys1001: Object.fromEntries(listOf(1001, (index) => [`key${index}`, index])),
  long: 'x'.repeat(4097),
};
const scope: Scope = deepFreeze({ ...corpus.scope, order: { ...corpus.scope.order, ...large } });

/** An expression and its expected result, as the corpus writes it. */
function outcomeOf(row: Row): object {
  const parsed = parseExpression(row.expression);
  if (!parsed.ok)
    return { refused: shortened(parsed.message, 'refused' in row ? row.refused : ''), at: 'at' in row ? parsed.position : undefined };
  const evaluation = parsed.expression.evaluate(scope);
  if (evaluation.ok) return { gives: evaluation.value };
  const { type, message, permanent, class: faultClass } = evaluation.fault;
  assert.deepEqual({ permanent, faultClass }, { permanent: true, faultClass: 'basic-failure' });
  return { fault: type.replace('Engine/', ''), says: shortened(message, 'says' in row ? row.says : '') };
}

/** Whether a message contains the essential words. */
const shortened = (message: string, essential: string): string => (essential !== '' && message.includes(essential) ? essential : message);

for (const { about, rows } of corpus.groups) {
  test(`expressions: ${about}`, () => {
    for (const row of rows) {
      const { expression, ...expected } = row;
      assert.deepEqual(outcomeOf(row), 'refused' in expected ? { at: undefined, ...expected } : expected, expression);
    }
  });
}

test('the recorded expressions belong to the language version that definitions name, and none occurs twice', () => {
  const expressions = corpus.groups.flatMap(({ rows }) => rows.map(({ expression }) => expression));
  assert.equal(corpus.exprVersion, exprVersion);
  assert.equal(new Set(expressions).size, expressions.length);
  assert.ok(expressions.length >= 60);
});

test('an expression gives the same result the second time, from the cache', () => {
  for (const { rows } of corpus.groups) for (const row of rows) assert.deepEqual(outcomeOf(row), outcomeOf(row), row.expression);
});

test('a result is plain JSON, and shares no object with the CEL library', () => {
  for (const { rows } of corpus.groups) {
    for (const row of rows) {
      const outcome = outcomeOf(row) as { gives?: Json };
      if (outcome.gives !== undefined) assert.deepEqual(JSON.parse(JSON.stringify(outcome.gives)), outcome.gives, row.expression);
    }
  }
});

/** Returns a schema that accepts this value and little else. */
function schemaOf(value: Json): JsonObject {
  if (value === null) return { type: 'null' };
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? { anyOf: value.slice(0, 3).map(schemaOf) } : {} };
  if (!isObject(value)) return { type: typeof value };
  const properties = Object.fromEntries(Object.entries(value).map(([name, field]) => [name, schemaOf(field as Json)]));
  return { type: 'object', properties, required: Object.keys(value), additionalProperties: false };
}

test('no expression that has a value is reported as a problem when all types are known', () => {
  const known = schemaOf(scope.order) as { readonly properties: JsonObject };
  const absent = { note: {}, gifts: { type: 'array' }, nope: { type: 'object' } };
  const address = { ...schemaOf(corpus.scope.order['address'] ?? null), additionalProperties: { type: 'string' } };
  const order = { ...known, properties: { ...known.properties, ...absent, address } };
  const catalog = { schemasOf: (_: string, operation: string) => ({ output: schemaOf(scope.steps[operation] ?? {}) }) };
  const steps = Object.keys(scope.steps).map((name) => step(name));

  for (const row of corpus.groups.flatMap(({ rows }) => rows).filter((row) => 'gives' in row)) {
    const definition = workflow(sequence('', ...steps, step('reader', { input: { value: { $cel: row.expression } } })), { order });
    const errors = check(definition, catalog).filter(({ severity }) => severity === 'error');
    assert.deepEqual(errors, [], row.expression);
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { askOperator, type DefinitionError, defineWorkflow, waitFor } from 'redress';
import * as z from 'zod';
import type { Json } from '#core/data/json';
import { inLinearTime, validatorOf } from '#ports/util/validation';
import { bodyProblems } from '#roles/submission/submission';

/** Returns a workflow whose orders have this note. */
const withNote = (note: z.ZodType) =>
  defineWorkflow('noted', { version: 1, order: z.object({ notes: z.array(z.object({ note })) }) }, () =>
    waitFor('go', z.object({ by: z.string() })),
  );

const problemsOf = (note: z.ZodType, text: Json) => bodyProblems(validatorOf(withNote(note).order), { notes: [{ note: text }] });

/** Ends a match that would run for years. */
const inBoundedTime = <T>(work: () => T): T => runInNewContext('work()', { work }, { timeout: 60_000 });

const refusal = (says: RegExp) => (error: DefinitionError) => error.name === 'DefinitionError' && says.test(error.message);

describe("patterns in the schema of a workflow's orders", () => {
  // A10 in docs/internals/findings.md.
  test('when the text of an order would make a pattern backtrack for years, the order is refused immediately', () => {
    const problems = inBoundedTime(() => problemsOf(z.string().regex(/^([a-z]+)+$/), `${'a'.repeat(1000)}!`));
    assert.deepEqual(
      problems.map(({ pointer, code }) => [pointer, code]),
      [['/order/notes/0/note', 'invalid-format']],
    );
  });

  for (const [what, schema, body] of [
    ['in the keys of a record', z.record(z.string().regex(/^([a-z]+)+$/), z.number()), { [`${'a'.repeat(1000)}!`]: 1 }],
    [
      'in described keys',
      z.record(
        z
          .string()
          .regex(/^([a-z]+)+$/)
          .describe('a name'),
        z.number(),
      ),
      { [`${'a'.repeat(1000)}!`]: 1 },
    ],
    ['in a format of the author', z.stringFormat('name', /^([a-z]+)+$/), `${'a'.repeat(1000)}!`],
    ['in a template', z.templateLiteral(['x', z.string().regex(/^([a-z]+)+$/)]), `x${'a'.repeat(1000)}!`],
  ] as const)
    test(`a pattern ${what} takes linear time`, () => {
      const problems = inBoundedTime(() => problemsOf(schema, body));
      assert.equal(problems.length, 1);
    });

  test('when the input schema of an operation has a pattern that backtracks, the operation refuses the text at once', () => {
    const input = z.object({ name: z.string().regex(/^([a-z]+)+$/), keys: z.record(z.string().regex(/^([a-z]+)+$/), z.number()) });
    const text = `${'a'.repeat(1000)}!`;
    const parsed = inBoundedTime(() => inLinearTime(input).safeParse({ name: text, keys: { [text]: 1 } }));
    assert.deepEqual(
      parsed.error?.issues.map(({ code }) => code),
      ['invalid_format', 'invalid_key'],
    );
    assert.equal(input.safeParse({ name: 'abc', keys: { abc: 1 } }).success, true);
  });

  test('a pattern with a flag in the input schema of an operation keeps its meaning', () => {
    assert.equal(inLinearTime(z.string().regex(/^[a-z]+$/i)).safeParse('ABC').success, true);
  });

  for (const [what, note, good, bad] of [
    [
      'in an optional field',
      z
        .string()
        .regex(/^a\/b$/)
        .optional(),
      'a/b',
      'a|b',
    ],
    [
      'in a field that may be null',
      z
        .string()
        .regex(/^\d{2}$/)
        .nullable(),
      '12',
      '123',
    ],
    ['in a union', z.union([z.number(), z.string().regex(/^x+$/)]), 'xx', 'xy'],
    ['with another check of the same field', z.string().startsWith('o').regex(/r$/), 'or', 'on'],
    ['with a named group and an escaped letter', z.string().regex(/^(?<name>\u00e9)$/), 'é', 'e'],
    ['as a format of zod', z.email(), 'a@example.com', 'a.example.com'],
    ['as a format with a lookahead', z.hostname(), 'example.com', '-'],
    ['as an emoji', z.emoji(), '🍵', '1'],
    ['as a duration', z.iso.duration(), 'P3D', 'P'],
    ['as a time', z.iso.datetime({ offset: true }), '2026-01-31T12:00:00+01:00', '2026-01-32T12:00:00+01:00'],
    ['as a UUID', z.uuid(), '550e8400-e29b-41d4-a716-446655440000', '550e8400'],
  ] as const)
    test(`a pattern means the same as in JavaScript: ${what}`, () => {
      assert.deepEqual(problemsOf(note, good), []);
      assert.notDeepEqual(problemsOf(note, bad), []);
    });

  test('a pattern with lookahead, lookbehind or a backreference is refused when the workflow is defined, with its place', () => {
    for (const pattern of [/^(?=a)a$/, /(?<!a)b/, /^(a)\1$/])
      for (const note of [
        z.string().regex(pattern),
        z.email({ pattern }),
        z.stringFormat('name', pattern),
        z.templateLiteral(['x', z.string().regex(pattern)]),
        z.looseRecord(z.string().regex(pattern), z.number()),
      ])
        assert.throws(() => withNote(note), refusal(/^noted@1 order\/properties\/notes\/items\/properties\/note: RE2 does not support/));
  });

  test('a pattern with a flag that the definition cannot hold is refused, and the flag is not dropped', () => {
    assert.throws(() => withNote(z.string().regex(/^[a-z]+$/i)), refusal(/flag "i".*Write it without the flag/));
    assert.doesNotThrow(() => withNote(z.string().regex(/^\p{L}+$/u)));
    assert.throws(() => withNote(z.string().regex(/^[[a-z]--[b-z]]+$/v)), refusal(/flag "v"/));
  });

  test('a schema is compiled once for any number of orders', () => {
    const schema = withNote(z.string().regex(/^x+$/)).order;
    assert.equal(validatorOf(schema), validatorOf(schema));
  });

  test('a pattern with lookahead is also refused in the payload of a signal and in the answer of a person', () => {
    const lookahead = z.object({ code: z.string().regex(/^(?=a)a$/) });
    assert.throws(() => waitFor('go', lookahead), refusal(/^waitFor\("go"\)\/properties\/code: /));
    assert.throws(
      () => askOperator('which', { question: 'Which?', answer: lookahead }),
      refusal(/^askOperator\("which"\)\/properties\/code: /),
    );
  });
});

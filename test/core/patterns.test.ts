import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { askOperator, type DefinitionError, defineWorkflow, waitFor } from 'redress';
import * as z from 'zod';
import { validatorOf } from '#ports/util/validation';
import { bodyProblems } from '#roles/submission/submission';

/** A workflow whose orders have this note. */
const withNote = (note: z.ZodType) =>
  defineWorkflow('noted', { version: 1, order: z.object({ notes: z.array(z.object({ note })) }) }, () =>
    waitFor('go', z.object({ by: z.string() })),
  );

const problemsOf = (note: z.ZodType, text: string) => bodyProblems(validatorOf(withNote(note).order), { notes: [{ note: text }] });

/** Ends what would go on for years. */
const inBoundedTime = <T>(work: () => T): T => runInNewContext('work()', { work }, { timeout: 60_000 });

const refusal = (says: RegExp) => (error: DefinitionError) => error.name === 'DefinitionError' && says.test(error.message);

describe("patterns in the schema of a workflow's orders", () => {
  test('when an order has a text for which a pattern would backtrack for years, the order is refused at once', () => {
    const problems = inBoundedTime(() => problemsOf(z.string().regex(/^([a-z]+)+$/), `${'a'.repeat(1000)}!`));
    assert.deepEqual(
      problems.map(({ pointer, code }) => [pointer, code]),
      [['/order/notes/0/note', 'invalid-format']],
    );
  });

  for (const [what, note, good, bad] of [
    [
      'optional',
      z
        .string()
        .regex(/^a\/b$/)
        .optional(),
      'a/b',
      'a|b',
    ],
    [
      'nullable',
      z
        .string()
        .regex(/^\d{2}$/)
        .nullable(),
      '12',
      '123',
    ],
    ['one of two', z.union([z.number(), z.string().regex(/^x+$/)]), 'xx', 'xy'],
    ['with another check', z.string().startsWith('o').regex(/r$/), 'or', 'on'],
    ['a named group and an escaped letter', z.string().regex(/^(?<name>\u00e9)$/), 'é', 'e'],
    ['a format of zod', z.email(), 'a@example.com', 'a.example.com'],
    ['a format that looks ahead', z.hostname(), 'example.com', '-'],
  ] as const)
    test(`a pattern means what it means in JavaScript where it is ${what}`, () => {
      assert.deepEqual(problemsOf(note, good), []);
      assert.notDeepEqual(problemsOf(note, bad), []);
    });

  test('a pattern that looks ahead, looks behind or refers back is refused when the workflow is defined, with its place', () => {
    for (const pattern of [/^(?=a)a$/, /(?<!a)b/, /^(a)\1$/])
      assert.throws(
        () => withNote(z.string().regex(pattern)),
        refusal(/^noted@1 order\/properties\/notes\/items\/properties\/note: RE2 does not take/),
      );
  });

  test('a flag that the definition could not hold is refused instead of dropped', () => {
    assert.throws(() => withNote(z.string().regex(/^[a-z]+$/i)), refusal(/flag "i".*Write the pattern without it/));
    assert.doesNotThrow(() => withNote(z.string().regex(/^\p{L}+$/u)));
  });

  test('a schema is compiled once, however many orders come', () => {
    const schema = withNote(z.string().regex(/^x+$/)).order;
    assert.equal(validatorOf(schema), validatorOf(schema));
  });

  test('the same holds for what signals bring along and for what people answer', () => {
    const lookahead = z.object({ code: z.string().regex(/^(?=a)a$/) });
    assert.throws(() => waitFor('go', lookahead), refusal(/^waitFor\("go"\)\/properties\/code: /));
    assert.throws(
      () => askOperator('which', { question: 'Which?', answer: lookahead }),
      refusal(/^askOperator\("which"\)\/properties\/code: /),
    );
  });
});

import { fits, isObject, type Json } from '#core/data/json';
import { jsonIn } from '#ports/util/json';
import { pointerOf, type SubmissionProblem } from './submission.ts';

/** Limits of the body of one API call, or of one message (OWASP API4). */
export const bodyLimits = {
  bytesMax: 256 * 1024,
  /** Levels of objects and lists, the outermost included. */
  depthMax: 32,
  /** Fields of the whole body. */
  fieldsMax: 1000,
  /** Entries of one list. */
  entriesMax: 500,
  charactersMax: 1024,
} as const;

/** The data of a text, or the problems of its form: it must be unambiguous JSON within the limits. No schema is applied. */
export type Surveyed =
  | { readonly outcome: 'data'; readonly value: Json }
  | { readonly outcome: 'malformed' | 'too-large' }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] };

export function survey(text: string, bytesMax: number = bodyLimits.bytesMax): Surveyed {
  const value = jsonIn(text);
  if (value === undefined) return { outcome: 'malformed' };
  const found: Survey = { fields: 0, errors: [], complete: true };
  look(value, '', 1, found);
  // A field of the text that is not in the value was overwritten by one of the same name.
  if (found.complete && fieldsIn(text) !== found.fields) return { outcome: 'malformed' };
  if (found.fields > bodyLimits.fieldsMax)
    found.errors.push({
      pointer: '',
      code: 'too-many-fields',
      detail: `Expected at most ${bodyLimits.fieldsMax} fields in total, got ${found.fields}.`,
    });
  if (found.errors.length > 0) return { outcome: 'invalid', problems: found.errors };
  return mayGrow(text) && !fits(value, bytesMax) ? { outcome: 'too-large' } : { outcome: 'data', value };
}

/** Whether a text may exceed the limit when it is stored: `1e20` has four characters, and twenty-one as stored. */
const mayGrow = (text: string): boolean => text.length * 6 > bodyLimits.bytesMax;

/** Returns the problems of a submission by message: the same as for an API call. */
export function messageProblems(text: string): readonly SubmissionProblem[] {
  const bytesMax = bodyLimits.bytesMax + messageBytes;
  const surveyed = Buffer.byteLength(text) > bytesMax ? ({ outcome: 'too-large' } as const) : survey(text, bytesMax);
  switch (surveyed.outcome) {
    case 'too-large':
      return [{ pointer: '', code: 'too-large', detail: `Expected a submission of at most ${bodyLimits.bytesMax / 1024} KB.` }];
    case 'malformed':
      return [{ pointer: '', code: 'malformed-json', detail: 'Expected JSON text without duplicate fields.' }];
    case 'invalid':
      return surveyed.problems;
    case 'data':
      return [];
  }
}

/** Bytes for the fields of a message that an API body does not have: client, key and type. */
const messageBytes = 1024;

interface Survey {
  fields: number;
  readonly errors: SubmissionProblem[];
  /** Whether all parts were counted: a part that is nested too deeply is skipped. */
  complete: boolean;
}

function look(value: Json, pointer: string, depth: number, found: Survey): void {
  const problem = (code: string, detail: string) => void found.errors.push({ pointer, code, detail });
  if (typeof value === 'string') return textProblem(value, problem);
  if (typeof value === 'number' && !Number.isFinite(value))
    return problem('number-out-of-range', 'Expected a number within the range of 64-bit floating point.');
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return;

  if (depth > bodyLimits.depthMax) {
    found.complete = false;
    return problem('too-deep', `Expected at most ${bodyLimits.depthMax} levels of nesting.`);
  }
  if (isList) {
    if (value.length > bodyLimits.entriesMax)
      problem('too-many-entries', `Expected at most ${bodyLimits.entriesMax} entries, got ${value.length}.`);
    for (const [index, entry] of value.entries()) look(entry, `${pointer}/${index}`, depth + 1, found);
    return;
  }
  for (const [name, entry] of Object.entries(value)) {
    found.fields++;
    textProblem(name, problem);
    // The pointer omits a name that is too long; else each problem below it would repeat that name.
    const below = name.length > bodyLimits.charactersMax ? pointer : pointer + pointerOf([name]);
    if (reserved.has(name))
      found.errors.push({ pointer: below, code: 'forbidden-name', detail: 'This field name is reserved. Use another name.' });
    look(entry as Json, below, depth + 1, found);
  }
}

/** Names with which data could change prototypes. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Characters that a queue message must not contain. U+FFFD is among them because a gateway replaces bytes that are not
 * UTF-8 with it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffd-\uffff]/;

function textProblem(text: string, problem: (code: string, detail: string) => void): void {
  if (text.length > bodyLimits.charactersMax && [...text].length > bodyLimits.charactersMax)
    problem('too-long', `Expected at most ${bodyLimits.charactersMax} characters.`);
  if (forbidden.test(text) || !text.isWellFormed())
    problem(
      'forbidden-character',
      'Expected no control characters, lone surrogates, U+FFFD (the replacement for invalid UTF-8), U+FFFE or U+FFFF.',
    );
}

/** Counts the fields of all objects in a valid JSON text: the colons outside of its strings. */
function fieldsIn(text: string): number {
  let fields = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === colon) fields++;
    if (code === quote) while (text.charCodeAt(++at) !== quote) if (text.charCodeAt(at) === backslash) at++;
  }
  return fields;
}

const [colon, quote, backslash] = [58, 34, 92];

import { fits, isObject, type Json } from '#core/data/json';
import { pointerOf, type SubmissionProblem } from './submission.ts';

/** Limits of one request, by HTTP or by message (OWASP API4). */
export const bodyLimits = {
  bytesMax: 256 * 1024,
  /** Levels of objects and lists, the outermost included. */
  depthMax: 32,
  /** Fields in the whole body. */
  fieldsMax: 1000,
  /** Entries of one list. */
  entriesMax: 500,
  charactersMax: 1024,
} as const;

/** What is wrong with the form of a text, or the data in it: unambiguous JSON within the limits. Its meaning is not looked at. */
export type Surveyed =
  | { readonly outcome: 'data'; readonly value: Json }
  | { readonly outcome: 'malformed' | 'too-large' }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] };

export function survey(text: string, bytesMax: number = bodyLimits.bytesMax): Surveyed {
  const value = parsed(text);
  if (value === undefined) return { outcome: 'malformed' };
  const found: Survey = { fields: 0, errors: [], complete: true };
  look(value, '', 1, found);
  // A field that stands in the text and not in the value was overwritten by one of the same name.
  if (found.complete && fieldsIn(text) !== found.fields) return { outcome: 'malformed' };
  if (found.fields > bodyLimits.fieldsMax)
    found.errors.push({ pointer: '', code: 'too-many-fields', detail: `At most ${bodyLimits.fieldsMax} fields in all.` });
  if (found.errors.length > 0) return { outcome: 'invalid', problems: found.errors };
  return mayGrow(text) && !fits(value, bytesMax) ? { outcome: 'too-large' } : { outcome: 'data', value };
}

/** What is stored has its numbers written out: `1e20` has four characters as it comes, and twenty-one then. */
const mayGrow = (text: string): boolean => text.length * 6 > bodyLimits.bytesMax;

/** Problems of a submission by message: the same as for a call of the API. */
export function messageProblems(text: string): readonly SubmissionProblem[] {
  const bytesMax = bodyLimits.bytesMax + messageBytes;
  const surveyed = Buffer.byteLength(text) > bytesMax ? ({ outcome: 'too-large' } as const) : survey(text, bytesMax);
  switch (surveyed.outcome) {
    case 'too-large':
      return [{ pointer: '', code: 'too-large', detail: `A submission has at most ${bodyLimits.bytesMax / 1024} KB.` }];
    case 'malformed':
      return [{ pointer: '', code: 'malformed-json', detail: 'The message is no JSON text, or names a field twice.' }];
    case 'invalid':
      return surveyed.problems;
    case 'data':
      return [];
  }
}

/** What a message has beside the body of a call: whose it is, its key and its kind. */
const messageBytes = 1024;

/** `undefined` where it is no JSON. JSON.parse knows no byte order mark, and does not recurse. */
const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

interface Survey {
  fields: number;
  readonly errors: SubmissionProblem[];
  /** False when it did not look everywhere. */
  complete: boolean;
}

function look(value: Json, pointer: string, depth: number, found: Survey): void {
  const problem = (code: string, detail: string) => void found.errors.push({ pointer, code, detail });
  if (typeof value === 'string') return textProblem(value, problem);
  if (typeof value === 'number' && !Number.isFinite(value))
    return problem('number-out-of-range', 'A number that fits into 64 bits of floating point is wanted.');
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return;

  if (depth > bodyLimits.depthMax) {
    found.complete = false;
    return problem('too-deep', `At most ${bodyLimits.depthMax} levels.`);
  }
  if (isList) {
    if (value.length > bodyLimits.entriesMax) problem('too-many-entries', `At most ${bodyLimits.entriesMax} entries in one list.`);
    for (const [index, entry] of value.entries()) look(entry, `${pointer}/${index}`, depth + 1, found);
    return;
  }
  for (const [name, entry] of Object.entries(value)) {
    found.fields++;
    textProblem(name, problem);
    // A name that is too long itself must not come back once for everything below it.
    const below = name.length > bodyLimits.charactersMax ? pointer : pointer + pointerOf([name]);
    if (reserved.has(name)) found.errors.push({ pointer: below, code: 'forbidden-name', detail: 'No field may have this name.' });
    look(entry as Json, below, depth + 1, found);
  }
}

/** Names by which data could reach into the machinery of objects. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Characters that a queue message may not hold: refused here, so that no worker ever meets them. U+FFFD stands where bytes were no
 * UTF-8: a gateway hands bodies on as text, and puts it there.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffd-\uffff]/;

function textProblem(text: string, problem: (code: string, detail: string) => void): void {
  if (text.length > bodyLimits.charactersMax && [...text].length > bodyLimits.charactersMax)
    problem('too-long', `At most ${bodyLimits.charactersMax} characters.`);
  if (forbidden.test(text) || !text.isWellFormed())
    problem(
      'forbidden-character',
      'Control characters, half surrogates, U+FFFD (it stands for bytes that were no UTF-8), U+FFFE and U+FFFF are not taken.',
    );
}

/** Fields of all objects in a text that is known to be JSON: the colons outside of its strings. */
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

import { isUtf8 } from 'node:buffer';
import { fits, isObject, type Json } from '../core/json.ts';
import { pointerOf } from '../submission.ts';
import { type ProblemError, type Refusal, refuse } from './problem.ts';

/** What one request may cost, whoever sends it (OWASP API4). */
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

/** What the headers say against a body, before a byte of it is read. */
export function mediaRefusal(headers: Headers): Refusal | undefined {
  if (
    headers.get('content-encoding') !== null ||
    !/^application\/json *(; *charset="?utf-8"? *)?$/i.test(headers.get('content-type') ?? '')
  )
    return refuse('unsupported-media-type');
  return Number(headers.get('content-length') ?? 0) > bodyLimits.bytesMax ? refuse('too-large') : undefined;
}

/** The body as data that can be trusted in its form: unambiguous JSON within the limits. Its meaning is not looked at. */
export async function readBody(request: Request): Promise<{ readonly value: Json } | Refusal> {
  const bytes = await bytesOf(request);
  if (bytes === 'too-large' || bytes === 'malformed-json') return refuse(bytes);
  return isUtf8(bytes) ? parseBody(bytes.toString('utf8')) : refuse('malformed-json');
}

function parseBody(text: string): { readonly value: Json } | Refusal {
  const value = parsed(text);
  if (value === undefined) return refuse('malformed-json');
  const survey: Survey = { fields: 0, errors: [], complete: true };
  look(value, '', 1, survey);
  // A field that stands in the text and not in the value was overwritten by one of the same name.
  if (survey.complete && fieldsIn(text) !== survey.fields) return refuse('malformed-json');
  if (survey.fields > bodyLimits.fieldsMax)
    survey.errors.push({ pointer: '', code: 'too-many-fields', detail: `At most ${bodyLimits.fieldsMax} fields in all.` });
  if (survey.errors.length > 0) return refuse('invalid', { errors: survey.errors });
  return mayGrow(text) && !fits(value, bodyLimits.bytesMax) ? refuse('too-large') : { value };
}

/** What is stored has its numbers written out: `1e20` has four characters as it comes, and twenty-one then. */
const mayGrow = (text: string): boolean => text.length * 6 > bodyLimits.bytesMax;

async function bytesOf(request: Request): Promise<Buffer | 'too-large' | 'malformed-json'> {
  try {
    // With a length, the server sees to it that no more comes.
    if (request.headers.get('content-length') !== null) {
      const bytes = Buffer.from(await request.arrayBuffer());
      return bytes.length > bodyLimits.bytesMax ? 'too-large' : bytes;
    }
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > bodyLimits.bytesMax) return 'too-large';
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    // The sender broke off: what came is no whole body.
    return 'malformed-json';
  }
}

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
  readonly errors: ProblemError[];
  /** False when it did not look everywhere. */
  complete: boolean;
}

function look(value: Json, pointer: string, depth: number, survey: Survey): void {
  const problem = (code: string, detail: string) => void survey.errors.push({ pointer, code, detail });
  if (typeof value === 'string') return textProblem(value, problem);
  if (typeof value === 'number' && !Number.isFinite(value))
    return problem('number-out-of-range', 'A number that fits into 64 bits of floating point is wanted.');
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return;

  if (depth > bodyLimits.depthMax) {
    survey.complete = false;
    return problem('too-deep', `At most ${bodyLimits.depthMax} levels.`);
  }
  if (isList) {
    if (value.length > bodyLimits.entriesMax) problem('too-many-entries', `At most ${bodyLimits.entriesMax} entries in one list.`);
    for (const [index, entry] of value.entries()) look(entry, `${pointer}/${index}`, depth + 1, survey);
    return;
  }
  for (const [name, entry] of Object.entries(value)) {
    survey.fields++;
    textProblem(name, problem);
    // A name that is too long itself must not come back once for everything below it.
    const below = name.length > bodyLimits.charactersMax ? pointer : pointer + pointerOf([name]);
    if (reserved.has(name)) survey.errors.push({ pointer: below, code: 'forbidden-name', detail: 'No field may have this name.' });
    look(entry as Json, below, depth + 1, survey);
  }
}

/** Names by which data could reach into the machinery of objects. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** Characters that a queue message may not hold: refused here, so that no worker ever meets them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

function textProblem(text: string, problem: (code: string, detail: string) => void): void {
  if (text.length > bodyLimits.charactersMax && [...text].length > bodyLimits.charactersMax)
    problem('too-long', `At most ${bodyLimits.charactersMax} characters.`);
  if (forbidden.test(text) || !text.isWellFormed())
    problem('forbidden-character', 'Control characters, half surrogates, U+FFFE and U+FFFF are not taken.');
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

import type { Operation } from './document.ts';
import type { Answered } from './http.ts';

/** The codes of the contract with their status: written here again, so that a changed table of the API is noticed. */
const statusOf: { readonly [code: string]: number } = {
  'malformed-json': 400,
  'bad-parameter': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  conflict: 409,
  infeasible: 409,
  locked: 409,
  stale: 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  invalid: 422,
  'idempotency-key-reused': 422,
  'precondition-required': 428,
  'rate-limited': 429,
};

const fields = ['code', 'detail', 'instance', 'requestId', 'status', 'title', 'type'];
/** Codes that every call may return, so the document need not list them for each call. */
const general = new Set(['not-found', 'method-not-allowed']);

interface Problem {
  readonly [field: string]: unknown;
  readonly code: string;
  readonly errors?: readonly { readonly [field: string]: unknown }[];
}

/** Checks refusals against the contract. It remembers the texts of each code, because a text must not depend on the request. */
export class Contract {
  private readonly textOf = new Map<string, string>();

  /** Returns what is wrong with a refusal; an empty list if it is as promised. */
  wrongOf(answer: Answered, codes: readonly string[], { codes: published }: Operation): readonly string[] {
    const { status, headers, text } = answer;
    if (status >= 500) return [`${status}, which blames the system: ${text.slice(0, 300)}`];
    if (status < 400) return [`${status}, as if nothing were wrong`];
    if (headers['content-type'] !== 'application/problem+json') return [`${status} as ${headers['content-type']}: ${text.slice(0, 300)}`];
    const problem = problemIn(text);
    if (!problem) return [`${status} without a problem: ${text.slice(0, 300)}`];
    const { code } = problem;
    const names = Object.keys(problem)
      .filter((name) => name !== 'errors')
      .toSorted();
    const texts = JSON.stringify([problem['title'], problem['detail'], problem['type']]);
    const first = this.textOf.get(code) ?? texts;
    this.textOf.set(code, first);
    return [
      ...(names.join() === fields.join() ? [] : [`the fields ${names.join(', ')}`]),
      ...(statusOf[code] === status && problem['status'] === status ? [] : [`the code ${code} with the status ${status}`]),
      ...(codes.includes(code) ? [] : [`the code ${code} instead of ${codes.join(' or ')}: ${text.slice(0, 400)}`]),
      ...(published.has(code) || general.has(code) ? [] : [`the code ${code}, which the document does not publish`]),
      ...(first === texts ? [] : [`another text of ${code}: ${texts}`]),
      ...(/^[0-9a-f-]{36}$/.test(String(problem['requestId'])) ? [] : ['no request id']),
      ...(typeof problem['instance'] === 'string' ? [] : ['no instance']),
      ...wrongErrors(problem),
      ...wrongHeaders(code, headers),
    ];
  }
}

function wrongErrors({ code, errors }: Problem): readonly string[] {
  if (errors === undefined) return code === 'invalid' || code === 'bad-parameter' ? [`${code} without errors`] : [];
  const isGood = (error: { readonly [field: string]: unknown }): boolean =>
    /^code,detail,(path,)?pointer$/.test(Object.keys(error).toSorted().join()) &&
    /^($|\/)/.test(String(error['pointer'])) &&
    /^[a-z][a-z-]*$/.test(String(error['code'])) &&
    String(error['detail']).length > 3;
  return errors.filter((error) => !isGood(error)).map((error) => `the error ${JSON.stringify(error).slice(0, 300)}`);
}

function wrongHeaders(code: string, headers: Answered['headers']): readonly string[] {
  const needed: { readonly [code: string]: string } = {
    unauthenticated: 'www-authenticate',
    'method-not-allowed': 'allow',
    'rate-limited': 'retry-after',
  };
  const name = needed[code];
  return [
    ...(headers['cache-control'] === 'no-store' ? [] : ['an answer that caches may store']),
    ...(headers['x-content-type-options'] === 'nosniff' ? [] : ['an answer without nosniff']),
    ...(name === undefined || headers[name] ? [] : [`no ${name}`]),
  ];
}

function problemIn(text: string): Problem | undefined {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return undefined;
  }
}

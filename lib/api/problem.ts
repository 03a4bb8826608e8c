import type { Json, JsonObject } from '#core/data/json';

/** Every problem the API can answer with: its status, its title and its default detail. */
export const problems = {
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    detail: 'The body must be JSON in UTF-8, without a byte order mark and without duplicate keys.',
  },
  'bad-parameter': {
    status: 400,
    title: 'Bad parameter',
    detail: 'A parameter or header is invalid. "errors" names it and says what is allowed.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not signed in',
    detail: 'This call needs a valid bearer token. On a local system, "npx redress token" prints one.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    detail: 'The roles of your token do not allow this call. The OpenAPI document lists the roles for each call.',
  },
  'not-found': { status: 404, title: 'Not found', detail: 'The resource does not exist, or you may not see it.' },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: 'This URL does not support the method. The Allow header names those that it does.',
  },
  'not-acceptable': { status: 406, title: 'Not acceptable', detail: 'The Accept header excludes the media type of the response.' },
  conflict: { status: 409, title: 'Conflict', detail: 'The current state does not allow this. "errors" says why.' },
  infeasible: {
    status: 409,
    title: 'Infeasible',
    detail: 'The order cannot follow this instruction now. "errors" gives every reason. Nothing was changed.',
  },
  locked: {
    status: 409,
    title: 'Locked',
    detail: 'Another process or person holds this order. Try again after the time in Retry-After.',
  },
  stale: { status: 412, title: 'Stale', detail: 'The resource has changed since you read it. Read it again, then decide again.' },
  'too-large': { status: 413, title: 'Too large', detail: 'The body is larger than 256 KB. Numbers count in their full decimal form.' },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the body as application/json in UTF-8, without Content-Encoding.',
  },
  invalid: { status: 422, title: 'Invalid', detail: 'The body does not fit its schema. "errors" says where and why.' },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key reused',
    detail: 'You have used this Idempotency-Key for a different call. Use a new key for a new call.',
  },
  'precondition-required': {
    status: 428,
    title: 'Precondition required',
    detail: 'Send If-Match with the ETag of what you read. An instruction with dryRun: true does not need it.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    detail: 'You have exceeded your rate limit. Try again after the time in Retry-After.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'The system failed to handle the call. Its log has the details under this requestId.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    detail: 'The system is temporarily unavailable. Try again after the time in Retry-After.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

export interface ProblemError {
  /** JSON pointer into the body, or `/name` of a parameter or header. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
  /** The activity that it is about. */
  readonly path?: string;
  /** The position in an expression, in characters from 1. */
  readonly column?: number;
}

/** The reason why a call is refused, as data. `app.ts` turns it into a response. */
export interface Refusal {
  readonly problem: ProblemCode;
  readonly errors?: readonly ProblemError[];
  readonly headers?: { readonly [name: string]: string };
  /** Further members of the problem details. */
  readonly members?: JsonObject;
}

/** The most errors in one response. Without a limit, the response to a body with many mistakes could be much larger than the body. */
const errorsMax = 50;

export const refuse = (problem: ProblemCode, more: Omit<Refusal, 'problem'> = {}): Refusal => ({ problem, ...more });

/** Refuses a call that the current state does not allow, with one sentence for each reason. */
export const conflict = (reasons: readonly string[] = []): Refusal =>
  refuse('conflict', { errors: reasons.map((detail) => ({ pointer: '', code: 'conflict', detail })) });

/** Refuses a call because a lease of its order is held. `members`: further members of the problem details. */
export const lockedUntil = (heldUntil: number, now: number, members?: JsonObject): Refusal =>
  refuse('locked', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil((heldUntil - now) / 1000))) },
    ...(members ? { members } : {}),
  });

export const badParameter = (pointer: string, code: string, detail: string): Refusal =>
  refuse('bad-parameter', { errors: [{ pointer, code, detail }] });

export const isRefusal = (outcome: object): outcome is Refusal => 'problem' in outcome;

/** Returns the body of RFC 9457. `instance` is the requested path. */
export const problemText = (
  { problem, errors, members }: Refusal,
  { requestId, instance }: { readonly requestId: string; readonly instance: string },
): string => {
  const { status, title, detail } = problems[problem];
  const text: { [member: string]: Json } = {
    type: `urn:redress:problem:${problem}`,
    title,
    status,
    detail,
    instance,
    code: problem,
    requestId,
    ...members,
  };
  if (errors) text['errors'] = errors.slice(0, errorsMax).map((error) => ({ ...error }));
  return JSON.stringify(text);
};

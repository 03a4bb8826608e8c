import type { Json } from '#core/data/json';

/** Every refusal that the API knows: its status, and what it says unless there is more to say. */
export const problems = {
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    detail: 'The body is no JSON text in UTF-8, or begins with a byte order mark, or names a field twice.',
  },
  'bad-parameter': {
    status: 400,
    title: 'Bad parameter',
    detail: 'A parameter or header is not as it must be. "errors" says which, and what is possible.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not signed in',
    detail: 'This call needs a valid bearer token. Locally, "npx redress token" prints one.',
  },
  forbidden: { status: 403, title: 'Not allowed', detail: 'The roles of your token do not allow this call.' },
  'not-found': { status: 404, title: 'Not found', detail: 'There is nothing here, or nothing that you may see.' },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: 'This address takes other methods. The Allow header names them.',
  },
  'not-acceptable': { status: 406, title: 'Not acceptable', detail: 'The answer has a media type that the Accept header excludes.' },
  conflict: { status: 409, title: 'Conflict', detail: 'Things have moved on: this cannot be done now, or no more. "errors" says why.' },
  infeasible: {
    status: 409,
    title: 'Infeasible',
    detail: 'The instruction cannot be carried out now. "errors" gives every reason; nothing was changed.',
  },
  locked: {
    status: 409,
    title: 'Locked',
    detail: 'Someone else is at work on this order. Try again after the time that Retry-After names.',
  },
  stale: { status: 412, title: 'Stale', detail: 'The order has changed since you read it. Read it again and decide anew.' },
  'too-large': { status: 413, title: 'Too large', detail: 'A body has at most 256 KB, with its numbers written out as well.' },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the body as application/json in UTF-8, without Content-Encoding.',
  },
  invalid: { status: 422, title: 'Invalid', detail: 'The body is not as it must be. "errors" says where, and why.' },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key reused',
    detail: 'This Idempotency-Key belongs to another call of yours. Take a new key for what is new.',
  },
  'precondition-required': {
    status: 428,
    title: 'Precondition required',
    detail: 'Send If-Match with the ETag of the order that you read, or dryRun: true.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    detail: 'You send too much at once. Try again after the time that Retry-After names.',
  },
  internal: { status: 500, title: 'Internal error', detail: 'Something is wrong on this side. The log has more under this requestId.' },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    detail: 'The system cannot work at the moment. Try again after the time that Retry-After names.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

export interface ProblemError {
  /** JSON pointer into the body, or `/name` of a parameter or header. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** Why a call is not carried out: data, made by whoever finds out, and answered in one place. */
export interface Refusal {
  readonly problem: ProblemCode;
  readonly errors?: readonly ProblemError[];
  readonly headers?: { readonly [name: string]: string };
}

/** More would help nobody, and a body full of mistakes must not make an answer many times its size. */
const errorsMax = 50;

export const refuse = (problem: ProblemCode, more: Omit<Refusal, 'problem'> = {}): Refusal => ({ problem, ...more });

export const badParameter = (pointer: string, code: string, detail: string): Refusal =>
  refuse('bad-parameter', { errors: [{ pointer, code, detail }] });

export const isRefusal = (outcome: object): outcome is Refusal => 'problem' in outcome;

/** The text of RFC 9457. `instance` is the address that was asked for. */
export const problemText = (
  { problem, errors }: Refusal,
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
  };
  if (errors) text['errors'] = errors.slice(0, errorsMax).map((error) => ({ ...error }));
  return JSON.stringify(text);
};

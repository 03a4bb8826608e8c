/** The problem details of a refused request (RFC 9457). */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly code?: string; readonly detail?: string }[];
}

/** The system refused the request. Exit code 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly problem: Problem;
  /** The Retry-After of the response, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(problem.title);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The command found nothing, or may not proceed; the message says what to do instead. Exit code 1. */
export class FailedError extends Error {
  override readonly name = 'FailedError';
}

/** The arguments or options are invalid. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The system does not answer at its URL. Exit code 3. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly url: string;

  constructor(url: string, reason: string) {
    super(`Cannot reach ${url}: ${reason}.`);
    this.url = url;
  }
}

/** What the system says against a request, in the fields of RFC 9457. */
export interface Problem {
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly code?: string; readonly detail?: string }[];
}

/** The system was asked and said no. Exit code 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly problem: Problem;
  /** How long to wait, as the system asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(problem.title);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Nothing was found, or nothing may be done; the message says what to do instead. Exit code 1. */
export class FailedError extends Error {
  override readonly name = 'FailedError';
}

/** The command cannot mean what was typed. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Nobody answers at the system's URL. Exit code 3. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly url: string;

  constructor(url: string, reason: string) {
    super(`Nobody answers at ${url}: ${reason}.`);
    this.url = url;
  }
}

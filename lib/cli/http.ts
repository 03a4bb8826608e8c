import { jsonIn } from '#ports/util/json';
import { type Problem, RefusedError, UnreachableError, UsageError } from './errors.ts';

export interface Answer<T> {
  readonly status: number;
  readonly etag: string | undefined;
  /** Whether this is the stored response to an earlier call with the same idempotency key. */
  readonly replayed: boolean;
  /** The time at which the answer was made: milliseconds since 1970. */
  readonly date: number | undefined;
  readonly body: T;
}

export interface Call {
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

/** The system's HTTP API. A call rejects with RefusedError, UnreachableError or UsageError. */
export interface Api {
  readonly url: string;
  call<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, call?: Call): Promise<Answer<T>>;
}

const timeoutMsDefault = 15_000;

export function createApi({
  url,
  token,
  timeoutMs = timeoutMsDefault,
}: {
  url: string;
  /** Returns the token of a call. */
  token?: () => Promise<string | undefined>;
  timeoutMs?: number;
}): Api {
  return {
    url,
    async call<T>(method: string, path: string, { body, headers = {} }: Call = {}) {
      const bearer = await token?.();
      const sent = {
        ...headers,
        accept: 'application/json, application/problem+json',
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const options = {
        method,
        headers: sent,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        body: body === undefined ? null : JSON.stringify(body),
      } as const;
      const { response, text } = await answered(url, requestOf(url.replace(/\/+$/, '') + path, options));
      if (!response.ok && response.status !== 304) throw refusal(response, text);
      const etag = response.headers.get('etag') ?? undefined;
      const replayed = response.headers.get('idempotent-replayed') === 'true';
      const date = Date.parse(response.headers.get('date') ?? '') || undefined;
      return { status: response.status, etag, replayed, date, body: jsonIn(text) as T };
    },
  };
}

/** Creates the request; a token or key with characters that are invalid in an HTTP header is a usage error. */
function requestOf(url: string, options: RequestInit): Request {
  try {
    return new Request(url, options);
  } catch (error) {
    throw new UsageError(`Invalid HTTP request: ${(error as Error).message}`);
  }
}

async function answered(url: string, request: Request): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(request);
    return { response, text: await response.text() };
  } catch (error) {
    throw new UnreachableError(url, reasonOf(error));
  }
}

/** Returns the reason of a failed fetch. It is in the cause or, for a host with several addresses, in the errors of the cause. */
function reasonOf(error: unknown): string {
  const { name, cause, message } = error as Error & { cause?: Error & { code?: string; errors?: readonly Error[] } };
  if (name === 'TimeoutError') return 'no answer in time';
  if (cause?.code === 'ECONNREFUSED') return 'connection refused';
  if (cause?.message === 'bad port') return 'fetch blocks this port, which is reserved for another protocol';
  return cause?.errors?.[0]?.message || cause?.message || message;
}

function refusal(response: Response, text: string): RefusedError {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const isProblem = response.headers.get('content-type')?.includes('json') ?? false;
  const problem = isProblem ? (jsonIn(text) as Partial<Problem> | undefined) : undefined;
  const detail = problem ? {} : { detail: 'The response is not from Redress. Does another program listen there? Check --url.' };
  const title = `Answered ${response.status} ${response.statusText}`.trim();
  return new RefusedError({ title, status: response.status, ...detail, ...problem }, Number.isNaN(seconds) ? undefined : seconds * 1000);
}

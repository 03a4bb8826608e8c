import { signal } from '@preact/signals';

/** A refusal of the API, or a failed connection (status 0). */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: readonly ProblemError[];
  /** The person whose lock on the order is the reason for the refusal, if there is one. */
  readonly heldBy: string | undefined;
  readonly lockedUntil: string | undefined;

  constructor({ status, code, title, detail = '', requestId = '', errors = [], heldBy, lockedUntil }: ProblemBody) {
    super(title);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
    this.heldBy = heldBy;
    this.lockedUntil = lockedUntil;
  }
}

export interface ProblemError {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
  readonly path?: string;
  readonly column?: number;
}

interface ProblemBody {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly requestId?: string;
  readonly errors?: readonly ProblemError[];
  readonly heldBy?: string;
  readonly lockedUntil?: string;
}

/** The state of the connection. Times are those of this machine, in milliseconds. */
export interface Connection {
  readonly answeredAt?: number;
  readonly lostSince?: number;
  readonly nextTryAt?: number;
}

export const connection = signal<Connection>({});
/** Set when a call was refused because nobody is signed in any more. */
export const signedOut = signal(false);

/** The bearer token of an issuer, kept only in memory. A local system uses a cookie instead, which no script can read. */
let bearer: string | undefined;
export const setBearer = (token: string | undefined): void => {
  bearer = token;
};

/** Milliseconds by which the server's clock is ahead. Up to two seconds count as 0, because a Date header has whole seconds. */
let aheadMs = 0;
export const serverNow = (): number => Date.now() + aheadMs;

function setClock(date: string | null): void {
  const ahead = date === null ? Number.NaN : Date.parse(date) + 500 - Date.now();
  if (Number.isFinite(ahead)) aheadMs = Math.abs(ahead) > 2_000 ? ahead : 0;
}

export interface Request {
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

export interface Response<T> {
  readonly status: number;
  readonly etag: string | undefined;
  /** Undefined for status 304 (not modified). */
  readonly data: T | undefined;
}

/** Calls the API. @throws Problem */
export async function call<T>(method: string, path: string, { body, headers = {}, signal: abort }: Request = {}): Promise<Response<T>> {
  let response: globalThis.Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      // The referrer policy of the page would make the browser send `Origin: null`, and the system would refuse each change.
      referrerPolicy: 'same-origin',
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(abort ? { signal: abort } : {}),
    });
  } catch (error) {
    if (abort?.aborted) throw error;
    const { lostSince = Date.now(), ...known } = connection.peek();
    connection.value = { ...known, lostSince };
    throw new Problem({ status: 0, code: 'no-connection', title: 'The system does not answer.', detail: 'The connection failed.' });
  }
  setClock(response.headers.get('date'));
  connection.value = { answeredAt: Date.now() };
  if (response.status === 304) return { status: 304, etag: response.headers.get('etag') ?? undefined, data: undefined };
  const text = await response.text();
  const data = parsed(text);
  if (response.ok) return { status: response.status, etag: response.headers.get('etag') ?? undefined, data: data as T };
  if (response.status === 401) signedOut.value = true;
  throw new Problem({ title: response.statusText, code: 'unknown', ...(data as object | undefined), status: response.status });
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const get = async <T>(path: string, request?: Request): Promise<T> => (await call<T>('GET', path, request)).data as T;
export const post = async <T>(path: string, body: unknown, request?: Request): Promise<T> =>
  (await call<T>('POST', path, { ...request, body })).data as T;

/** Returns a path of the API with a query; empty values are left out. */
export function apiPath(path: string, query: { readonly [name: string]: string | number | undefined } = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, String(value)]]));
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

import * as z from 'zod';
import type { Call } from '#authoring/agent';
import { type Failed, PermanentFailure, TransientFailure } from '#authoring/fault';
import { type Answer, refusalIn, replyIn } from './answer.ts';
import { exchange } from './exchange.ts';
import { path } from './path.ts';

/**
 * A remote service that speaks JSON and honors an `Idempotency-Key`. Each method returns the reply in the form of the operation's
 * `output`, or the declared fault with whose code the service refuses. It throws a TransientFailure if a later attempt may succeed, and
 * a PermanentFailure for any other refusal. No message repeats the body, which may be secret.
 */
export interface HttpService {
  /** Sends the body as JSON, or no body. */
  post<F extends string, O extends z.ZodType>(path: string, body: object | undefined, call: Call<F, O>): Promise<z.input<O> | Failed<F>>;
  put<F extends string, O extends z.ZodType>(path: string, body: object | undefined, call: Call<F, O>): Promise<z.input<O> | Failed<F>>;
  patch<F extends string, O extends z.ZodType>(path: string, body: object | undefined, call: Call<F, O>): Promise<z.input<O> | Failed<F>>;
  /** Returns `{}`, whatever a successful answer contains. */
  delete<F extends string>(path: string, call: Call<F>): Promise<Record<string, never> | Failed<F>>;
  /** Returns undefined if the resource does not exist (404). Throws every other refusal. */
  get<O extends z.ZodType>(path: string, call: Call<never, O>): Promise<z.input<O> | undefined>;
  /** Finds the effect under an idempotency key, with `GET path?idempotencyKey=…`. Returns undefined if there is none (404). */
  lookup<O extends z.ZodType>(path: string, idempotencyKey: string, call: Call<never, O>): Promise<z.input<O> | undefined>;
}

export interface HttpHeaders {
  readonly [name: string]: string;
}

export type HttpServiceOptions = {
  /** The service's name in messages. */
  readonly name: string;
  /** Further headers, such as `Authorization`. A function runs before each request. */
  readonly headers?: HttpHeaders | ((call: Call<string>) => HttpHeaders | Promise<HttpHeaders>);
} & (
  | { readonly url: string }
  | {
      /** The environment variable with the URL. It is read at each call, so that a workflow can be defined without an environment. */
      readonly urlFrom: string;
    }
);

/** Returns a client for the operations of an agent: `run: (input, call) => service.post('/charges', input, call)`. */
export function httpService(options: HttpServiceOptions): HttpService {
  const { name, headers = {} } = options;

  async function send(method: string, path: string, call: Call<string>, body?: object): Promise<Answer> {
    const url = new URL(`${baseUrl(options, call)}/${path.replace(/^\//, '')}`);
    const sent = {
      'Idempotency-Key': call.idempotencyKey,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(typeof headers === 'function' ? await headers(call) : headers),
    };
    try {
      const answer = await exchange({ method, url, headers: sent, body: body && JSON.stringify(body), signal: call.signal });
      return { ...answer, heading: `${name} answered ${answer.status} to ${method} ${path}` };
    } catch (cause) {
      const reason = call.signal.aborted ? 'in time' : `(${(cause as Error).message})`;
      throw new TransientFailure(`${name} did not answer ${method} ${path} ${reason}`, { cause });
    }
  }

  const withBody =
    (method: string): HttpService['post'] =>
    async (path, body, call) => {
      const answer = await send(method, path, call, body);
      return refusalIn(answer, call) ?? replyIn(answer, call.output);
    };
  const get: HttpService['get'] = async (path, call) => {
    const answer = await send('GET', path, call);
    if (answer.status === 404) return undefined;
    refusalIn(answer, call);
    return replyIn(answer, call.output);
  };

  return {
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    async delete(path, call) {
      const answer = await send('DELETE', path, call);
      return refusalIn(answer, call) ?? replyIn({ ...answer, text: '' }, Nothing);
    },
    get,
    lookup: (collection, idempotencyKey, call) => get(collection + path`?idempotencyKey=${idempotencyKey}`, call),
  };
}

const Nothing = z.object({});

/**
 * Returns the URL without a slash at its end. A missing URL says nothing about the idempotency key: an effect of an earlier attempt may
 * exist.
 */
function baseUrl(options: HttpServiceOptions, { repeated }: Call<string>): string {
  const [source, url] =
    'urlFrom' in options ? [options.urlFrom, process.env[options.urlFrom]] : [`The url of ${options.name}`, options.url];
  if (url && /^https?:/.test(url) && URL.canParse(url)) return url.replace(/\/+$/, '');
  throw new PermanentFailure(
    'NotConfigured',
    `${source} is ${url ? 'not an http URL' : 'not set'}. Set it to the address of the service, such as http://127.0.0.1:4000.`,
    { outcomeUnknown: repeated },
  );
}

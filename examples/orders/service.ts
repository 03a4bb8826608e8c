import { type Call, type Failed, type JsonObject, PermanentFailure, TransientFailure } from 'redress';
import * as z from 'zod';
import { type Answer, exchange } from './http.ts';

/**
 * A remote service that speaks JSON and honors an Idempotency-Key. It throws a TransientFailure for temporary failures. A refusal is a
 * declared fault, or a PermanentFailure of its own type. No message repeats the request, which may be secret.
 */
export interface Service {
  post<R extends z.ZodType, F extends string = never>(
    path: string,
    body: JsonObject | undefined,
    call: Call<F>,
    reply: R,
  ): Promise<z.output<R> | Failed<F>>;
  delete<F extends string = never>(path: string, call: Call<F>): Promise<Record<string, never> | Failed<F>>;
  /** Returns undefined if the thing does not exist (404). */
  get<R extends z.ZodType>(path: string, call: Call, reply: R): Promise<z.output<R> | undefined>;
}

/** Reads the URL at each call, so that a workflow can be defined without an environment. */
export function createService({ name, url }: { name: string; url: () => string }): Service {
  async function ask(method: string, path: string, call: Call<string>, body?: JsonObject): Promise<Answered> {
    const target = new URL(url().replace(/\/+$/, '') + path);
    const headers = { 'Idempotency-Key': call.idempotencyKey, ...(body ? { 'Content-Type': 'application/json' } : {}) };
    try {
      const answer = await exchange({ method, url: target, headers, body: body && JSON.stringify(body), signal: call.signal });
      return { ...answer, heading: `${name} answered ${answer.status} to ${method} ${path}` };
    } catch (cause) {
      const reason = call.signal.aborted ? 'in time' : `(${(cause as Error).message})`;
      throw new TransientFailure(`${name} did not answer ${method} ${path} ${reason}`, { cause });
    }
  }

  return {
    async post(path, body, call, reply) {
      const answer = await ask('POST', path, call, body);
      return refusalIn(answer, call) ?? replyIn(answer, reply);
    },
    async delete(path, call) {
      const answer = await ask('DELETE', path, call);
      return refusalIn(answer, call) ?? replyIn(answer, Nothing);
    },
    async get(path, call, reply) {
      const answer = await ask('GET', path, call);
      if (answer.status === 404) return undefined;
      refusalIn(answer, call);
      return replyIn(answer, reply);
    },
  };
}

interface Answered extends Answer {
  /** The service, the request and the status: the start of every message. */
  readonly heading: string;
}

const Nothing = z.unknown().transform((): Record<string, never> => ({}));

const Code = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9-]*$/);
const Refusal = z.looseObject({ code: Code });

/** Statuses of refusals that do not regard the key. An effect of an earlier try under the key still exists. */
const saysNothingOfKey: ReadonlySet<number> = new Set([401, 403, 404, 413]);

/** Returns a declared fault, or throws any other failure. Undefined if the service did not refuse. */
function refusalIn<F extends string>(answer: Answered, call: Call<F>): Failed<F> | undefined {
  const { status, heading } = answer;
  if (status < 400) return undefined;
  const { data: refusal } = Refusal.safeParse(json(answer));

  const mayPass = status >= 500 || status === 408 || status === 429 || (status === 409 && refusal?.code === 'request-in-progress');
  if (mayPass) throw new TransientFailure(heading, retryAfter(answer));
  const outcomeUnknown = call.repeated && (!refusal || saysNothingOfKey.has(status));
  if (!refusal) throw new PermanentFailure('RequestRefused', heading, { outcomeUnknown });

  const { code, ...rest } = refusal;
  const type = pascalCase(code);
  const message = `${heading}: ${code}`;
  const data = worthKeeping(rest);
  const declared = call.faults.find((fault) => fault.name === type);
  if (declared) return call.failed(declared, message, data);
  throw new PermanentFailure(type, message, { outcomeUnknown, ...(data ? { data } : {}) });
}

/** Returns the reply if it has the agreed form. Otherwise it is unknown whether the effect exists. */
function replyIn<R extends z.ZodType>(answer: Answered, reply: R): z.output<R> {
  const { success, data } = reply.safeParse(json(answer));
  if (success && answer.status >= 200 && answer.status < 300) return data;
  throw new PermanentFailure('InvalidReply', `${answer.heading}: the reply does not have the agreed form`, { outcomeUnknown: true });
}

function json({ text }: Answer): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const pascalCase = (code: string): string =>
  code
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const dataCharactersMax = 1024;

/** Returns the details of a refusal besides its code, such as the sku that is out of stock. */
const worthKeeping = (data: object): JsonObject | undefined => {
  const size = JSON.stringify(data).length;
  return size > '{}'.length && size <= dataCharactersMax ? (data as JsonObject) : undefined;
};

/** Parses seconds, or an HTTP date in any of its three forms (RFC 9110, 10.2.3). */
function retryAfter({ retryAfter: text = '' }: Answer): { retryAfterMs?: number } {
  if (/^\d+$/.test(text)) return { retryAfterMs: Number(text) * 1000 };
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  return Number.isNaN(at) ? {} : { retryAfterMs: Math.max(0, at - Date.now()) };
}

import { type Call, type Failed, type JsonObject, PermanentFailure, TransientFailure } from 'redress';
import * as z from 'zod';
import { type Answer, exchange } from './http.ts';

/**
 * A remote service that speaks JSON and honours an Idempotency-Key. What may pass is thrown as a TransientFailure; a
 * refusal is one of the declared faults, or else thrown as a PermanentFailure of its own type. No message repeats what
 * was sent: it may be secret.
 */
export interface Service {
  post<R extends z.ZodType, F extends string = never>(
    path: string,
    body: JsonObject | undefined,
    call: Call<F>,
    reply: R,
  ): Promise<z.output<R> | Failed<F>>;
  delete<F extends string = never>(path: string, call: Call<F>): Promise<Record<string, never> | Failed<F>>;
  /** Undefined when there is no such thing (404). */
  get<R extends z.ZodType>(path: string, call: Call, reply: R): Promise<z.output<R> | undefined>;
}

/** The URL is asked for at each call, so that a workflow can be described without an environment. */
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
  /** Who answered what: the start of every message about it. */
  readonly heading: string;
}

const Nothing = z.unknown().transform((): Record<string, never> => ({}));

const Code = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9-]*$/);
const Refusal = z.looseObject({ code: Code });

/** Whoever answers so has not looked at the key: what was done under it by an earlier try is still done. */
const saysNothingOfKey: ReadonlySet<number> = new Set([401, 403, 404, 413]);

/** Returns a declared fault, throws any other failure; undefined means that the service did not refuse. */
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

/** An answer that is neither a refusal nor what was agreed leaves open whether the thing was done. */
function replyIn<R extends z.ZodType>(answer: Answered, reply: R): z.output<R> {
  const { success, data } = reply.safeParse(json(answer));
  if (success && answer.status >= 200 && answer.status < 300) return data;
  throw new PermanentFailure('InvalidReply', `${answer.heading}, and not with what was agreed`, { outcomeUnknown: true });
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

/** What a refusal says beyond its code, such as which sku is out of stock. */
const worthKeeping = (data: object): JsonObject | undefined => {
  const size = JSON.stringify(data).length;
  return size > '{}'.length && size <= dataCharactersMax ? (data as JsonObject) : undefined;
};

/** Seconds, or an HTTP date in any of its three forms (RFC 9110, 10.2.3). */
function retryAfter({ retryAfter: text = '' }: Answer): { retryAfterMs?: number } {
  if (/^\d+$/.test(text)) return { retryAfterMs: Number(text) * 1000 };
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  return Number.isNaN(at) ? {} : { retryAfterMs: Math.max(0, at - Date.now()) };
}

import { type Call, type Failed, type FaultType, type JsonObject, PermanentFailure, TransientFailure } from 'redress';
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
    faults?: readonly FaultType<F>[],
  ): Promise<z.output<R> | Failed<F>>;
  delete<F extends string = never>(
    path: string,
    call: Call<F>,
    faults?: readonly FaultType<F>[],
  ): Promise<Record<string, never> | Failed<F>>;
  /** Undefined when there is no such thing (404). */
  get<R extends z.ZodType>(path: string, call: Call, reply: R): Promise<z.output<R> | undefined>;
}

/** The URL is asked for at each call, so that a workflow can be described without an environment. */
export function createService({ name, url }: { name: string; url: () => string }): Service {
  async function ask(method: string, path: string, call: Call<string>, body?: JsonObject): Promise<Answer> {
    const target = new URL(url().replace(/\/+$/, '') + path);
    const headers = { 'Idempotency-Key': call.idempotencyKey, ...(body ? { 'Content-Type': 'application/json' } : {}) };
    try {
      return await exchange({ method, url: target, headers, body: body && JSON.stringify(body), signal: call.signal });
    } catch (cause) {
      const reason = call.signal.aborted ? 'in time' : `(${(cause as Error).message})`;
      throw new TransientFailure(`${name} did not answer ${method} ${path} ${reason}`, { cause });
    }
  }

  return {
    async post(path, body, call, reply, faults) {
      const answer = await ask('POST', path, call, body);
      return refusalIn(answer, `${name}: POST ${path}`, call, faults) ?? replyIn(answer, `${name}: POST ${path}`, reply);
    },
    async delete(path, call, faults) {
      const answer = await ask('DELETE', path, call);
      return refusalIn(answer, `${name}: DELETE ${path}`, call, faults) ?? replyIn(answer, `${name}: DELETE ${path}`, nothing);
    },
    async get(path, call, reply) {
      const answer = await ask('GET', path, call);
      if (answer.status === 404) return undefined;
      refusalIn(answer, `${name}: GET ${path}`, call);
      return replyIn(answer, `${name}: GET ${path}`, reply);
    },
  };
}

const nothing = z.unknown().transform((): Record<string, never> => ({}));

const Refusal = z.looseObject({
  code: z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9-]*$/),
});

/** Returns a declared fault, throws any other failure; undefined means that the service did not refuse. */
function refusalIn<F extends string>(
  answer: Answer,
  asked: string,
  call: Call<F>,
  faults: readonly FaultType<F>[] = [],
): Failed<F> | undefined {
  const { status } = answer;
  if (status < 400) return undefined;
  const refusal = Refusal.safeParse(json(answer)).data;
  const message = `${asked} was answered ${status}${refusal ? ` ${refusal.code}` : ''}`;

  const passes = status >= 500 || status === 408 || status === 429 || (status === 409 && refusal?.code === 'request-in-progress');
  if (passes) throw new TransientFailure(message, retryAfter(answer));
  if (!refusal) throw new PermanentFailure('RequestRefused', message);

  const { code, ...rest } = refusal;
  const type = pascalCase(code);
  const data = worthKeeping(rest);
  const declared = faults.find((fault) => fault.name === type);
  if (declared) return call.failed(declared, message, data);
  throw new PermanentFailure(type, message, data && { data });
}

/** An answer that is neither a refusal nor what was agreed leaves open whether the thing was done. */
function replyIn<R extends z.ZodType>(answer: Answer, asked: string, reply: R): z.output<R> {
  const unknown = (what: string) =>
    new PermanentFailure('InvalidReply', `${asked} was answered ${answer.status} with ${what}`, { outcomeUnknown: true });
  if (answer.status < 200 || answer.status > 299) throw unknown('neither a result nor a refusal');
  const parsed = reply.safeParse(json(answer));
  if (!parsed.success) throw unknown('a body that is not what it should be');
  return parsed.data;
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

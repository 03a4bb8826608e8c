import * as z from 'zod';
import type { Call } from '#authoring/agent';
import { type Failed, PermanentFailure, TransientFailure } from '#authoring/fault';
import { issuesOf } from '#authoring/schema';
import type { JsonObject } from '#core/data/json';
import type { HttpAnswer } from './exchange.ts';

export interface Answer extends HttpAnswer {
  /** The service, the status and the request: the start of every message. The body is in no message, because it may be secret. */
  readonly heading: string;
}

const Refusal = z.looseObject({
  code: z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9-]*$/),
});

/** Statuses of refusals that say nothing about the idempotency key: an effect of an earlier attempt may exist. */
const saysNothingOfKey: ReadonlySet<number> = new Set([401, 403, 404, 413]);

/** Returns a declared fault, or throws any other failure. Undefined if the service did not refuse. */
export function refusalIn<F extends string>(answer: Answer, call: Call<F>): Failed<F> | undefined {
  const { status, heading } = answer;
  if (status < 400) return undefined;
  const { data: refusal } = Refusal.safeParse(json(answer));

  const isTemporary = status >= 500 || status === 408 || status === 429 || (status === 409 && refusal?.code === 'request-in-progress');
  if (isTemporary) throw new TransientFailure(heading, retryAfter(answer));
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

/** Returns the reply if it fits the schema. Otherwise it is unknown whether the effect exists. */
export function replyIn<O extends z.ZodType>(answer: Answer, schema: O): z.input<O> {
  const reply = answer.text === '' ? {} : json(answer);
  const problem = replyProblem(answer, reply, schema);
  if (problem === undefined) return reply as z.input<O>;
  throw new PermanentFailure('InvalidReply', `${answer.heading}: ${problem}`, { outcomeUnknown: true });
}

const issuesMax = 3;

/** Returns what is wrong with a reply, by the fields and types of the schema. It quotes no value of the reply, which may be secret. */
function replyProblem({ status }: Answer, reply: unknown, schema: z.ZodType): string | undefined {
  if (status < 200 || status >= 300) return 'expected a status of 200 to 299, or a refusal';
  if (reply === undefined) return 'the reply is not JSON';
  const { error } = schema.safeParse(reply);
  if (!error) return undefined;
  return `the reply does not match the schema: ${issuesOf({ issues: error.issues.slice(0, issuesMax) })}`;
}

function json({ text }: HttpAnswer): unknown {
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

/** Returns the details of a refusal besides its code, such as the sku that is out of stock; undefined if there are none, or too many. */
const worthKeeping = (data: object): JsonObject | undefined => {
  const size = JSON.stringify(data).length;
  return size > '{}'.length && size <= dataCharactersMax ? (data as JsonObject) : undefined;
};

/** Parses seconds, or an HTTP date in any of its three forms (RFC 9110, 10.2.3). */
function retryAfter({ retryAfter: text = '' }: HttpAnswer): { retryAfterMs?: number } {
  if (/^\d+$/.test(text)) return { retryAfterMs: Number(text) * 1000 };
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : NaN;
  return Number.isNaN(at) ? {} : { retryAfterMs: Math.max(0, at - Date.now()) };
}

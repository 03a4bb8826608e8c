import type { AnyOperation } from '#authoring/agent';
import { schemasOf } from '#authoring/catalog';
import { isObject, type Json } from '#core/data/json';
import { isError } from '#core/data/thrown';
import { declares, holdsSealed, withSealedReplaced } from '#core/definition/sealed';
import { secretPointers, secretTexts, textsWithin, withoutTexts } from '#core/definition/secrets';
import type { Keys } from '#ports/keys';
import type { Request } from '#ports/messages';
import { type OrderKey, orderKeyIn } from '#roles/secrets/order-key';
import { opened, sealed, withSecretsSealed } from '#roles/secrets/sealing';
import { failed, type Result } from './results.ts';

/** A request whose secrets the agent has decrypted, as far as the operation declares their fields. */
export interface OpenedRequest {
  readonly request: Request;
  /**
   * Texts of the secrets, and of the credentials that the operation has read so far. They must not appear in faults, logs and plain
   * outputs.
   */
  readonly secrets: string[];
  /** Returns a result as it may be stored: no fault quotes a secret, and an output holds secrets only sealed. */
  readonly closed: (result: Result) => Result;
}

/** An input that cannot be decrypted: the order's key was erased, or the text was changed. */
export interface UnopenedRequest {
  readonly problem: string;
}

export async function openRequest(
  request: Request,
  operation: AnyOperation,
  keys: Keys | undefined,
): Promise<OpenedRequest | UnopenedRequest> {
  const schemas = schemasOf(operation);
  const [ofInput, ofOutput] = [secretPointers(schemas.input), secretPointers(schemas.output)];
  const isSecret = holdsSealed(request.input);
  const key =
    request.key !== undefined && (isSecret || ofOutput.length > 0) ? await orderKeyIn(request.key, request.orderId, keys) : undefined;
  if (isSecret && !key) return { problem: `The input of order ${request.orderId} holds encrypted secrets, and the request has no key.` };
  /** The sealed texts. Each key is the JSON of the value that the text holds. */
  const found = new Map<string, string>();
  let input: Json;
  try {
    input = key ? withInputOpened(request.input, schemas.input, key, found) : request.input;
  } catch {
    return {
      problem: `The secrets of order ${request.orderId} cannot be decrypted: they were encrypted with another key than the order has now, or the text was changed.`,
    };
  }
  const secrets = [
    ...new Set([...[...found.keys()].flatMap((text) => textsWithin(JSON.parse(text) as Json)), ...secretTexts(input, ofInput)]),
  ];
  const closed = (result: Result): Result => {
    if (result.status === 'failed') return withoutInputSecrets(result, secrets);
    if (result.status !== 'succeeded' || !key || !keys) return result;
    const random = (bytes: number) => keys.random(bytes);
    const output = withSecretsSealed(result.output, ofOutput, key, random, `${request.path}#`);
    return {
      status: 'succeeded',
      output: withQuotesSealed(output, { found, secrets, seal: (value) => sealed(value, request.path, key, random) }),
    };
  };
  return { request: { ...request, input }, secrets, closed };
}

/** Decrypts the sealed texts in the fields that the schema declares. */
function withInputOpened(input: Json, schema: Json | undefined, key: OrderKey, found: Map<string, string>): Json {
  return withSealedReplaced(input, (text, pointer) => {
    if (schema !== undefined && !declares(schema, pointer)) return text;
    const value = opened(text, key);
    found.set(JSON.stringify(value), text);
    return value;
  });
}

interface Quotes {
  readonly found: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
  readonly seal: (value: Json) => string;
}

/** Shorter secrets are not searched for within texts: they match parts of ordinary texts, such as an id with the same digits. */
const quoteCharactersMin = 8;

/** Seals each text of an output that is, or quotes, a secret of the input. Later steps can still pass the sealed text on. */
function withQuotesSealed(value: Json, quotes: Quotes): Json {
  const { found, secrets, seal } = quotes;
  if (typeof value === 'string' || typeof value === 'number') {
    // Shorter values are not among the secrets either: see `secretTexts`.
    if (String(value).length < 4) return value;
    const same = found.get(JSON.stringify(value)) ?? found.get(JSON.stringify(String(value)));
    if (same !== undefined) return same;
    const long = secrets.filter(({ length }) => length >= quoteCharactersMin);
    return withoutTexts(value, long) === value ? value : seal(value);
  }
  if (Array.isArray(value)) return value.map((entry) => withQuotesSealed(entry, quotes));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withQuotesSealed(entry as Json, quotes)]));
}

/** Returns a result in which no fault quotes a secret of the request. */
function withoutInputSecrets(result: Extract<Result, { status: 'failed' }>, secrets: readonly string[]): Result {
  const { message, data, ...fault } = result.fault;
  const hidden = withoutTexts({ message, ...(data === undefined ? {} : { data }) }, secrets);
  return { status: 'failed', fault: { ...fault, ...hidden } };
}

/** Returns the reply to a request whose input cannot be decrypted. */
export const notOpened = (problem: string, outcomeUnknown: boolean): Result =>
  failed({ type: 'RequestRefused', message: problem, permanent: true, ...(outcomeUnknown ? { outcomeUnknown } : {}) });

const causesMax = 5;

/**
 * Returns an error without the secrets, of the same class. Callers shorten the texts of the error only afterwards: in a shortened text, a
 * part of a secret would not be recognized.
 */
export function withoutSecretsIn(error: unknown, secrets: readonly string[], depth = 0): unknown {
  if (secrets.length === 0 || depth > causesMax) return error;
  if (!isError(error)) return typeof error === 'string' || typeof error === 'number' ? withoutTexts(error, secrets) : error;
  const changed: PropertyDescriptorMap = {};
  for (const [name, value] of Object.entries(textsOf(error))) {
    const hidden = Array.isArray(value)
      ? value.map((each) => withoutSecretsIn(each, secrets, depth + 1))
      : typeof value === 'string'
        ? withoutTexts(value, secrets)
        : withoutSecretsIn(value, secrets, depth + 1);
    const isSame = Array.isArray(value) ? value.every((each, index) => (hidden as unknown[])[index] === each) : hidden === value;
    if (!isSame) changed[name] = { value: hidden, writable: true, configurable: true, enumerable: false };
  }
  if (Object.keys(changed).length === 0) return error;
  return Object.create(Object.getPrototypeOf(error), { ...Object.getOwnPropertyDescriptors(error), ...changed });
}

/** Returns the parts of an error that people see. */
function textsOf(error: object): { readonly [name: string]: unknown } {
  const { name, message, stack, cause, errors } = error as { readonly [name: string]: unknown };
  return Object.fromEntries(Object.entries({ name, message, stack, cause, errors }).filter(([, value]) => value !== undefined));
}

import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createRemoteJWKSet, type JSONWebKeySet, type JWK } from 'jose';
import * as z from 'zod';
import { SetupError } from '#ports/errors';
import { jsonIn } from '#ports/util/json';
import { clientIdPattern, type Issuer } from './authentication.ts';
import { cognitoClaims, standardClaims } from './claims.ts';
import { isLoopback } from './loopback.ts';

type Variables = { readonly [name: string]: string | undefined };

/** Timeout for fetching the issuer's keys. After it, the API answers 503 with Retry-After. */
const answerMs = 3000;
/**
 * The pause between two fetches of the keys, because anyone can send an unknown key id. An issuer publishes a new key before it signs with
 * it.
 */
const cooldownMs = 60_000;
/** The time for which fetched keys are cached. For that time calls succeed without the issuer, and a withdrawn key still counts. */
const keptMs = 600_000;

const text = () => z.string({ error: 'missing' });

const issuerAddress = text().refine(
  (value) => isAddress(value, /^https?:$/) && !/[?#]/.test(value),
  'expected a URL such as https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_example',
);
const audiences = text()
  .transform((value) => [...new Set(value.split(',').map((each) => each.trim()))].filter((each) => each !== ''))
  .refine((names) => names.length > 0, 'expected the audience of the tokens, or several, separated by commas');

/** Errors never quote the given value: it may hold a private key by mistake. */
const keySet = text().transform((value, context): JSONWebKeySet => {
  const { keys } = z.object({ keys: z.array(z.unknown()).min(1) }).safeParse(jsonIn(value)).data ?? { keys: [] };
  const read = keys.map(publicKeyIn);
  const problem =
    keys.length === 0
      ? 'expected a JWKS: {"keys":[...]} with at least one key'
      : (read.find((each) => typeof each === 'string') ??
        (isAmbiguous(read) ? 'expected a different "kid" for each of several keys' : undefined));
  if (problem !== undefined) context.addIssue(problem);
  return { keys: read.filter((each) => typeof each !== 'string') };
});
const clientsByApp = text().transform((value, context): ReadonlyMap<string, string> => {
  const { data } = z.record(z.string().min(1), z.string().regex(clientIdPattern)).safeParse(jsonIn(value));
  if (!data)
    context.addIssue(
      'expected JSON that maps each client_id of the issuer to a client of Redress, such as {"4f7kq": "acme"}. A client has letters, digits, ".", "_" and "-"',
    );
  return new Map(Object.entries(data ?? {}));
});

const Environment = z.object({
  REDRESS_ISSUER: issuerAddress,
  REDRESS_AUDIENCE: audiences,
  REDRESS_ISSUER_KEYS: keySet.optional(),
  REDRESS_ISSUER_JWKS_URL: text().refine(isSafe, 'expected an https URL (http is allowed for this machine only)').optional(),
  REDRESS_CLAIMS: z.enum(['standard', 'cognito']).default('standard'),
  REDRESS_CLIENTS: clientsByApp.optional(),
});

/**
 * Reads the issuer whose tokens the API accepts; undefined when none is configured. Empty variables count as absent.
 *
 * @throws SetupError that names every wrong variable and its expected value.
 */
export function readIssuer(environment: Variables): Issuer | undefined {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value !== '' && Object.hasOwn(Environment.shape, name)),
  );
  if (given['REDRESS_ISSUER'] === undefined) return undefined;
  const parsed = Environment.safeParse(given);
  const problems = [
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${String(path[0])}: ${message}`),
    ...contradictionsIn(given as Variables),
  ];
  if (!parsed.success || problems.length > 0)
    throw new SetupError(
      `The configuration of the token issuer is invalid: ${problems.join('; ')}.`,
      'Correct these variables, or unset REDRESS_ISSUER: tokens are then signed with a key in the data folder.',
    );

  const { REDRESS_ISSUER: issuer, REDRESS_AUDIENCE: audience, REDRESS_ISSUER_KEYS: keys, ...rest } = parsed.data;
  return {
    issuer,
    audience,
    keys: keys ?? remoteKeys(rest.REDRESS_ISSUER_JWKS_URL ?? keysAddressOf(issuer)),
    claims: rest.REDRESS_CLAIMS === 'cognito' ? cognitoClaims : standardClaims,
    ...(rest.REDRESS_CLIENTS === undefined ? {} : { appClients: rest.REDRESS_CLIENTS }),
  };
}

/** Contradictions between variables that are valid one by one. */
function contradictionsIn(given: Variables): readonly string[] {
  const { REDRESS_ISSUER: issuer = '', REDRESS_ISSUER_KEYS: keys, REDRESS_ISSUER_JWKS_URL: address } = given;
  const isAtIssuer = keys === undefined && address === undefined;
  return [
    ...(isAtIssuer && isAddress(issuer, /^http:$/) && !isSafe(keysAddressOf(issuer))
      ? ['REDRESS_ISSUER: its keys would be fetched without https; set REDRESS_ISSUER_KEYS or REDRESS_ISSUER_JWKS_URL']
      : []),
    ...(keys !== undefined && address !== undefined ? ['REDRESS_ISSUER_JWKS_URL: cannot be combined with REDRESS_ISSUER_KEYS'] : []),
    ...(given['REDRESS_CLIENTS'] !== undefined && given['REDRESS_CLAIMS'] !== 'cognito'
      ? ['REDRESS_CLIENTS: requires REDRESS_CLAIMS=cognito']
      : []),
  ];
}

const remoteKeys = (address: string) =>
  createRemoteJWKSet(new URL(address), { timeoutDuration: answerMs, cooldownDuration: cooldownMs, cacheMaxAge: keptMs });

const keysAddressOf = (issuer: string): string => `${issuer.replace(/\/+$/, '')}/.well-known/jwks.json`;

function isAddress(value: string, protocol: RegExp): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && protocol.test(url.protocol) && url.username === '' && url.password === '';
}

/** Whether keys can be fetched from this URL: without TLS, an attacker on the network could insert a key. */
function isSafe(value: string): boolean {
  return isAddress(value, /^https:$/) || (isAddress(value, /^http:$/) && isLoopback(new URL(value).hostname));
}

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const rsaBitsMin = 2048;
const Marks = z.object({ kid: z.string().min(1).optional(), use: z.literal('sig').optional(), alg: z.string().optional() });

/** Returns the public key alone, or what is wrong with it. */
function publicKeyIn(given: unknown, index: number): JWK | string {
  const which = `key ${index + 1}`;
  if (typeof given !== 'object' || given === null) return `${which} is not an object`;
  if (privateMembers.some((member) => Object.hasOwn(given, member))) return `${which} is a private key; expected public keys only`;
  const { data: marks } = Marks.safeParse(given);
  const read = keyIn(given as JsonWebKey);
  if (!marks || !read || (marks.alg ?? read.alg) !== read.alg) return `${which} is not a public key for ES256 or RS256 signatures`;
  return marks.kid === undefined ? read : { ...read, kid: marks.kid };
}

function keyIn(given: JsonWebKey): (JWK & { readonly alg: string }) | undefined {
  try {
    const key = createPublicKey({ key: given, format: 'jwk' });
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    const alg = namedCurve === 'prime256v1' ? 'ES256' : modulusLength >= rsaBitsMin ? 'RS256' : undefined;
    return alg === undefined ? undefined : { ...(key.export({ format: 'jwk' }) as JWK), alg };
  } catch {
    return undefined;
  }
}

/** Whether a token's `kid` could fail to identify its key. */
const isAmbiguous = (keys: readonly (JWK | string)[]): boolean => {
  const ids = keys.map((key) => (typeof key === 'string' ? undefined : key.kid));
  return ids.length > 1 && (ids.includes(undefined) || new Set(ids).size < ids.length);
};

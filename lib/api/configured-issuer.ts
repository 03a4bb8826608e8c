import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createRemoteJWKSet, type JSONWebKeySet, type JWK } from 'jose';
import * as z from 'zod';
import { SetupError } from '#ports/errors';
import { clientIdPattern, type Issuer } from './authentication.ts';
import { cognitoClaims, standardClaims } from './claims.ts';
import { isLoopback } from './loopback.ts';

type Variables = { readonly [name: string]: string | undefined };

/** An issuer that is slow must not keep a call waiting: its client is told to come again. */
const answerMs = 3000;
/** Anybody can make up the id of a key; the issuer is asked once a minute at most. It shows a new key before it signs with it. */
const cooldownMs = 60_000;
/** For so long a key that was withdrawn still counts, and calls go on while the issuer does not answer. */
const keptMs = 600_000;

const text = () => z.string({ error: 'it is missing' });

const issuerAddress = text().refine(
  (value) => isAddress(value, /^https?:$/) && !/[?#]/.test(value),
  'an address such as https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_example is wanted',
);
const audiences = text()
  .transform((value) => [...new Set(value.split(',').map((each) => each.trim()))].filter((each) => each !== ''))
  .refine((names) => names.length > 0, 'the audience of the tokens is wanted, or several, with commas between them');

/** Nothing of what was given is said again, neither here nor where it is no JSON: it may hold a private key by mistake. */
const keySet = text().transform((value, context): JSONWebKeySet => {
  const { keys } = z.object({ keys: z.array(z.unknown()).min(1) }).safeParse(jsonIn(value)).data ?? { keys: [] };
  const read = keys.map(publicKeyIn);
  const problem =
    keys.length === 0
      ? 'a JWKS is wanted: {"keys":[...]} with at least one key'
      : (read.find((each) => typeof each === 'string') ??
        (isAmbiguous(read) ? 'of several keys each wants a "kid" of its own' : undefined));
  if (problem !== undefined) context.addIssue(problem);
  return { keys: read.filter((each) => typeof each !== 'string') };
});
const clientsByApp = text().transform((value, context): ReadonlyMap<string, string> => {
  const { data } = z.record(z.string().min(1), z.string().regex(clientIdPattern)).safeParse(jsonIn(value));
  if (!data) context.addIssue('JSON such as {"<client_id>": "acme"} is wanted, with ids of clients: letters, digits, ".", "_" and "-"');
  return new Map(Object.entries(data ?? {}));
});

const Environment = z.object({
  REDRESS_ISSUER: issuerAddress,
  REDRESS_AUDIENCE: audiences,
  REDRESS_ISSUER_KEYS: keySet.optional(),
  REDRESS_ISSUER_JWKS_URL: text().refine(isSafe, 'an address with https is wanted; http only for this machine').optional(),
  REDRESS_CLAIMS: z.enum(['standard', 'cognito']).default('standard'),
  REDRESS_CLIENTS: clientsByApp.optional(),
});

/**
 * Whose tokens the API believes, as configured; undefined where nobody is. Empty variables count as absent.
 *
 * @throws SetupError that names every variable that is wrong, and what it takes.
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
      `The issuer of tokens is configured wrongly: ${problems.join('; ')}.`,
      'Correct these variables; without REDRESS_ISSUER the data folder is the issuer.',
    );

  const { REDRESS_ISSUER: issuer, REDRESS_AUDIENCE: audience, REDRESS_ISSUER_KEYS: keys, ...rest } = parsed.data;
  const appClients = rest.REDRESS_CLIENTS ?? new Map<string, string>();
  return {
    issuer,
    audience,
    keys: keys ?? remoteKeys(rest.REDRESS_ISSUER_JWKS_URL ?? keysAddressOf(issuer)),
    // Here the record of a client may one day name its app clients.
    claims: rest.REDRESS_CLAIMS === 'cognito' ? cognitoClaims((appClient) => appClients.get(appClient)) : standardClaims,
  };
}

/** What no variable shows by itself. */
function contradictionsIn(given: Variables): readonly string[] {
  const { REDRESS_ISSUER: issuer = '', REDRESS_ISSUER_KEYS: keys, REDRESS_ISSUER_JWKS_URL: address } = given;
  const isFetched = keys === undefined && address === undefined;
  return [
    ...(isFetched && isAddress(issuer, /^http:$/) && !isSafe(keysAddressOf(issuer))
      ? ['REDRESS_ISSUER: its keys would be fetched without https; give them as REDRESS_ISSUER_KEYS, or a REDRESS_ISSUER_JWKS_URL']
      : []),
    ...(keys !== undefined && address !== undefined ? ['REDRESS_ISSUER_JWKS_URL: it says nothing beside REDRESS_ISSUER_KEYS'] : []),
    ...(given['REDRESS_CLIENTS'] !== undefined && given['REDRESS_CLAIMS'] !== 'cognito'
      ? ['REDRESS_CLIENTS: it says nothing without REDRESS_CLAIMS=cognito']
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

/** Whoever sits on the way to the keys could put his own among them. */
function isSafe(value: string): boolean {
  return isAddress(value, /^https:$/) || (isAddress(value, /^http:$/) && isLoopback(new URL(value).hostname));
}

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const rsaBitsMin = 2048;
const Marks = z.object({ kid: z.string().min(1).optional(), use: z.literal('sig').optional(), alg: z.string().optional() });

/** The public key in what was given, with nothing else of it; or what is wrong with it. */
function publicKeyIn(given: unknown, index: number): JWK | string {
  const which = `key ${index + 1}`;
  if (typeof given !== 'object' || given === null) return `${which} is no key`;
  if (privateMembers.some((member) => Object.hasOwn(given, member))) return `${which} is private: give public keys only`;
  const { data: marks } = Marks.safeParse(given);
  const read = keyIn(given as JsonWebKey);
  if (!marks || !read || (marks.alg ?? read.alg) !== read.alg) return `${which} is no public key for signatures with ES256 or RS256`;
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

/** A token must say which of several keys has signed it. */
const isAmbiguous = (keys: readonly (JWK | string)[]): boolean => {
  const ids = keys.map((key) => (typeof key === 'string' ? undefined : key.kid));
  return ids.length > 1 && (ids.includes(undefined) || new Set(ids).size < ids.length);
};

function jsonIn(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

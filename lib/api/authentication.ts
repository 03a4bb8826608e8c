import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '#ports/clock';
import { type Claims, type ReadClaims, standardClaims } from './claims.ts';

/** The issuer whose tokens the API accepts. */
export interface Issuer {
  readonly issuer: string;
  /**
   * The audience that its tokens must name; one of several is enough. A token for another audience counts only if its app client is
   * registered.
   */
  readonly audience: string | readonly string[];
  /** A key set, or a function that finds a key: `createRemoteJWKSet(…)`. */
  readonly keys: JSONWebKeySet | JWTVerifyGetKey;
  /** Reads the claims of its tokens (default: `aud`, `roles`, `client` and `groups`). */
  readonly claims?: ReadClaims;
  /** The client of each app client of the stack, by its `client_id`. A registration that names the app client takes precedence. */
  readonly appClients?: ReadonlyMap<string, string>;
  /** The tolerated difference between the issuer's clock and this one (default 30, at most 60). */
  readonly skewSeconds?: number;
}

export const roles = ['client', 'viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The caller, as its token and the registration of its app client describe it. */
export interface Caller {
  readonly subject: string;
  /** The client whose orders the caller may see and submit. */
  readonly client?: string;
  /** The roles of the caller: an admin is also an operator, an operator also a viewer. The role `client` needs the id of a client. */
  readonly roles: ReadonlySet<Role>;
  /** The groups of people to which the caller belongs. */
  readonly groups: readonly string[];
}

export const anonymous: Caller = { subject: '', roles: new Set(), groups: [] };

/** Excludes `.` and `..`, which are path segments of their own in a URL. */
export const clientIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

export type Authentication =
  | { readonly outcome: 'known'; readonly caller: Caller }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'unavailable' };

const algorithms = ['ES256', 'RS256'];
const skewSecondsMax = 60;
const tokenCharactersMax = 8192;
/** The most groups of one token. If a token names more, only the first ones count. */
const groupsMax = 100;
const groupCharactersMax = 64;
/** The time for which a verified token is cached. For that time a withdrawn key or registration still counts. */
const rememberedMs = 30_000;
const rememberedMax = 2000;

/**
 * Creates a function that authenticates the caller from an Authorization header. `clientOfApp` returns the client whose registration
 * names the app client. The created function rejects if `clientOfApp` rejects.
 */
export function createAuthentication(
  { issuer, audience, keys, claims = standardClaims, appClients, skewSeconds = 30 }: Issuer,
  clock: Clock,
  clientOfApp: (appClient: string) => Promise<string | undefined>,
): (authorization: string | null) => Promise<Authentication> {
  const keyOf = typeof keys === 'function' ? keys : createLocalJWKSet(keys);
  const clockTolerance = Math.min(skewSeconds, skewSecondsMax);
  const remembered = new Map<string, { readonly known: Authentication; readonly until: number }>();

  async function payloadOf(token: string, now: number): Promise<JWTPayload | Exclude<Authentication['outcome'], 'known'>> {
    try {
      const required = { requiredClaims: ['exp', 'sub'], currentDate: new Date(now) };
      return (await jwtVerify(token, keyOf, { algorithms, issuer, clockTolerance, ...required })).payload;
    } catch (error) {
      return typeof keys === 'function' && isOutage(error) ? 'unavailable' : 'refused';
    }
  }

  async function verify(token: string, now: number): Promise<Authentication> {
    const payload = await payloadOf(token, now);
    if (typeof payload === 'string') return { outcome: payload };
    const claimed = claims(payload);
    const admitted = claimed && (await admittedClaims(claimed));
    const caller = admitted && callerOf(payload, admitted);
    if (!caller) return { outcome: 'refused' };
    const known: Authentication = { outcome: 'known', caller };
    remember(token, known, Math.min(now + rememberedMs, ((payload.exp ?? 0) + clockTolerance) * 1000));
    return known;
  }

  /**
   * Returns the claims with the client for which the app client acts. A token for another audience is admitted only by the registration of
   * its app client, and then keeps only the role `client`: its other roles may be meant for other systems of the same issuer.
   */
  async function admittedClaims(claimed: Claims): Promise<Claims | undefined> {
    const { appClient } = claimed;
    const registered = appClient === undefined ? undefined : await clientOfApp(appClient);
    const client = appClient === undefined ? claimed.client : (registered ?? appClients?.get(appClient));
    if (isFor(audience, claimed)) return { ...claimed, client };
    return registered === undefined ? undefined : { ...claimed, client, roles: [claimed.roles].flat().filter((role) => role === 'client') };
  }

  function remember(token: string, known: Authentication, until: number): void {
    const [oldest] = remembered.keys();
    if (remembered.size >= rememberedMax && oldest !== undefined) remembered.delete(oldest);
    remembered.set(token, { known, until });
  }

  return async (authorization) => {
    const token = /^Bearer +([\w.-]+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined || token.length > tokenCharactersMax) return { outcome: 'refused' };
    const now = clock.now();
    const entry = remembered.get(token);
    if (entry && entry.until > now) return entry.known;
    remembered.delete(token);
    return verify(token, now);
  };
}

const isFor = (audience: Issuer['audience'], { audience: named }: Claims): boolean =>
  [named].flat().some((each) => typeof each === 'string' && [audience].flat().includes(each));

/** Returns undefined when `sub` or `exp` is invalid. Unknown roles grant nothing. */
function callerOf({ sub, exp }: JWTPayload, { roles: claimed, client, groups }: Claims): Caller | undefined {
  if (typeof sub !== 'string' || sub === '' || !Number.isFinite(exp)) return undefined;
  const named: readonly unknown[] = Array.isArray(claimed) ? claimed : [];
  const operates = named.includes('operator') || named.includes('admin');
  // A viewer changes nothing, so a token with the roles viewer and client is not a client, unless it also has the role operator or admin.
  const isClient =
    named.includes('client') && (operates || !named.includes('viewer')) && typeof client === 'string' && clientIdPattern.test(client);
  const granted = new Set<Role>();
  if (isClient) granted.add('client');
  if (named.includes('admin')) granted.add('admin');
  if (operates) granted.add('operator');
  if (operates || named.includes('viewer')) granted.add('viewer');
  return { subject: sub, ...(isClient ? { client } : {}), roles: granted, groups: groupsIn(groups) };
}

/** Whether a text may name a group of people. */
export const isGroupName = (name: unknown): name is string => typeof name === 'string' && name !== '' && name.length <= groupCharactersMax;

const groupsIn = (claimed: unknown): readonly string[] =>
  Array.isArray(claimed) ? [...new Set(claimed.filter(isGroupName))].slice(0, groupsMax) : [];

/** Whether the issuer's keys could not be fetched, which says nothing about the token. */
const isOutage = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === 'ERR_JOSE_GENERIC';

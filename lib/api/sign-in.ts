import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { SetupError } from '#ports/errors';
import type { LocalIssuer } from './local-issuer.ts';

/** The sign-in of the console on the machine of its operator: a short-lived code becomes a session. */
export interface LocalSignIn {
  readonly kind: 'local';
  /** Returns a code that is valid for ten minutes and for one session. */
  code(): string;
  /** Returns the token of a new session; undefined if the code is wrong, expired or used. */
  start(code: string): Promise<string | undefined>;
}

/** The sign-in at an OpenID issuer: an authorization code with PKCE, which the console exchanges for a token itself. */
export interface IssuerSignIn {
  readonly kind: 'issuer';
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scope: string;
}

export type SignIn = LocalSignIn | IssuerSignIn;

/** The time for which a code is valid. */
const codeMs = 10 * 60_000;
export const sessionSeconds = 12 * 60 * 60;

/**
 * Creates the sign-in with the issuer of the data folder. A code is signed with a key of that folder, so the command line can also make
 * one. The process remembers used codes until they expire.
 */
export function createLocalSignIn({ cursorKey, sign }: Pick<LocalIssuer, 'cursorKey' | 'sign'>, now: () => number): LocalSignIn {
  const used = new Map<string, number>();
  const macOf = (payload: string): Buffer => createHmac('sha256', cursorKey).update(`sign-in ${payload}`).digest().subarray(0, 18);

  /** Uses a code up. Returns false if the code is wrong, expired or used. */
  function redeem(code: string): boolean {
    const [, payload = '', until = '', mac = ''] = /^(([0-9a-z]{1,12})\.[\w-]{12})\.([\w-]{24})$/.exec(code) ?? [];
    const at = Number.parseInt(until, 36);
    if (payload === '' || !timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(payload))) return false;
    for (const [each, expiresAt] of used) if (expiresAt <= now()) used.delete(each);
    if (at <= now() || at > now() + codeMs || used.has(payload)) return false;
    used.set(payload, at);
    return true;
  }

  return {
    kind: 'local',
    code() {
      const payload = `${(now() + codeMs).toString(36)}.${randomBytes(9).toString('base64url')}`;
      return `${payload}.${macOf(payload).toString('base64url')}`;
    },
    start: async (code) => (redeem(code) ? sign({ role: 'admin', subject: 'local', expiresInSeconds: sessionSeconds }) : undefined),
  };
}

const url = z.url({ protocol: /^https?$/, error: 'expected a URL' });
const Environment = z.object({
  REDRESS_SIGN_IN_CLIENT: z.string().min(1),
  REDRESS_SIGN_IN_AUTHORIZE_URL: url,
  REDRESS_SIGN_IN_TOKEN_URL: url,
  REDRESS_SIGN_IN_SCOPE: z.string().min(1).default('openid'),
});

/**
 * Reads the sign-in at the configured issuer; undefined if there is none. Empty variables count as absent.
 *
 * @throws SetupError that names every wrong variable.
 */
export function readSignIn(environment: { readonly [name: string]: string | undefined }): IssuerSignIn | undefined {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  if (given['REDRESS_SIGN_IN_CLIENT'] === undefined) return undefined;
  const { data, error } = Environment.safeParse(given);
  if (!data)
    throw new SetupError(
      `The sign-in of the console is not configured correctly: ${error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`).join('; ')}.`,
      'Correct these variables, or unset REDRESS_SIGN_IN_CLIENT.',
    );
  return {
    kind: 'issuer',
    authorizeUrl: data.REDRESS_SIGN_IN_AUTHORIZE_URL,
    tokenUrl: data.REDRESS_SIGN_IN_TOKEN_URL,
    clientId: data.REDRESS_SIGN_IN_CLIENT,
    scope: data.REDRESS_SIGN_IN_SCOPE,
  };
}

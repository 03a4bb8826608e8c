import { type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { SessionHeaders } from './schemas/console.ts';
import { sessionSeconds } from './sign-in.ts';

/*
 * The session of the console on the operator's own machine: a token in a cookie that no script can read. Browsers send the cookie to this
 * origin alone (SameSite=Strict), and a call that changes something must also come from a page of this origin.
 */

const plainName = 'redress_session';
/** Browsers accept this name only with Secure, without a domain and for the whole host. */
const secureName = '__Host-redress_session';

/** The parts of a request that a session needs. */
interface SessionRequest {
  readonly method: string;
  readonly header: (name: string) => string | null | undefined;
}

/** Returns the credential of a request as an Authorization header: its own, or else that of the session. */
export function authorizationOf({ method, header }: SessionRequest): string | null {
  const given = header('authorization');
  if (given !== null && given !== undefined) return given;
  const token = cookieIn(header('cookie') ?? '');
  return token !== undefined && isFromHere({ method, header }) ? `Bearer ${token}` : null;
}

const cookieIn = (cookies: string): string | undefined => /(?:^|;\s*)(?:__Host-)?redress_session=([\w.-]+)/.exec(cookies)?.[1];

/** Whether no page of another origin made the request. A browser sends Origin with every call that may change something. */
function isFromHere({ method, header }: SessionRequest): boolean {
  // A page cannot set this header. Browsers send it to this machine and over https.
  const site = header('sec-fetch-site');
  if (site === 'same-origin') return true;
  if (site === 'cross-site' || site === 'same-site') return false;
  const origin = header('origin');
  if (origin === null || origin === undefined) return method === 'GET' || method === 'HEAD';
  return URL.canParse(origin) && new URL(origin).host === header('host');
}

/** Says how a person signs in to the console. */
export function showSignIn({ api: { signIn } }: Call): Answer {
  if (!signIn) return json(200, { kind: 'none' });
  const { kind } = signIn;
  return json(200, kind === 'local' ? { kind } : signIn);
}

/** Answers with the name, the roles and the groups of the caller. */
export const showSession = ({ api, caller }: Call): Answer =>
  json(200, { subject: caller.subject, roles: [...caller.roles], groups: caller.groups, hasChaos: api.chaos !== undefined });

/** Starts a session with a code. Its lifetime is that of the token in it. */
export async function startSession({ api: { signIn }, headers }: Call<unknown, SessionHeaders>): Promise<Answer | Refusal> {
  const header = (name: string) => (headers as { readonly [name: string]: string | undefined })[name];
  // Software other than a browser sends no Origin. It is accepted, because it has the code and replaces no session of another person.
  if (!isFromHere({ method: 'GET', header })) return refuse('forbidden');
  const token = signIn?.kind === 'local' ? await signIn.start(headers['sign-in-code'] ?? '') : undefined;
  if (token === undefined) return refuse('unauthenticated', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
  return json(200, { expiresInSeconds: sessionSeconds }, { headers: { 'set-cookie': cookieOf(token, sessionSeconds, isSecure(headers)) } });
}

/** Ends the session of this browser. */
export const endSession = ({ headers }: Call<unknown, Omit<SessionHeaders, 'sign-in-code'>>): Answer =>
  json(200, { expiresInSeconds: 0 }, { headers: { 'set-cookie': cookieOf('', 0, isSecure(headers)) } });

const isSecure = (headers: Partial<SessionHeaders>): boolean => headers['origin']?.startsWith('https:') === true;

const cookieOf = (token: string, seconds: number, secure: boolean): string =>
  `${secure ? secureName : plainName}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

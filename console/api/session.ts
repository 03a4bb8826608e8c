import { signal } from '@preact/signals';
import { forgetDrafts, forgetDraftsOfOthers } from '../parts/draft.ts';
import { call, get, Problem, setBearer, signedOut } from './client.ts';
import { forgetAnswers } from './poll.ts';

/** The person who is signed in. */
export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Whether this system offers chaos experiments. */
  readonly hasChaos: boolean;
}

export type SignIn =
  | { readonly kind: 'local' | 'none' }
  | {
      readonly kind: 'issuer';
      readonly authorizeUrl: string;
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly scope: string;
    };

/** Undefined until the console knows who is signed in; null when nobody is. */
export const person = signal<Person | null | undefined>(undefined);
export const signIn = signal<SignIn | undefined>(undefined);
/** The reason why a sign-in failed. */
export const signInProblem = signal<string | undefined>(undefined);

export const has = (role: string): boolean => person.value?.roles.includes(role) === true;
/** The highest role, for the top bar. */
export const roleOf = ({ roles }: Person): string =>
  ['admin', 'operator', 'viewer', 'client'].find((role) => roles.includes(role)) ?? 'nobody';

/** A sign-in at the issuer that is under way. It holds no token, and is deleted when the person comes back. */
interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly back: string;
}
const pendingKey = 'redress-sign-in';

/** Finds out who is signed in, and first completes a sign-in if the issuer has just sent the person back. */
export async function startSession(): Promise<void> {
  try {
    await completeSignIn();
  } catch (error) {
    signInProblem.value = error instanceof Error ? error.message : String(error);
  }
  const whoIs = get<Person>('/session').catch((error: unknown) => {
    if (error instanceof Problem && error.status === 401) return null;
    signInProblem.value = error instanceof Error ? error.message : String(error);
    return null;
  });
  const [who, how] = await Promise.all([whoIs, get<SignIn>('/sign-in').catch(() => undefined)]);
  signIn.value = how;
  signedOut.value = false;
  forgetAnswers();
  if (who) forgetDraftsOfOthers(who.subject);
  person.value = who;
}

async function completeSignIn(): Promise<void> {
  const fragment = /^#\/sign-in\?code=([\w.-]+)$/.exec(location.hash)?.[1];
  if (fragment !== undefined) {
    history.replaceState(null, '', '/#/');
    dispatchEvent(new HashChangeEvent('hashchange'));
    await call('POST', '/session', { headers: { 'sign-in-code': fragment } }).catch((error: unknown) => {
      throw error instanceof Problem && error.status === 401 ? new Error('This link has expired, or somebody has used it.') : error;
    });
    return;
  }
  const given = new URLSearchParams(location.search);
  const [code, state] = [given.get('code'), given.get('state')];
  if (code === null && given.get('error') === null) return;
  const pending = takePending();
  history.replaceState(null, '', `/${pending?.back ?? ''}`);
  dispatchEvent(new HashChangeEvent('hashchange'));
  if (code === null) throw new Error(`The issuer refused the sign-in: ${given.get('error_description') ?? given.get('error')}.`);
  if (!pending || pending.state !== state) throw new Error('This sign-in was not begun in this tab. Sign in again.');
  await exchange(code, pending.verifier);
}

function takePending(): Pending | undefined {
  const text = sessionStorage.getItem(pendingKey);
  sessionStorage.removeItem(pendingKey);
  try {
    return text === null ? undefined : (JSON.parse(text) as Pending);
  } catch {
    return undefined;
  }
}

async function exchange(code: string, verifier: string): Promise<void> {
  const how = await get<SignIn>('/sign-in');
  if (how.kind !== 'issuer') throw new Error('This system signs nobody in at an issuer.');
  const response = await fetch(how.tokenUrl, {
    method: 'POST',
    credentials: 'omit',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: how.clientId,
      code,
      code_verifier: verifier,
      redirect_uri: `${location.origin}/`,
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (!response.ok || token === undefined) throw new Error('The issuer gave no token. Sign in again.');
  setBearer(token);
}

/** Opens the issuer's sign-in page. Afterwards the issuer sends the person back to the same view. */
export async function signInAtIssuer(how: SignIn & { kind: 'issuer' }): Promise<void> {
  const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));
  const [state, verifier] = [random(), random()];
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
  sessionStorage.setItem(pendingKey, JSON.stringify({ state, verifier, back: location.hash } satisfies Pending));
  const url = new URL(how.authorizeUrl);
  const query = {
    response_type: 'code',
    client_id: how.clientId,
    redirect_uri: `${location.origin}/`,
    scope: how.scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  location.assign(url);
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

export async function signOut(): Promise<void> {
  setBearer(undefined);
  await call('DELETE', '/session').catch(() => undefined);
  forgetAnswers();
  forgetDrafts();
  person.value = null;
}

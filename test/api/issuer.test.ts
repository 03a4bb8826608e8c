import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { type JWK, SignJWT } from 'jose';
import { readIssuer } from '#api/configured-issuer';
import { SetupError, StoreUnavailableError } from '#ports/errors';
import { registerClient } from '#testing/world/register-client';
import { startApi } from './support.ts';

interface Signer {
  readonly alg: 'ES256' | 'RS256';
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: JWK;
}

function newSigner(alg: Signer['alg'], kid: string): Signer {
  const { privateKey, publicKey } =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { alg, kid, privateKey, publicJwk: { ...(publicKey.export({ format: 'jwk' }) as JWK), kid, alg, use: 'sig' } };
}

const pool = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI';
const seconds = Date.UTC(2026, 0, 1) / 1000;
const rsa = newSigner('RS256', 'rsa-1');
const ec = newSigner('ES256', 'ec-1');

const signedBy = ({ privateKey, alg, kid }: Signer, claims: object): Promise<string> =>
  new SignJWT({ iss: pool, exp: seconds + 3600, ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey);
const setOf = (...signers: readonly Signer[]): string => JSON.stringify({ keys: signers.map(({ publicJwk }) => publicJwk) });

const inline = { REDRESS_ISSUER: pool, REDRESS_AUDIENCE: 'redress', REDRESS_ISSUER_KEYS: setOf(rsa, ec) };
const operator = { sub: 'olga', aud: 'redress', roles: ['operator'] };

/** The API with the issuer of these variables. */
function apiWith(variables: { readonly [name: string]: string }) {
  const issuer = readIssuer(variables) ?? assert.fail('nobody is configured');
  return startApi({ issuer });
}

function complaintAbout(variables: { readonly [name: string]: string }): SetupError {
  try {
    readIssuer(variables);
  } catch (error) {
    assert.ok(error instanceof SetupError, String(error));
    return error;
  }
  return assert.fail('nothing is said against it');
}

test('without REDRESS_ISSUER no issuer is configured, and an empty variable counts as absent', () => {
  assert.equal(readIssuer({}), undefined);
  assert.equal(readIssuer({ REDRESS_ISSUER: '', PATH: '/bin' }), undefined);
  assert.deepEqual(readIssuer({ ...inline, REDRESS_CLIENTS: '', REDRESS_ISSUER_JWKS_URL: '' })?.audience, ['redress']);
});

test('all invalid variables are named together, each with its allowed values and the remedy', () => {
  const { message, remedy } = complaintAbout({
    REDRESS_ISSUER: 'cognito',
    REDRESS_AUDIENCE: ' , ',
    REDRESS_ISSUER_KEYS: '{}',
    REDRESS_ISSUER_JWKS_URL: 'http://example.org/keys',
    REDRESS_CLAIMS: 'okta',
    REDRESS_CLIENTS: '{"app":"not a client"}',
  });
  for (const name of ['ISSUER', 'AUDIENCE', 'ISSUER_KEYS', 'ISSUER_JWKS_URL', 'CLAIMS', 'CLIENTS'])
    assert.match(message, new RegExp(`\\bREDRESS_${name}: `));
  assert.match(remedy, /^Correct these variables, /);
});

test('the error about an invalid variable names that variable', () => {
  const fetched = { REDRESS_ISSUER: pool, REDRESS_AUDIENCE: 'redress' };
  const wrong: readonly [object, RegExp][] = [
    [{ REDRESS_AUDIENCE: '' }, /REDRESS_AUDIENCE: missing\.$/],
    [{ REDRESS_ISSUER: 'ftp://example.org' }, /REDRESS_ISSUER: expected a URL such as https:/],
    [{ REDRESS_ISSUER: 'https://user@example.org' }, /REDRESS_ISSUER: expected a URL such as https:/],
    [{ REDRESS_ISSUER: 'https://:secret@example.org' }, /REDRESS_ISSUER: expected a URL such as https:/],
    [{ REDRESS_ISSUER: 'https://example.org/?pool=1' }, /REDRESS_ISSUER: expected a URL such as https:/],
    [{ REDRESS_ISSUER: 'http://example.org' }, /REDRESS_ISSUER: its keys would be fetched without https/],
    [{ REDRESS_ISSUER_JWKS_URL: 'http://127.0.0.1.example.org/' }, /REDRESS_ISSUER_JWKS_URL: expected an https URL/],
    [{ REDRESS_ISSUER_JWKS_URL: 'file:///etc/keys' }, /REDRESS_ISSUER_JWKS_URL: expected an https URL/],
    [{ ...inline, REDRESS_ISSUER_JWKS_URL: 'https://example.org/' }, /REDRESS_ISSUER_JWKS_URL: cannot be combined with/],
    [{ REDRESS_CLIENTS: '{"app":"acme"}' }, /REDRESS_CLIENTS: requires REDRESS_CLAIMS=cognito/],
    [{ REDRESS_CLAIMS: 'cognito', REDRESS_CLIENTS: '["acme"]' }, /REDRESS_CLIENTS: expected JSON that maps/],
    [{ REDRESS_CLAIMS: 'cognito', REDRESS_CLIENTS: '{"app":7}' }, /REDRESS_CLIENTS: expected JSON that maps/],
    [{ REDRESS_ISSUER_KEYS: 'https://example.org/keys' }, /REDRESS_ISSUER_KEYS: expected a JWKS/],
    [{ REDRESS_ISSUER_KEYS: '{"keys":[]}' }, /REDRESS_ISSUER_KEYS: expected a JWKS/],
    [{ REDRESS_ISSUER_KEYS: '{"keys":[7]}' }, /REDRESS_ISSUER_KEYS: key 1 is not an object/],
    [{ REDRESS_ISSUER_KEYS: setOf(ec, { ...rsa, kid: ec.kid, publicJwk: { ...rsa.publicJwk, kid: ec.kid } }) }, /different "kid"/],
    [{ REDRESS_ISSUER_KEYS: setOf(ec, { ...rsa, publicJwk: { ...rsa.publicJwk, kid: undefined as never } }) }, /different "kid"/],
  ];
  for (const [change, expected] of wrong) assert.match(complaintAbout({ ...fetched, ...change }).message, expected, JSON.stringify(change));
  for (const good of ['http://127.0.0.1:9229/pool', 'http://localhost/pool', 'http://[::1]:1/pool', `${pool}/`])
    assert.equal(readIssuer({ ...fetched, REDRESS_ISSUER: good })?.issuer, good);
});

test('a private key, or one with another algorithm, is refused without quoting it', () => {
  const jwkOf = (key: KeyObject) => ({ ...(key.export({ format: 'jwk' }) as JWK), kid: 'k' });
  const { privateKey: p384, publicKey: publicP384 } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const given: readonly [string, object | string, RegExp][] = [
    ['an EC key with its private half', jwkOf(ec.privateKey), /key 1 is a private key/],
    ['an RSA key with its private half', jwkOf(rsa.privateKey), /key 1 is a private key/],
    ['a secret', { kty: 'oct', k: 'c2VjcmV0LW9mLXRoZS1pc3N1ZXI' }, /key 1 is a private key/],
    ['a private key of another curve', jwkOf(p384), /key 1 is a private key/],
    ['a private key in a text that is cut off', JSON.stringify({ keys: [jwkOf(ec.privateKey)] }).slice(0, -3), /expected a JWKS/],
    ['a private key as PEM', ec.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string, /expected a JWKS/],
    ['a public key of another curve', jwkOf(publicP384), /key 1 is not a public key for ES256 or RS256 signatures/],
    ['an RSA key that is too short', jwkOf(short), /key 1 is not a public key/],
    ['a key for encryption', { ...rsa.publicJwk, use: 'enc' }, /key 1 is not a public key/],
    ['a key for another algorithm', { ...rsa.publicJwk, alg: 'PS256' }, /key 1 is not a public key/],
    ['a key that is damaged', { ...ec.publicJwk, x: 'AAAA' }, /key 1 is not a public key/],
  ];
  for (const [what, key, expected] of given) {
    const REDRESS_ISSUER_KEYS = typeof key === 'string' ? key : JSON.stringify({ keys: [key] });
    const { message, remedy } = complaintAbout({ ...inline, REDRESS_ISSUER_KEYS });
    assert.match(message, expected, what);
    for (const part of REDRESS_ISSUER_KEYS.match(/[\w-]{12,}/g) ?? []) assert.ok(!`${message}${remedy}`.includes(part), `${what}: ${part}`);
  }
});

test('tokens of an issuer with inline keys are accepted for each of the audiences', async () => {
  const { ask } = apiWith({ ...inline, REDRESS_AUDIENCE: 'console, redress,console' });
  const expected: readonly [string, number][] = [
    [await signedBy(rsa, operator), 200],
    [await signedBy(ec, { ...operator, aud: 'console' }), 200],
    [await signedBy(ec, { ...operator, aud: ['other', 'console'] }), 200],
    [await signedBy(ec, { sub: 'a', aud: 'redress', roles: ['client'], client: 'acme' }), 200],
    [await signedBy(ec, { ...operator, aud: 'console, redress' }), 401],
    [await signedBy(ec, { ...operator, aud: undefined }), 401],
    [await signedBy(ec, { ...operator, aud: undefined, client_id: 'redress', token_use: 'access' }), 401],
    [await signedBy(ec, { ...operator, iss: `${pool}2` }), 401],
    [await signedBy(newSigner('ES256', 'ec-1'), operator), 401],
    [await signedBy({ ...rsa, kid: 'unknown' }, operator), 401],
  ];
  for (const [index, [token, status]] of expected.entries())
    assert.equal((await ask('GET', '/orders', { token })).status, status, `${index}`);
});

const cognito = {
  ...inline,
  REDRESS_CLAIMS: 'cognito',
  REDRESS_AUDIENCE: 'console-app,acme-app',
  REDRESS_CLIENTS: '{"acme-app":"acme","foreign-app":"acme"}',
};
const idToken = { token_use: 'id', sub: 'u-1', aud: 'console-app', 'cognito:groups': ['operator'], 'cognito:username': 'olga' };
const accessToken = { token_use: 'access', sub: 'u-1', client_id: 'console-app', 'cognito:groups': ['operator'], scope: 'openid' };
const registration = { responseChannels: [], senders: [], reason: 'a new client' };
const machine = { token_use: 'access', sub: 'acme-app', client_id: 'acme-app', scope: 'redress/client' };

test('Cognito: groups and scopes give the roles, an attribute or the app client gives the client', async () => {
  const { ask } = apiWith(cognito);
  const clientUser = { ...idToken, 'cognito:groups': ['client'], 'custom:client': 'acme' };
  /** The rights of each token: submit as a client, list as an operator, register clients as an admin. */
  const tokens: readonly [string, object, string][] = [
    ['an operator who signed in', idToken, 'list'],
    ['a viewer who signed in', { ...idToken, 'cognito:groups': ['viewer'] }, 'list'],
    ['a viewer who is also a user of a client', { ...clientUser, 'cognito:groups': ['client', 'viewer'] }, 'list'],
    ['an admin who signed in', { ...idToken, 'cognito:groups': ['sales', 'admin'] }, 'list register'],
    ['a user of a client', clientUser, 'list submit'],
    ['a user of a client whom nobody gave to one', { ...clientUser, 'custom:client': undefined }, ''],
    ['a user of a client that cannot be', { ...clientUser, 'custom:client': 'a b' }, ''],
    ['a user in no group', { ...idToken, 'cognito:groups': undefined, 'custom:client': 'acme' }, ''],
    ['a user whose groups are no list', { ...idToken, 'cognito:groups': 'operator' }, ''],
    ['roles in the words of another issuer', { ...idToken, 'cognito:groups': [], roles: ['operator'] }, ''],
    ['a scope in a token of identity', { ...idToken, 'cognito:groups': [], scope: 'redress/operator' }, ''],
    ['an operator for whom a program asks', accessToken, 'list'],
    ['a user for whom a program asks, which may do more than he', { ...accessToken, 'cognito:groups': [], scope: 'redress/operator' }, ''],
    ['a user of a client whose program has none', { ...accessToken, 'cognito:groups': ['client'], 'custom:client': 'acme' }, ''],
    ['a user of a client whose program has one', { ...machine, sub: 'u-2', 'cognito:groups': ['client'], scope: 'openid' }, 'list submit'],
    ['a program of a client', machine, 'list submit'],
    ['a program that operates', { ...machine, scope: 'redress/operator' }, 'list'],
    ['a program that administers', { ...machine, scope: 'openid redress/admin' }, 'list register'],
    ['a program of a client and more, which may not do both', { ...machine, scope: 'redress/client redress/operator' }, 'list'],
    ['a program without a scope', { ...machine, scope: undefined }, ''],
    ['a program with a scope of another server', { ...machine, scope: 'other/operator redress/operators redress/' }, ''],
    ['a program without a client', { ...machine, sub: 'console-app', client_id: 'console-app' }, ''],
  ];
  for (const [index, [who, claims, expected]] of tokens.entries()) {
    const token = await signedBy(rsa, claims);
    const headers = { 'idempotency-key': `k${index}` };
    const body = { order: { sku: 'tea', quantity: 1, card: 'tok' } };
    const may = [
      ...((await ask('GET', '/orders', { token })).status === 200 ? ['list'] : []),
      ...((await ask('POST', '/orders', { token, headers, body })).status === 202 ? ['submit'] : []),
      ...((await ask('PUT', `/clients/x${index}`, { token, body: registration })).status === 201 ? ['register'] : []),
    ];
    assert.equal(may.join(' '), expected, who);
  }
});

test('Cognito: an order that a program submits belongs to the client of its app client', async () => {
  const { ask, store } = apiWith(cognito);
  const body = { order: { sku: 'tea', quantity: 1, card: 'tok' } };
  const { json } = await ask('POST', '/orders', { token: await signedBy(rsa, machine), headers: { 'idempotency-key': 'k' }, body });
  assert.equal((await store.load(json.orderId))?.order.client, 'acme');
});

describe('Cognito: an app client that the registration of a client names', () => {
  const newcomer = { ...machine, sub: 'new-app', client_id: 'new-app' };
  const order = { order: { sku: 'tea', quantity: 1, card: 'tok' } };

  // A11 in docs/internals/findings.md.
  test('submits as its client, without another deployment', async () => {
    const { ask, store, clock } = apiWith(cognito);
    const submit = async (jti: string) =>
      ask('POST', '/orders', { token: await signedBy(rsa, { ...newcomer, jti }), headers: { 'idempotency-key': jti }, body: order });
    assert.equal((await submit('a')).status, 401, 'it is not registered yet');
    await registerClient(store, { id: 'newbie', appClients: ['new-app'] });
    const { status, json } = await submit('a');
    assert.equal(status, 202);
    assert.equal((await store.load(json.orderId))?.order.client, 'newbie');

    await registerClient(store, { id: 'newbie' });
    assert.equal((await submit('b')).status, 401, 'a new token is checked against the registration');
    await clock.advance(30_001);
    assert.equal((await submit('a')).status, 401, 'a cached token counts for half a minute');
  });

  test('has the client of its registration rather than that of the environment', async () => {
    const { ask, store } = apiWith(cognito);
    await registerClient(store, { id: 'zenith', appClients: ['acme-app'] });
    const { json } = await ask('POST', '/orders', {
      token: await signedBy(rsa, machine),
      headers: { 'idempotency-key': 'k' },
      body: order,
    });
    assert.equal((await store.load(json.orderId))?.order.client, 'zenith');
  });

  test('never counts as an operator, and its ID tokens are refused', async () => {
    const { ask, store } = apiWith(cognito);
    await registerClient(store, { id: 'newbie', appClients: ['new-app'] });
    const statusOf = async (claims: object) => (await ask('GET', '/channels', { token: await signedBy(rsa, claims) })).status;
    assert.equal(await statusOf({ ...newcomer, scope: 'redress/operator redress/admin' }), 403, 'the scopes of operators');
    assert.equal(await statusOf({ ...newcomer, sub: 'u-1', 'cognito:groups': ['admin'] }), 403, 'an admin who signed in to it');
    assert.equal(await statusOf({ ...idToken, aud: 'new-app' }), 401, 'an ID token for it');
    assert.equal(await statusOf({ ...newcomer, client_id: 'NEW-APP', sub: 'NEW-APP' }), 401, 'another spelling');
  });

  test('gets 503, and is not refused, while the store is unavailable', async () => {
    const { store } = apiWith(cognito);
    const away = Object.assign(Object.create(store), {
      clientOfApp: () => Promise.reject(new StoreUnavailableError('away', { fatal: false })),
    });
    const { ask } = startApi({ issuer: readIssuer(cognito) ?? assert.fail(), store: away });
    assert.equal((await ask('GET', '/orders', { token: await signedBy(rsa, newcomer) })).status, 503);
  });
});

test('Cognito: a token of the wrong kind, for another app client or of another pool is refused', async () => {
  const { ask } = apiWith(cognito);
  const { token_use: _, ...kindless } = idToken;
  const refused: { readonly [why: string]: object } = {
    'no kind': kindless,
    'no kind, with all claims of both': { ...accessToken, ...idToken, token_use: undefined },
    'another kind': { ...idToken, token_use: 'refresh' },
    'a list of kinds': { ...idToken, token_use: ['id'] },
    'an ID token that says access': { ...idToken, token_use: 'access' },
    'an access token that says id': { ...accessToken, token_use: 'id' },
    'an ID token for another app client': { ...idToken, aud: 'foreign-app' },
    'an ID token for another app client, with ours beside it': { ...idToken, aud: 'foreign-app', client_id: 'console-app' },
    'an access token of another app client': { ...accessToken, client_id: 'foreign-app' },
    'an access token of another app client that a client is named for': { ...machine, sub: 'foreign-app', client_id: 'foreign-app' },
    'an access token of another app client, with ours as audience': { ...accessToken, client_id: 'foreign-app', aud: 'console-app' },
    'an access token of several app clients': { ...accessToken, client_id: ['console-app'] },
    'no app client': { ...accessToken, client_id: undefined },
    'no sub': { ...idToken, sub: undefined },
    'an access token without sub': { ...machine, sub: undefined },
    'another pool': { ...idToken, iss: pool.replace('AbC', 'XyZ') },
    'a pool with a longer name': { ...idToken, iss: `${pool}J` },
  };
  assert.equal((await ask('GET', '/orders', { token: await signedBy(rsa, idToken) })).status, 200);
  for (const [why, claims] of Object.entries(refused))
    assert.equal((await ask('GET', '/orders', { token: await signedBy(rsa, claims) })).status, 401, why);
  const otherPool = newSigner('RS256', rsa.kid);
  assert.equal(
    (await ask('GET', '/orders', { token: await signedBy(otherPool, idToken) })).status,
    401,
    'the signature is of another pool',
  );
});

/** An issuer that serves its keys over HTTP, until the test changes that. */
async function startIssuer(t: TestContext, ...signers: readonly Signer[]) {
  const fetches: string[] = [];
  const shows =
    (...keys: readonly Signer[]): RequestListener =>
    (_, response) =>
      void response.end(setOf(...keys));
  let answer = shows(...signers);
  const server = createServer((request, response) => {
    fetches.push(request.url ?? '');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pool`;
  return {
    url,
    fetches: fetches,
    variables: { REDRESS_ISSUER: url, REDRESS_AUDIENCE: 'redress' },
    show: (...keys: readonly Signer[]) => void (answer = shows(...keys)),
    do: (other: RequestListener) => void (answer = other),
    /** A different token each time, because a known token is not verified again. */
    token: (signer: Signer, jti: string) => signedBy(signer, { ...operator, iss: url, jti }),
  };
}

test('the keys of an issuer are fetched once, from its well-known address or from the configured one', async (t) => {
  const issuer = await startIssuer(t, rsa);
  const { ask } = apiWith(issuer.variables);
  for (const jti of ['1', '2', '3']) assert.equal((await ask('GET', '/orders', { token: await issuer.token(rsa, jti) })).status, 200);
  assert.deepEqual(issuer.fetches, ['/pool/.well-known/jwks.json']);

  const { ask: askOther } = apiWith({ ...issuer.variables, REDRESS_ISSUER_JWKS_URL: issuer.url.replace('/pool', '/keys') });
  assert.equal((await askOther('GET', '/orders', { token: await issuer.token(rsa, '4') })).status, 200);
  assert.deepEqual(issuer.fetches.slice(1), ['/keys']);
});

test('while the keys of the issuer are unavailable, calls get 503 with retry-after, and succeed as soon as the issuer is back', async (t) => {
  const issuer = await startIssuer(t, rsa);
  const { ask } = apiWith(issuer.variables);
  const trouble: { readonly [what: string]: RequestListener } = {
    'the line breaks': ({ socket }) => void socket.destroy(),
    'an error': (_, response) => void response.writeHead(500).end('{"keys":[]}'),
    'a way to somewhere else': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    'a page for people': (_, response) => void response.end('<html>maintenance</html>'),
    'another document': (_, response) => void response.end('{"error":"maintenance"}'),
    silence: () => {},
  };
  const token = await issuer.token(rsa, '1');
  for (const [what, listener] of Object.entries(trouble)) {
    issuer.do(listener);
    const began = performance.now();
    const { status, json, headers } = await ask('GET', '/orders', { token });
    assert.deepEqual([status, json.code, headers.get('retry-after')], [503, 'unavailable', '2'], what);
    assert.ok(performance.now() - began < 4_500, `${what}: an answer comes in time`);
  }
  issuer.show(rsa);
  assert.equal((await ask('GET', '/orders', { token })).status, 200);
});

test('a new key works within a minute, a withdrawn key works for ten more minutes, and invented key ids cause no extra fetches', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: seconds * 1000 });
  const issuer = await startIssuer(t, rsa);
  const { ask, clock } = apiWith(issuer.variables);
  const next = newSigner('ES256', 'ec-2');
  const status = async (signer: Signer, jti: string) => (await ask('GET', '/orders', { token: await issuer.token(signer, jti) })).status;
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await clock.advance(ms);
  };
  assert.equal(await status(rsa, 'a'), 200);
  issuer.show(rsa, next);
  for (let index = 0; index < 20; index++) assert.equal(await status({ ...next, kid: `made-up-${index}` }, 'b'), 401);
  assert.equal(issuer.fetches.length, 1);
  await pass(60_001);
  assert.equal(await status(next, 'c'), 200);
  assert.equal(await status(rsa, 'd'), 200, 'both keys are valid while both are published');
  assert.equal(issuer.fetches.length, 2);

  issuer.show(next);
  await pass(599_000);
  assert.equal(await status(rsa, 'd'), 200);
  await pass(1_001);
  assert.equal(await status(next, 'e'), 200);
  await pass(30_000);
  assert.equal(await status(rsa, 'd'), 401, 'a token that was valid a moment ago is refused');
});

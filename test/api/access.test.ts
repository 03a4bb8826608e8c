import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { base64url, CompactSign, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { createAuthentication, type Role } from '#api/authentication';
import { routes } from '#api/routes';
import { manualClock } from '#ports/clock';
import { timeText, wakeUpMessage } from '#ports/messages';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { type CallOptions, goodSubmission, issuer, startApi, tokens, type Who } from './support.ts';

/** The roles of each token. */
const granted: { readonly [who in Who]: readonly Role[] } = {
  acme: ['client'],
  other: ['client'],
  clientless: [],
  viewer: ['viewer'],
  operator: ['operator', 'viewer'],
  admin: ['admin', 'operator', 'viewer'],
  visitor: [],
};

/** Cursors are sealed for one person. */
const withoutCursor = (answer: { readonly json: object } | undefined) => ({ ...answer?.json, next: null });

const cancel = 'POST /orders/{id}/cancel';
const signal = 'POST /orders/{id}/signals/{name}';
/** A well-formed request for each call, so that only access decides. */
const wellFormed: { readonly [call: string]: CallOptions } = {
  'POST /orders/{id}/lock': { body: { seconds: 1, reason: 'r' } },
  'POST /orders': { headers: { 'idempotency-key': 'matrix' }, body: goodSubmission },
  'POST /orders/{id}/cancel': { body: { reason: 'matrix' } },
  'POST /orders/{id}/signals/{name}': { body: {} },
  'POST /orders/{id}/exceptions': { headers: { 'idempotency-key': 'matrix' }, body: { type: 'Damaged', message: 'm' } },
  'POST /orders/{id}/rebuild': { body: { reason: 'matrix', dryRun: true } },
  'POST /orders/{id}/erase': { body: { reason: 'matrix' } },
  'POST /orders/{id}/instructions': { body: { kind: 'resubmit', reason: 'matrix', dryRun: true } },
  'POST /channels/{name}/dead-letters/bulk': { body: { filter: {}, action: 'discard', reason: 'matrix', dryRun: true } },
  'DELETE /channels/{name}/dead-letters/{id}': { body: { reason: 'matrix', dryRun: true } },
  'POST /channels/{name}/dead-letters/{id}/resubmit': { body: { reason: 'matrix', dryRun: true } },
  'PUT /rules/{id}': { body: { event: { kind: 'step-late' }, action: { kind: 'suspend' }, reason: 'r' } },
  'PUT /solutions/{id}': { body: { instruction: { kind: 'resubmit' }, appliesWhen: 'true', reason: 'r' } },
  'POST /solutions/{id}/rule': { body: {} },
  'POST /workflows/{name}/{version}/check': { body: {} },
  'POST /rules/back-test': { body: { rule: { event: { kind: 'exception' }, action: { kind: 'suspend' } }, days: 1 } },
  'POST /bulk': {
    headers: { 'idempotency-key': 'matrix' },
    body: { filter: { ids: ['ord_none'] }, instruction: { kind: 'resubmit' }, reason: 'matrix', ratePerSecond: 1 },
  },
  'POST /bulk/{id}/start': { body: { reason: 'matrix' } },
  'POST /bulk/{id}/pause': { body: { reason: 'matrix' } },
  'POST /bulk/{id}/resume': { body: { reason: 'matrix' } },
  'POST /bulk/{id}/stop': { body: { reason: 'matrix' } },
  'POST /tasks/{id}/assign': { body: { group: 'matrix' } },
  'POST /tasks/{id}/comment': { body: { text: 'matrix' } },
  'POST /tasks/{id}/resolve': { body: { instruction: { kind: 'resubmit' }, reason: 'matrix' } },
  'PUT /groups/{name}': { body: { members: [], notify: [] } },
  'PATCH /exceptions/groups/{id}': { body: { note: 'matrix' } },
  'PUT /clients/{id}': { body: { responseChannels: [], senders: [], reason: 'a test' } },
  'POST /channels/{name}/close': { body: { reason: 'matrix' } },
  'POST /channels/{name}/open': { body: {} },
  'POST /chaos': { body: { kind: 'kill-scheduler' } },
};

test('every call accepts only the roles that the table of roles lists for it, and an order of another client is not found (OWASP API1, API5)', async () => {
  const { ask, orderInError, deadLetter, keeper } = startApi();
  await keeper.keep();
  await ask('PUT', '/rules/acme', { as: 'admin', ...wellFormed['PUT /rules/{id}'] });
  await ask('PUT', '/solutions/acme', { as: 'operator', ...wellFormed['PUT /solutions/{id}'] });
  const message = await deadLetter({ queue: 'wake-ups', body: wakeUpMessage(await orderInError('k3'), 0) });
  const toCancel = await orderInError('k2');
  const objects = { own: await orderInError('k'), absent: `ord_${'a'.repeat(52)}`, strange: '..%2f%00' };
  for (const { method, path, roles } of routes) {
    const call = `${method} ${path}`;
    const good =
      call === 'POST /orders' || call === 'POST /bulk' || call === 'POST /orders/{id}/exceptions'
        ? [202]
        : call === cancel
          ? [202, 409]
          : call === signal || path === '/orders/{id}/erase'
            ? [409]
            : /^\/channels\/\{name\}\/(open|close)$/.test(path) || call.startsWith('POST /tasks')
              ? [200, 409]
              : path.startsWith('/bulk/{id}') || path.startsWith('/chaos') || path === '/exceptions/groups/{id}'
                ? [404]
                : call === 'PUT /clients/{id}' || call === 'PUT /groups/{name}'
                  ? [201]
                  : path === '/orders/{id}/lock'
                    ? [200, 204, 409]
                    : /^(PUT|DELETE) \/(rules|solutions)/.test(call)
                      ? [400, 428]
                      : call === 'POST /session'
                        ? [401]
                        : path === '/console/{name}'
                          ? [404]
                          : [200];
    const [part = ''] = path.slice(1).split('/');
    const any: { readonly [part: string]: string } = {
      channels: message,
      exceptions: exceptionIdOf(toCancel, 1),
      tasks: taskIdOf(toCancel, 1),
    };
    const other = { any: any[part] ?? 'acme' };
    for (const [object, given] of Object.entries(path.startsWith('/orders/{id}') ? objects : other)) {
      const id = call === cancel && object === 'own' ? toCancel : given;
      for (const who of Object.keys(tokens) as Who[]) {
        const { status } = await ask(method, addressOf(path, id), { as: who, ...wellFormed[call] });
        const allowed = roles === 'anyone' || roles.some((role) => granted[who].includes(role));
        const seen = object === 'any' || (object === 'own' && who !== 'other');
        assert.ok((!allowed ? [403] : !seen ? [404] : good).includes(status), `${call} ${object} as ${who}: ${status}`);
      }
      const { status } = await ask(method, addressOf(path, id), wellFormed[call]);
      assert.equal(status, roles === 'anyone' ? good[0] : 401, `${call} ${object} without a token`);
    }
  }
});

function addressOf(path: string, id: string): string {
  const name = path.startsWith('/channels') ? 'wake-ups' : path.startsWith('/workflows') ? 'fulfil-order' : 'visa';
  return path.replace('{id}', id).replace('{name}', name).replace('{version}', '3');
}

test('a viewer reads what an operator reads, except the audit and the clients, and each change by a viewer is refused', async () => {
  const { ask, orderInError, deadLetter, keeper, stored } = startApi();
  await keeper.keep();
  await ask('PUT', '/rules/acme', { as: 'admin', ...wellFormed['PUT /rules/{id}'] });
  await ask('PUT', '/solutions/acme', { as: 'operator', ...wellFormed['PUT /solutions/{id}'] });
  const id = await orderInError('k');
  const message = await deadLetter({ queue: 'wake-ups', body: wakeUpMessage(id, 0) });
  const before = await stored();
  const operating = routes.filter(({ roles }) => roles !== 'anyone' && roles.some((role) => role !== 'viewer'));
  for (const { method, path } of operating.filter(({ path }) => path !== '/session')) {
    const call = `${method} ${path}`;
    const others = {
      channels: message,
      clients: 'acme',
      rules: 'acme',
      solutions: 'acme',
      exceptions: exceptionIdOf(id, 1),
      tasks: taskIdOf(id, 1),
    };
    const given = Object.entries(others).find(([part]) => path.startsWith(`/${part}`))?.[1] ?? id;
    const at = addressOf(path, given);
    const read = (as: Who) => ask(method, at, { as, ...(method === 'GET' ? {} : wellFormed[call]) });
    const mine = await read('viewer');
    if (method !== 'GET' || /^\/(audit|clients)/.test(path)) assert.equal(mine.status, 403, call);
    else if (path.startsWith('/bulk/{id}') || path.startsWith('/chaos')) assert.equal(mine.status, 404, call);
    else assert.deepEqual([mine.status, withoutCursor(mine)], [200, withoutCursor(await read('operator'))], call);
  }
  assert.equal(await stored(), before);
});

test('a caller whose token has the roles viewer and client submits and cancels nothing, and has the groups that the token names', async () => {
  const { ask, stored } = startApi({ issuer: known });
  const before = await stored();
  const token = await signed({ ...good, roles: ['client', 'viewer'], client: 'acme' });
  const submitted = await ask('POST', '/orders', { token, headers: { 'idempotency-key': 'k2' }, body: goodSubmission });
  const canceled = await ask('POST', '/orders/mine/cancel', { token, body: { reason: 'mine' } });
  assert.deepEqual([submitted.status, canceled.status, await stored()], [403, 403, before]);

  const authenticate = createAuthentication(known, manualClock(), async () => undefined);
  const groupsOf = async (groups: unknown) => {
    const known = await authenticate(`Bearer ${await signed({ ...good, groups })}`);
    return known.outcome === 'known' ? known.caller.groups : known.outcome;
  };
  assert.deepEqual(await groupsOf(['claims', 'claims', '', 7, 'x'.repeat(65), 'night']), ['claims', 'night']);
  for (const none of [undefined, 'claims', { claims: true }]) assert.deepEqual(await groupsOf(none), []);
});

test('a request for the order of another client gets the same answer, byte for byte, as one for an order that never existed', async () => {
  const { ask, orderInError } = startApi();
  const orderId = await orderInError('k');
  const never = `ord_${'a'.repeat(52)}`;
  for (const path of ['', '/history']) {
    const [theirs, nobodys] = await Promise.all([orderId, never].map((id) => ask('GET', `/orders/${id}${path}`, { as: 'other' })));
    const alike = (answer: typeof theirs) => [
      answer?.status,
      { ...answer?.json, requestId: '', instance: '' },
      [...(answer?.headers ?? [])].filter(([name]) => name !== 'x-request-id'),
    ];
    assert.deepEqual(alike(theirs), alike(nobodys));
    assert.equal(theirs?.status, 404);
    assert.equal(theirs?.json.instance, `/orders/${orderId}${path}`);
  }
});

test('a caller with the role client cannot give an instruction of an operator, register a client or list clients, and the refused calls change nothing', async () => {
  const { ask, orderInError, stored } = startApi();
  const orderId = await orderInError('k');
  const before = await stored();
  const tries: readonly [string, string, CallOptions][] = [
    ['POST', `/orders/${orderId}/instructions`, { body: { kind: 'resubmit', reason: 'mine' }, headers: { 'if-match': '"3"' } }],
    ['PUT', '/clients/acme', { body: { responseChannels: ['redress-response-x'], senders: [], reason: 'mine' } }],
    ['GET', '/clients', {}],
    ['GET', '/clients', { headers: { 'x-http-method-override': 'PUT', 'x-roles': 'admin' } }],
  ];
  for (const [method, path, options] of tries)
    assert.equal((await ask(method, path, { as: 'acme', ...options })).status, 403, `${method} ${path}`);
  assert.equal((await ask('PUT', '/clients/acme', { as: 'operator', body: {} })).status, 403);
  for (const as of ['viewer', 'operator', 'admin', 'clientless'] as const)
    assert.equal((await ask('POST', '/orders', { as, headers: { 'idempotency-key': 'k2' }, body: goodSubmission })).status, 403, as);
  assert.equal((await ask('POST', `/orders/${orderId}`, { as: 'operator', headers: { 'x-http-method-override': 'GET' } })).status, 405);
  assert.equal(await stored(), before);
});

const seconds = Date.UTC(2026, 0, 1) / 1000;
const good: JWTPayload = { iss: issuer.issuer, aud: issuer.audience, sub: 'acme', exp: seconds + 3600, roles: ['client'], client: 'acme' };
const [publicKey] = issuer.keys.keys;
const ours = { alg: 'ES256', kid: publicKey?.kid ?? '' };

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Signs claims unchanged; the `sign` of the local issuer would correct them. */
const signed = (claims: object, header: object = {}): Promise<string> =>
  new SignJWT(claims as JWTPayload).setProtectedHeader({ ...ours, ...header }).sign(pair.privateKey);
const signedText = (text: string): Promise<string> => new CompactSign(Buffer.from(text)).setProtectedHeader(ours).sign(pair.privateKey);
/** An issuer whose key the test has. */
const known = {
  issuer: issuer.issuer,
  audience: issuer.audience,
  keys: { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: ours.kid, alg: 'ES256', use: 'sig' }] },
  skewSeconds: 0,
};
const raw = (header: unknown, payload: unknown, signature = 'AAAA') =>
  [header, payload]
    .map((part) => base64url.encode(typeof part === 'string' ? part : JSON.stringify(part)))
    .concat(signature)
    .join('.');

test('every invalid token is refused with the same answer, whatever its error', async () => {
  const { ask, stored } = startApi({ issuer: known });
  const { ask: askLocal } = startApi();
  const before = await stored();
  assert.equal((await ask('GET', '/orders', { token: await signed(good) })).status, 200);
  assert.equal((await ask('GET', '/orders', { token: await signed({ ...good, aud: ['x', issuer.audience] }) })).status, 200);

  const without = (claim: string) => Object.fromEntries(Object.entries(good).filter(([name]) => name !== claim));
  const pem = pair.publicKey.export({ format: 'pem', type: 'spki' }) as string;
  const hs256 = (secret: string | Buffer) => {
    const text = raw({ alg: 'HS256', kid: ours.kid }, good, '').slice(0, -1);
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const goodToken = await signed(good);
  const [head = '', payload = '', signature = ''] = goodToken.split('.');
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const bad: { readonly [why: string]: string } = {
    'no signature': new UnsecuredJWT(good).encode(),
    'alg None': raw({ alg: 'None' }, good, ''),
    'alg nOnE with our signature': `${base64url.encode('{"alg":"nOnE"}')}.${payload}.${signature}`,
    'HS256 with the public key as PEM': hs256(pem),
    'HS256 with the public key as JWK': hs256(JSON.stringify(known.keys.keys[0])),
    'ES256 claimed as RS256': `${base64url.encode(JSON.stringify({ ...ours, alg: 'RS256' }))}.${payload}.${signature}`,
    'another key': await new SignJWT(good).setProtectedHeader(ours).sign(other),
    'its key brought along': await new SignJWT(good)
      .setProtectedHeader({ ...ours, jwk: pair.publicKey.export({ format: 'jwk' }) as never })
      .sign(other),
    'a key elsewhere': await new SignJWT(good)
      .setProtectedHeader({ ...ours, jku: 'http://127.0.0.1:9/keys', x5u: 'http://127.0.0.1:9/x' })
      .sign(other),
    'kid ../../': await signed(good, { kid: '../../' }),
    'kid SQL': await signed(good, { kid: "' OR 1=1 --" }),
    'kid URL': await signed(good, { kid: 'http://127.0.0.1:9/' }),
    'unknown critical header': raw({ ...ours, crit: ['x'], x: 1 }, good, signature),
    'no aud': await signed(without('aud')),
    'another aud': await signed({ ...good, aud: 'another' }),
    'a list of other aud': await signed({ ...good, aud: ['a', 'b'] }),
    'an empty list of aud': await signed({ ...good, aud: [] }),
    'no iss': await signed(without('iss')),
    'another iss': await signed({ ...good, iss: 'http://evil.example' }),
    'no exp': await signed(without('exp')),
    'exp as text': await signedText(JSON.stringify({ ...good, exp: String(seconds + 60) })),
    'exp without end': await signedText(JSON.stringify(good).replace(/"exp":\d+/, '"exp":1e309')),
    expired: await signed({ ...good, exp: seconds - 1 }),
    'not yet good': await signed({ ...good, nbf: seconds + 61 }),
    'no sub': await signed(without('sub')),
    'empty sub': await signed({ ...good, sub: '' }),
    'changed payload': `${head}.${base64url.encode(JSON.stringify({ ...good, client: 'other' }))}.${signature}`,
    'cut signature': goodToken.slice(0, -4),
    'no dots': 'junk',
    'two dots and nothing': '..',
    'four dots': `${goodToken}.x.y`,
    'payload no JSON': await signedText('nonsense'),
    'payload a list': await signedText('[]'),
    'a megabyte': 'a'.repeat(1_000_000),
    'of the local issuer': tokens.acme,
  };
  const answers = new Set<string>();
  for (const [why, token] of Object.entries(bad)) {
    const { status, json, text } = await ask('GET', '/orders', { token });
    assert.deepEqual([status, json.code], [401, 'unauthenticated'], why);
    assert.ok(!text.includes(token.slice(0, 40)) || token.length < 10, why);
    answers.add(JSON.stringify({ ...json, requestId: '' }));
  }
  assert.equal(answers.size, 1, 'the answer does not show the cause');
  assert.equal((await askLocal('GET', '/orders', { token: goodToken })).status, 401);
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    `Basic ${btoa('a:b')}`,
    `bearer${goodToken}`,
    `Bearer ${goodToken}, Bearer ${goodToken}`,
    goodToken,
  ])
    assert.equal((await ask('GET', '/orders', { headers: { authorization } })).status, 401, authorization);
  assert.equal((await ask('GET', '/orders', { headers: { authorization: `bearer ${goodToken}` } })).status, 200);
  assert.equal(await stored(), before);
});

test('a valid token grants exactly the roles that it claims', async () => {
  const { ask } = startApi({ issuer: known });
  const claims: readonly [object, number][] = [
    [{ roles: ['client'] }, 200],
    [{ roles: ['client', 'visitor'] }, 200],
    [{ roles: 'client' }, 403],
    [{ roles: [['client']] }, 403],
    [{ roles: { client: true } }, 403],
    [{ roles: ['Client'] }, 403],
    [{ roles: [] }, 403],
    [{ roles: undefined }, 403],
    [{ client: undefined }, 403],
    [{ client: '' }, 403],
    [{ client: 7 }, 403],
    [{ client: ['acme'] }, 403],
    [{ client: 'a b' }, 403],
    [{ client: 'c'.repeat(129) }, 403],
    [{ roles: ['operator'], client: undefined }, 200],
  ];
  for (const [change, status] of claims)
    assert.equal((await ask('GET', '/orders', { token: await signed({ ...good, ...change }) })).status, status, JSON.stringify(change));
});

test('a token is valid until it expires, however often it was used', async () => {
  const { ask, clock } = startApi();
  const token = await issuer.sign({ role: 'operator', expiresInSeconds: 10 });
  assert.equal((await ask('GET', '/orders', { token })).status, 200);
  await clock.advance(9_000);
  assert.equal((await ask('GET', '/orders', { token })).status, 200);
  await clock.advance(1_000);
  assert.equal((await ask('GET', '/orders', { token })).status, 401);
});

test('when the keys of the token issuer are unavailable, a token is not refused: the answer is 503', async () => {
  const { ask } = startApi({ issuer: { ...known, keys: () => Promise.reject(new TypeError('fetch failed')) } });
  const { status, json } = await ask('GET', '/orders', { token: await signed(good) });
  assert.deepEqual([status, json.code], [503, 'unavailable']);
});

test('an admin registers clients and lists them', async () => {
  const { ask, store, clock } = startApi();
  const record = {
    responseChannels: ['redress-response-a', 'redress-response-b'],
    senders: ['AIDAEXAMPLE', 'AROAEXAMPLE:session', 'AROAEXAMPLE:*'],
    appClients: ['1example23456789'],
  };
  const written = { rev: 1, by: 'ada', at: timeText(clock.now()), reason: 'a new client' };
  const none = { responseChannels: [], senders: [] };
  for (const [id, body] of Object.entries({ zeta: none, acme: record, 'b.2_c-d': none })) {
    const { status, json, headers } = await ask('PUT', `/clients/${id}`, { as: 'admin', body: { ...body, reason: written.reason } });
    assert.deepEqual([status, json, headers.get('etag')], [201, { id, appClients: [], ...body, ...written }, '"1"']);
  }
  const changed = await ask('PUT', '/clients/zeta', {
    as: 'admin',
    headers: { 'if-match': '"1"' },
    body: { ...none, senders: ['AIDAEXAMPLE'], reason: 'it sends by message' },
  });
  const zeta = { id: 'zeta', ...none, senders: ['AIDAEXAMPLE'], appClients: [], ...written, rev: 2, reason: 'it sends by message' };
  assert.deepEqual([changed.status, changed.json, changed.headers.get('etag')], [200, zeta, '"2"']);
  const first = (await ask('GET', '/clients?limit=2', { as: 'admin' })).json;
  const second = (await ask('GET', `/clients?limit=2&cursor=${first.next}`, { as: 'admin' })).json;
  assert.deepEqual(
    [...first.items, ...second.items].map(({ id }) => id),
    ['acme', 'b.2_c-d', 'zeta'],
  );
  assert.deepEqual(second.items, [zeta]);
  assert.equal(second.next, null);

  const before = await store.clients();
  const nobody = { responseChannels: [], senders: [], reason: 'a test' };
  const wrong: readonly [string, unknown, number, string][] = [
    ['acme', { responseChannels: ['http://169.254.169.254/'] }, 422, '/responseChannels/0'],
    ['acme', { responseChannels: ['redress-response-'] }, 422, '/responseChannels/0'],
    ['acme', { responseChannels: [`redress-response-${'x'.repeat(61)}`] }, 422, '/responseChannels/0'],
    ['acme', { responseChannels: ['redress-response-../x'] }, 422, '/responseChannels/0'],
    ['acme', { responseChannels: ['arn:aws:sqs:eu-west-1:1:redress-response-x'] }, 422, '/responseChannels/0'],
    ['acme', { responseChannels: 'redress-response-a' }, 422, '/responseChannels'],
    ['acme', { ...nobody, senders: [''] }, 422, '/senders/0'],
    ['acme', { ...nobody, senders: Array(101).fill('s') }, 422, '/senders'],
    ...['*', 'AROA*', 'AROA:*', 'AROAEXAMPLE:*x', 'AROAEXAMPLE:x*', 'AIDAEXAMPLE:*', 'aroaexample:*', ' AROAEXAMPLE:*'].map(
      (sender): [string, unknown, number, string] => ['acme', { ...nobody, senders: [sender] }, 422, '/senders/0'],
    ),
    ['acme', { ...nobody, appClients: ['a b'] }, 422, '/appClients/0'],
    ['acme', { ...nobody, appClients: Array(21).fill('a') }, 422, '/appClients'],
    ['acme', { ...none }, 422, '/reason'],
    ['acme', { ...nobody, reason: ' ' }, 422, '/reason'],
    ['acme', { ...nobody, id: 'other' }, 422, '/id'],
    ['acme', {}, 422, '/responseChannels'],
    ['acme', { responseChannels: [] }, 422, '/senders'],
    ['a b', nobody, 400, '/id'],
    ['c'.repeat(129), nobody, 400, '/id'],
    ['..%2fx', nobody, 400, '/id'],
  ];
  for (const [id, body, status, pointer] of wrong) {
    const refused = await ask('PUT', `/clients/${id}`, { as: 'admin', body });
    assert.deepEqual([refused.status, refused.json.errors[0].pointer], [status, pointer], `${id} ${JSON.stringify(body)}`);
  }
  assert.deepEqual(await store.clients(), before);
});

describe('a change of a registration', () => {
  const body = { responseChannels: [], senders: ['old'], reason: 'a new client' };
  const evil = { responseChannels: ['redress-response-evil'], senders: ['AROAEVIL:*'], reason: 'none of your business' };
  type Ask = ReturnType<typeof startApi>['ask'];
  const put = (ask: Ask, given: object, ifMatch?: string, id = 'acme') =>
    ask('PUT', `/clients/${id}`, { as: 'admin', body: given, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } });

  test('a registration is replaced only by an admin who has read its present version', async () => {
    const { ask, store } = startApi();
    assert.equal((await put(ask, body, '"1"')).status, 412, 'there is none yet');
    assert.equal((await put(ask, body)).status, 201);
    assert.equal((await put(ask, { ...body, senders: ['new'] }, '"1"')).status, 200);
    const before = await store.clients();
    const refused: readonly [string | undefined, number, string][] = [
      [undefined, 428, 'precondition-required'],
      ['"1"', 412, 'stale'],
      ['"3"', 412, 'stale'],
      ['2', 400, 'bad-parameter'],
      ['*', 400, 'bad-parameter'],
      ['W/"2"', 400, 'bad-parameter'],
      ['"0"', 400, 'bad-parameter'],
    ];
    for (const [ifMatch, status, code] of refused) {
      const { json, headers } = await put(ask, evil, ifMatch);
      assert.deepEqual([json.status, json.code], [status, code], ifMatch);
      if (status === 412) assert.equal(headers.get('etag'), '"2"');
    }
    assert.deepEqual(await store.clients(), before);
  });

  test('if two admins who have read the same registration change it, one change succeeds', async () => {
    const { ask } = startApi();
    await put(ask, body);
    const answers = await Promise.all([put(ask, body, '"1"'), put(ask, evil, '"1"')]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412]);
    const first = await Promise.all([put(ask, body, undefined, 'beta'), put(ask, evil, undefined, 'beta')]);
    assert.deepEqual(first.map(({ status }) => status).toSorted(), [201, 428]);
  });

  test('a program cannot be registered for two clients', async () => {
    const { ask } = startApi({ issuer: { ...issuer, appClients: new Map([['own-app', 'stack']]) } });
    assert.equal((await put(ask, { ...body, appClients: ['app-1', 'app-2'] })).status, 201);
    for (const app of ['app-2', 'own-app']) {
      const { json } = await put(ask, { ...body, appClients: [app] }, undefined, 'other');
      assert.deepEqual([json.status, json.code, json.errors[0].pointer], [409, 'conflict', '/appClients'], app);
    }
    assert.equal((await put(ask, { ...body, appClients: ['own-app'] }, undefined, 'stack')).status, 201);
    assert.equal((await put(ask, body, '"1"')).status, 200);
    assert.equal((await put(ask, { ...body, appClients: ['app-2'] }, undefined, 'other')).status, 201);
  });
});

// A17 in docs/internals/findings.md.
test('a caller whose token has the role client and the role operator or admin submits no orders', async () => {
  const { ask, stored } = startApi({ issuer: known });
  const before = await stored();
  for (const roles of [
    ['client', 'operator'],
    ['client', 'admin'],
  ]) {
    const token = await signed({ ...good, roles, client: 'acme' });
    const submitted = await ask('POST', '/orders', { token, headers: { 'idempotency-key': 'k' }, body: goodSubmission });
    assert.deepEqual([submitted.status, submitted.json.code], [403, 'forbidden'], roles.join());
    assert.equal((await ask('GET', '/orders', { token })).status, 200);
  }
  assert.equal(await stored(), before);
});

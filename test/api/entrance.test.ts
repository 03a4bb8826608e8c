import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { gatewayHandler } from '#api/gateway';
import { openLocalIssuer } from '#api/local-issuer';
import { SetupError } from '#ports/errors';
import { createTelemetry } from '#ports/telemetry';
import { startHttp } from '#runtime/host/http';
import { registerClient } from '#testing/world/register-client';
import { goodSubmission, startApi, tokens } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'redress-issuer-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a data folder has one key, whichever process opens it, and no other user may read it', async () => {
  const data = join(folder, 'new', 'data');
  const [first, second] = [openLocalIssuer(data), openLocalIssuer(data)];
  assert.deepEqual(
    [second.keys, second.cursorKey, second.issuer, second.audience],
    [first.keys, first.cursorKey, 'http://redress.local', 'redress'],
  );
  assert.deepEqual(readdirSync(data), ['issuer.json']);
  assert.equal(statSync(join(data, 'issuer.json')).mode & 0o777, 0o600);
  assert.equal(statSync(data).mode & 0o777, 0o700);
  assert.ok(!JSON.stringify(first.keys).includes('"d"'));
  assert.equal(first.cursorKey.length, 32);

  const token = await first.sign({ role: 'client', client: 'acme', expiresInSeconds: 60 });
  const { payload } = await jwtVerify(token, createLocalJWKSet(second.keys), { issuer: second.issuer, audience: second.audience });
  assert.deepEqual(
    [payload['roles'], payload['client'], payload.sub, (payload.exp ?? 0) - (payload.iat ?? 0)],
    [['client'], 'acme', 'acme', 60],
  );
  const { payload: lasting } = await jwtVerify(await first.sign({ role: 'operator' }), createLocalJWKSet(first.keys));
  assert.deepEqual([lasting.sub, (lasting.exp ?? 0) - (lasting.iat ?? 0)], ['operator', 43_200]);
});

test('local processes that start at the same moment sign tokens with one key', async () => {
  const data = join(folder, 'together');
  const script = `import { openLocalIssuer } from ${JSON.stringify(new URL('../../lib/api/local-issuer.ts', import.meta.url).href)}; console.log(openLocalIssuer(${JSON.stringify(data)}).keys.keys[0].kid);`;
  const started = await Promise.all(
    Array.from({ length: 6 }, () =>
      promisify(execFile)(process.execPath, ['-C', 'redress-source', '--input-type=module-typescript', '-e', script]),
    ),
  );
  assert.equal(new Set(started.map(({ stdout }) => stdout)).size, 1);
  assert.deepEqual(readdirSync(data), ['issuer.json']);
});

test('a damaged key file, or a path that is not a folder, gives an error with a remedy', () => {
  const data = join(folder, 'damaged');
  openLocalIssuer(data);
  for (const text of ['', '{', '{}', readFileSync(join(data, 'issuer.json'), 'utf8').replace('P-256', 'P-257')]) {
    writeFileSync(join(data, 'issuer.json'), text);
    assert.throws(() => openLocalIssuer(data), SetupError, text);
  }
  assert.throws(() => openLocalIssuer(join(data, 'issuer.json')), SetupError);
});

const event = (method: string, rawPath: string, more: Partial<APIGatewayProxyEventV2> = {}): APIGatewayProxyEventV2 =>
  ({
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: '',
    headers: {},
    requestContext: { http: { method, path: rawPath } },
    isBase64Encoded: false,
    ...more,
  }) as APIGatewayProxyEventV2;

test('behind the gateway an order is accepted, shown and listed like on one machine', async () => {
  const handle = gatewayHandler(startApi().api);
  const headers = { authorization: `Bearer ${tokens.acme}`, 'content-type': 'application/json', 'idempotency-key': 'k' };
  const body = Buffer.from(JSON.stringify(goodSubmission)).toString('base64');
  const taken = await handle(event('POST', '/orders', { headers, body, isBase64Encoded: true }));
  assert.equal(taken.statusCode, 202);
  const shown = await handle(event('GET', String(taken.headers?.['location']), { headers }));
  assert.deepEqual([shown.statusCode, JSON.parse(shown.body ?? '').processState], [200, 'Processing']);
  const listed = await handle(event('GET', '/orders', { headers, rawQueryString: 'limit=1&state=Processing' }));
  assert.equal(JSON.parse(listed.body ?? '').items.length, 1);
});

/** The event of a REST API: an encoded path, decoded query values, and null for what is absent. */
const restEvent = (method: string, path: string, more: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent =>
  ({
    resource: '/{proxy+}',
    path,
    httpMethod: method,
    multiValueHeaders: { Authorization: [`Bearer ${tokens.acme}`], 'Content-Type': ['application/json'], 'Idempotency-Key': ['k'] },
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    ...more,
  }) as APIGatewayProxyEvent;

test('A8: behind a REST API an order is accepted, shown and listed like behind an HTTP API', async () => {
  const handle = gatewayHandler(startApi().api);
  const taken = await handle(restEvent('POST', '/orders', { body: JSON.stringify(goodSubmission) }));
  assert.equal(taken.statusCode, 202, taken.body);
  const location = String(taken.headers?.['location']);
  assert.equal((await handle(restEvent('GET', location))).statusCode, 200);
  const query = { limit: ['1'], state: ['Processing'] };
  const listed = await handle(restEvent('GET', '/orders', { multiValueQueryStringParameters: query }));
  assert.equal(JSON.parse(listed.body ?? '').items.length, 1);
  const refused = await handle(restEvent('GET', '/orders', { multiValueHeaders: {} }));
  assert.deepEqual([refused.statusCode, JSON.parse(refused.body ?? '').code], [401, 'unauthenticated']);
});

test('A8: behind a REST API a path is decoded once, so no id names another client or order', async () => {
  const given = startApi();
  const handle = gatewayHandler(given.api);
  const multiValueHeaders = { authorization: [`Bearer ${tokens.admin}`], 'content-type': ['application/json'] };
  const put = (path: string) =>
    handle(restEvent('PUT', path, { multiValueHeaders, body: '{"responseChannels":[],"senders":[],"reason":"x"}' }));
  for (const [path, status] of [
    ['/clients/new', 201],
    ['/clients/n%65w', 428],
    ['/clients/%2561cme', 400],
    ['/clients/a%', 400],
  ] as const) {
    const { statusCode, body } = await put(path);
    assert.equal(statusCode, status, `${path} ${body}`);
  }
});

test('behind the gateway, even a malformed request gets an answer of the API', async () => {
  const handle = gatewayHandler(startApi().api);
  const headers = { authorization: `Bearer ${tokens.acme}`, 'content-type': 'application/json' };
  const body = JSON.stringify(goodSubmission);
  const odd: readonly [APIGatewayProxyEventV2, number, string?][] = [
    [event('GET', '/health', { body: '{}' }), 200],
    [event('GET', '/health', { headers: { host: 'evil host:99999999' } }), 200],
    [event('TRACE', '/health'), 405, 'method-not-allowed'],
    [event('connect', '/orders'), 405, 'method-not-allowed'],
    [event('OPTIONS', '*'), 404, 'not-found'],
    [event('GET', 'http://evil.example/orders'), 404, 'not-found'],
    [event('GET', '//evil.example/orders'), 404, 'not-found'],
    [event('GET', '/orders', { headers, rawQueryString: 'limit=%' }), 400, 'bad-parameter'],
    [event('POST', '/orders', { headers: { ...headers, 'idempotency-key': '\u043a\u043b\u044e\u0447' }, body }), 400, 'bad-parameter'],
    [event('POST', '/orders', { headers: { ...headers, 'idempotency-key': 'k\u00e9' }, body }), 400, 'bad-parameter'],
    [event('POST', '/orders', { headers: { ...headers, 'idempotency-key': 'k', 'content-length': '900000' } }), 413, 'too-large'],
    [event('POST', '/orders', { headers: { ...headers, 'idempotency-key': 'k' } }), 400, 'malformed-json'],
  ];
  for (const [request, status, code] of odd) {
    const { statusCode, body } = await handle(request);
    assert.deepEqual(
      [statusCode, code && JSON.parse(body ?? '').code],
      [status, code],
      `${request.requestContext.http.method} ${request.rawPath}`,
    );
  }
});

const register = { responseChannels: [], senders: ['new'], appClients: [], reason: 'it moved' };
const given = { id: 'acme', responseChannels: [], senders: ['old'] };

test('behind the gateway, which decodes the path, no client is mistaken for another', async () => {
  const { api, store } = startApi();
  const handle = gatewayHandler(api);
  const acme = await registerClient(store, given);
  const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' };
  const put = async (path: string) => (await handle(event('PUT', path, { headers, body: JSON.stringify(register) }))).statusCode;
  for (const id of [
    'acme#eu',
    'acme?eu',
    'acme%',
    'acme%23eu',
    '%61cme',
    'acme ',
    'acme\t',
    'acm\u00e9',
    'acme\ud800',
    'b\\..\\acme',
    '..',
    '.',
  ])
    assert.equal(await put(`/clients/${id}`), 400, id);
  for (const id of ['b/../acme', './acme', 'acme/', 'acme/x']) assert.equal(await put(`/clients/${id}`), 404, id);
  assert.deepEqual(await store.clients(), [acme]);
  assert.equal(await put('/clients/b.2_c-d'), 201);
});

test('the local server decodes the path as the gateway does', async (context) => {
  const { api, store } = startApi();
  const telemetry = createTelemetry({ level: 'off' });
  const { url, stop } = await startHttp(gatewayHandler(api), { port: 0, host: '127.0.0.1', telemetry });
  context.after(stop);
  const acme = await registerClient(store, given);
  const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' };
  const put = async (id: string, more = {}) =>
    (await fetch(`${url}/clients/${id}`, { method: 'PUT', headers: { ...headers, ...more }, body: JSON.stringify(register) })).status;
  assert.deepEqual(
    await Promise.all(['acme%23eu', 'acme%2523eu', '%2561cme', 'acme%3Feu', 'acme%ff', 'b%2F..%2Facme'].map((id) => put(id))),
    [400, 400, 400, 400, 400, 404],
  );
  assert.deepEqual(await store.clients(), [acme]);
  assert.equal(await put('%61cme', { 'if-match': '"1"' }), 200);
  const { senders, reason } = (await store.client('acme')) ?? assert.fail('the client is gone');
  assert.deepEqual([senders, reason], [register.senders, register.reason]);
});

test('a body that is too large is refused with problem+json 413, even without a content length', async (context) => {
  const { api } = startApi();
  const telemetry = createTelemetry({ level: 'off' });
  const { url, stop } = await startHttp(gatewayHandler(api), { port: 0, host: '127.0.0.1', telemetry });
  context.after(stop);
  const headers = { authorization: `Bearer ${tokens.acme}`, 'content-type': 'application/json', 'idempotency-key': 'k' };
  for (const kilobytes of [257, 300, 301, 1500]) {
    const chunks = Array.from({ length: kilobytes }, () => Buffer.alloc(1024, ' '));
    const answer = await fetch(`${url}/orders`, { method: 'POST', headers, body: ReadableStream.from(chunks), duplex: 'half' });
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [413, 'application/problem+json'], `${kilobytes} KB`);
    assert.equal(((await answer.json()) as { code: string }).code, 'too-large');
  }
});

/** Sends the head of a request with a body that does not come, and returns the connection. */
async function withoutBody(url: string, headers: readonly string[]) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(['POST /orders HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...headers, '', ''].join('\r\n'));
  return socket;
}

// A17 in docs/internals/findings.md.
test('a call with a token that is missing or refused is answered before its body is read', async (context) => {
  const { api } = startApi();
  const telemetry = createTelemetry({ level: 'off' });
  const authenticate = async (authorization: string | null) => (authorization === `Bearer ${tokens.acme}` ? 'known' : 'refused');
  const { url, stop } = await startHttp(gatewayHandler(api), { port: 0, host: '127.0.0.1', telemetry, authenticate });
  context.after(stop);
  for (const head of [
    ['Content-Length: 250000'],
    ['Transfer-Encoding: chunked'],
    ['Content-Length: 250000', 'Authorization: Bearer of.a.stranger'],
  ]) {
    const socket = await withoutBody(url, head);
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 401 .*connection: close/is, head.join());
    socket.destroy();
  }
  const headers = { authorization: `Bearer ${tokens.acme}`, 'content-type': 'application/json', 'idempotency-key': 'k' };
  const answer = await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify(goodSubmission) });
  assert.equal(answer.status, 202);
});

test('a call with a body is answered 503 while the keys of the token issuer cannot be fetched, also if the API could fetch them', async (context) => {
  const { api } = startApi();
  const authenticate = async () => 'unavailable' as const;
  const telemetry = createTelemetry({ level: 'off' });
  const { url, stop } = await startHttp(gatewayHandler(api), { port: 0, host: '127.0.0.1', telemetry, authenticate });
  context.after(stop);
  const headers = { authorization: `Bearer ${tokens.acme}`, 'content-type': 'application/json', 'idempotency-key': 'k' };
  const answer = await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify(goodSubmission) });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '2');
  assert.partialDeepStrictEqual(await answer.json(), { type: 'urn:redress:problem:unavailable', instance: '/orders' });
});

test('a caller that closes the connection while it sends its body causes no error', async (context) => {
  const lines: string[] = [];
  const telemetry = { ...createTelemetry({ level: 'off' }), log: (level: string, what: string) => void lines.push(`${level} ${what}`) };
  const { url, stop } = await startHttp(gatewayHandler(startApi().api), { port: 0, host: '127.0.0.1', telemetry });
  context.after(stop);
  const socket = await withoutBody(url, ['Content-Length: 250000']);
  socket.write('{"order":');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  for (let waits = 0; lines.length === 0 && waits < 100; waits++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(lines, ['debug caller hung up']);
});

for (const [host, names, asked, status] of [
  ['127.0.0.1', [], 'evil.example', 403],
  ['127.0.0.1', ['orders.example'], 'orders.example:8080', 200],
  ['127.0.0.1', ['orders.example'], 'evil.example', 403],
  ['0.0.0.0', ['Orders.example'], 'orders.EXAMPLE', 200],
  ['0.0.0.0', ['orders.example'], 'evil.example', 403],
  ['0.0.0.0', ['orders.example'], 'localhost:3000', 200],
  ['0.0.0.0', [], 'any.example', 200],
] as const)
  test(`a server on ${host} with the names "${names}" answers ${status} to the host ${asked}`, async (context) => {
    const telemetry = createTelemetry({ level: 'off' });
    const { url, stop } = await startHttp(gatewayHandler(startApi().api), { port: 0, host, names, telemetry });
    context.after(stop);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET /health HTTP/1.1\r\nHost: ${asked}\r\nConnection: close\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    assert.ok(String(answer).startsWith(`HTTP/1.1 ${status} `), String(answer));
    socket.destroy();
  });

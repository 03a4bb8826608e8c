import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problems } from '#api/problem';
import { StoreUnavailableError } from '#ports/errors';
import type { Store } from '#ports/store';
import { bodyLimits } from '#roles/submission/body-limits';
import { type CallOptions, card, goodOrder, goodSubmission, startApi } from './support.ts';

const submission: CallOptions = { as: 'acme', headers: { 'idempotency-key': 'k' }, body: goodSubmission };
const json = (headers: { [name: string]: string } = {}) => ({ ...submission.headers, ...headers });
const note = (value: string): string => JSON.stringify({ order: { ...goodOrder, note: 'NOTE' } }).replace('"NOTE"', value);
const nested = (levels: number): string => note('['.repeat(levels - 2) + ']'.repeat(levels - 2));
const { bytesMax, depthMax, fieldsMax, entriesMax, charactersMax } = bodyLimits;
/** The number of fields in the rest of the body. */
const others = 5;

const bodies: readonly [string, string | Uint8Array<ArrayBuffer>, number, string, string?][] = [
  ['empty', '', 400, 'malformed-json'],
  ['no JSON', '{order}', 400, 'malformed-json'],
  ['cut off', JSON.stringify(goodSubmission).slice(0, -1), 400, 'malformed-json'],
  ['two values', '{}{}', 400, 'malformed-json'],
  ['a comment', '{/**/}', 400, 'malformed-json'],
  ['NaN', note('NaN'), 400, 'malformed-json'],
  ['a byte order mark', `\ufeff${JSON.stringify(goodSubmission)}`, 400, 'malformed-json'],
  ['UTF-16', new Uint8Array(Buffer.from(JSON.stringify(goodSubmission), 'utf16le')), 400, 'malformed-json'],
  [
    'invalid UTF-8',
    new Uint8Array(Buffer.concat([Buffer.from('{"order":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
    400,
    'malformed-json',
  ],
  [
    'overlong UTF-8',
    new Uint8Array(Buffer.concat([Buffer.from('{"order":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])),
    400,
    'malformed-json',
  ],
  ['a field twice', '{"order":1,"order":2}', 400, 'malformed-json'],
  ['a field twice, once in disguise', '{"order":1,"\\u006frder":2}', 400, 'malformed-json'],
  ['a field twice, far inside', note('[{"a":{"b":1,"c":":\\"","b":1}}]'), 400, 'malformed-json'],
  ['__proto__', note('{"__proto__":{"x":1}}'), 422, 'invalid', '/order/note/__proto__'],
  ['__proto__ in disguise', note('{"__pr\\u006fto__":1}'), 422, 'invalid', '/order/note/__proto__'],
  ['constructor', '{"order":1,"constructor":{}}', 422, 'invalid', '/constructor'],
  ['constructor where anything may stand', note('{"constructor":1}'), 422, 'invalid', '/order/note/constructor'],
  ['prototype in a list', note('[1,{"prototype":1}]'), 422, 'invalid', '/order/note/1/prototype'],
  ['too deep', nested(depthMax + 1), 422, 'invalid', `/order/note${'/0'.repeat(depthMax - 2)}`],
  ['far too deep', note('['.repeat(100_000) + ']'.repeat(100_000)), 422, 'invalid', `/order/note${'/0'.repeat(depthMax - 2)}`],
  ['a deep mess', '['.repeat(200_000), 400, 'malformed-json'],
  [
    'too many fields',
    note(`{${Array.from({ length: fieldsMax - others + 1 }, (_, index) => `"f${index}":1`).join()}}`),
    422,
    'invalid',
    '',
  ],
  ['far too many fields', note(`{${Array.from({ length: 20_000 }, (_, index) => `"f${index}":1`).join()}}`), 422, 'invalid', ''],
  ['a long list', note(`[${'1,'.repeat(entriesMax)}1]`), 422, 'invalid', '/order/note'],
  ['a long text', note(JSON.stringify('x'.repeat(charactersMax + 1))), 422, 'invalid', '/order/note'],
  ['a long name', note(`{"${'x'.repeat(charactersMax + 1)}":1}`), 422, 'invalid', '/order/note'],
  ['a number without end', note('1e400'), 422, 'invalid', '/order/note'],
  ['U+0000', note('"\\u0000"'), 422, 'invalid', '/order/note'],
  ['half a surrogate', note('"\\ud800"'), 422, 'invalid', '/order/note'],
  ['U+FFFF', note('"\uffff"'), 422, 'invalid', '/order/note'],
  ['what a gateway puts in the place of invalid UTF-8', note('"\ufffd"'), 422, 'invalid', '/order/note'],
  ['too large', note(JSON.stringify('x'.repeat(bytesMax))), 413, 'too-large'],
  [
    'too large once its numbers are written out',
    note(
      `[${Array(40)
        .fill(`[${Array(490).fill('1e20').join()}]`)
        .join()}]`,
    ),
    413,
    'too-large',
  ],
  ['too large, in many bytes', note(JSON.stringify('\u20ac'.repeat(bytesMax / 3 + 1))), 413, 'too-large'],
];
test('a body that is ambiguous or costly to validate is refused before its validation', async () => {
  const { ask, stored } = startApi();
  const before = await stored();
  for (const [why, text, status, code, pointer] of bodies) {
    const refused = await ask('POST', '/orders', { ...submission, text });
    assert.deepEqual([refused.status, refused.json.code, refused.json.errors?.[0].pointer], [status, code, pointer], why);
  }
  assert.equal(await stored(), before);
});

const good: readonly [string, string][] = [
  ['as deep as can be', nested(depthMax)],
  ['as many fields as can be', note(`{${Array.from({ length: fieldsMax - others }, (_, index) => `"f${index}":1`).join()}}`)],
  ['as long a list', note(`[${'1,'.repeat(entriesMax - 1)}1]`)],
  ['as long a text, in characters of two halves', note(JSON.stringify('\u{1f600}'.repeat(charactersMax)))],
  ['colons, quotes and escapes within texts', note('{"a:b":"\\\\","c\\"":"\\":{\\"a\\":1}","":":"}')],
  ['white space', ` \n\t${JSON.stringify(goodSubmission, null, 2)}\r\n`],
  ['a name that only looks forbidden', note('{"__proto":1,"toString":2,"hasOwnProperty":3}')],
];
test('a body at a limit of depth, fields, entries or characters is accepted', async () => {
  const { ask } = startApi();
  for (const [why, text] of good) {
    const { status, json: answer } = await ask('POST', '/orders', { ...submission, headers: json({ 'idempotency-key': why }), text });
    assert.equal(status, 202, `${why} ${JSON.stringify(answer)}`);
  }
});

const calls: readonly [string, string, CallOptions, number, string][] = [
  ['GET', '/nothing', {}, 404, 'not-found'],
  ['GET', '/orders/', { as: 'acme' }, 404, 'not-found'],
  ['GET', '//orders', { as: 'acme' }, 404, 'not-found'],
  ['GET', '/orders/x/plan', { as: 'operator' }, 404, 'not-found'],
  ['GET', '/task', { as: 'operator' }, 404, 'not-found'],
  ['GET', '/.git/config', {}, 404, 'not-found'],
  ['GET', '/%2e%2e/%2e%2e/etc/passwd', {}, 404, 'not-found'],
  ['DELETE', '/orders', {}, 405, 'method-not-allowed'],
  [
    'OPTIONS',
    '/orders',
    { headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' } },
    405,
    'method-not-allowed',
  ],
  ['PATCH', '/orders/x', { as: 'operator' }, 405, 'method-not-allowed'],
  ['POST', '/', {}, 405, 'method-not-allowed'],
  ['PROPFIND', '/health', {}, 405, 'method-not-allowed'],
  ['GET', '/orders', { as: 'acme', headers: { accept: 'text/html' } }, 406, 'not-acceptable'],
  ['GET', '/orders', { as: 'acme', headers: { accept: 'application/json;q=0, application/problem+json;q=0, */*' } }, 406, 'not-acceptable'],
  ['GET', '/', { headers: { accept: 'application/json' } }, 406, 'not-acceptable'],
  ['POST', '/orders', { ...submission, headers: json({ accept: 'image/*' }) }, 406, 'not-acceptable'],
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/problem+json',
    'application/jsonp',
    'application/json, text/plain',
    '',
  ].map((type): [string, string, CallOptions, number, string] => [
    'POST',
    '/orders',
    { ...submission, headers: json({ 'content-type': type }) },
    415,
    'unsupported-media-type',
  ]),
  ...['gzip', 'br', 'identity'].map((encoding): [string, string, CallOptions, number, string] => [
    'POST',
    '/orders',
    { ...submission, headers: json({ 'content-encoding': encoding }) },
    415,
    'unsupported-media-type',
  ]),
  ['POST', '/orders', { ...submission, headers: json({ 'content-length': String(bytesMax + 1) }) }, 413, 'too-large'],
  ['POST', '/orders?dry=1', submission, 400, 'bad-parameter'],
];
test('an invalid call is refused, and leaves nothing behind', async () => {
  const { ask, stored } = startApi();
  const before = await stored();
  for (const [method, path, options, status, code] of calls) {
    const refused = await ask(method, path, options);
    assert.deepEqual([refused.status, refused.json?.code], [status, code], `${method} ${path} ${JSON.stringify(options.headers)}`);
  }
  assert.equal((await ask('DELETE', '/orders')).headers.get('allow'), 'POST, GET, HEAD');
  assert.equal(await stored(), before);
});

test('each valid variant of a call is accepted', async () => {
  const { ask } = startApi();
  for (const type of ['application/json', 'Application/JSON; Charset=UTF-8', 'application/json;charset="utf-8"'])
    assert.equal((await ask('POST', '/orders', { ...submission, headers: json({ 'content-type': type }) })).status, 202, type);
  for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1', 'application/problem+json', 'text/*;q=0.5, */*;q=0.1'])
    assert.equal((await ask('GET', '/orders', { as: 'acme', headers: { accept } })).status, 200, accept);
  for (const path of ['/', '/health', '/openapi.json', '/orders']) {
    const [get, head] = [await ask('GET', path, { as: 'acme' }), await ask('HEAD', path, { as: 'acme' })];
    assert.deepEqual([head.status, head.text, head.headers.get('content-type')], [200, '', get.headers.get('content-type')], path);
  }
});

test('the parts of a call are checked in a fixed sequence: the route, the caller, the form, the schema, the order', async () => {
  const { ask } = startApi();
  const wrong = { accept: 'text/html', 'content-type': 'text/plain' };
  const path = '/orders/absent/instructions';
  const ladder: readonly [string, string, CallOptions, number][] = [
    ['PUT', '/nothing', { headers: wrong, text: '{' }, 404],
    ['PUT', path, { headers: wrong, text: '{' }, 405],
    ['POST', path, { headers: wrong, text: '{' }, 401],
    ['POST', path, { as: 'acme', headers: wrong, text: '{' }, 403],
    ['POST', path, { as: 'operator', headers: wrong, text: '{' }, 406],
    ['POST', path, { as: 'operator', headers: { ...wrong, accept: '*/*' }, text: '{' }, 415],
    ['POST', path, { as: 'operator', headers: { 'if-match': 'x' }, text: '{' }, 400],
    ['POST', path, { as: 'operator', headers: { 'if-match': '"1"' }, text: '{' }, 400],
    ['POST', path, { as: 'operator', headers: { 'if-match': '"1"' }, text: '{}' }, 422],
    ['POST', path, { as: 'operator', headers: { 'if-match': '"1"' }, body: { kind: 'resubmit', reason: 'r' } }, 404],
  ];
  for (const [method, where, options, status] of ladder)
    assert.equal((await ask(method, where, options)).status, status, JSON.stringify(options));
});

test('when an order cannot be stored, the answer is 503; after a programming error, it is 500 without details', async () => {
  const failing = (error: Error) => new Proxy({} as Store, { get: () => () => Promise.reject(error) });
  const gone = new StoreUnavailableError('/secret/folder is gone', { fatal: true });
  const outages: readonly [Parameters<typeof startApi>[0], number, string][] = [
    [{ submit: () => Promise.reject(gone), store: failing(gone) }, 503, 'unavailable'],
    [{ submit: () => Promise.reject(new Error('/secret/bug')), store: failing(new Error('/secret/bug')) }, 500, 'internal'],
    [
      {
        submit: () => {
          throw new TypeError('/secret/bug');
        },
        store: failing(new TypeError('/secret/bug')),
      },
      500,
      'internal',
    ],
    [{ accepting: () => false }, 503, 'unavailable'],
  ];
  for (const [change, status, code] of outages) {
    const { ask, lines } = startApi(change);
    for (const [method, path, options] of [
      ['POST', '/orders', submission],
      ['GET', '/orders/x', { as: 'acme' }],
      ['GET', '/orders', { as: 'operator' }],
    ] as [string, string, CallOptions][]) {
      const refused = await ask(method, path, options);
      assert.deepEqual([refused.status, refused.json.code], [status, code], path);
      assert.ok(!refused.text.includes('secret'));
      if (!change?.accepting)
        assert.ok(
          lines.some((line) => line.includes(refused.json.requestId) && line.includes('/secret/')),
          'the log contains the cause',
        );
    }
    assert.equal((await ask('GET', '/health')).status, 200);
  }
});

test('no refusal repeats the request, and no log line contains a body or a token', async () => {
  const { ask, lines, orderInError } = startApi();
  const orderId = await orderInError('idempotency_canary');
  const canary = '<script>canary</script>';
  const tries: readonly [string, string, CallOptions][] = [
    ['GET', `/orders?state=${canary}`, { as: 'acme' }],
    ['GET', `/orders?${canary}=1`, { as: 'acme' }],
    ['GET', `/orders?cursor=${canary}`, { as: 'acme' }],
    ['GET', '/orders', { token: canary }],
    ['GET', '/orders', { as: 'acme', headers: { accept: canary } }],
    ['POST', '/orders', { ...submission, text: canary }],
    ['POST', '/orders', { ...submission, headers: json({ 'content-type': canary }) }],
    ['POST', '/orders', { ...submission, headers: json({ 'idempotency-key': `${canary}\u00e9` }) }],
    [
      'POST',
      '/orders',
      {
        ...submission,
        body: { order: { ...goodOrder, quantity: canary }, workflow: canary, reference: canary.repeat(9), responseChannel: canary },
      },
    ],
    ['POST', '/orders', { ...submission, body: { order: goodOrder, workflow: canary } }],
    ['POST', '/orders', { ...submission, body: { order: goodOrder, responseChannel: canary } }],
    [
      'POST',
      `/orders/${orderId}/instructions`,
      { as: 'operator', headers: { 'if-match': canary }, body: { kind: canary, reason: canary } },
    ],
    ['PUT', '/clients/acme', { as: 'admin', body: { responseChannels: [canary], senders: [`${canary} x`], reason: 'a test' } }],
  ];
  for (const [method, path, options] of tries) {
    const { status, text } = await ask(method, path, options);
    assert.ok(status >= 400 && status < 500 && !text.includes('canary'), `${method} ${path} ${status} ${text}`);
  }
  const log = lines.join('');
  for (const secret of ['canary</script>', card, 'idempotency_canary', 'eyJ', 'Bearer']) assert.ok(!log.includes(secret), secret);
  const entries = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'call');
  assert.equal(entries.length, tries.length + 1);
  for (const entry of entries)
    assert.deepEqual(
      ['method', 'route', 'status', 'requestId'].filter((field) => !(field in entry)),
      [],
    );
  assert.deepEqual([entries[0].orderId, entries[0].route], [orderId, '/orders']);
});

test('every problem has a title and a detail that no other problem has', () => {
  const said = Object.values(problems).flatMap(({ title, detail }) => [title, detail]);
  assert.equal(new Set(said).size, said.length);
});

import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { type Call, operation, PermanentFailure, TransientFailure } from 'redress';
import { httpService, path } from 'redress/http';
import * as z from 'zod';
import { CardDeclined, OutOfStock } from '../../examples/orders/faults.ts';
import { callOf, startService } from '../examples/support.ts';

const card = 'tok_4242424242424242';
const Charge = z.object({ chargeId: z.string() });

interface Answer {
  readonly status: number;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
}

/** The result of a charge when the payment service answers like this. */
async function charge({ status, body = '', headers = {} }: Answer, call: Asked = {}): Promise<unknown> {
  await using remote = await startService((_, response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return await ask(remote.url, call);
}

type Asked = Partial<Pick<Call<string>, 'signal' | 'repeated'>>;

function ask(url: string, call: Asked = {}): Promise<unknown> {
  const payment = httpService({ name: 'payment', url });
  return payment.post('/charges', { card }, callOf({ faults: [CardDeclined], output: Charge, ...call }));
}

async function failureOf(asking: Promise<unknown>): Promise<PermanentFailure | TransientFailure> {
  const error = await asking.then(
    () => assert.fail('the charge went well'),
    (error: unknown) => error,
  );
  assert.ok(error instanceof PermanentFailure || error instanceof TransientFailure, `it threw ${error}`);
  return error;
}

test("a successful charge returns the service's answer, and the service gets the idempotency key", async () => {
  const received: { headers: IncomingHttpHeaders; url: string | undefined; body: string }[] = [];
  await using remote = await startService(async (request, response) => {
    received.push({ headers: request.headers, url: request.url, body: (await request.toArray()).join('') });
    response.writeHead(201).end('{"chargeId":"ch_1","more":"than agreed"}');
  });

  assert.partialDeepStrictEqual(await ask(`${remote.url}/v1/`), { chargeId: 'ch_1' });

  const [{ headers, url, body } = assert.fail('nothing was sent')] = received;
  assert.equal(url, '/v1/charges');
  assert.equal(headers['idempotency-key'], 'o1/order/charge');
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body), { card });
});

for (const [status, body] of [
  [500, ''],
  [502, '<h1>Bad Gateway</h1>'],
  [503, { code: 'out-of-stock' }],
  [408, ''],
  [429, { code: 'rate-limited' }],
  [409, { code: 'request-in-progress' }],
] as const) {
  test(`an answer with the status ${status} is a temporary failure`, async () => {
    const failure = await failureOf(charge({ status, body }));
    assert.ok(failure instanceof TransientFailure);
    assert.match(failure.message, new RegExp(`payment answered ${status} to POST /charges`));
  });
}

test('the failure of a busy service carries the pause of its Retry-After, given in seconds or as a date', async () => {
  const pause = async (retryAfter: string) => {
    const failure = await failureOf(charge({ status: 429, headers: { 'Retry-After': retryAfter } }));
    assert.ok(failure instanceof TransientFailure);
    return failure.retryAfterMs;
  };
  const inAMinute = (await pause(new Date(Date.now() + 60_000).toUTCString())) ?? 0;
  assert.ok(inAMinute > 50_000 && inAMinute <= 60_000, `${inAMinute} ms`);
  assert.equal(await pause('7'), 7_000);
  assert.equal(await pause('Sun Nov  6 08:49:37 1994'), 0);
  for (const nonsense of ['', '-1', '1.5', 'soon', 'never GMT']) assert.equal(await pause(nonsense), undefined, nonsense);
});

test('a service that is down, breaks off or stays silent is a temporary failure', async () => {
  const gone = await startService(() => undefined);
  await gone[Symbol.asyncDispose]();
  assert.match((await failureOf(ask(gone.url))).message, /^payment did not answer POST \/charges \(.*ECONNREFUSED/);

  await using broken = await startService((_, response) => {
    response.writeHead(201, { 'Content-Length': 100 }).write('{"chargeId"', () => response.destroy());
  });
  assert.ok((await failureOf(ask(broken.url))) instanceof TransientFailure);

  await using silent = await startService(() => undefined);
  const late = await failureOf(ask(silent.url, { signal: AbortSignal.timeout(50) }));
  assert.ok(late instanceof TransientFailure);
  assert.equal(late.message, 'payment did not answer POST /charges in time');
});

test('a refusal that the operation declares becomes its declared fault, with the data of the service', async () => {
  assert.deepEqual(await charge({ status: 402, body: { code: 'card-declined', attemptsLeft: 2 } }), {
    failed: CardDeclined,
    message: 'payment answered 402 to POST /charges: card-declined',
    data: { attemptsLeft: 2 },
  });
});

test('if the details of a refusal are too long for a fault, the fault has none', async () => {
  const refused = await charge({ status: 402, body: { code: 'card-declined', why: 'x'.repeat(1024) } });
  assert.deepEqual(refused, { failed: CardDeclined, message: 'payment answered 402 to POST /charges: card-declined' });
});

test('any other refusal becomes a permanent fault with the name that the service gives', async () => {
  const typeOf = async (status: number, body: string | object) => {
    const failure = await failureOf(charge({ status, body }));
    assert.ok(failure instanceof PermanentFailure);
    assert.equal(failure.outcomeUnknown, false);
    return failure.type;
  };
  assert.equal(await typeOf(409, { code: 'out-of-stock' }), OutOfStock.name);
  assert.equal(await typeOf(422, { code: 'limit-of-3-reached' }), 'LimitOf3Reached');
  assert.equal(await typeOf(422, { code: 'request-in-progress' }), 'RequestInProgress');
  for (const code of [undefined, 7, '', 'Card-Declined', '1st', 'no such card', `a${'b'.repeat(64)}`]) {
    assert.equal(await typeOf(400, { code }), 'RequestRefused', String(code));
  }
  assert.equal(await typeOf(404, '<h1>Not Found</h1>'), 'RequestRefused');
  assert.equal(await typeOf(401, ''), 'RequestRefused');
});

test('S11: an error answer of the service that does not mention the idempotency key leaves the outcome of earlier attempts unknown', async () => {
  const isUnknown = async (status: number, body: string | object, repeated: boolean) => {
    const failure = await failureOf(charge({ status, body }, { repeated }));
    assert.ok(failure instanceof PermanentFailure);
    return failure.outcomeUnknown;
  };
  for (const status of [401, 403, 404, 413]) {
    assert.equal(await isUnknown(status, { code: 'not-here' }, true), true, String(status));
    assert.equal(await isUnknown(status, '', false), false);
  }
  assert.equal(await isUnknown(400, '', true), true);
  assert.equal(await isUnknown(422, { code: 'limit-reached' }, true), false);
});

test('an answer that breaks the contract leaves the outcome of the charge unknown', async () => {
  const answers: Answer[] = [
    { status: 201, body: '' },
    { status: 201, body: 'ok' },
    { status: 200, body: { chargeId: 7 } },
    { status: 204 },
    { status: 201, body: { chargeId: 'x'.repeat(300 * 1024) } },
    { status: 302, body: { chargeId: 'ch_1' }, headers: { Location: '/elsewhere' } },
  ];
  for (const answer of answers) {
    const failure = await failureOf(charge(answer));
    assert.ok(failure instanceof PermanentFailure);
    assert.deepEqual([failure.type, failure.outcomeUnknown], ['InvalidReply', true]);
  }
});

test('no failure repeats the card number, even if the service does', async () => {
  const answers: Answer[] = [
    { status: 500, body: { code: 'boom', message: card } },
    { status: 400, body: { code: card, message: card } },
    { status: 402, body: `{"code":"card-declined","message":"${card}"` },
    { status: 201, body: { charge: card } },
  ];
  for (const answer of answers) {
    const { message, stack, cause } = await failureOf(charge(answer));
    assert.doesNotMatch(`${message} ${stack} ${String(cause)}`, new RegExp(card));
  }
  const { message, cause } = await failureOf(ask('http://127.0.0.1:1'));
  assert.doesNotMatch(message + String(cause), new RegExp(card));
});

test('a missing record counts as deleted; a record that can no longer be deleted is a fault', async () => {
  await using remote = await startService(({ method, url }, response) => {
    if (url === '/late') response.writeHead(409).end('{"code":"card-declined"}');
    else if (method === 'DELETE') response.writeHead(url === '/gone' ? 204 : 200).end(url === '/gone' ? '' : 'deleted');
    else if (url === '/there') response.writeHead(200).end('{"chargeId":"ch_1"}');
    else response.writeHead(404).end();
  });
  const payment = httpService({ name: 'payment', url: remote.url });
  const call = callOf({ output: Charge });

  assert.deepEqual(await payment.delete('/gone', callOf()), {});
  assert.deepEqual(await payment.delete('/known', callOf()), {});
  assert.partialDeepStrictEqual(await payment.delete('/late', callOf({ faults: [CardDeclined] })), { failed: CardDeclined });
  assert.deepEqual(await payment.get('/there', call), { chargeId: 'ch_1' });
  assert.equal(await payment.get('/not-there', call), undefined);
});

test('a connection is reused for the next charge', async () => {
  const ports = new Set<number | undefined>();
  await using remote = await startService((request, response) => {
    ports.add(request.socket.remotePort);
    request.resume().on('end', () => response.writeHead(201).end('{"chargeId":"ch_1"}'));
  });
  for (let charges = 0; charges < 5; charges++) await ask(remote.url);
  assert.equal(ports.size, 1);
});

test('a lookup finds the effect under a key, whatever the key contains', async () => {
  const urls: (string | undefined)[] = [];
  await using remote = await startService(({ url }, response) => {
    urls.push(url);
    response.writeHead(url?.endsWith('=none') ? 404 : 200).end('{"chargeId":"ch_1"}');
  });
  const payment = httpService({ name: 'payment', url: remote.url });

  assert.deepEqual(await payment.lookup('/charges', 'o1/order/charge & more', callOf({ output: Charge })), { chargeId: 'ch_1' });
  assert.equal(await payment.lookup('/charges', 'none', callOf({ output: Charge })), undefined);
  assert.deepEqual(urls, ['/charges?idempotencyKey=o1%2Forder%2Fcharge%20%26%20more', '/charges?idempotencyKey=none']);
});

test('S11: a lookup that is refused does not prove that there is no effect', async () => {
  await using remote = await startService((_, response) => void response.writeHead(402).end('{"code":"card-declined"}'));
  const payment = httpService({ name: 'payment', url: remote.url });
  const call = callOf({ faults: [CardDeclined], output: Charge }) as Call<never, typeof Charge>;
  const failure = await failureOf(payment.lookup('/charges', 'k', call));
  assert.ok(failure instanceof PermanentFailure);
  assert.equal(failure.outcomeUnknown, true);
});

test('an empty answer counts as an empty object: it fits an operation without an output, and no other', async () => {
  const methods: (string | undefined)[] = [];
  await using remote = await startService(({ method }, response) => {
    methods.push(method);
    response.writeHead(202).end();
  });
  const customer = httpService({ name: 'customer', url: remote.url });
  assert.deepEqual(await customer.put('/notifications/1', { text: 'x' }, callOf({ output: z.object({}) })), {});
  const failure = await failureOf(customer.patch('/notifications/1', {}, callOf({ output: Charge })));
  assert.equal(
    failure.message,
    'customer answered 202 to PATCH /notifications/1: the reply does not match the schema: chargeId: Invalid input: expected string, received undefined',
  );
  assert.deepEqual(methods, ['PUT', 'PATCH']);
});

test('the fault of an answer that does not match its schema names the field and the type, and quotes no value', async () => {
  await using remote = await startService((_, response) => void response.end('{"chargeId":4242424242424242}'));
  const payment = httpService({ name: 'payment', url: remote.url });
  const failure = await failureOf(payment.post('/charges', {}, callOf({ output: Charge })));
  assert.match(failure.message, /: the reply does not match the schema: chargeId: Invalid input: expected string, received number$/);
  assert.doesNotMatch(failure.message, /4242/);
});

test('an answer is checked by the schema of the output, and passed on unchanged', async () => {
  await using remote = await startService((_, response) => void response.end('{"total":"750"}'));
  const price = httpService({ name: 'price', url: remote.url });
  const output = z.object({ total: z.string().transform(Number) });
  assert.deepEqual(await price.post('/quotes', {}, callOf({ output })), { total: '750' });
});

test("the service's own headers are added to each request, and read each time", async () => {
  const received: (string | undefined)[] = [];
  await using remote = await startService(({ headers, method }, response) => {
    received.push(`${method} ${headers.authorization} ${headers['x-order']} ${headers['idempotency-key']}`);
    response.writeHead(204).end();
  });
  let token = 0;
  const renewed = httpService({
    name: 'payment',
    url: remote.url,
    headers: async ({ orderId }) => ({ Authorization: `Bearer ${++token}`, 'X-Order': orderId }),
  });
  await renewed.delete('/charges/1', callOf());
  await renewed.delete('/charges/2', callOf());
  await httpService({ name: 'payment', url: remote.url, headers: { Authorization: 'Basic b' } }).delete('/charges/3', callOf());
  assert.deepEqual(received, [
    'DELETE Bearer 1 o1 o1/order/charge',
    'DELETE Bearer 2 o1 o1/order/charge',
    'DELETE Basic b undefined o1/order/charge',
  ]);
});

test('the address of the service is read from its environment variable at each call', async (context) => {
  context.after(() => delete process.env['HTTP_TEST_URL']);
  const payment = httpService({ name: 'payment', urlFrom: 'HTTP_TEST_URL' });
  const failure = async (call: Asked = {}) => {
    const error = await failureOf(payment.post('/charges', {}, callOf({ output: Charge, ...call })));
    assert.ok(error instanceof PermanentFailure);
    return [error.type, error.message, error.outcomeUnknown];
  };
  const remedy = 'Set it to the address of the service, such as http://127.0.0.1:4000.';
  assert.deepEqual(await failure(), ['NotConfigured', `HTTP_TEST_URL is not set. ${remedy}`, false]);
  for (const nonsense of ['shop.example', 'ftp://shop.example', 'https://'] as const) {
    process.env['HTTP_TEST_URL'] = nonsense;
    assert.deepEqual(await failure(), ['NotConfigured', `HTTP_TEST_URL is not an http URL. ${remedy}`, false]);
  }
  await using remote = await startService((_, response) => void response.end('{"chargeId":"ch_1"}'));
  process.env['HTTP_TEST_URL'] = remote.url;
  assert.deepEqual(await payment.post('/charges', {}, callOf({ output: Charge })), { chargeId: 'ch_1' });
});

test('S11: a process without the address of the service leaves the outcome of earlier attempts unknown', async () => {
  const payment = httpService({ name: 'payment', urlFrom: 'HTTP_TEST_NOT_SET' });
  const failure = await failureOf(payment.post('/charges', {}, callOf({ output: Charge, repeated: true })));
  assert.equal((failure as PermanentFailure).outcomeUnknown, true);
});

test('an id in a path stays one segment of the path', async () => {
  assert.equal(path`/charges/${'a/b?c#d'}/refund`, '/charges/a%2Fb%3Fc%23d/refund');
  assert.equal(path`/parcels?order=${'..'}&piece=${2}`, '/parcels?order=..&piece=2');
  for (const id of ['', '.', '..']) assert.throws(() => path`/charges/${id}/refund`, PermanentFailure, id);

  const urls: (string | undefined)[] = [];
  await using remote = await startService(({ url }, response) => {
    urls.push(url);
    response.writeHead(204).end();
  });
  const payment = httpService({ name: 'payment', url: `${remote.url}/v1` });
  await payment.delete(path`charges/${'@elsewhere.example'}`, callOf());
  assert.deepEqual(urls, ['/v1/charges/%40elsewhere.example']);
});

test('docs/guides/http-services.md: a lookup may read a list, with a schema of its own', async () => {
  await using remote = await startService(
    ({ url }, response) => void response.end(url?.endsWith('=none') ? '[]' : '[{"chargeId":"ch_1"}]'),
  );
  const courier = httpService({ name: 'courier', url: remote.url });
  const { lookup } = operation({
    input: z.object({}),
    output: Charge,
    atMostOnce: true,
    run: (input, call) => courier.post('/charges', { ...input, reference: call.idempotencyKey }, call),
    async lookup(key, call) {
      const found = await courier.get(path`/charges?reference=${key}`, { ...call, output: z.array(Charge) });
      return found?.[0];
    },
  });
  assert.deepEqual(await lookup?.('k1', callOf({ output: Charge })), { chargeId: 'ch_1' });
  assert.equal(await lookup?.('none', callOf({ output: Charge })), undefined);
});

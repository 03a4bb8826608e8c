import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { type Call, PermanentFailure, TransientFailure } from 'redress';
import * as z from 'zod';
import { CardDeclined, OutOfStock } from '../../examples/orders/faults.ts';
import { createService } from '../../examples/orders/service.ts';
import { callOf, startService } from './support.ts';

const card = 'tok_4242424242424242';
const Charge = z.object({ chargeId: z.string() });

interface Answer {
  readonly status: number;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
}

/** The result of a charge when the payment service answers like this. */
async function charge({ status, body = '', headers = {} }: Answer, call: CallOptions = {}): Promise<unknown> {
  await using remote = await startService((_, response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return await ask(remote.url, call);
}

type CallOptions = Partial<Pick<Call<string>, 'signal' | 'repeated'>>;

function ask(url: string, call: CallOptions = {}): Promise<unknown> {
  const payment = createService({ name: 'payment', url: () => url });
  return payment.post('/charges', { card }, callOf({ faults: [CardDeclined], ...call }), Charge);
}

async function failureOf(reply: Promise<unknown>): Promise<PermanentFailure | TransientFailure> {
  const error = await reply.then(
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

  assert.deepEqual(await ask(`${remote.url}/v1/`), { chargeId: 'ch_1' });

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
  test(`a ${status} is temporary`, async () => {
    const failure = await failureOf(charge({ status, body }));
    assert.ok(failure instanceof TransientFailure);
    assert.match(failure.message, new RegExp(`payment answered ${status} to POST /charges`));
  });
}

test('the pause that a busy service requests is kept, in seconds or as a date', async () => {
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

test("a refusal that the operation declares is its fault, with the service's data", async () => {
  assert.deepEqual(await charge({ status: 402, body: { code: 'card-declined', attemptsLeft: 2 } }), {
    failed: CardDeclined,
    message: 'payment answered 402 to POST /charges: card-declined',
    data: { attemptsLeft: 2 },
  });
});

test('any other refusal is permanent, under the name that the service gives it', async () => {
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

test('S11: a refusal without a word about the key leaves open what an earlier attempt did', async () => {
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

test('an answer that breaks the contract leaves open whether the card was charged', async () => {
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

test('a deleted or missing record is an answer; one that can no longer be deleted is a fault', async () => {
  await using remote = await startService(({ method, url }, response) => {
    if (url === '/late') response.writeHead(409).end('{"code":"card-declined"}');
    else if (method === 'DELETE') response.writeHead(204).end();
    else if (url === '/there') response.writeHead(200).end('{"chargeId":"ch_1"}');
    else response.writeHead(404).end();
  });
  const payment = createService({ name: 'payment', url: () => remote.url });

  assert.deepEqual(await payment.delete('/gone', callOf()), {});
  assert.partialDeepStrictEqual(await payment.delete('/late', callOf({ faults: [CardDeclined] })), { failed: CardDeclined });
  assert.deepEqual(await payment.get('/there', callOf(), Charge), { chargeId: 'ch_1' });
  assert.equal(await payment.get('/not-there', callOf(), Charge), undefined);
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

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject } from 'redress';
import { createTelemetry } from '#ports/telemetry';
import { treat } from '#roles/dead-letters/resubmit';
import { createSubmissionConsumer } from '#roles/submission/queue-consumer';
import { createRateLimit } from '#roles/submission/rate-limited';
import { queueEvent } from '#runtime/host/event-source';
import { registerClient } from '#testing/world/register-client';
import { countIn, type DeskOptions, lineOf, openDesk, stepsNamed, submitted, tea, typesOf } from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const channel = 'redress-response-acme';
const submission = { v: 1, type: 'submission', idempotencyKey: 'k', client: 'acme', workflow: 'line', order: tea };

/** A system with the client `acme`, for which the local sender is registered. */
async function shop(context: TestContext, options: DeskOptions = {}) {
  const desk = openDesk(context, line, options);
  await registerClient(desk.store, { id: 'acme', responseChannels: [channel], senders: ['local'] });
  await registerClient(desk.store, { id: 'other', responseChannels: ['redress-response-other'], senders: ['somebody else'] });
  return {
    ...desk,
    async post(...bodies: readonly unknown[]): Promise<number> {
      for (const body of bodies) await desk.send('submissions', body);
      return desk.deliver('submissions');
    },
  };
}

describe('an order that arrives as a message', () => {
  test('F-01, F-08: gets the same id and the same state as by an API call', async (context) => {
    const [byMessage, byCall] = [await shop(context), await shop(context)];
    await byMessage.post({ ...submission, reference: 'r', responseChannel: channel });
    const orderId = await submitted(byCall, tea, { client: 'acme', key: 'k', workflow: 'line', reference: 'r', responseChannel: channel });

    assert.deepEqual(await byMessage.store.load(orderId), await byCall.store.load(orderId));
    for (const queue of ['worker-requests', channel, 'submissions']) assert.deepEqual(byMessage.messages(queue), byCall.messages(queue));
  });

  test('F-01, F-10: is the same order as an API call with the same key', async (context) => {
    const desk = await shop(context);
    await desk.post(submission);
    const again = await desk.submit(tea, { client: 'acme', key: 'k', workflow: 'line' });
    assert.equal(again.outcome === 'accepted' && again.replayed, true);
    assert.equal(countIn(desk, 'orders'), 1);
  });

  test('F-10: is one order, started once, even if the message arrives three times', async (context) => {
    const desk = await shop(context);
    assert.equal(await desk.post(submission, submission, submission), 0);
    assert.deepEqual([countIn(desk, 'orders'), desk.messages('worker-requests').length, (await desk.deadLetter()).length], [1, 1, 0]);
  });

  test('F-01: without a workflow runs the default workflow', async (context) => {
    const desk = await shop(context);
    const { workflow: _, ...without } = submission;
    await desk.post(without);
    assert.equal(countIn(desk, 'orders'), 1);
  });

  test('F-02: during a store outage stays in its queue, and so do its neighbors', async (context) => {
    let away = true;
    const desk = await shop(context, {
      around: ({ store }) => ({
        store: { ...store, create: (...all) => (away ? Promise.reject(new Error('away')) : store.create(...all)) },
      }),
    });
    assert.equal(await desk.post(submission, { ...submission, idempotencyKey: 'l' }), 2);
    assert.equal(countIn(desk, 'orders'), 0);

    away = false;
    assert.equal(await desk.deliver('submissions'), 0);
    assert.equal(countIn(desk, 'orders'), 2);
  });
});

// A14 in docs/internals/findings.md.
describe('a sender that is a role', () => {
  const posted = async (context: TestContext, registered: string, senderId: string): Promise<number> => {
    const desk = await shop(context);
    await registerClient(desk.store, { id: 'acme', responseChannels: [channel], senders: [registered] });
    const { consume } = createSubmissionConsumer({ ...desk.system, ...desk, submit: desk.system.submit });
    const refused = (error: unknown) => assert.match((error as Error).message, /^The sender is not registered for this client\./);
    await consume(JSON.stringify(submission), senderId).catch(refused);
    return countIn(desk, 'orders');
  };

  test('F-01: every session of a registered role may submit, and no session of a role whose id only begins alike', async (context) => {
    for (const session of ['AROAX:session1', 'AROAX:i-a123b456', 'AROAX:a:*'])
      assert.equal(await posted(context, 'AROAX:*', session), 1, session);
    for (const stranger of ['AROAXY:session1', 'AROAX', 'AROA:session1', 'aroax:session1', 'xAROAX:session1'])
      assert.equal(await posted(context, 'AROAX:*', stranger), 0, stranger);
  });

  test('F-01: a registered session is compared as a whole, and "*" at any other place matches only itself', async (context) => {
    assert.equal(await posted(context, 'AROAX:session1', 'AROAX:session1'), 1);
    for (const [registered, senderId] of [
      ['AROAX:session1', 'AROAX:session2'],
      ['AROAX:session1', 'AROAX:session10'],
      ['AIDAX:*', 'AIDAX:session1'],
      ['*', 'AROAX:session1'],
    ] as const)
      assert.equal(await posted(context, registered, senderId), 0, `${registered} ${senderId}`);
  });
});

describe('a message whose sender may not submit for its client', () => {
  for (const [who, client] of [
    ['a sender that is registered for another client', 'other'],
    ['a sender of an unknown client', 'stranger'],
  ] as const) {
    test(`F-01: an order from ${who} is dead-lettered whole, and a person is notified`, async (context) => {
      const desk = await shop(context);
      const message = { ...submission, client, responseChannel: 'redress-response-other' };
      assert.equal(await desk.post(message), 0);

      const [deadLetter] = await desk.deadLetter();
      assert.deepEqual(
        [deadLetter?.queue, deadLetter?.reason, JSON.parse(String(deadLetter?.body))],
        ['submissions', 'The sender is not registered for this client. Register it with PUT /clients/{id}.', message],
      );
      assert.deepEqual(typesOf(desk.announced()), ['Message Dead-Lettered']);
      assert.equal(countIn(desk, 'orders'), 0);
      assert.deepEqual(desk.messages('redress-response-other'), [], 'a sender that may not submit for a client may not send to it either');
    });
  }

  test('X-27: stays in its queue while the notification fails, and is dead-lettered once, not once per try', async (context) => {
    let isDeaf = true;
    const desk = await shop(context, {
      around: ({ publisher }) => ({
        publisher: {
          publish: (announcements) =>
            isDeaf ? Promise.resolve({ failed: announcements.map(({ id }) => id) }) : publisher.publish(announcements),
        },
      }),
    });
    assert.equal(await desk.post('nonsense'), 0);
    for (let tries = 1; tries <= 3; tries++) assert.equal(await desk.deliver('submissions-dead'), 1);
    isDeaf = false;
    assert.deepEqual([(await desk.deadLetter()).length, desk.announced().length], [1, 1]);
    assert.equal(countIn(desk, 'messages'), 0);
  });

  const nonsense: readonly (readonly [string, unknown])[] = [
    ['is not JSON', '{"v":1,'],
    ['is a list', []],
    ['has an unknown version', { ...submission, v: 0 }],
    ['has no client', { ...submission, client: undefined }],
    ['has no order', { ...submission, order: undefined }],
    ['has no key', { ...submission, idempotencyKey: undefined }],
    ['has an empty key', { ...submission, idempotencyKey: '' }],
    ['has an overlong key', { ...submission, idempotencyKey: 'k'.repeat(256) }],
    ['has an unprintable key', { ...submission, idempotencyKey: 'k\u0000' }],
    ['has an overlong reference', { ...submission, reference: 'r'.repeat(129) }],
  ];
  for (const [what, message] of nonsense) {
    test(`F-01: a message that ${what} is dead-lettered at once, and the next one is accepted`, async (context) => {
      const desk = await shop(context);
      assert.equal(await desk.post(message, { ...submission, idempotencyKey: 'next' }), 0);
      assert.deepEqual([(await desk.deadLetter()).length, countIn(desk, 'orders')], [1, 1]);
    });
  }
});

// A4 in docs/internals/findings.md.
describe('a client above its rate limit', () => {
  const orders = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, number) => ({ ...submission, idempotencyKey: `k${number}`, ...more }));
  const limited = async (context: TestContext, perSecond = '2') => {
    const desk = await shop(context, { variables: { CLIENT_ORDERS_PER_SECOND: perSecond } });
    const ordersOf = async (client: string) => (await desk.store.list({ client }, undefined, 100)).items.length;
    return { ...desk, ordersOf };
  };

  test('X-46: its messages wait in their queue, those of other clients are accepted, and none is lost', async (context) => {
    const desk = await limited(context);
    await registerClient(desk.store, { id: 'quiet', responseChannels: [], senders: ['local'] });
    assert.equal(await desk.post(...orders(7), ...orders(2, { client: 'quiet' })), 3);
    assert.deepEqual([await desk.ordersOf('acme'), await desk.ordersOf('quiet')], [4, 2]);

    for (let seconds = 0; seconds < 10; seconds++) {
      await desk.clock.advance(1_000);
      await desk.deliver('submissions');
    }
    assert.deepEqual([await desk.ordersOf('acme'), desk.messages('submissions').length], [7, 0]);
    assert.deepEqual([await desk.deadLetter(), countIn(desk, 'documents')], [[], 0], 'a wait is no failure');
  });

  test('X-46: its API calls and its messages share the limit', async (context) => {
    const desk = await limited(context);
    for (let call = 0; call < 3; call++) assert.equal(desk.system.clientRate('acme'), 0);
    assert.equal(await desk.post(...orders(3)), 2);
    assert.ok(desk.system.clientRate('acme') > 0);
  });

  test('X-46: a stranger that names the client does not use up its rate', async (context) => {
    const desk = await limited(context);
    await desk.post(...orders(8, { client: 'other' }));
    assert.equal(desk.system.clientRate('other'), 0);
    assert.equal((await desk.deadLetter()).length, 8);
  });

  test('X-46: the more often a message was delivered, the longer it waits', async () => {
    const pauses: number[] = [];
    const limit = createRateLimit(
      { clientOf: async () => 'acme' },
      {
        queues: { release: async (_queue, _receipts, afterMs) => void pauses.push(afterMs) },
        telemetry: createTelemetry({ level: 'off' }),
        clientRate: () => 2_500,
        config: { clientOrdersPerSecond: 1 },
        random: () => 0.5,
      },
    );
    for (const receiveCount of [1, 10, 100, 2_000])
      await limit(queueEvent('submissions', [{ messageId: 'm', body: '', receiveCount, sentAt: 0, receipt: 'r' }]));
    assert.deepEqual(pauses, [2_500, 10_000, 100_000, 900_000]);
  });
});

describe('an order that is refused', () => {
  const refused = async (context: TestContext, message: JsonObject) => {
    const desk = await shop(context);
    await desk.post(message);
    assert.equal(countIn(desk, 'orders'), 0);
    return desk;
  };

  test('F-07: is answered on the registered response queue, with the errors', async (context) => {
    const desk = await refused(context, { ...submission, order: { item: 7 }, reference: 'r', responseChannel: channel });
    const [{ errors, ...status } = {}] = desk.messages(channel);
    assert.deepEqual(status, {
      v: 1,
      type: 'status',
      reference: 'r',
      idempotencyKey: 'k',
      seq: 1,
      status: 'refused',
      at: new Date(desk.clock.now()).toISOString(),
    });
    assert.deepEqual(
      (errors as JsonObject[]).map(({ pointer, code }) => [pointer, code]),
      [['/order/item', 'invalid-type']],
    );
    assert.deepEqual(await desk.deadLetter(), []);
  });

  test('F-01: with more problems than fit into a message, the refusal names the first ones', async (context) => {
    const texts = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`text${index}`, 'a\u0000']));
    const nested = Array.from({ length: 27 }).reduce<JsonObject>((inner) => ({ ['n'.repeat(1000)]: inner }), texts);
    const desk = await refused(context, { ...submission, order: nested, responseChannel: channel });
    const [told = {}] = desk.messages(channel);
    const { errors } = told as { errors: readonly object[] };
    assert.ok(errors.length > 1 && errors.length < 50, `${errors.length} problems`);
    const bytes = Buffer.byteLength(JSON.stringify(told));
    assert.ok(bytes < 200_000, `${bytes} bytes`);
  });

  test('F-07: for an unknown workflow is answered, too', async (context) => {
    const desk = await refused(context, { ...submission, workflow: 'lime', responseChannel: channel });
    assert.deepEqual(
      desk.messages(channel).flatMap(({ errors }) => (errors as JsonObject[]).map(({ code }) => code)),
      ['unknown-workflow'],
    );
  });

  test('F-07: for a reused key with another body is answered, and the first order does not change', async (context) => {
    const desk = await shop(context);
    await desk.post(submission, { ...submission, order: { item: 'coffee' }, responseChannel: channel });
    assert.deepEqual(
      desk.messages(channel).map(({ status, errors }) => [status, (errors as JsonObject[])[0]?.['code']]),
      [['refused', 'idempotency-key-reused']],
    );
    assert.equal(countIn(desk, 'orders'), 1);
  });

  for (const [what, more] of [
    ['is missing', {}],
    ['belongs to another client', { responseChannel: 'redress-response-other' }],
    ['is a URL', { responseChannel: 'https://evil.example/1/q' }],
  ] as const) {
    test(`F-07: is dead-lettered with the errors if its response queue ${what}, and no message is sent`, async (context) => {
      const desk = await refused(context, { ...submission, order: { item: 7 }, ...more });
      const [deadLetter] = await desk.deadLetter();
      assert.match(String(deadLetter?.reason), /^The submission was refused: .*\/order\/item /);
      assert.equal(countIn(desk, 'messages'), 0);
    });
  }
});

// A4 in docs/internals/findings.md.
describe('an order that arrives as a message has the limits of an API call', () => {
  const reported = { ...submission, responseChannel: channel };
  const withItem = (item: string): string => JSON.stringify({ ...reported, order: { item: 'ITEM' } }).replace('"ITEM"', item);
  for (const [what, item, pointer, code] of [
    ['a long text', JSON.stringify('x'.repeat(1025)), '/order/item', 'too-long'],
    ['600 KB', JSON.stringify(Array(600).fill('x'.repeat(1000))), '', 'too-large'],
    ['forty levels of nesting', '['.repeat(40) + ']'.repeat(40), `/order/item${'/0'.repeat(30)}`, 'too-deep'],
    ['501 entries', `[${'1,'.repeat(500)}1]`, '/order/item', 'too-many-entries'],
    ['an infinite number', '1e400', '/order/item', 'number-out-of-range'],
    ['a duplicate field', '{"a":1,"a":2}', '', 'malformed-json'],
    ['a field __proto__', '{"__proto__":{"x":1}}', '/order/item/__proto__', 'forbidden-name'],
    ['the character U+0000', '"a\\u0000b"', '/order/item', 'forbidden-character'],
    ['a lone surrogate', '"a\\ud800b"', '/order/item', 'forbidden-character'],
  ] as const)
    test(`F-01, F-07: with ${what} it is refused with the same pointer as an API call, and nothing is stored`, async (context) => {
      const desk = await shop(context);
      assert.equal(await desk.post(withItem(item)), 0);
      const [statusMessage = {}] = desk.messages(channel) as readonly { status?: string; errors?: readonly JsonObject[] }[];
      assert.deepEqual(
        [statusMessage.status, statusMessage.errors?.[0]?.['pointer'], statusMessage.errors?.[0]?.['code']],
        ['refused', pointer, code],
      );
      assert.equal(countIn(desk, 'orders'), 0);
    });

  test('F-01, F-120: without a response queue it is dead-lettered, and an operator cannot resubmit it unchanged', async (context) => {
    const desk = await shop(context);
    await desk.post(JSON.stringify({ ...submission, order: { item: 'x'.repeat(1025) } }));
    const [deadLetter = assert.fail()] = await desk.deadLetter();
    assert.match(deadLetter.reason, /^The submission was refused: \/order\/item Expected at most 1024 characters/);
    const ports = { ...desk.system, defaultWorkflow: 'line' };
    const treated = await treat('submissions', deadLetter.id, { action: 'resubmit', by: 'olga', reason: 'try it' }, ports);
    assert.equal(treated.outcome === 'invalid' && treated.problems[0]?.pointer, '/body/order/item');
  });
});

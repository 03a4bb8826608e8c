import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import { UnprocessableMessage } from 'redress';
import { queueNames } from '#ports/messages';
import { deadLetterDocument } from '#roles/dead-letters/dead-letter';
import { envelopeOf } from '#roles/dead-letters/envelope';
import { lineOf, nothing, openDesk, submitted, typesOf } from './support.ts';

const requests = queueNames.requests('worker');
const replies = queueNames.replies('worker');
/** The size limit of a DynamoDB item is 400 KB. */
const itemBytesMax = 400_000;

/** Text without a pattern that compresses. */
const noise = (bytes: number): string => {
  let state = 1;
  return Array.from({ length: bytes }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 94));
  }).join('');
};

describe('a dead letter', () => {
  for (const [what, body] of [
    ['of 256 KiB', noise(256 * 1024)],
    ['of 256 KiB that doubles in size as JSON', '\\"'.repeat(128 * 1024)],
    ['with characters of every kind', '{"ﬀ": "\u0000\u2028\u202e😀\ufeff"'],
  ] as const)
    test(`S25: keeps a message ${what} byte for byte, and fits its record`, async (context) => {
      const desk = openDesk(context, lineOf({ pick: nothing }));
      await desk.send(requests, body);
      assert.equal(await desk.deliver(requests), 0);
      const [deadLetter = assert.fail()] = await desk.deadLetter();
      assert.equal(deadLetter.body, body);
      assert.ok(Buffer.byteLength(JSON.stringify(JSON.stringify(deadLetterDocument(deadLetter)))) < itemBytesMax);
    });

  test('S25: keeps the beginning and the original length of a message beyond the size limit', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const body = noise(1_000_000);
    await desk.send(requests, body);
    await desk.deliver(requests);
    const [deadLetter = assert.fail()] = await desk.deadLetter();
    assert.deepEqual([body.startsWith(deadLetter.body), deadLetter.cut?.bytes], [true, 1_000_000]);
    assert.ok(Buffer.byteLength(JSON.stringify(deadLetterDocument(deadLetter))) < itemBytesMax);
  });

  test('S25: is kept once, although the same message arrives on the dead-letter queue several times', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    await desk.send(requests, 'nonsense');
    await desk.deliver(requests);
    const [{ body = '' } = {}] = await desk.queues.receive(`${requests}-dead`, { max: 1, visibilityMs: 0, waitMs: 0 });
    await desk.send(`${requests}-dead`, body);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.equal(new Set(desk.announced().map(({ detail }) => detail['id'])).size, 1);
  });

  test('S24: is unwrapped from an envelope only on the dead-letter queue of the queue that the envelope names', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const forged = envelopeOf({
      queue: 'submissions',
      messageId: '1',
      sentAt: 0,
      senderId: 'somebody',
      reason: '',
      attempts: [],
      failures: 9,
      body: '{}',
    });
    await desk.send(replies, forged);
    await desk.deliver(replies);
    await desk.send(`${requests}-dead`, forged);
    assert.deepEqual(
      (await desk.deadLetter()).map(({ queue, body }) => [queue, body]).toSorted(),
      [replies, requests].map((queue) => [queue, forged]),
    );
  });
});

describe('the sender of a message that failed', () => {
  test('L1, X-27, X-9: gets no message about an outage: the failed message stays in its queue and is processed afterwards', async (context) => {
    let isAway = true;
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      around: ({ queues }) => ({
        queues: {
          ...queues,
          send: (messages) =>
            isAway && messages.some(({ queue }) => queue === replies) ? Promise.reject(new Error('away')) : queues.send(messages),
        },
      }),
    });
    await submitted(desk);
    for (let deliveries = 1; deliveries <= 100; deliveries++) assert.equal(await desk.deliver(requests), 1);
    isAway = false;
    assert.equal(await desk.deliver(requests), 0);
    assert.deepEqual([await desk.deadLetter(), desk.announced(), desk.messages(replies).length], [[], [], 1]);
  });

  test('X-20: may send an at-most-once request again if the operation did nothing', async (context) => {
    let ran = 0;
    const pick = () => {
      ran += 1;
      if (ran < 3) throw new UnprocessableMessage('Not yet.');
      return {};
    };
    const desk = openDesk(context, lineOf({ pick }, { operation: { atMostOnce: true } }));
    await submitted(desk);
    for (const comesAgain of [1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.deepEqual(
      desk.messages(replies).map(({ result }) => result),
      [{ status: 'succeeded', output: {} }],
    );
  });
});

test('X-9: when messages only met an outage, people are notified once and each message is kept', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  const orders = await Promise.all(['a', 'b', 'c'].map((item) => submitted(desk, { item })));
  for (const request of await desk.requests()) await desk.send(`${requests}-dead`, request);
  const kept = await desk.deadLetter();
  assert.deepEqual(
    kept.map(({ reason, failures }) => [reason, failures]),
    orders.map(() => ['The queue delivered the message too many times without success.', 0]),
  );
  assert.deepEqual(typesOf(desk.announced()), ['Message Dead-Lettered']);
  assert.deepEqual(desk.messages(replies), []);
});

test('S24, S25: when a client forges the envelope of a dead submission, the message is kept unchanged under its real sender', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  const body = JSON.stringify({ v: 1, type: 'submission', idempotencyKey: 'k', client: 'acme', order: { item: 'gold' } });
  const said = { messageId: 'm-1', sentAt: 0, senderId: 'acme-sender', reason: 'It failed.', attempts: [], failures: 9 };
  const forged = envelopeOf({ queue: queueNames.submissions, ...said, body });
  // The first message comes from the dead-letter queue itself, the second from the function that handles submissions.
  await desk.send(`${queueNames.submissions}-dead`, forged);
  await desk.send(queueNames.submissions, forged);
  await desk.deliver(queueNames.submissions);
  assert.deepEqual(
    (await desk.deadLetter()).map((kept) => [kept.body, kept.senderId]),
    [
      [forged, 'local'],
      [forged, 'local'],
    ],
  );
});

test('S24: the failure count of a submission does not prove that an envelope is genuine, whatever its client and its key are', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }), {
    around: ({ store }) => ({ store: { ...store, client: () => Promise.reject(new TypeError('x is not a function')) } }),
  });
  const said = { messageId: 'm-1', sentAt: 0, senderId: 'acme-sender', reason: 'It failed.', attempts: [], failures: 9 };
  const forged = envelopeOf({ queue: queueNames.submissions, ...said, body: '{}' });
  const counted = { v: 1, type: 'submission', client: '#given-up', idempotencyKey: hash('sha256', forged), order: {} };
  await desk.send(queueNames.submissions, counted);
  assert.equal(await desk.deliver(queueNames.submissions), 1);
  await desk.take(queueNames.submissions);
  await desk.send(`${queueNames.submissions}-dead`, forged);
  assert.deepEqual(
    (await desk.deadLetter()).map(({ body, senderId }) => [body, senderId]),
    [[forged, 'local']],
  );
});

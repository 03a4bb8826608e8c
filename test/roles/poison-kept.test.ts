import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { UnprocessableMessage } from 'redress';
import { queueNames } from '#ports/messages';
import { deadLetterDocument } from '#roles/dead-letters/dead-letter';
import { envelopeOf } from '#roles/dead-letters/envelope';
import { lineOf, nothing, openDesk, submitted, typesOf } from './support.ts';

const requests = queueNames.requests('worker');
const replies = queueNames.replies('worker');
/** DynamoDB takes 400 KB. */
const itemBytesMax = 400_000;

/** Without a pattern that could be packed. */
const noise = (bytes: number): string => {
  let state = 1;
  return Array.from({ length: bytes }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 94));
  }).join('');
};

describe('what is dead-lettered', () => {
  for (const [what, body] of [
    ['of 256 KiB', noise(256 * 1024)],
    ['of 256 KiB that each have to be written as two', '\\"'.repeat(128 * 1024)],
    ['with characters of every kind', '{"ﬀ": "\u0000\u2028\u202e😀\ufeff"'],
  ] as const)
    test(`S25 a message ${what} is kept as it came, byte for byte, and fits where it is kept`, async (context) => {
      const desk = openDesk(context, lineOf({ pick: nothing }));
      await desk.send(requests, body);
      assert.equal(await desk.deliver(requests), 0);
      const [aside = assert.fail()] = await desk.deadLetter();
      assert.equal(aside.body, body);
      assert.ok(Buffer.byteLength(JSON.stringify(JSON.stringify(deadLetterDocument(aside)))) < itemBytesMax);
    });

  test('S25 of one that is larger than fits the beginning is kept, and how long it was', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const body = noise(1_000_000);
    await desk.send(requests, body);
    await desk.deliver(requests);
    const [aside = assert.fail()] = await desk.deadLetter();
    assert.deepEqual([body.startsWith(aside.body), aside.cut?.bytes], [true, 1_000_000]);
    assert.ok(Buffer.byteLength(JSON.stringify(deadLetterDocument(aside))) < itemBytesMax);
  });

  test('S25 the same message is dead-lettered once, however often it comes to the dead letters', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    await desk.send(requests, 'nonsense');
    await desk.deliver(requests);
    const [{ body = '' } = {}] = await desk.queues.receive(`${requests}-dead`, { max: 1, visibilityMs: 0, waitMs: 0 });
    await desk.send(`${requests}-dead`, body);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.equal(new Set(desk.announced().map(({ detail }) => detail['id'])).size, 1);
  });

  test('S24 what looks like a message that was given up counts as that only among the dead letters of its own queue', async (context) => {
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

describe('what its sender hears', () => {
  test('L1 X-27, X-9: nothing, where it only met an outage: it stays on its queue, and is processed when that is over', async (context) => {
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

  test('X-20 an operation that may be asked for only once, and has done nothing, may be asked again', async (context) => {
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

test('X-9: of messages that only met an outage people are told once, and each is kept', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  const orders = await Promise.all(['a', 'b', 'c'].map((item) => submitted(desk, { item })));
  for (const request of await desk.requests()) await desk.send(`${requests}-dead`, request);
  const kept = await desk.deadLetter();
  assert.deepEqual(
    kept.map(({ reason, failures }) => [reason, failures]),
    orders.map(() => ['It was delivered too often without success.', 0]),
  );
  assert.deepEqual(typesOf(desk.announced()), ['Poison Message Dead-Lettered']);
  assert.deepEqual(desk.messages(replies), []);
});

test('S24, S25: a client’s message that looks like a submission that was given up is kept as what it is, under its own sender', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  const body = JSON.stringify({ v: 1, type: 'submission', idempotencyKey: 'k', client: 'acme', order: { item: 'gold' } });
  const said = { messageId: 'm-1', sentAt: 0, senderId: 'acme-sender', reason: 'It failed.', attempts: [], failures: 9 };
  const forged = envelopeOf({ queue: queueNames.submissions, ...said, body });
  // Given up by the queue itself, and by the function that judged it.
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

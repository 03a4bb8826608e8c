import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ManualClock } from '#ports/clock';
import type { Outgoing, Queues, Received, Redrive } from '#ports/queues';
import { listOf } from '../support/workflows.ts';

/** A channel under test, its clock, and the same queues as another process sees them. */
export interface OpenChannel {
  readonly queues: Queues;
  readonly other: Queues;
  readonly clock: ManualClock;
  /** Whether `depth` reports the age of the oldest message; false if only metrics of the platform know it. */
  readonly reportsAge?: boolean;
  close(): Promise<void>;
}

export type OpenChannels = (redriveOf: (queue: string) => Redrive | undefined) => OpenChannel | Promise<OpenChannel>;

const visibilityMs = 30_000;
const now = { max: 10, visibilityMs, waitMs: 0 };
const waiting = { max: 10, visibilityMs, waitMs: 20_000 };
/** A time longer than any process needs to notice a message of another one. */
const noticeMs = 1000;

const bodiesOf = (messages: readonly Received[]): string[] => messages.map(({ body }) => body).toSorted();
const messages = (count: number, queue = 'q'): Outgoing[] => listOf(count, (index) => ({ queue, body: `m${index}` }));

/** All messages that a queue delivers without time passing. */
async function drain(queues: Queues, queue = 'q'): Promise<Received[]> {
  const received = await queues.receive(queue, now);
  return received.length === 0 ? [] : [...received, ...(await drain(queues, queue))];
}

/** The promises of every channel; each implementation calls it once. */
export function channelContract(name: string, open: OpenChannels): void {
  const it = (
    title: string,
    body: (opened: OpenChannel) => Promise<void>,
    redriveOf: (queue: string) => Redrive | undefined = () => undefined,
  ) =>
    test(`${name}: ${title}`, async () => {
      const opened = await open(redriveOf);
      try {
        await body(opened);
      } finally {
        await opened.close();
      }
    });

  it('a message arrives as it was sent, with its time and its first count', async ({ queues, clock }) => {
    const sentAt = clock.now();
    await queues.send([{ queue: 'q', body: '{"text":"Größe 😀 \\u0000"}' }]);
    await clock.advance(5000);
    const [received] = await queues.receive('q', now);
    assert.deepEqual([received?.body, received?.receiveCount, received?.sentAt], ['{"text":"Größe 😀 \\u0000"}', 1, sentAt]);
  });

  it('a message without acknowledgement is redelivered after its visibility timeout, and not before', async ({ queues, clock }) => {
    await queues.send(messages(1));
    await queues.receive('q', now);
    await clock.advance(visibilityMs - 1);
    assert.deepEqual(await queues.receive('q', now), []);
    await clock.advance(1);
    const [again] = await queues.receive('q', now);
    assert.deepEqual([again?.body, again?.receiveCount], ['m0', 2]);
  });

  it('an acknowledged message is gone for good', async ({ queues, clock }) => {
    await queues.send(messages(3));
    const received = await drain(queues);
    await queues.acknowledge(
      'q',
      received.map(({ receipt }) => receipt),
    );
    await clock.advance(10 * visibilityMs);
    assert.deepEqual(await drain(queues), []);
    assert.deepEqual(await queues.depth('q'), { visible: 0, inFlight: 0, delayed: 0, oldestAgeMs: 0 });
  });

  it('a delayed message arrives after its delay, and not before', async ({ queues, clock }) => {
    await queues.send([
      { queue: 'q', body: 'later', delayMs: 60_000 },
      { queue: 'q', body: 'at once' },
    ]);
    assert.deepEqual(bodiesOf(await drain(queues)), ['at once']);
    await clock.advance(59_999);
    assert.deepEqual(bodiesOf(await drain(queues)), ['at once']);
    await clock.advance(1);
    assert.deepEqual(bodiesOf(await drain(queues)), ['later']);
  });

  it('F-42: a receipt is void once its message has been redelivered', async ({ queues, clock }) => {
    await queues.send(messages(1));
    const [first] = await queues.receive('q', now);
    await clock.advance(visibilityMs);
    const [second] = await queues.receive('q', now);
    await queues.acknowledge('q', [first?.receipt ?? '']);
    await queues.release('q', [first?.receipt ?? ''], 0);
    assert.deepEqual(await drain(queues), [], 'the second receiver still has it');
    await clock.advance(visibilityMs);
    const [third] = await queues.receive('q', now);
    assert.equal(third?.receiveCount, 3);
    assert.notEqual(second?.receipt, first?.receipt);
  });

  it('a receipt of another queue, or of no message, is ignored', async ({ queues, clock }) => {
    await queues.send(messages(1));
    const [received] = await queues.receive('q', now);
    await queues.acknowledge('other', [received?.receipt ?? '']);
    await queues.acknowledge('q', ['', '1', 'x:y', '999999:1']);
    await queues.release('q', ['', '999999:1'], 0);
    await clock.advance(visibilityMs);
    assert.deepEqual(bodiesOf(await drain(queues)), ['m0']);
  });

  it('a released message is visible again at the requested time', async ({ queues, clock }) => {
    await queues.send(messages(1));
    const [first] = await queues.receive('q', now);
    await queues.release('q', [first?.receipt ?? ''], 0);
    const [second] = await queues.receive('q', now);
    assert.equal(second?.receiveCount, 2);
    await queues.release('q', [second?.receipt ?? ''], 10_000);
    await clock.advance(9_999);
    assert.deepEqual(await drain(queues), []);
    await clock.advance(1);
    assert.equal((await drain(queues)).length, 1);
  });

  it(
    'F-108: a message that was delivered too often goes to the dead letters, with its body and its age',
    async ({ queues, clock }) => {
      const sentAt = clock.now();
      await queues.send(messages(1));
      for (let count = 1; count <= 3; count++) {
        assert.deepEqual(
          (await queues.receive('q', now)).map(({ receiveCount }) => receiveCount),
          [count],
        );
        await clock.advance(visibilityMs);
      }
      assert.deepEqual(await queues.receive('q', now), []);
      const [dead] = await queues.receive('q-dead', now);
      assert.deepEqual([dead?.body, dead?.sentAt], ['m0', sentAt]);
      await clock.advance(visibilityMs);
      assert.deepEqual(await drain(queues), [], 'it does not come back');
      assert.equal((await drain(queues, 'q-dead')).length, 1);
    },
    (queue) => (queue === 'q' ? { maxReceiveCount: 3, deadLetterQueue: 'q-dead' } : undefined),
  );

  it(
    'an acknowledgement after the last delivery does not remove a message from the dead letters',
    async ({ queues, clock }) => {
      await queues.send(messages(1));
      const [first] = await queues.receive('q', now);
      await clock.advance(visibilityMs);
      await queues.receive('q', now);
      await queues.receive('q-dead', now);
      await queues.acknowledge('q', [first?.receipt ?? '']);
      await queues.release('q', [first?.receipt ?? ''], 0);
      await clock.advance(visibilityMs);
      assert.equal((await drain(queues, 'q-dead')).length, 1);
    },
    (queue) => (queue === 'q' ? { maxReceiveCount: 1, deadLetterQueue: 'q-dead' } : undefined),
  );

  it('F-45: several receivers share a queue, and no two of them have the same message', async ({ queues }) => {
    await queues.send(messages(25));
    const shares = await Promise.all(listOf(6, () => queues.receive('q', { ...now, max: 5 })));
    assert.ok(shares.every((share) => share.length <= 5));
    assert.deepEqual(bodiesOf([...shares.flat(), ...(await drain(queues))]), bodiesOf(messages(25) as unknown as Received[]));
  });

  it('queues are independent of each other', async ({ queues }) => {
    await queues.send([
      { queue: 'a', body: 'for a' },
      { queue: 'b', body: 'for b' },
    ]);
    assert.deepEqual(bodiesOf(await drain(queues, 'b')), ['for b']);
    assert.deepEqual(bodiesOf(await drain(queues, 'a')), ['for a']);
    assert.deepEqual(await drain(queues, 'c'), []);
  });

  it('a receiver that waits gets a message that is sent meanwhile', async ({ queues }) => {
    const received = queues.receive('q', waiting);
    await queues.send([{ queue: 'other', body: 'x' }]);
    await queues.send(messages(1));
    const [message] = await received;
    assert.deepEqual([message?.body, message?.receiveCount], ['m0', 1]);
  });

  it('a message of a waiting receiver is invisible to others, and is redelivered without an acknowledgement', async ({ queues, clock }) => {
    const received = queues.receive('q', waiting);
    await queues.send(messages(1));
    const [first] = await received;
    assert.deepEqual(await drain(queues), []);
    await clock.advance(visibilityMs);
    const [second] = await queues.receive('q', now);
    assert.equal(second?.receiveCount, 2);
    await queues.acknowledge('q', [first?.receipt ?? '']);
    await clock.advance(visibilityMs);
    assert.equal((await drain(queues)).length, 1);
  });

  it('a waiting receiver gets no message when its time is over or its signal aborts', async ({ queues, clock }) => {
    const timed = queues.receive('q', waiting);
    await clock.advance(waiting.waitMs);
    assert.deepEqual(await timed, []);

    const controller = new AbortController();
    const aborted = queues.receive('q', { ...waiting, signal: controller.signal });
    controller.abort();
    assert.deepEqual(await aborted, []);
    assert.deepEqual(await queues.receive('q', { ...waiting, signal: controller.signal }), []);

    await queues.send(messages(1));
    assert.deepEqual(bodiesOf(await drain(queues)), ['m0'], 'no receiver that has left got it');
  });

  for (const [senders, max] of [
    [1, 1],
    [3, 1],
    [3, 10],
    [30, 10],
  ] as const) {
    it(`every message is delivered when ${senders} sends in one turn of the event loop meet a receiver with space for ${max}`, async ({
      queues,
    }) => {
      const received = queues.receive('q', { ...waiting, max });
      await Promise.all(messages(senders).map((message) => queues.send([message])));
      const first = await received;
      assert.ok(first.length >= 1 && first.length <= max);
      assert.deepEqual(bodiesOf([...first, ...(await drain(queues))]), bodiesOf(messages(senders) as unknown as Received[]));
    });
  }

  it('several sends in one turn of the event loop reach several receivers, and each message reaches one of them', async ({ queues }) => {
    const receivers = listOf(4, () => queues.receive('q', { ...waiting, max: 2 }));
    await Promise.all(messages(8).map((message) => queues.send([message])));
    const shares = await Promise.all(receivers);
    assert.deepEqual(bodiesOf([...shares.flat(), ...(await drain(queues))]), bodiesOf(messages(8) as unknown as Received[]));
  });

  it('a receiver whose wait is aborted in the same turn of the event loop as a send loses no message', async ({ queues }) => {
    const controller = new AbortController();
    const received = queues.receive('q', { ...waiting, signal: controller.signal });
    const sent = queues.send(messages(3));
    void sent.then(() => controller.abort());
    await sent;
    assert.deepEqual(bodiesOf([...(await received), ...(await drain(queues))]), ['m0', 'm1', 'm2']);
  });

  it('a waiting receiver gets a delayed or released message when it is due', async ({ queues, clock }) => {
    await queues.send([{ queue: 'q', body: 'later', delayMs: 5_000 }]);
    const delayed = queues.receive('q', waiting);
    await clock.advance(5_000 + noticeMs);
    const [message] = await delayed;
    assert.equal(message?.body, 'later');

    const released = queues.receive('q', waiting);
    await queues.release('q', [message?.receipt ?? ''], 0);
    await clock.advance(noticeMs);
    assert.equal((await released)[0]?.receiveCount, 2);
  });

  it('F-26: two processes share the queues', async ({ queues, other, clock }) => {
    await queues.send(messages(1));
    const [received] = await other.receive('q', now);
    assert.equal(received?.body, 'm0');
    assert.deepEqual(await queues.receive('q', now), [], 'it is invisible in this process as well');
    await queues.acknowledge('q', [received?.receipt ?? '']);

    const waited = other.receive('q', waiting);
    await queues.send([{ queue: 'q', body: 'from here' }]);
    await clock.advance(noticeMs);
    assert.deepEqual(bodiesOf(await waited), ['from here']);
    await clock.advance(visibilityMs);
    assert.deepEqual(bodiesOf(await drain(queues)), ['from here'], 'not acknowledged there');
  });

  it('the depth of a queue counts visible, in-flight and delayed messages, with the age of the oldest', async ({
    queues,
    clock,
    reportsAge = true,
  }) => {
    await queues.send(messages(3));
    await clock.advance(2_000);
    await queues.send([{ queue: 'q', body: 'later', delayMs: 60_000 }]);
    await queues.receive('q', { ...now, max: 1 });
    assert.deepEqual(await queues.depth('q'), { visible: 2, inFlight: 1, delayed: 1, oldestAgeMs: reportsAge ? 2_000 : 0 });
    assert.deepEqual(await queues.depth('none'), { visible: 0, inFlight: 0, delayed: 0, oldestAgeMs: 0 });
  });

  test(`${name}: whatever its calls, a message is delivered until it is acknowledged, and not afterwards`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('send', 'receive', 'wait', 'acknowledge', 'release', 'advance'), fc.nat(40_000)), {
          maxLength: 40,
          size: 'max',
        }),
        async (actions) => {
          const { queues, other, clock, close } = await open(() => undefined);
          const unacknowledged = new Set<string>();
          const receivedHere: Received[] = [];
          const receiving: Promise<void>[] = [];
          const got = (received: readonly Received[]) => void receivedHere.push(...received);
          for (const [index, [action, size]] of actions.entries()) {
            const at = size % 2 === 0 ? queues : other;
            if (action === 'send') {
              unacknowledged.add(`m${index}`);
              await at.send([{ queue: 'q', body: `m${index}`, delayMs: size % 3 === 0 ? size : 0 }]);
            }
            if (action === 'receive') got(await at.receive('q', { max: 1 + (size % 10), visibilityMs, waitMs: 0 }));
            if (action === 'wait') receiving.push(at.receive('q', { max: 1 + (size % 10), visibilityMs, waitMs: size }).then(got));
            if (action === 'advance') await clock.advance(size);
            const message = receivedHere[size % Math.max(1, receivedHere.length)];
            if (message && action === 'release') await at.release('q', [message.receipt], size);
            if (message && action === 'acknowledge') await at.acknowledge('q', [message.receipt]);
          }
          await clock.advance(100_000);
          await Promise.all(receiving);
          for (const message of receivedHere) assert.ok(unacknowledged.has(message.body), 'only sent messages arrive');

          await clock.advance(100_000);
          const left = await drain(queues);
          assert.equal(new Set(bodiesOf(left)).size, left.length, 'each message is there once');
          const depth = await queues.depth('q');
          assert.equal(depth.inFlight, left.length, 'each unacknowledged message can be received');
          await other.acknowledge(
            'q',
            left.map(({ receipt }) => receipt),
          );
          assert.deepEqual(await queues.depth('q'), { visible: 0, inFlight: 0, delayed: 0, oldestAgeMs: 0 });
          await close();
        },
      ),
      { numRuns: 50 },
    );
  });
}

/** The promises of a channel with fair turns for each group; no emulator of SQS has them. */
export function fairChannelContract(name: string, open: OpenChannels): void {
  test(`${name}: X-46: a client that sends a hundred times as many messages as others does not make them wait for all its messages`, async () => {
    const { queues, clock, close } = await open(() => undefined);
    const ofNoisy = listOf(1000, (index): Outgoing => ({ queue: 'q', body: `noisy ${index}`, group: 'noisy' }));
    const quiet = listOf(10, (index) => `quiet ${index}`);
    await queues.send(ofNoisy);
    await clock.advance(1000);
    await queues.send(quiet.map((group) => ({ queue: 'q', body: group, group })));
    const first = [...(await queues.receive('q', now)), ...(await queues.receive('q', now))].map(({ body }) => body);
    assert.deepEqual(
      quiet.filter((body) => !first.includes(body)),
      [],
    );
    const rest = await drain(queues);
    assert.equal(new Set([...first, ...rest.map(({ body }) => body)]).size, 1010);
    await close();
  });

  test(`${name}: X-46: groups of messages take turns, and within a group the message that has waited longest comes first`, async () => {
    const { queues, clock, close } = await open(() => undefined);
    for (const body of ['a1', 'a2', 'a3', 'b1', 'b2', '1', 'c1']) {
      await queues.send([{ queue: 'q', body, ...(body === '1' ? {} : { group: body.slice(0, 1) }) }]);
      await clock.advance(1);
    }
    const order: string[] = [];
    for (let turn = 0; turn < 7; turn++) order.push(...bodiesOf(await queues.receive('q', { ...now, max: 1 })));
    assert.deepEqual(order, ['a1', 'b1', 'c1', '1', 'a2', 'b2', 'a3']);
    await close();
  });

  test(`${name}: each delivery of a message has the group of the message; a message without a group is delivered without one`, async () => {
    const { queues, clock, close } = await open(() => undefined);
    await queues.send([
      { queue: 'q', body: 'm0', group: 'acme' },
      { queue: 'q', body: 'm1' },
    ]);
    for (let delivery = 1; delivery <= 2; delivery++) {
      const received = await queues.receive('q', now);
      assert.deepEqual(
        new Map(received.map(({ body, group }) => [body, group])),
        new Map([
          ['m0', 'acme'],
          ['m1', undefined],
        ]),
      );
      await clock.advance(visibilityMs);
    }
    await close();
  });
}

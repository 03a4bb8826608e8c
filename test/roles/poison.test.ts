import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type JsonObject, UnprocessableMessage } from 'redress';
import type { ChannelPolicies } from '#authoring/channel-policy';
import { queueNames, type Request } from '#ports/messages';
import { topologyOf } from '#runtime/topology';
import { registerClient } from '#testing/world/register-client';
import {
  type Desk,
  type DeskOptions,
  heartbeatFor,
  journalOf,
  lineOf,
  nothing,
  noting,
  ok,
  openDesk,
  replyTo,
  submitted,
  temporaryFolder,
  typesOf,
} from './support.ts';

const { requests, replies } = { requests: queueNames.requests('worker'), replies: queueNames.replies('worker') };

/** The operation `pick` fails on its content `failures` times before it succeeds. */
function deskWhose(
  context: TestContext,
  failures: number,
  channels: ChannelPolicies = {},
  options: DeskOptions = {},
): Desk & { readonly ran: () => number } {
  let ran = 0;
  const pick = () => {
    ran += 1;
    if (ran <= failures) throw new UnprocessableMessage('There is no such customer yet.');
    return {};
  };
  return { ...openDesk(context, { ...lineOf({ pick, pack: nothing }), channels }, options), ran: () => ran };
}

const tracksOf = (desk: Desk): Promise<readonly unknown[]> =>
  desk.store.documents('TRACK#worker', undefined, 10).then((all) => all.map(({ id, content }) => [id, content['failures']]));

describe('a message whose content cannot be processed', () => {
  test('F-109: has each failure counted in the record of its conversation, that is, of its step', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    for (const failures of [1, 2, 3]) {
      assert.equal(await desk.deliver(requests), 1, 'it is redelivered');
      assert.deepEqual(await tracksOf(desk), [[`${orderId}/order/pick`, failures]]);
    }
  });

  test('F-109: keeps its count across processes', async (context) => {
    const dataFolder = temporaryFolder(context);
    const desk = deskWhose(context, 9, {}, { dataFolder });
    await submitted(desk);
    await desk.deliver(requests);
    const next = deskWhose(context, 9, {}, { dataFolder, clock: desk.clock });
    for (const comesAgain of [1, 1, 0]) assert.equal(await next.deliver(requests), comesAgain);
    assert.equal((await next.deadLetter())[0]?.failures, 4);
  });

  test('F-109: keeps its last ten failures, and counts them all', async (context) => {
    const desk = deskWhose(context, 99, { worker: { maxFailures: 11 } });
    await submitted(desk);
    const last: number[] = [];
    for (let failure = 1; failure <= 12; failure++) {
      last.push(desk.clock.now());
      await desk.deliver(requests);
    }
    const [deadLetter] = await desk.deadLetter();
    assert.deepEqual([deadLetter?.failures, deadLetter?.attempts.map(({ at }) => at)], [12, last.slice(-10)]);
  });

  test('F-110: begins a new failure count for its conversation after a success', async (context) => {
    const desk = deskWhose(context, 2);
    await submitted(desk);
    for (const comesAgain of [1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.deepEqual(await tracksOf(desk), []);
    await desk.deliver(replies);
    assert.equal((await desk.request()).path, 'order/pack');
  });

  test('F-111: ends its conversation at the fourth failure: its sender is notified, and it is dead-lettered with its failures', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    const [deadLetter, ...others] = await desk.deadLetter();

    assert.deepEqual([others, await tracksOf(desk), desk.messages(requests)], [[], [], []]);
    assert.deepEqual(
      [deadLetter?.queue, deadLetter?.type, deadLetter?.orderId, deadLetter?.senderId],
      [requests, 'request', orderId, 'local'],
    );
    assert.deepEqual(
      [deadLetter?.failures, deadLetter?.reason],
      [4, 'Processing failed 4 times, most recently with UnprocessableMessage.'],
    );
    assert.deepEqual(
      deadLetter?.attempts.map(({ error }) => error),
      Array.from({ length: 4 }, () => 'UnprocessableMessage: There is no such customer yet.'),
    );
    assert.deepEqual(
      desk.messages(replies).map(({ result }) => result),
      [{ status: 'rejected', code: 500, message: 'Unable to process message.', deadLetter: deadLetter?.id }],
    );
    await desk.deliver(replies);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.data], ['Error', 'RequestRejected', { deadLetter: deadLetter?.id }]);
  });

  test('S8, F-111: causes no error reply after its deadline, because another attempt may run by then', async (context) => {
    const desk = deskWhose(context, 9);
    await submitted(desk);
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    await desk.clock.advance(60_000);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.deepEqual(desk.messages(replies), []);
  });

  test('F-112: has its failure counted while it is invisible to others, and becomes visible only afterwards', async (context) => {
    const happened: [what: string, inFlight?: number][] = [];
    const around: DeskOptions['around'] = ({ store, queues }) => ({
      store: {
        ...store,
        async putDocument(...document) {
          const { inFlight } = await queues.depth(requests);
          const write = await store.putDocument(...document);
          if (document[0].collection.startsWith('TRACK#')) happened.push(['counted', inFlight]);
          return write;
        },
      },
      queues: { ...queues, release: (...release) => noting(happened, ['shown again'], queues.release(...release)) },
    });
    const desk = deskWhose(context, 9, {}, { around });
    await submitted(desk);
    await desk.deliver(requests);
    assert.deepEqual(happened, [['counted', 1], ['shown again']]);
  });

  test('F-112: stays invisible to other readers until its failure is counted, however long that takes', async (context) => {
    const seen: number[] = [];
    const around: DeskOptions['around'] = ({ store, queues }) => ({
      store: {
        ...store,
        async putDocument(...document) {
          for (let second = 0; document[0].collection.startsWith('TRACK#') && second < 20; second++) {
            const others = await queues.receive(requests, { max: 10, visibilityMs: 0, waitMs: 0 });
            seen.push(others.length);
            await desk.clock.advance(1000);
          }
          return store.putDocument(...document);
        },
      },
    });
    const desk = deskWhose(context, 9, {}, { around });
    await submitted(desk);
    await desk.deliver(requests);
    assert.deepEqual([seen.length, Math.max(...seen)], [20, 0]);
  });

  test('F-117: may fail as often as the policy of its channel says', async (context) => {
    const patient = deskWhose(context, 5, { worker: { maxFailures: 5 } });
    await submitted(patient);
    for (const comesAgain of [1, 1, 1, 1, 1, 0]) assert.equal(await patient.deliver(requests), comesAgain);
    assert.deepEqual(await patient.deadLetter(), []);

    const strict = deskWhose(context, 5, { worker: { maxFailures: 0 } });
    await submitted(strict);
    assert.equal(await strict.deliver(requests), 0);
    assert.equal((await strict.deadLetter()).length, 1);
  });

  test('F-121: has a programming error in the middle of a write counted as a failure, too', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      around: ({ store }) => ({ store: { ...store, update: () => Promise.reject(new TypeError('x is not a function')) } }),
    });
    await submitted(desk);
    await desk.send(replies, replyTo(await desk.request(), ok(), desk.clock.now()));
    assert.equal(await desk.deliver(replies), 1);
    assert.deepEqual((await tracksOf(desk)).length, 1);
  });

  test('X-27: has no outage counted as a failure', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      around: ({ store }) => ({
        store: { ...store, update: () => Promise.reject(new TypeError('fetch failed', { cause: 'ECONNRESET' })) },
      }),
    });
    await submitted(desk);
    await desk.send(replies, replyTo(await desk.request(), ok(), desk.clock.now()));
    for (let deliveries = 1; deliveries <= 4; deliveries++) assert.equal(await desk.deliver(replies), 1);
    assert.deepEqual(await tracksOf(desk), []);
  });

  test('F-122: has its failures counted apart from the late steps, which are counted in the record of the order', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    const failed = [[`${orderId}/order/pick`, 2]];
    for (const comesAgain of [1, 1]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.deepEqual([(await desk.state(orderId)).failureCount, await tracksOf(desk)], [0, failed]);
    await desk.clock.advance(120_000);
    await desk.supervisor.pass();
    assert.deepEqual([(await desk.state(orderId)).failureCount, await tracksOf(desk)], [1, failed]);
  });
});

describe('a message that is refused because of its content', () => {
  test('F-113, F-116: when a request has an unknown type, it is answered with an error on its first delivery and not counted', async (context) => {
    const desk = deskWhose(context, 0);
    await submitted(desk);
    const request = await desk.request();
    await desk.send(requests, { ...request, type: 'inquiry' });
    assert.equal(await desk.deliver(requests), 0);
    const [deadLetter] = await desk.deadLetter();

    assert.deepEqual([deadLetter?.type, deadLetter?.reason], ['inquiry', 'This is not a valid message for an agent.']);
    assert.deepEqual([await tracksOf(desk), desk.ran()], [[], 0]);
    assert.deepEqual(
      desk.messages(replies).map(({ requestId, result }) => [requestId, (result as JsonObject)['status']]),
      [[request.requestId, 'rejected']],
    );
  });

  test('F-113: when a message to the scheduler has an unknown type, it is dead-lettered on its first delivery, and its order continues', async (context) => {
    for (const queue of [replies, 'wake-ups']) {
      const desk = deskWhose(context, 0);
      const orderId = await submitted(desk);
      const request = await desk.request();
      await desk.take('wake-ups');
      await desk.send(queue, { ...replyTo(request, ok(), desk.clock.now()), type: 'inquiry' });
      assert.equal(await desk.deliver(queue), 0);
      assert.deepEqual(
        (await desk.deadLetter()).map(({ type, failures }) => [type, failures]),
        [['inquiry', 1]],
      );
      assert.deepEqual([await tracksOf(desk), (await desk.state(orderId)).rev], [[], 1]);
      await desk.answer(request);
      assert.equal((await desk.state(orderId)).rev, 2);
    }
  });

  test('F-116: when a submission lacks an order, it is refused on the response queue of its client', async (context) => {
    const desk = deskWhose(context, 0);
    const responseChannel = 'redress-response-acme';
    await registerClient(desk.store, { id: 'acme', responseChannels: [responseChannel], senders: ['local'] });
    await desk.send('submissions', { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'k', reference: 'r', responseChannel });
    assert.equal(await desk.deliver('submissions'), 0);
    assert.equal((await desk.deadLetter()).length, 1);
    const [{ at: _, ...status } = {}] = desk.messages(responseChannel);
    const errors = [{ pointer: '', code: 'internal', detail: 'Unable to process message.' }];
    assert.deepEqual(status, { v: 1, type: 'status', reference: 'r', idempotencyKey: 'k', seq: 1, status: 'refused', errors });
  });

  test('F-116: when the policy of its channel says so, it is tried again and its failures are counted, as for any other failure', async (context) => {
    const desk = deskWhose(context, 0, { worker: { judge: 'count' } });
    await desk.send(requests, 'nonsense');
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.equal((await desk.deadLetter())[0]?.failures, 4);
  });

  test('F-118: when a heartbeat is malformed, it is dropped and the next message is processed', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.send(replies, { ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()), completeBy: 'soon' });
    await desk.send(replies, replyTo(request, ok(), desk.clock.now()));
    assert.equal(await desk.deliver(replies), 0);
    assert.deepEqual([await desk.deadLetter(), (await desk.state(orderId)).outcome], [[], 'completed']);
  });
});

describe('a malformed message and the drop list of its channel', () => {
  const broken = {
    heartbeat: (desk: Desk, request: Request) => ({
      ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()),
      completeBy: 'soon',
    }),
    reply: (desk: Desk, request: Request) => ({ ...replyTo(request, ok(), desk.clock.now()), sentAt: 'now' }),
  };
  const rows = [
    ['a heartbeat is dead-lettered if the list is empty', [], 'heartbeat', ['heartbeat']],
    ['a reply is dropped if the list names it', ['reply'], 'reply', []],
    ['a heartbeat is dead-lettered if only the default list names it', ['reply'], 'heartbeat', ['heartbeat']],
    ['a reply is dead-lettered if the list does not name it', ['heartbeat'], 'reply', ['reply']],
  ] as const;

  for (const [what, drop, type, kept] of rows) {
    test(`F-118: ${what}; the next message is processed`, async (context) => {
      const desk = openDesk(context, { ...lineOf({ pick: nothing }), channels: { worker: { drop, conversation: 'goes on' } } });
      const orderId = await submitted(desk);
      const request = await desk.request();
      await desk.send(replies, broken[type](desk, request));
      await desk.send(replies, replyTo(request, ok(), desk.clock.now()));
      assert.equal(await desk.deliver(replies), 0);
      assert.deepEqual(
        (await desk.deadLetter()).map((deadLetter) => deadLetter.type),
        kept,
      );
      assert.equal((await desk.state(orderId)).outcome, 'completed');
    });
  }
});

test('F-118: a dropped message that is redelivered does not count against its conversation', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  await submitted(desk);
  const request = await desk.request();
  await desk.send(replies, { ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()), completeBy: 'soon' });
  // A process received it and crashed.
  await desk.queues.receive(replies, { max: 1, visibilityMs: 1000, waitMs: 0 });
  await desk.clock.advance(1000);
  assert.equal(await desk.deliver(replies), 0);
  assert.deepEqual([await tracksOf(desk), await desk.deadLetter()], [[], []]);
});

describe('the end of a conversation', () => {
  test('F-114: clears the failure count of the request if a cancellation ends the conversation', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    await desk.deliver(requests);
    const [{ requestId, path, idempotencyKey } = {}] = desk.messages(requests);
    await desk.take(requests);
    assert.equal((await tracksOf(desk)).length, 1);
    await desk.send(requests, { v: 1, type: 'cancel', requestId, orderId, path, idempotencyKey });
    assert.equal(await desk.deliver(requests), 0);
    assert.deepEqual(await tracksOf(desk), []);
  });

  test('F-114: clears the failure count and closes the step if an error reply ends the conversation', async (context) => {
    const desk = deskWhose(context, 9, { worker: { maxFailures: 0 } });
    const orderId = await submitted(desk);
    await desk.deliver(requests);
    await desk.deadLetter();
    await desk.deliver(replies);
    assert.deepEqual([await tracksOf(desk), (await desk.state(orderId)).processState], [[], 'Error']);
    assert.deepEqual(
      (await journalOf(desk, orderId)).filter(({ type }) => type === 'StepRequested').map(({ type }) => type),
      ['StepRequested'],
    );
  });

  test('F-120: can be switched off: then only a person is notified', async (context) => {
    const desk = deskWhose(context, 9, { worker: { maxFailures: 0, conversation: 'goes on' } });
    const orderId = await submitted(desk);
    await desk.deliver(requests);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.deepEqual([typesOf(desk.announced()), desk.messages(replies)], [['Message Dead-Lettered'], []]);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });
});

describe('one message at a time', () => {
  test('F-115: is a batch of one, which a channel can choose', () => {
    const app = { ...lineOf({ pick: nothing }), channels: { worker: { batchSize: 1 } } };
    const sizes = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue, batchSize }) => [queue, batchSize] as const));
    assert.deepEqual(
      sizes.filter(([, size]) => size === 1).map(([queue]) => queue),
      [requests, replies, `${requests}-dead`, `${replies}-dead`],
    );
  });
});

describe('the log line of a failed message', () => {
  const lineIn = (desk: Desk): JsonObject => JSON.parse(desk.log.findLast((line) => line.includes('dead-lettered message')) ?? '{}');

  async function failed(context: TestContext, channels: ChannelPolicies): Promise<Desk> {
    const desk = deskWhose(context, 9, channels);
    await submitted(desk, { item: 'green tea' });
    await desk.deliver(requests);
    return desk;
  }

  test('F-119: names its sender, and not its content', async (context) => {
    const desk = await failed(context, { worker: { maxFailures: 0 } });
    assert.deepEqual([lineIn(desk)['senderId'], lineIn(desk)['body']], ['local', undefined]);
    assert.equal(desk.log.filter((line) => /green tea|no such customer/.test(line)).length, 0);
  });

  test('F-119: names its content and not its sender if the policy says so, and its failures omit the sender too', async (context) => {
    const desk = await failed(context, { worker: { maxFailures: 0, logsBody: true, logsSender: false } });
    assert.equal(lineIn(desk)['senderId'], undefined);
    assert.match(String(lineIn(desk)['body']), /green tea/);
    assert.equal((await desk.deadLetter())[0]?.senderId, undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type JsonObject, UnprocessableMessage } from 'redress';
import type { ChannelPolicies } from '#authoring/channel-policy';
import { queueNames, type Request } from '#ports/messages';
import { topologyOf } from '#runtime/topology';
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

/** The operation `pick` fails so many times on account of what it is given, before it does its work. */
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

describe('a message whose content cannot be handled', () => {
  test('F-109 each failure is counted in a record of its conversation: the step that it is about', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    for (const failures of [1, 2, 3]) {
      assert.equal(await desk.deliver(requests), 1, 'it comes again');
      assert.deepEqual(await tracksOf(desk), [[`${orderId}/order/pick`, failures]]);
    }
  });

  test('F-109 the count outlives the process', async (context) => {
    const dataFolder = temporaryFolder(context);
    const desk = deskWhose(context, 9, {}, { dataFolder });
    await submitted(desk);
    await desk.deliver(requests);
    const next = deskWhose(context, 9, {}, { dataFolder, clock: desk.clock });
    for (const comesAgain of [1, 1, 0]) assert.equal(await next.deliver(requests), comesAgain);
    assert.equal((await next.deadLetter())[0]?.failures, 4);
  });

  test('F-109 of many failures the last ten are kept with the message, and all are counted', async (context) => {
    const desk = deskWhose(context, 99, { worker: { maxFailures: 11 } });
    await submitted(desk);
    const last: number[] = [];
    for (let failure = 1; failure <= 12; failure++) {
      last.push(desk.clock.now());
      await desk.deliver(requests);
    }
    const [aside] = await desk.deadLetter();
    assert.deepEqual([aside?.failures, aside?.attempts.map(({ at }) => at)], [12, last.slice(-10)]);
  });

  test('F-110 success clears the count', async (context) => {
    const desk = deskWhose(context, 2);
    await submitted(desk);
    for (const comesAgain of [1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.deepEqual(await tracksOf(desk), []);
    await desk.deliver(replies);
    assert.equal((await desk.request()).path, 'order/pack');
  });

  test('F-111 the fourth failure ends the conversation: its sender is told, and the message is dead-lettered with its story', async (context) => {
    const desk = deskWhose(context, 9);
    const orderId = await submitted(desk);
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    const [aside, ...others] = await desk.deadLetter();

    assert.deepEqual([others, await tracksOf(desk), desk.messages(requests)], [[], [], []]);
    assert.deepEqual([aside?.queue, aside?.type, aside?.orderId, aside?.senderId], [requests, 'request', orderId, 'local']);
    assert.deepEqual([aside?.failures, aside?.reason], [4, 'Handling it failed 4 times, the last time with UnprocessableMessage.']);
    assert.deepEqual(
      aside?.attempts.map(({ error }) => error),
      Array.from({ length: 4 }, () => 'UnprocessableMessage: There is no such customer yet.'),
    );
    assert.deepEqual(
      desk.messages(replies).map(({ result }) => result),
      [{ status: 'rejected', code: 500, message: 'Unable to process message.', deadLetter: aside?.id }],
    );
    await desk.deliver(replies);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.data], ['Error', 'RequestRejected', { deadLetter: aside?.id }]);
  });

  test('S8, F-111 nobody is told after its time: another asking may be at work by then', async (context) => {
    const desk = deskWhose(context, 9);
    await submitted(desk);
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    await desk.clock.advance(60_000);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.deepEqual(desk.messages(replies), []);
  });

  test('F-112 it is counted while nobody else can have it, and only then shown again', async (context) => {
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

  test('F-112 until its failure is counted no other reader gets it, however long the count takes', async (context) => {
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

  test('F-117 how often it may fail is each channel’s own affair: an order before its new customer', async (context) => {
    const patient = deskWhose(context, 5, { worker: { maxFailures: 5 } });
    await submitted(patient);
    for (const comesAgain of [1, 1, 1, 1, 1, 0]) assert.equal(await patient.deliver(requests), comesAgain);
    assert.deepEqual(await patient.deadLetter(), []);

    const strict = deskWhose(context, 5, { worker: { maxFailures: 0 } });
    await submitted(strict);
    assert.equal(await strict.deliver(requests), 0);
    assert.equal((await strict.deadLetter()).length, 1);
  });

  test('F-121 what a slip of the program does in the middle of a write counts as well', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      around: ({ store }) => ({ store: { ...store, update: () => Promise.reject(new TypeError('x is not a function')) } }),
    });
    await submitted(desk);
    await desk.send(replies, replyTo(await desk.request(), ok(), desk.clock.now()));
    assert.equal(await desk.deliver(replies), 1);
    assert.deepEqual((await tracksOf(desk)).length, 1);
  });

  test('X-27 an outage counts as nobody’s failure', async (context) => {
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

  test('F-122 that a step is late is counted in the record of its order, and what its message failed for beside it', async (context) => {
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

describe('a message that can be judged by its content', () => {
  test('F-113 F-116 a request of an unknown type is answered with an error on its first delivery, and counted nowhere', async (context) => {
    const desk = deskWhose(context, 0);
    await submitted(desk);
    const request = await desk.request();
    await desk.send(requests, { ...request, type: 'inquiry' });
    assert.equal(await desk.deliver(requests), 0);
    const [aside] = await desk.deadLetter();

    assert.deepEqual([aside?.type, aside?.reason], ['inquiry', 'This is no message for an agent.']);
    assert.deepEqual([await tracksOf(desk), desk.ran()], [[], 0]);
    assert.deepEqual(
      desk.messages(replies).map(({ requestId, result }) => [requestId, (result as JsonObject)['status']]),
      [[request.requestId, 'rejected']],
    );
  });

  test('F-113 a message of an unknown type to the scheduler is given up on its first delivery, and its order goes on', async (context) => {
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

  test('F-116 a submission without an order is refused where its client listens', async (context) => {
    const desk = deskWhose(context, 0);
    const responseChannel = 'redress-response-acme';
    await desk.store.putClient({ id: 'acme', responseChannels: [responseChannel], senders: ['local'] });
    await desk.send('submissions', { v: 1, type: 'submission', client: 'acme', idempotencyKey: 'k', reference: 'r', responseChannel });
    assert.equal(await desk.deliver('submissions'), 0);
    assert.equal((await desk.deadLetter()).length, 1);
    const [{ at: _, ...status } = {}] = desk.messages(responseChannel);
    const errors = [{ pointer: '', code: 'internal', detail: 'Unable to process message.' }];
    assert.deepEqual(status, { v: 1, type: 'status', reference: 'r', idempotencyKey: 'k', seq: 1, status: 'refused', errors });
  });

  test('F-116 a channel may count it instead', async (context) => {
    const desk = deskWhose(context, 0, { worker: { judge: 'count' } });
    await desk.send(requests, 'nonsense');
    for (const comesAgain of [1, 1, 1, 0]) assert.equal(await desk.deliver(requests), comesAgain);
    assert.equal((await desk.deadLetter())[0]?.failures, 4);
  });

  test('F-118 a heartbeat that makes no sense is dropped, and the next message is handled', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.send(replies, { ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()), completeBy: 'soon' });
    await desk.send(replies, replyTo(request, ok(), desk.clock.now()));
    assert.equal(await desk.deliver(replies), 0);
    assert.deepEqual([await desk.deadLetter(), (await desk.state(orderId)).outcome], [[], 'completed']);
  });
});

describe('what a channel drops', () => {
  const broken = {
    heartbeat: (desk: Desk, request: Request) => ({
      ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()),
      completeBy: 'soon',
    }),
    reply: (desk: Desk, request: Request) => ({ ...replyTo(request, ok(), desk.clock.now()), sentAt: 'now' }),
  };
  const rows = [
    ['nothing where its list is empty: a heartbeat that makes no sense is kept', [], 'heartbeat', ['heartbeat']],
    ['what its own list names: a reply that makes no sense', ['reply'], 'reply', []],
    ['not what the usual list names and its own does not', ['reply'], 'heartbeat', ['heartbeat']],
    ['nothing that its list does not name', ['heartbeat'], 'reply', ['reply']],
  ] as const;

  for (const [what, drop, type, kept] of rows) {
    test(`F-118 is ${what}; the next message is handled`, async (context) => {
      const desk = openDesk(context, { ...lineOf({ pick: nothing }), channels: { worker: { drop, conversation: 'goes on' } } });
      const orderId = await submitted(desk);
      const request = await desk.request();
      await desk.send(replies, broken[type](desk, request));
      await desk.send(replies, replyTo(request, ok(), desk.clock.now()));
      assert.equal(await desk.deliver(replies), 0);
      assert.deepEqual(
        (await desk.deadLetter()).map((aside) => aside.type),
        kept,
      );
      assert.equal((await desk.state(orderId)).outcome, 'completed');
    });
  }
});

test('F-118 what is dropped when it comes again is not counted against its conversation', async (context) => {
  const desk = openDesk(context, lineOf({ pick: nothing }));
  await submitted(desk);
  const request = await desk.request();
  await desk.send(replies, { ...heartbeatFor(request, desk.clock.now() + 1000, desk.clock.now()), completeBy: 'soon' });
  // A process took it and died.
  await desk.queues.receive(replies, { max: 1, visibilityMs: 1000, waitMs: 0 });
  await desk.clock.advance(1000);
  assert.equal(await desk.deliver(replies), 0);
  assert.deepEqual([await tracksOf(desk), await desk.deadLetter()], [[], []]);
});

describe('what ends a conversation', () => {
  test('F-114 a cancellation clears what was counted of its request', async (context) => {
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

  test('F-114 the error that its sender is told clears it too, and closes the step', async (context) => {
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

  test('F-120 or it goes on: only a person is told', async (context) => {
    const desk = deskWhose(context, 9, { worker: { maxFailures: 0, conversation: 'goes on' } });
    const orderId = await submitted(desk);
    await desk.deliver(requests);
    assert.equal((await desk.deadLetter()).length, 1);
    assert.deepEqual([typesOf(desk.announced()), desk.messages(replies)], [['Poison Message Dead-Lettered'], []]);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });
});

describe('one message at a time', () => {
  test('F-115 is a batch of one: a channel may have it so', () => {
    const app = { ...lineOf({ pick: nothing }), channels: { worker: { batchSize: 1 } } };
    const sizes = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue, batchSize }) => [queue, batchSize] as const));
    assert.deepEqual(
      sizes.filter(([, size]) => size === 1).map(([queue]) => queue),
      [requests, replies, `${requests}-dead`, `${replies}-dead`],
    );
  });
});

describe('what the log says of a message that failed', () => {
  const lineIn = (desk: Desk): JsonObject => JSON.parse(desk.log.findLast((line) => line.includes('given up')) ?? '{}');

  async function failed(context: TestContext, channels: ChannelPolicies): Promise<Desk> {
    const desk = deskWhose(context, 9, channels);
    await submitted(desk, { item: 'green tea' });
    await desk.deliver(requests);
    return desk;
  }

  test('F-119 is who sent it, and not what was in it', async (context) => {
    const desk = await failed(context, { worker: { maxFailures: 0 } });
    assert.deepEqual([lineIn(desk)['senderId'], lineIn(desk)['body']], ['local', undefined]);
    assert.equal(desk.log.filter((line) => /green tea|no such customer/.test(line)).length, 0);
  });

  test('F-119 or what was in it, and not who sent it: neither does the story say so then', async (context) => {
    const desk = await failed(context, { worker: { maxFailures: 0, logsBody: true, logsSender: false } });
    assert.equal(lineIn(desk)['senderId'], undefined);
    assert.match(String(lineIn(desk)['body']), /green tea/);
    assert.equal((await desk.deadLetter())[0]?.senderId, undefined);
  });
});

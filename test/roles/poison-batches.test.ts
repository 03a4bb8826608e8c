import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { UnprocessableMessage } from 'redress';
import { queueNames } from '#ports/messages';
import { noResult } from '#roles/dead-letters/failure-counts';
import { createFailurePolicy } from '#roles/dead-letters/outcome';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { queueEvent } from '#runtime/host/event-source';
import { create as agentFunction } from '../../functions/agent.ts';
import { create as schedulerFunction } from '../../functions/scheduler.ts';
import { type Desk, lineOf, nothing, ok, openDesk, replyTo, sendingFails, submitted, timePasses } from './support.ts';

const requests = queueNames.requests('worker');
const replies = queueNames.replies('worker');
const visibilityMs = 60_000;
const killer = 'poisoned tea';

/** Agents whose process crashes on one item; all work in progress never finishes. */
function farm(context: TestContext) {
  const done = new Set<string>();
  let crash = () => {};
  const pick = ({ item }: { readonly item: string }) => {
    if (item !== killer) return void done.add(item);
    crash();
    return new Promise(() => {});
  };
  const variables = { STEP_COMPLETE_WITHIN_SECONDS: '3600' };
  const desk = openDesk(context, lineOf({ pick, pack: nothing }), { variables });

  /** Hands all visible messages to a new process. */
  async function deliver(): Promise<void> {
    const received = await desk.queues.receive(requests, { max: 10, visibilityMs, waitMs: 0 });
    const life = { isOver: false };
    const { store, queues, clock } = desk;
    const system = { ...desk.system, store: mortal(store, life), queues: mortal(queues, life), clock: mortal(clock, life) };
    const death = new Promise<undefined>((resolve) => {
      crash = () => {
        life.isOver = true;
        resolve(undefined);
      };
    });
    const serve = agentFunction({ system, environment: { REDRESS_AGENTS: 'worker' }, accepting: () => true });
    const work = serve(queueEvent(requests, received), { stopping: new AbortController().signal });
    const response = await timePasses(clock, Promise.race([work, death]));
    if (!response) return;
    const back = new Set(response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const receipts = received.filter(({ messageId }) => !back.has(messageId)).map(({ receipt }) => receipt);
    await queues.acknowledge(requests, receipts);
  }

  /** Delivers until no message is left. */
  async function deliverAll(): Promise<void> {
    for (let deliveries = 1; desk.messages(requests).length > 0 && deliveries < 10; deliveries++) {
      await deliver();
      await desk.clock.advance(visibilityMs + 10_000);
    }
  }
  return { ...desk, deliver, deliverAll, done };
}

/** A port or a clock of one process: after a crash its calls never return. */
const mortal = <P extends object>(port: P, life: { readonly isOver: boolean }): P =>
  new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const answer: unknown = value.apply(target, args);
        return answer instanceof Promise ? answer.then((given) => (life.isOver ? new Promise(() => {}) : given)) : answer;
      };
    },
  });

describe('a message that crashes its process', () => {
  test('S25, X-14: delays its neighbors by one visibility timeout and some seconds, and is dead-lettered in the end', async (context) => {
    const desk = farm(context);
    const items = ['a', 'b', killer, 'c', 'd'];
    for (const item of items) await submitted(desk, { item });
    const begunAt = desk.clock.now();
    await desk.deliver();
    await desk.clock.advance(visibilityMs);
    for (await desk.deliver(); desk.done.size < 4; await desk.deliver()) await desk.clock.advance(5_000);
    assert.deepEqual([...desk.done].toSorted(), ['a', 'b', 'c', 'd']);
    assert.ok(desk.clock.now() - begunAt <= visibilityMs + 15_000, `${desk.clock.now() - begunAt} ms`);

    await desk.deliverAll();
    const [deadLetter, ...others] = await desk.deadLetter();
    assert.deepEqual([JSON.parse(deadLetter?.body ?? '{}').input.item, others], [killer, []]);
    assert.equal(deadLetter?.attempts.at(-1)?.error, noResult);
  });

  test('X-14: has an unknown outcome, and its sender is notified of that', async (context) => {
    const desk = farm(context);
    await submitted(desk, { item: killer });
    await desk.deliverAll();
    const [deadLetter] = await desk.deadLetter();
    assert.deepEqual(
      desk.messages(replies).map(({ result }) => result),
      [{ status: 'rejected', code: 500, message: 'Unable to process message.', deadLetter: deadLetter?.id, outcomeUnknown: true }],
    );
  });

  test('F-110: leaves no failure count for a neighbor that is redelivered and succeeds', async (context) => {
    const desk = farm(context);
    for (const item of ['a', killer]) await submitted(desk, { item });
    await desk.deliver();
    await desk.clock.advance(visibilityMs);
    for (await desk.deliver(); desk.done.size < 1; await desk.deliver()) await desk.clock.advance(5_000);
    const tracks = await desk.store.documents('TRACK#worker', undefined, 10);
    assert.deepEqual([[...desk.done], tracks.length], [['a'], 1]);
  });
});

describe('a message that is delivered several times in parallel', () => {
  test('F-110, S25: is not given up while one delivery is handled, but is given up after the process of that delivery has crashed', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const judge = createFailurePolicy(desk.system);
    await submitted(desk);
    const [received] = await desk.queues.receive(requests, { max: 1, visibilityMs, waitMs: 0 });
    const delivery = { ...(received ?? assert.fail()), queue: requests, receiveCount: 2 };
    const begin = async () => judge.begin(delivery, await judge.counts(delivery));
    for (let death = 0; death < 3; death++) {
      await begin();
      await desk.clock.advance(desk.system.visibilityMsOf(requests));
    }
    const atWork = await begin();
    await assert.rejects(begin, /is being processed/);
    assert.equal(desk.messages(queueNames.deadLetters(requests)).length, 0);

    await judge.succeeded(delivery, atWork);
    assert.ok(await begin(), 'no failure counts against it any more');
    for (let death = 0; death < 4; death++) {
      await desk.clock.advance(desk.system.visibilityMsOf(requests));
      await begin();
    }
    assert.equal(desk.messages(queueNames.deadLetters(requests)).length, 1);
  });

  test('F-110, S25: is not given up because of an attempt that has succeeded while the message waited for its turn', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const judge = createFailurePolicy(desk.system);
    await submitted(desk);
    const [received] = await desk.queues.receive(requests, { max: 1, visibilityMs, waitMs: 0 });
    const delivery = { ...(received ?? assert.fail()), queue: requests, receiveCount: 2 };
    const begin = async () => judge.begin(delivery, await judge.counts(delivery));
    for (let attempt = 0; attempt < 3; attempt++) await begin();
    const slow = await begin();
    await desk.clock.advance(desk.system.visibilityMsOf(requests));
    const readAtArrival = await judge.counts(delivery);
    await judge.succeeded(delivery, slow);
    assert.equal((await judge.begin(delivery, readAtArrival))?.counts.count?.failures, 1);
    assert.equal(desk.messages(queueNames.deadLetters(requests)).length, 0);
  });
});

describe('a batch', () => {
  const comesAgain = async (desk: Desk, create: typeof schedulerFunction, queue: string) => {
    const received = await desk.queues.receive(queue, { max: 10, visibilityMs, waitMs: 0 });
    const handler = create({ system: desk.system, environment: {}, accepting: () => true });
    const { batchItemFailures } = await timePasses(desk.clock, handler(queueEvent(queue, received)));
    return { ids: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), received };
  };

  test('X-15: reports as failed only the failed messages, by their ids', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      around: ({ store }) => ({
        store: { ...store, load: (id) => (id === 'ord_away' ? Promise.reject(new Error('away')) : store.load(id)) },
      }),
    });
    await submitted(desk);
    const request = await desk.request();
    const away = { ...request, orderId: 'ord_away', requestId: request.requestId.replace(request.orderId, 'ord_away') };
    for (const each of [request, away]) await desk.send(replies, replyTo(each, ok(), desk.clock.now()));
    await desk.send(replies, 'nonsense');
    const { ids, received } = await comesAgain(desk, schedulerFunction, replies);
    assert.deepEqual(
      ids,
      received.filter(({ body }) => body.includes('ord_away')).map(({ messageId }) => messageId),
    );
  });

  test('X-13, S25: with several messages for one order that cannot be applied together: only the faulty one is redelivered', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    const orderId = await submitted(desk);
    const request = await desk.request();
    const odd = { ...request, attempt: 7, requestId: request.requestId.replace(/\d+$/, '7') };
    const accept: Scheduler['accept'] = (id, incoming, again) =>
      incoming.some(({ id: one }) => one === odd.requestId)
        ? Promise.reject(new TypeError('x is undefined'))
        : desk.system.scheduler.accept(id, incoming, again);
    for (const each of [request, odd]) await desk.send(replies, replyTo(each, ok(), desk.clock.now()));
    const system = { ...desk.system, scheduler: { ...desk.system.scheduler, accept } };
    const { ids, received } = await comesAgain({ ...desk, system }, schedulerFunction, replies);
    assert.deepEqual(
      ids,
      received.filter(({ body }) => body.includes(odd.requestId)).map(({ messageId }) => messageId),
    );
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('S25: with a message that always fails still processes all others', async (context) => {
    const desk = openDesk(
      context,
      lineOf({
        pick: ({ item }) => {
          if (item === killer) throw new UnprocessableMessage('No.');
          return {};
        },
      }),
    );
    for (const item of ['a', killer, 'b']) await submitted(desk, { item });
    assert.equal(await desk.deliver(requests), 1);
    assert.equal(desk.messages(replies).length, 2);
    for (let deliveries = 2; deliveries <= 4; deliveries++) {
      await submitted(desk, { item: `c${deliveries}` });
      await desk.deliver(requests);
    }
    assert.deepEqual([desk.messages(requests), desk.messages(replies).length], [[], 5]);
  });
});

describe('messages that are redelivered after an outage', () => {
  /** Returns how many of ten orders are processed at the same time when their requests are redelivered. */
  async function atWorkAtOnce(context: TestContext, failures: number): Promise<number> {
    let atWork = 0;
    let most = 0;
    const pick = async () => {
      most = Math.max(most, ++atWork);
      await desk.clock.sleep(100);
      atWork -= 1;
      return {};
    };
    let isAway = true;
    const desk = openDesk(context, lineOf({ pick }), {
      around: sendingFails(replies, () => isAway),
    });
    const serve = agentFunction({ system: desk.system, environment: { REDRESS_AGENTS: 'worker' }, accepting: () => true });
    for (let order = 1; order <= failures; order++) await submitted(desk);
    const deliver = async () => {
      const received = await desk.queues.receive(requests, { max: 100, visibilityMs, waitMs: 0 });
      const stopping = new AbortController().signal;
      const response = await timePasses(desk.clock, serve(queueEvent(requests, received), { stopping }));
      return response.batchItemFailures.length;
    };
    assert.equal(await deliver(), failures);
    await desk.clock.advance(2_000);
    [isAway, most] = [false, 0];
    assert.equal(await deliver(), 0);
    return most;
  }

  test('X-9, S25: are processed in parallel by a process that met the outage itself', async (context) => {
    assert.equal(await atWorkAtOnce(context, 30), 30);
  });

  test('S25: are processed one at a time if only some have failed, because any of them may crash the process', async (context) => {
    assert.equal(await atWorkAtOnce(context, 10), 1);
  });
});

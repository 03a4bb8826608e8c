import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { UnprocessableMessage } from 'redress';
import type { Consumers } from '#ports/consumers';
import type { Store } from '#ports/store';
import { createChannelHealth } from '#roles/channels/health';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { channelState } from '#roles/channels/state';
import { type Desk, lineOf, nothing, openDesk, reaches, started, submitted } from './support.ts';

const line = lineOf({ one: nothing });
const requests = 'worker-requests';

/** The channel health of a separate process; all processes share the store. */
function processOn(desk: Desk, more: { store?: Store; consumers?: Consumers } = {}) {
  const { store = desk.store, consumers } = more;
  return createChannelHealth({ ...desk, documents: store, consumers: consumers });
}

async function times(count: number, work: () => Promise<void>): Promise<void> {
  for (let time = 1; time <= count; time++) await work();
}

const stateOf = async (desk: Desk) => (await channelState('worker', desk.store))?.state ?? 'open';

describe('five failures in a row close a queue of a channel', () => {
  test('F-108: the fifth failure closes the channel once: its queue is paused, a person is notified, and its record says who closed it and why', async (t) => {
    const desk = openDesk(t, line);
    const shut: string[] = [];
    const consumers: Consumers = { set: async (queues, state) => void shut.push(`${state} ${queues.join()}`) };
    const health = processOn(desk, { consumers: consumers });
    await times(4, () => health.failed(requests));
    assert.deepEqual([await stateOf(desk), shut, desk.announced()], ['open', [], []]);
    await times(3, () => health.failed(requests));

    assert.deepEqual(shut, [`closed ${requests}`]);
    assert.partialDeepStrictEqual(await channelState('worker', desk.store), {
      state: 'closed',
      by: 'engine',
      reason: `5 failures in a row on ${requests}`,
      at: desk.clock.now(),
      queues: [requests],
    });
    const [alert, ...others] = desk.announced();
    assert.deepEqual([alert?.detailType, alert?.detail['source'], others], ['Channel Closed', requests, []]);
  });

  test('F-108: failures of several processes add up, and concurrent writes lose none', async (t) => {
    const desk = openDesk(t, line);
    await Promise.all(Array.from({ length: 5 }, () => processOn(desk).failed(requests)));
    assert.equal(await stateOf(desk), 'closed');
  });

  test('F-108: a success resets the count, in this process and in the others', async (t) => {
    const desk = openDesk(t, line);
    const [one, other] = [processOn(desk), processOn(desk)];
    await times(4, () => one.failed(requests));
    await one.succeeded(requests);
    await times(4, () => other.failed(requests));
    assert.equal(await stateOf(desk), 'open');
  });

  test('F-108: failures that another process counted before a success of this process do not add up with later failures', async (t) => {
    const desk = openDesk(t, line);
    const [one, other] = [processOn(desk), processOn(desk)];
    await times(4, () => one.failed(requests));
    await desk.clock.advance(1000);
    await other.succeeded(requests);
    await desk.clock.advance(1000);
    await times(4, () => other.failed(requests));
    assert.equal(await stateOf(desk), 'open');
  });

  test('F-108: failures that are hours apart do not add up', async (t) => {
    const desk = openDesk(t, line);
    const health = processOn(desk);
    await times(9, async () => {
      await health.failed(requests);
      await desk.clock.advance(3_600_000);
    });
    assert.equal(await stateOf(desk), 'open');
  });

  test('F-117: the number of failures is a policy of each channel', async (t) => {
    const desk = openDesk(t, line);
    const health = createChannelHealth({ ...desk, documents: desk.store, policies: { worker: { closesAfter: 2 } } });
    await times(2, () => health.failed(requests));
    await times(4, () => health.failed('stock-requests'));
    assert.deepEqual([await stateOf(desk), await channelState('stock', desk.store).then((found) => found?.state)], ['closed', 'open']);
  });

  test('F-108: only the failing queue closes: the replies of the agent still arrive, and dead-letter queues never close', async (t) => {
    const desk = openDesk(t, line);
    const health = processOn(desk);
    await times(5, () => health.failed('worker-replies'));
    await times(5, () => health.failed('wake-ups-dead'));
    assert.deepEqual((await channelState('worker', desk.store))?.queues, ['worker-replies']);
    assert.equal(await channelState('wake-ups', desk.store), undefined);
  });

  test('S25: successes cost no store request while nothing is wrong, and a store outage fails no message', async (t) => {
    const desk = openDesk(t, line);
    let storeCalls = 0;
    const away = (): never => {
      storeCalls += 1;
      throw new Error('away');
    };
    const health = processOn(desk, { store: { ...desk.store, document: away, putDocument: away } });
    await times(100, () => health.succeeded(requests));
    assert.equal(storeCalls, 0);
    await health.failed(requests);
    assert.equal(storeCalls, 1);
  });

  test('L6: when a process crashes between any two writes, the channel is either open for every process or closed for every process', async (t) => {
    for (let crashAt = 1; crashAt <= 3; crashAt++) {
      const desk = openDesk(t, line);
      await times(4, () => processOn(desk).failed(requests));
      let writes = 0;
      const putDocument: Store['putDocument'] = (...write) => {
        if (++writes === crashAt) throw Object.assign(new Error('it is dead'), { fatal: true });
        return desk.store.putDocument(...write);
      };
      await processOn(desk, { store: { ...desk.store, putDocument } })
        .failed(requests)
        .catch(() => undefined);
      const registered = (await desk.store.documents('CHANNELS', undefined, 10)).map(({ id }) => id);
      assert.ok((await stateOf(desk)) === 'open' || registered.includes('worker'), `${crashAt}`);
    }
  });
});

describe('which failures close a channel', () => {
  /** Orders whose requests wait in one queue, so that their failures are consecutive. */
  async function failing(t: TestContext, error: () => Error, orders: number): Promise<Desk> {
    const desk = openDesk(
      t,
      lineOf({
        one: () => {
          throw error();
        },
      }),
    );
    for (let order = 1; order <= orders; order++) await submitted(desk);
    return desk;
  }

  test('F-108: five orders with unprocessable content close the channel, and the remaining messages stay in the queue', async (t) => {
    const desk = await failing(t, () => new UnprocessableMessage('There is no such customer.'), 5);
    await desk.deliver(requests);
    assert.equal(await stateOf(desk), 'closed');
    assert.deepEqual(
      desk.announced().map(({ detailType }) => detailType),
      ['Channel Closed'],
    );
    assert.equal(desk.messages(requests).length, 5);
  });

  test('F-108: one order that keeps failing is dead-lettered at its fourth failure, before it closes the channel', async (t) => {
    const desk = await failing(t, () => new TypeError('x is undefined'), 1);
    for (let time = 1; time <= 6; time++) await desk.deliver(requests);
    assert.equal(await stateOf(desk), 'open');
  });

  test('F-108: one processed message between the failures keeps the channel open', async (t) => {
    let served = 0;
    const one = (): object => {
      if (++served % 5 !== 0) throw new UnprocessableMessage('There is no such customer.');
      return {};
    };
    const desk = openDesk(t, lineOf({ one }));
    for (let order = 1; order <= 15; order++) {
      await submitted(desk);
      await desk.deliver(requests);
    }
    assert.equal(await stateOf(desk), 'open');
  });

  test('F-108, F-116: unreadable messages never close the channel, because their sender is at fault', async (t) => {
    const desk = openDesk(t, line);
    for (let message = 1; message <= 20; message++) await desk.send(requests, 'nonsense');
    while ((await desk.deliver(requests)) > 0);
    assert.deepEqual([await stateOf(desk), await channelState('worker', desk.store)], ['open', undefined]);
  });

  test('F-108: an outage of a service or of the store does not close the channel, because the channel is not at fault', async (t) => {
    const desk = await failing(t, () => new Error('fetch failed', { cause: new Error('ECONNREFUSED') }), 6);
    await desk.deliver(requests);
    assert.equal(await channelState('worker', desk.store), undefined);
  });
});

const change = (desk: { clock: { now(): number } }) => ({ by: 'olga', reason: 'maintenance', now: desk.clock.now() });

/** A whole system on one machine whose channel is closed. */
async function closedSystem(t: TestContext, app = line) {
  const system = await started(t, app);
  await closeChannel('worker', requests, change(system), system.store);
  await system.clock.advance(2000);
  return system;
}

describe('the host follows the record of a channel', () => {
  test('F-108: the host receives nothing from a closed channel; after opening, the order completes without a counted failure', async (t) => {
    const system = await closedSystem(t);
    const orderId = await submitted(system);
    await system.clock.advance(60_000);
    assert.equal(system.messages(requests).length, 1);
    assert.partialDeepStrictEqual(await system.state(orderId), { processState: 'Processing', failureCount: 0 });

    await openChannel('worker', { ...change(system), canary: false }, system.store);
    await reaches(system, orderId, 'Processed', { withinMs: 900_000 });
    assert.partialDeepStrictEqual(await system.state(orderId), { outcome: 'completed', failureCount: 0 });
  });

  test('F-108: with a canary, one request goes first, and then all orders complete', async (t) => {
    let atOnce = 0;
    let most = 0;
    const one = async (): Promise<object> => {
      most = Math.max(most, ++atOnce);
      await system.clock.sleep(500);
      atOnce -= 1;
      return {};
    };
    const system = await closedSystem(t, lineOf({ one }));
    const orders = await Promise.all(Array.from({ length: 12 }, () => submitted(system)));
    await system.clock.advance(60_000);
    await openChannel('worker', { ...change(system), canary: true }, system.store);
    for (let look = 0; look < 200 && (await system.store.breaker('worker'))?.closedAt === null; look++) await system.clock.advance(500);
    assert.equal(most, 1);
    for (const orderId of orders) await reaches(system, orderId, 'Processed', { withinMs: 900_000 });
    assert.ok(most > 1);
  });

  test('F-108: when a channel closes during a long poll, messages that arrive afterwards stay in the queue', async (t) => {
    const system = await started(t, line);
    await system.clock.advance(100);
    await closeChannel('worker', requests, change(system), system.store);
    await system.clock.advance(1500);
    await submitted(system);
    await system.clock.advance(30_000);
    assert.deepEqual(await system.queues.depth(requests).then(({ visible, inFlight }) => [visible, inFlight]), [1, 0]);
  });
});

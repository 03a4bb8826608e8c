import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { eventBridgePublisher } from '#adapters/aws/eventbridge';
import type { Announcement, Publisher } from '#ports/event-bus';
import { type EventBus, startEventBus } from '../../support/emulators.ts';
import { listOf } from '../../support/workflows.ts';
import { clientsAt } from './support.ts';

const announcement = (id: string, more: object = {}): Announcement => ({
  id,
  detailType: 'Order In Error',
  detail: { orderId: 'o1', ...more },
});

async function open(): Promise<{ publisher: Publisher; bus: EventBus }> {
  const bus = await startEventBus();
  after(() => bus.stop());
  return { bus, publisher: eventBridgePublisher({ client: clientsAt({ eventbridge: bus.endpoint }).eventbridge, bus: 'orders' }) };
}

test('an announcement names its source, its type and its id', async () => {
  const { publisher, bus } = await open();
  await publisher.publish([announcement('a')]);
  assert.deepEqual(bus.arrived, [
    { EventBusName: 'orders', Source: 'redress', DetailType: 'Order In Error', Detail: '{"id":"a","orderId":"o1"}' },
  ]);
});

test('announcements are sent in batches of ten', async () => {
  const { publisher, bus } = await open();
  await publisher.publish(listOf(25, (index) => announcement(`a${index}`)));
  assert.deepEqual([bus.arrived.length, bus.requests()], [25, 3]);
});

test('when the bus refuses some entries in a successful response, the refused ones are reported', async () => {
  const { publisher, bus } = await open();
  bus.refuse(({ Detail = '' }) => /"a(3|11)"/.test(Detail));
  const { failed } = await publisher.publish(listOf(15, (index) => announcement(`a${index}`)));
  assert.deepEqual(failed.toSorted(), ['a11', 'a3']);
  assert.equal(bus.arrived.length, 13);
});

test('an announcement that is too large is refused, and does not delay others', async () => {
  const { publisher, bus } = await open();
  const large = 'x'.repeat(300_000);
  assert.deepEqual(await publisher.publish([announcement('a'), announcement('large', { large }), announcement('b')]), {
    failed: ['large'],
  });
  assert.equal(bus.arrived.length, 2);
});

test('announcements that are too large together are sent separately', async () => {
  const { publisher, bus } = await open();
  const half = 'x'.repeat(140_000);
  assert.deepEqual(await publisher.publish(listOf(4, (index) => announcement(`a${index}`, { half }))), { failed: [] });
  assert.deepEqual([bus.arrived.length, bus.requests()], [4, 4]);
});

test('an unavailable bus is an error, and a failed batch does not affect other batches', async () => {
  const { publisher, bus } = await open();
  bus.fail(1000, 400);
  await assert.rejects(publisher.publish([announcement('a')]), /told to fail/);
  bus.fail(1, 400);
  const { failed } = await publisher.publish(listOf(15, (index) => announcement(`a${index}`)));
  assert.equal(failed.length + bus.arrived.length, 15);
  assert.ok(failed.length === 5 || failed.length === 10);
});

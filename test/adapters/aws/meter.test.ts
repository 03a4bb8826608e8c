import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createMeter, totalOf } from '#adapters/aws/meter';
import { openAws, readAwsConfig } from '#adapters/aws/open';
import { systemClock } from '#ports/clock';
import { SetupError } from '#ports/errors';
import { startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import { orderRecord, stateRecord } from '../../support/records.ts';
import { clientsAt, createQueue, createTable, interfere } from './support.ts';

const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus()]);
after(() => Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]));
const endpoints = { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };
const alone = { messages: [], announcements: [] };

async function open() {
  const clients = clientsAt(endpoints);
  const table = await createTable(clients.dynamodb);
  const prefix = `${table}-`;
  await createQueue(clients.sqs, prefix, 'q', undefined);
  const meter = createMeter();
  const aws = openAws({ region: 'eu-central-1', table, queuePrefix: prefix, bus: 'bus' }, { clock: systemClock, meter, endpoints });
  await aws.store.create(orderRecord('first'), stateRecord('first'), alone);
  meter.reset();
  return { ...aws, meter };
}

test('every call is counted with its service, its operation, its role and its order', async () => {
  const { store, queues, publisher, meter } = await open();
  await meter.within({ role: 'api' }, () => store.create(orderRecord('o1'), stateRecord('o1'), alone));
  await meter.within({ role: 'scheduler' }, async () => {
    await store.load('o1');
    await queues.send([{ queue: 'q', body: '{"orderId":"o1"}' }]);
    await queues.send([
      { queue: 'q', body: '{"orderId":"o1"}' },
      { queue: 'q', body: '{"orderId":"o2"}' },
    ]);
    await publisher.publish([{ id: 'a', detailType: 'Order Processed', detail: {} }]);
  });
  assert.deepEqual(
    meter.entries().map(({ service, operation, role, orderId }) => [service, operation, role, orderId]),
    [
      ['DynamoDB', 'TransactWriteItems', 'api', 'o1'],
      ['DynamoDB', 'BatchGetItem', 'scheduler', 'o1'],
      ['SQS', 'GetQueueUrl', 'scheduler', 'o1'],
      ['SQS', 'SendMessageBatch', 'scheduler', 'o1'],
      ['SQS', 'SendMessageBatch', 'scheduler', undefined],
      ['EventBridge', 'PutEvents', 'scheduler', undefined],
    ],
  );
});

test('the counted write units are those of the table and of its indexes together', async () => {
  const { store, meter } = await open();
  const state = stateRecord('o1');
  await store.create(orderRecord('o1'), state, alone);
  await store.load('o1');
  await store.update({ ...state, rev: 2, blob: 'x'.repeat(3000) }, state, alone);
  const units = meter.entries().map(({ readUnits, writeUnits, indexWriteUnits }) => [readUnits, writeUnits, indexWriteUnits]);
  assert.deepEqual(units, [
    [0, 7, 3],
    [2, 0, 0],
    [0, 4, 0],
  ]);
  assert.ok(meter.entries().every(({ sentBytes, receivedBytes }) => sentBytes > 0 && receivedBytes > 0));
});

test('each retry of the SDK is counted as a call, and a refused call as a failed one', async () => {
  const { store, clients, meter } = await open();
  let failures = 2;
  interfere(
    clients.dynamodb,
    'GetItem',
    (proceed) => (failures-- > 0 ? Promise.reject(Object.assign(new Error('hm'), { name: 'TimeoutError' })) : proceed()),
    'request',
  );
  await store.head('first');
  await store.patch(stateRecord('first'), { epoch: 9, rev: 9 });
  assert.deepEqual(
    meter.entries().map(({ operation, requests, failed }) => [operation, requests, failed]),
    [
      ['GetItem', 3, false],
      ['UpdateItem', 1, true],
      ['GetItem', 1, false],
    ],
  );
  assert.equal(totalOf(meter.entries()).requests, 5);
});

test('a configuration for AWS reports every missing or wrong variable in one line', () => {
  const good = { AWS_REGION: 'eu-central-1', REDRESS_TABLE: 'orders', REDRESS_QUEUE_PREFIX: 'redress-', REDRESS_BUS: 'bus' };
  assert.deepEqual(readAwsConfig(good), { region: 'eu-central-1', table: 'orders', queuePrefix: 'redress-', bus: 'bus' });
  assert.equal(readAwsConfig({ ...good, AWS_REGION: '', AWS_DEFAULT_REGION: 'us-gov-west-1' }).region, 'us-gov-west-1');
  for (const [environment, problem] of [
    [{ ...good, AWS_REGION: undefined }, /AWS_REGION: it is missing/],
    [{ ...good, AWS_REGION: 'frankfurt' }, /AWS_REGION: expected a region such as/],
    [{ ...good, REDRESS_TABLE: 'a b' }, /REDRESS_TABLE: expected 3 to 255/],
    [{ ...good, REDRESS_QUEUE_PREFIX: 'http://evil/' }, /REDRESS_QUEUE_PREFIX/],
    [{}, /AWS_REGION.*REDRESS_TABLE.*REDRESS_BUS/],
  ] as const) {
    assert.throws(
      () => readAwsConfig(environment),
      (error: unknown) => error instanceof SetupError && problem.test(error.message) && !error.message.includes('\n'),
    );
  }
});

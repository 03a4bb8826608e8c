import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreateQueueCommand, DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { sqsQueues } from '#adapters/aws/sqs/queues';
import { systemClock } from '#ports/clock';
import { openDynamoDbStore } from '../adapters/aws/support.ts';
import { storeContract } from '../contracts/store.contract.ts';
import { endpoint, eventually, openQueue, runId, sqs } from './support.ts';

/** The whole store contract on real tables of this server: conditions, transactions, and the winning item of a refused write. */
storeContract('DynamoDB of the server', () => openDynamoDbStore({ endpoint, stop: async () => {} }));

/** The part of the queue contract that needs no manual clock. */
test('a queue of the server delivers a sent message, redelivers a released one, and drops an acknowledged one', async (t) => {
  const prefix = `${runId}-`;
  await openQueue(t, `${prefix}q`);
  const queues = sqsQueues({ client: sqs, prefix, clock: systemClock });
  const receive = () => queues.receive('q', { max: 10, visibilityMs: 30_000, waitMs: 1000 });
  const bodies = Array.from({ length: 25 }, (_, index) => `message ${index}`);
  await queues.send(bodies.map((body) => ({ queue: 'q', body })));

  const taken: string[] = [];
  await eventually('all messages', async () => {
    const messages = await receive();
    taken.push(...messages.map(({ body }) => body));
    await queues.acknowledge(
      'q',
      messages.map(({ receipt }) => receipt),
    );
    return taken.length >= bodies.length ? true : undefined;
  });
  assert.deepEqual(taken.toSorted(), bodies.toSorted());

  await queues.send([{ queue: 'q', body: 'again' }]);
  const first = await eventually('the first delivery', async () => (await receive())[0]);
  await queues.release('q', [first.receipt], 0);
  const second = await eventually('the second delivery', async () => (await receive())[0]);
  assert.deepEqual([first.body, first.receiveCount, second.body, second.receiveCount], ['again', 1, 'again', 2]);
  await queues.acknowledge('q', [second.receipt]);
  assert.deepEqual(await receive(), []);
});

test('a queue of the server moves a message to the dead-letter queue after too many deliveries', async (t) => {
  const prefix = `${runId}-`;
  const dead = await openQueue(t, `${prefix}poison-dead`);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 2 });
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `${prefix}poison`, Attributes: { RedrivePolicy } }));
  t.after(() => sqs.send(new DeleteQueueCommand({ QueueUrl })));
  const queues = sqsQueues({ client: sqs, prefix, clock: systemClock });
  await queues.send([{ queue: 'poison', body: 'poison' }]);

  const moved = await eventually('the message among the dead letters', async () => {
    for (const { receipt } of await queues.receive('poison', { max: 1, visibilityMs: 30_000, waitMs: 0 }))
      await queues.release('poison', [receipt], 0);
    return (await queues.receive('poison-dead', { max: 1, visibilityMs: 30_000, waitMs: 0 }))[0];
  });
  assert.equal(moved.body, 'poison');
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { lambdaConsumers } from '#adapters/aws/event-source-mappings';
import { consumersContract } from '../contracts/consumers.contract.ts';
import { call, effects, ended, eventually, orderOf, outputs, sample, submit } from './support.ts';

// This file runs after `orders.deployed.ts`: orders behind a channel that was closed recently are requested again without a count.
const client = new LambdaClient({});
const account = outputs.AlertsTopicArn.split(':').slice(3, 5).join(':');
const queueArns = `arn:aws:sqs:${account}:${outputs.QueuePrefix}`;

async function stateOf(queue: string): Promise<string | undefined> {
  const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand({ EventSourceArn: queueArns + queue }));
  assert.equal(EventSourceMappings.length, 1, queue);
  return EventSourceMappings[0]?.State;
}

const reachedState = (queue: string, state: 'Enabled' | 'Disabled'): Promise<true> =>
  eventually(`${queue} ${state}`, async () => ((await stateOf(queue)) === state ? true : undefined), 120_000);

/** Waits until the server has changed a mapping, and returns its state. */
const consumers = () => {
  const set = lambdaConsumers({ client: async () => client, queueArns });
  return {
    async set(queues: readonly string[], state: 'open' | 'closed'): Promise<void> {
      await set.set(queues, state);
      for (const queue of queues) await reachedState(queue, state === 'open' ? 'Enabled' : 'Disabled');
    },
  };
};

consumersContract('event source mappings of the server', async () => ({
  consumers: consumers(),
  other: consumers(),
  queues: ['customer-requests', 'customer-replies'],
  isTaken: async (queue) => (await stateOf(queue)) === 'Enabled',
  close: async () => {},
}));

async function turn(path: string, body: object): Promise<void> {
  const answer = await call('POST', `/channels/payment/${path}`, { role: 'operator', body });
  assert.equal(answer.status, 200, await answer.text());
}

/** Closes a channel as an operator does, and opens it after the test in any case. */
async function closed(t: TestContext): Promise<void> {
  await turn('close', { reason: 'a test' });
  t.after(() => call('POST', '/channels/payment/open', { role: 'operator', body: {} }));
  await reachedState('payment-requests', 'Disabled');
}

for (const canary of [false, true])
  test(`F-108: orders wait while a channel is closed and its mapping disabled; when it is opened${canary ? ' with a canary' : ''}, they complete without a counted failure`, async (t) => {
    await closed(t);
    const orders = await Promise.all([1, 2, 3].map(() => submit(sample('ok'))));
    for (const orderId of orders)
      await eventually('the step that nobody takes', async () => {
        const { steps } = await orderOf(orderId);
        return steps.some(({ name, status }) => name === 'charge' && status === 'Executing') || undefined;
      });
    assert.equal(await stateOf('payment-replies'), 'Enabled');
    for (const orderId of orders) assert.deepEqual(await effects('payment', orderId), []);

    await turn('open', { canary });
    await reachedState('payment-requests', 'Enabled');
    for (const orderId of orders) {
      assert.partialDeepStrictEqual(await ended(orderId), { processState: 'Processed', outcome: 'completed', failureCount: 0 });
      assert.equal((await effects('payment', orderId)).length, 1);
    }
  });

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteQueueCommand, GetQueueUrlCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { tableShape } from '#adapters/aws/dynamodb/table';
import { openAws } from '#adapters/aws/open';
import { openLocalIssuer } from '#api/local-issuer';
import { systemClock } from '#ports/clock';
import type { StateHead } from '#ports/records';
import { orderIdOf } from '#roles/submission/submission';
import app from '../../../examples/orders/app.ts';
import { createFarm } from '../../processes/farm.ts';
import { createCustomers, problemsIn, startShop } from '../../processes/kill-support.ts';
import {
  atEnd,
  complaintOf,
  createRandom,
  post,
  root,
  type Site,
  site,
  startLocal,
  tokenFor,
  until,
  within,
} from '../../processes/support.ts';
import { startGate } from '../../support/emulators.ts';
import { type Deployment, deployed, startEmulators } from './deployment.ts';
import { clientsAt } from './support.ts';

const emulators = await startEmulators();
const { endpoints, bus } = emulators;
test.after(() => emulators.stop());

const sample = (name: string): object => JSON.parse(readFileSync(`${root}examples/orders/samples/${name}.json`, 'utf8'));
const soon = { STEP_COMPLETE_WITHIN_SECONDS: '2', SUPERVISOR_PERIOD_SECONDS: '0.5' };

interface Place extends Site {
  readonly deployment: Deployment;
  /** The table as this process sees it. */
  head(orderId: string): Promise<StateHead | undefined>;
}

/** A data folder and a deployment for one test. */
async function place(t: TestContext): Promise<Place> {
  const here = site(t);
  const deployment = await deployed(app, endpoints);
  const { store, close } = openAws(deployment, { clock: systemClock, endpoints });
  atEnd(t, close);
  return { ...here, deployment, variables: { ...here.variables, ...deployment.variables }, head: store.head };
}

const ends = ({ head }: Place, orderId: string) =>
  until(`${orderId} has come to its end`, async () => {
    const found = await head(orderId);
    return found?.processState === 'Processed' || found?.processState === 'Error' ? found : undefined;
  });

const alerts = (): ReadonlySet<string> =>
  new Set(
    bus.arrived
      .filter(({ DetailType }) => DetailType === 'Order In Error')
      .map(({ Detail = '{}' }) => (JSON.parse(Detail) as { orderId: string }).orderId),
  );

test('with REDRESS_ADAPTERS=aws the system prints its resources, finishes orders, and exits with 0 on SIGTERM', async (t) => {
  const here = await place(t);
  const system = await startLocal(t, { ...here.variables, REDRESS_SAMPLES: 'on' });
  const { table, queuePrefix } = here.deployment;
  for (const line of [
    `ok  store                            DynamoDB table ${table} at ${endpoints.dynamodb}`,
    `ok  channels                         SQS queues ${queuePrefix}* at ${endpoints.sqs}`,
    `ok  announcements                    EventBridge bus redress at ${endpoints.eventbridge}`,
  ])
    assert.ok(system.out().includes(`${line}\n`), `${line} is not in ${system.out()}`);
  assert.match(system.out(), /^ok {2}services {25}sample shop at /m);

  const good = await post(system.url, here.data, sample('ok'), 'aws-good');
  const declined = await post(system.url, here.data, sample('card-declined'), 'aws-declined');
  const lost = await post(system.url, here.data, sample('address-invalid'), 'aws-lost');
  assert.partialDeepStrictEqual(await ends(here, good), { processState: 'Processed', outcome: 'completed', failureCount: 0 });
  assert.partialDeepStrictEqual(await ends(here, declined), { processState: 'Processed', outcome: 'compensated' });
  assert.partialDeepStrictEqual(await ends(here, lost), { processState: 'Error', fault: { type: 'AddressInvalid' } });
  await until('the alert is on the bus', () => alerts().has(lost));
  assert.deepEqual(
    [good, declined].filter((orderId) => alerts().has(orderId)),
    [],
  );
  assert.doesNotMatch(system.out(), /sample orders/, 'nobody requested a table of orders');

  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });
  assert.equal(system.err(), '');
});

test('S22: on the AWS protocols, an order that was answered with 202 survives a kill, and no effect happens twice', {
  timeout: 240_000,
}, async (t) => {
  const [kills, ordersOfLife, lifeMs] = [4, 6, 700];
  const here = await place(t);
  const random = createRandom(Date.now() % 1_000_000);
  const shop = await startShop(t, here);
  const system = createFarm(here, shop.urls);
  atEnd(t, () => system.kill());
  const orderOf = (index: number) => sample(index % 6 === 5 ? 'card-declined' : 'ok') as { order: object };
  const customers = createCustomers(here, system, { orderOf: (index) => orderOf(index).order, random, withinMs: lifeMs });

  let [life, interrupted] = [0, 0];
  // On a busy machine, all kills may hit moments at which no order is at work. Then the test kills the system more often.
  while (life < kills || (interrupted === 0 && life < 3 * kills)) {
    life += 1;
    await system.begin();
    customers.come(life * ordersOfLife);
    await sleep(lifeMs);
    await system.kill();
    const states = await Promise.all([...customers.answered.values()].map(async (id) => (await here.head(id))?.processState));
    interrupted += states.filter((state) => state === 'Processing').length;
  }
  assert.ok(interrupted > 0, 'some kills must hit running orders');
  await system.begin();
  await within(customers.served(), 'customers still wait for an answer', 60_000);
  await until('every order has come to its end', async () => !(await system.isAtWork()), 120_000);
  // A killed process leaves its unsent messages in the order's outbox, and the supervisor sends them when due.
  const isAnnounced = async () => {
    const announced = alerts();
    return (await system.list()).every(({ orderId, processState }) => processState !== 'Error' || announced.has(orderId));
  };
  await until('everybody is told', isAnnounced, 60_000);
  const listed = await system.list();
  assert.equal((await within(system.stop(), 'it does not stop', 10_000)).code, 0);
  assert.deepEqual([...problemsIn(listed, { ...customers, effects: shop.effects(), alerts: alerts() })], []);
  assert.equal(customers.answered.size + customers.givenUp.size, life * ordersOfLife);
});

test('F-01: a message becomes an order of the client that has registered its sender, and of no other client', async (t) => {
  const here = await place(t);
  const system = await startLocal(t, here.variables);
  const authorization = `Bearer ${await openLocalIssuer(here.data).sign({ role: 'admin' })}`;
  const headers = { authorization, 'content-type': 'application/json' };
  // The emulator has one account, and names it as the sender of every message.
  for (const [client, sender] of Object.entries({ acme: '000000000000', other: 'local' })) {
    const registered = await fetch(`${system.url}/clients/${client}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ responseChannels: [], senders: [sender], reason: 'new' }),
    });
    assert.equal(registered.status, 201);
  }
  const { sqs } = clientsAt(endpoints);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${here.deployment.queuePrefix}submissions` }));
  const submission = { v: 1, type: 'submission', workflow: 'fulfil-order', idempotencyKey: 'by-message', ...sample('ok') };
  for (const client of ['other', 'acme'])
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ ...submission, client }) }));

  assert.partialDeepStrictEqual(await ends(here, orderIdOf('acme', 'by-message')), { outcome: 'completed' });
  await until('the other message is dead-lettered', () => bus.arrived.some(({ DetailType }) => DetailType === 'Message Dead-Lettered'));
  assert.equal(await here.head(orderIdOf('other', 'by-message')), undefined);
});

test('when the store is unavailable, the API answers 503 with Retry-After, and recovers with the store', async (t) => {
  const here = await place(t);
  const gate = await startGate({ endpoint: endpoints.dynamodb });
  atEnd(t, gate.stop);
  const system = await startLocal(t, { ...here.variables, ...soon, AWS_ENDPOINT_URL_DYNAMODB: gate.endpoint });
  const before = await post(system.url, here.data, sample('ok'), 'aws-before');
  await ends(here, before);
  const authorization = `Bearer ${await tokenFor(here.data, 'client')}`;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${system.url}${path}`, {
      ...init,
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'aws-meanwhile' },
    });
  const submit = () => call('/orders', { method: 'POST', body: JSON.stringify(sample('ok')) });

  await gate.shut();
  for (const answer of await Promise.all([submit(), call('/orders'), call(`/orders/${before}`)])) {
    const { code } = (await answer.json()) as { code: string };
    assert.deepEqual([answer.status, code, answer.headers.get('retry-after')], [503, 'unavailable', '2'], answer.url);
  }
  assert.equal((await call('/health')).status, 200);

  await gate.open();
  const accepted = await until('it takes orders again', async () => {
    const answer = await submit();
    return answer.status === 202 ? ((await answer.json()) as { orderId: string }) : undefined;
  });
  assert.partialDeepStrictEqual(await ends(here, accepted.orderId), { outcome: 'completed' });
  assert.equal((await call(`/orders/${before}`)).status, 200);
  assert.equal((await system.kill('SIGTERM')).code, 0);
});

test('when the table disappears under a running system, it exits with code 3 and says what to do', async (t) => {
  const here = await place(t);
  const system = await startLocal(t, { ...here.variables, ...soon });
  await clientsAt(endpoints).dynamodb.send(new DeleteTableCommand({ TableName: here.deployment.table }));
  assert.equal((await within(system.ended, 'it goes on without its table')).code, 3);
  assert.match(system.err(), /^redress: lost the store: .*ResourceNotFoundException.* Check that the table exists .* start again\.\n$/);
});

test('a system that is stopped while AWS is unavailable still exits with 0 in time', async (t) => {
  const here = await place(t);
  const gates = await Promise.all(Object.values(endpoints).map((endpoint: string) => startGate({ endpoint })));
  for (const gate of gates) atEnd(t, gate.stop);
  const [AWS_ENDPOINT_URL_DYNAMODB = '', AWS_ENDPOINT_URL_SQS = '', AWS_ENDPOINT_URL_EVENTBRIDGE = ''] = gates.map(
    ({ endpoint }) => endpoint,
  );
  const system = await startLocal(t, {
    ...here.variables,
    ...soon,
    AWS_ENDPOINT_URL_DYNAMODB,
    AWS_ENDPOINT_URL_SQS,
    AWS_ENDPOINT_URL_EVENTBRIDGE,
  });
  for (const gate of gates) await gate.shut();
  await sleep(500);
  system.child.kill('SIGTERM');
  assert.deepEqual(await within(system.ended, 'it does not stop', 10_000), { code: 0, signal: null });
});

test('a start with missing AWS settings exits with code 2 and one line that names the remedy', async (t) => {
  const { variables, deployment, folder } = await place(t);
  const { dynamodb, sqs } = clientsAt(endpoints);
  for (const queue of ['wake-ups', 'payment-requests']) {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: deployment.queuePrefix + queue }));
    await sqs.send(new DeleteQueueCommand({ QueueUrl }));
  }
  const plain = `${deployment.table}-plain`;
  const { KeySchema, BillingMode } = tableShape;
  const AttributeDefinitions = tableShape.AttributeDefinitions.filter(({ AttributeName }) => ['pk', 'sk'].includes(`${AttributeName}`));
  await dynamodb.send(new CreateTableCommand({ TableName: plain, KeySchema, AttributeDefinitions, BillingMode }));
  const nowhere = 'http://127.0.0.1:9';
  const deployIt = 'Deploy the stack (npm run deploy:local, or npx cdk deploy), or correct REDRESS_TABLE,';
  const lacks: readonly [{ readonly [name: string]: string }, string][] = [
    [{ REDRESS_TABLE: 'redress-none' }, `The deployment lacks: the table redress-none at ${endpoints.dynamodb}; the queues `],
    [
      {},
      `The deployment lacks: the queues ${deployment.queuePrefix}payment-requests, ${deployment.queuePrefix}wake-ups at ${endpoints.sqs}. ${deployIt}`,
    ],
    [
      { REDRESS_QUEUE_PREFIX: 'none-', REDRESS_BUS: 'none' },
      ` more at ${endpoints.sqs}; the bus none at ${endpoints.eventbridge}. ${deployIt}`,
    ],
    [
      { REDRESS_TABLE: plain },
      `The deployment lacks: the indexes worklist, in-error, by-client, by-day, by-reference, listA, listB, listC of the table ${plain}; the queues `,
    ],
    [
      { AWS_ENDPOINT_URL_SQS: nowhere },
      `Cannot use SQS at ${nowhere} (ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:9). Start the service at this address, or `,
    ],
    [
      { AWS_ACCESS_KEY_ID: '', HOME: folder, AWS_EC2_METADATA_DISABLED: 'true' },
      'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY ',
    ],
    [{ AWS_REGION: 'here', REDRESS_TABLE: '' }, 'AWS_REGION: expected a region such as eu-central-1; REDRESS_TABLE: it is missing.'],
  ];
  await Promise.all(
    lacks.map(async ([change, expected]) => {
      const { code, lines } = await complaintOf(t, { ...variables, ...change });
      assert.deepEqual([code, lines.length], [2, 1], lines.join('\n'));
      assert.ok(lines[0]?.startsWith('redress: ') && lines[0].includes(expected), `${lines[0]} does not say ${expected}`);
    }),
  );
});

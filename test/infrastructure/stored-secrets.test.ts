import assert from 'node:assert/strict';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, test } from '@jest/globals';
import { keys } from '#adapters/aws/dynamodb/keys';
import { eraseAgain } from '#adapters/aws/dynamodb/restore';
import { openClients } from '#adapters/aws/open';
import { deployed, startEmulators } from '../adapters/aws/deployment.ts';
import { startKms } from '../support/emulators.ts';
import { cardsIn, shop } from '../support/stored-secrets.ts';
import { openRoles } from './roles.ts';

const emulators = await startEmulators();
afterAll(emulators.stop);
const kms = await startKms();
afterAll(kms.stop);
const endpoints = { ...emulators.endpoints, kms: kms.endpoint };
const deployment = { ...(await deployed(shop, endpoints)), secretsKey: 'secrets' };
const roles = await openRoles({ app: shop, endpoints, deployment, variables: { DEFAULT_WORKFLOW: 'sale' } });
afterAll(roles.close);
const clients = openClients({ region: deployment.region, endpoints });
afterAll(() => {
  for (const each of Object.values(clients)) each.destroy();
});
const client = DynamoDBDocumentClient.from(clients.dynamodb);
const stored = async () => JSON.stringify((await client.send(new ScanCommand({ TableName: deployment.table }))).Items);
const cardOf = (index: number): string => `4111${73_450_291_680 + index * 7_919_007}`;

test('A9: no item of DynamoDB contains a card number in plain text, KMS makes one key, and a restore repeats earlier erasures', async () => {
  const items = ['good', 'declined', 'broken', 'wrong'];
  const ids: string[] = [];
  for (const [index, item] of items.entries()) {
    const body = { workflow: 'sale', order: { item, card: cardOf(index) } };
    const answer = await roles.call('POST', '/orders', {
      as: 'client',
      client: 'acme',
      body,
      headers: { 'idempotency-key': `k-${index}` },
    });
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    ids.push(String(answer.body['orderId']));
    await roles.outside.queues.send([{ queue: 'submissions', body: JSON.stringify(body).slice(0, -2) }]);
  }
  await roles.settle();
  const [good = ''] = ids;
  assert.equal((await roles.outside.store.head(good))?.outcome, 'completed');
  const all = await stored();
  assert.match(all, /DEAD-LETTER#submissions/);
  assert.deepEqual(
    cardsIn(
      all,
      items.map((_, index) => cardOf(index)),
    ),
    [],
  );
  assert.equal(kms.calls.GenerateDataKey, 1);

  const before = (await client.send(new GetCommand({ TableName: deployment.table, Key: keys.order(good) }))).Item ?? {};
  assert.ok(before['key']);
  assert.equal((await roles.call('POST', `/orders/${good}/erase`, { as: 'admin', body: { reason: 'asked to' } })).status, 200);
  // A restore brings the item back as it was.
  await client.send(new PutCommand({ TableName: deployment.table, Item: before }));
  assert.equal(await eraseAgain({ client, to: deployment.table }), 1);
  const { order } = (await roles.outside.store.load(good)) ?? {};
  assert.deepEqual([order?.key, order?.body], [undefined, { item: 'good', card: '[secret]' }]);
});

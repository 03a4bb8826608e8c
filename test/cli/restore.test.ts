import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { deploy } from '../adapters/aws/deploy.ts';
import { type Deployment, deployed, startEmulators } from '../adapters/aws/deployment.ts';
import { clientsAt, createTable } from '../adapters/aws/support.ts';
import app from '../infrastructure/app.ts';
import { type ApiAnswer, openRoles, type Roles } from '../infrastructure/roles.ts';

const { endpoints, stop } = await startEmulators();
test.after(stop);
const launcher = fileURLToPath(new URL('../../bin/redress.js', import.meta.url));

const shop = { as: 'client', client: 'shop' } as const;
const submit = async (roles: Roles, key: string, item: string): Promise<string> => {
  const answer = await roles.call('POST', '/orders', {
    ...shop,
    body: { workflow: 'one', order: { item } },
    headers: { 'idempotency-key': key },
  });
  assert.equal(answer.status, 202);
  return String(answer.body['orderId']);
};
const shown = (roles: Roles, id: string): Promise<ApiAnswer> => roles.call('GET', `/orders/${id}`, { as: 'operator' });
const restore = async ({ table, variables }: Pick<Deployment, 'table' | 'variables'>, to: string, from = table): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [launcher, 'restore', from, to], {
    env: { ...process.env, ...variables },
  });
  assert.match(stdout, /^\d+ items from/);
  return stdout;
};

test('F-09: when the items of a table are restored into a new one, every order continues: finished, blocked and in flight', async () => {
  const first = await deployed(app, endpoints);
  const before = await openRoles({ app, endpoints, deployment: first });
  const finished = await submit(before, 'k-1', 'tea');
  const blocked = await submit(before, 'k-2', 'sold out');
  await before.settle();
  const inFlight = await submit(before, 'k-3', 'coffee');
  // The request of the order in flight is in a queue that nobody consumes.
  const seen = await Promise.all([finished, blocked, inFlight].map((id) => shown(before, id)));
  assert.deepEqual(
    seen.map(({ body }) => body['processState']),
    ['Processed', 'Error', 'Processing'],
  );
  before.close();

  const { dynamodb } = clientsAt(endpoints);
  const table = await createTable(dynamodb);
  await restore(first, table);
  await dynamodb.send(new DeleteTableCommand({ TableName: first.table }));

  const after = await openRoles({ app, endpoints, deployment: await deploy(app, endpoints, { table }) });
  test.after(after.close);
  const seenAgain = await Promise.all([finished, blocked, inFlight].map((id) => shown(after, id)));
  const withoutCounters = ({ body: { rev: _, epoch: __, ...body } }: ApiAnswer) => body;
  assert.deepEqual(seenAgain.map(withoutCounters), seen.map(withoutCounters));

  after.pass(63_000);
  await after.supervise('supervisor');
  await after.settle();
  assert.partialDeepStrictEqual((await shown(after, inFlight)).body, {
    processState: 'Processed',
    outcome: 'completed',
    failureCount: 0,
    steps: [{ attempts: 2 }],
  });
  assert.equal(await submit(after, 'k-3', 'coffee'), inFlight);

  const { headers } = await shown(after, blocked);
  const body = { kind: 'resubmit', reason: 'after the restore' };
  const instructed = await after.call('POST', `/orders/${blocked}/instructions`, {
    as: 'operator',
    body,
    headers: { 'if-match': String(headers['etag']) },
  });
  assert.equal(instructed.status, 202);
  const listed = await after.call('GET', '/orders', shop);
  assert.equal((listed.body['items'] as readonly unknown[]).length, 3);
  dynamodb.destroy();
});

test('F-09: a restore copies nothing, and says why, if a table is missing or belongs to another program, or if both are the same', async () => {
  const { table, variables } = await deployed(app, endpoints);
  const { dynamodb } = clientsAt(endpoints);
  const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' as const }];
  const AttributeDefinitions = [{ AttributeName: 'id', AttributeType: 'S' as const }];
  await dynamodb.send(
    new CreateTableCommand({ TableName: 'of-another-program', KeySchema, AttributeDefinitions, BillingMode: 'PAY_PER_REQUEST' }),
  );
  for (const [from, to, reason] of [
    ['no-such-table', table, /There is no table no-such-table in eu-central-1\. Name a table of this account and region/],
    [table, 'no-such-table', /There is no table no-such-table in eu-central-1\./],
    [table, 'of-another-program', /is not a table of Redress: expected the keys pk and sk, got id\./],
    [table, table, /Expected two tables/],
    ['a b', table, /Invalid table name/],
  ] as const)
    await assert.rejects(restore({ table, variables }, to, from), ({ code, stdout, stderr }) => {
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, reason);
      return true;
    });
  dynamodb.destroy();
});

test('X-37: a restored order continues with unused counter values and without later pages, whatever happened to it after the backup', async () => {
  const deployment = await deployed(app, endpoints);
  const roles = await openRoles({ app, endpoints, deployment });
  test.after(roles.close);
  const { dynamodb } = clientsAt(endpoints);
  const client = DynamoDBDocumentClient.from(dynamodb);
  const itemsOf = async (table: string) => (await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? [];
  const answer = await roles.call('POST', '/orders', {
    ...shop,
    body: { workflow: 'both', order: { item: 'tea' } },
    headers: { 'idempotency-key': 'k-4' },
  });
  const id = String(answer.body['orderId']);
  await roles.deliver('stock-requests');

  const backup = await createTable(dynamodb);
  for (const Item of await itemsOf(deployment.table)) await client.send(new PutCommand({ TableName: backup, Item }));
  const finish = async () => {
    for (let rounds = 0; rounds < 4; rounds++) {
      await roles.settle();
      roles.pass(63_000);
      await roles.supervise('supervisor');
    }
    await roles.settle();
    assert.partialDeepStrictEqual((await shown(roles, id)).body, { processState: 'Processed', outcome: 'completed' });
  };
  await finish();
  const before = (await itemsOf(deployment.table)).find(({ pk, sk }) => pk === `ORDER#${id}` && sk === 'STATE');
  assert.ok((await itemsOf(deployment.table)).some(({ pk, sk }) => pk === `ORDER#${id}` && String(sk).startsWith('HISTORY#')));

  await restore(deployment, deployment.table, backup);
  const items = (await itemsOf(deployment.table)).filter(({ pk }) => pk === `ORDER#${id}`);
  assert.deepEqual(items.map(({ sk }) => sk).toSorted(), ['ORDER', 'STATE']);
  const after = items.find(({ sk }) => sk === 'STATE');
  for (const counter of ['rev', 'epoch']) assert.ok(Number(after?.[counter]) > Number(before?.[counter]), counter);

  // The step of the order is late by now, and the workflow tolerates no failure.
  roles.pass(63_000);
  await roles.supervise('supervisor');
  const blocked = await shown(roles, id);
  assert.equal(blocked.body['processState'], 'Error');
  await roles.call('POST', `/orders/${id}/instructions`, {
    as: 'operator',
    body: { kind: 'resubmit', reason: 'after the restore' },
    headers: { 'if-match': String(blocked.headers['etag']) },
  });
  await finish();
  const { body } = await roles.call('GET', `/orders/${id}/history`, { as: 'operator' });
  const numbers = (body['items'] as readonly { readonly seq: number }[]).map(({ seq }) => seq);
  assert.deepEqual(
    numbers,
    [...numbers.keys()].map((index) => index + 1),
  );
  dynamodb.destroy();
});

test('X-37: the exceptions and tasks that orders have opened since the backup are closed, also if the state in use is lost', async () => {
  const deployment = await deployed(app, endpoints);
  const roles = await openRoles({ app, endpoints, deployment });
  test.after(roles.close);
  const { dynamodb } = clientsAt(endpoints);
  const client = DynamoDBDocumentClient.from(dynamodb);
  const itemsOf = async (table: string) => (await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Items ?? [];
  const ids = [await submit(roles, 'k-6', 'sold out'), await submit(roles, 'k-7', 'sold out')];
  const backup = await createTable(dynamodb);
  for (const Item of await itemsOf(deployment.table)) await client.send(new PutCommand({ TableName: backup, Item }));
  await roles.settle();
  assert.deepEqual(await Promise.all(ids.map(async (id) => (await shown(roles, id)).body['processState'])), ['Error', 'Error']);
  await client.send(new DeleteCommand({ TableName: deployment.table, Key: { pk: `ORDER#${ids[1]}`, sk: 'STATE' } }));

  await restore(deployment, deployment.table, backup);
  const recorded = async (id: string | undefined, sk: string) => {
    const item = (await itemsOf(deployment.table)).find((each) => each['pk'] === `ORDER#${id}` && each['sk'] === sk);
    return item && (JSON.parse(String(item['record'])) as { content: { handling?: unknown; state?: string } }).content;
  };
  for (let rounds = 0; rounds < 4; rounds++) {
    await roles.supervise('supervisor');
    await roles.settle();
    roles.pass(63_000);
  }
  for (const id of ids) {
    // Both orders have failed again with the same fault.
    const handled = [(await recorded(id, 'EXCEPTION#000000001'))?.handling, (await recorded(id, 'EXCEPTION#000000002'))?.handling];
    assert.partialDeepStrictEqual(handled, [{ by: 'supervisor' }, null]);
    const tasks = [(await recorded(id, 'TASK#000000001'))?.state, (await recorded(id, 'TASK#000000002'))?.state];
    assert.deepEqual(tasks, ['resolved', 'open']);
  }
  dynamodb.destroy();
});

test('X-37, F-80: a person is notified of each order that an order of the restored table has called since the backup', async () => {
  const deployment = await deployed(app, endpoints);
  const roles = await openRoles({ app, endpoints, deployment });
  test.after(roles.close);
  const { dynamodb } = clientsAt(endpoints);
  const client = DynamoDBDocumentClient.from(dynamodb);
  const answer = await roles.call('POST', '/orders', {
    ...shop,
    body: { workflow: 'outer', order: { item: 'tea' } },
    headers: { 'idempotency-key': 'k-5' },
  });
  const id = String(answer.body['orderId']);
  const copy = async (): Promise<string> => {
    const table = await createTable(dynamodb);
    const { Items = [] } = await client.send(new ScanCommand({ TableName: deployment.table, ConsistentRead: true }));
    for (const Item of Items) await client.send(new PutCommand({ TableName: table, Item }));
    return table;
  };
  const announcedAfterRestoreOf = async (backup: string): Promise<readonly string[]> =>
    (await restore(deployment, deployment.table, backup)).split('\n').slice(1, -1);
  const before = await copy();
  await roles.settle();
  const after = await copy();

  const announced = await announcedAfterRestoreOf(before);
  // Orders that were called by an order from after the backup are not listed: their callers stay as they are.
  const callers = announced.map((line) => /^ord_\w+ was called since, at \S+Z, by (\S+) of (\S+)$/.exec(line)?.slice(1));
  assert.deepEqual(callers.toSorted(), [
    ['order/inner', id],
    ['order/nothing', id],
  ]);
  assert.deepEqual(await announcedAfterRestoreOf(after), []);
  dynamodb.destroy();
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { deploy } from '../aws/deploy.ts';
import { deployed, startEmulators } from '../aws/deployment.ts';
import { clientsAt, createTable } from '../aws/support.ts';
import app from './app.ts';
import { type ApiAnswer, openRoles, type Roles } from './roles.ts';

const { endpoints, stop } = await startEmulators();
test.after(stop);
const tool = fileURLToPath(new URL('../../tools/copy-table.ts', import.meta.url));

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

test('F-09: from the items of the table alone, put into a new one, every order goes on: finished, held, and in flight', async () => {
  const first = await deployed(app, endpoints);
  const before = await openRoles({ app, endpoints, deployment: first });
  const finished = await submit(before, 'k-1', 'tea');
  const held = await submit(before, 'k-2', 'sold out');
  await before.settle();
  const inFlight = await submit(before, 'k-3', 'coffee');
  // Its request lies in a queue that nobody will ever read again.
  const seen = await Promise.all([finished, held, inFlight].map((id) => shown(before, id)));
  assert.deepEqual(
    seen.map(({ body }) => body['processState']),
    ['Processed', 'Error', 'Processing'],
  );
  before.close();

  const { dynamodb } = clientsAt(endpoints);
  const table = await createTable(dynamodb);
  const flags = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', tool, first.table, table];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { env: { ...process.env, ...first.variables } });
  assert.match(stdout, /^\d+ items from/);
  await dynamodb.send(new DeleteTableCommand({ TableName: first.table }));

  const after = await openRoles({ app, endpoints, deployment: await deploy(app, endpoints, { table }) });
  test.after(after.close);
  const seenAgain = await Promise.all([finished, held, inFlight].map((id) => shown(after, id)));
  assert.deepEqual(
    seenAgain.map(({ body }) => body),
    seen.map(({ body }) => body),
  );

  after.pass(63_000);
  await after.supervise('supervisor');
  await after.settle();
  assert.partialDeepStrictEqual((await shown(after, inFlight)).body, { processState: 'Processed', outcome: 'completed', failureCount: 1 });
  assert.equal(await submit(after, 'k-3', 'coffee'), inFlight);

  const { headers } = await shown(after, held);
  const body = { kind: 'resubmit', reason: 'after the restore' };
  const instructed = await after.call('POST', `/orders/${held}/instructions`, {
    as: 'operator',
    body,
    headers: { 'if-match': String(headers['etag']) },
  });
  assert.equal(instructed.status, 202);
  const listed = await after.call('GET', '/orders', shop);
  assert.equal((listed.body['items'] as readonly unknown[]).length, 3);
  dynamodb.destroy();
});

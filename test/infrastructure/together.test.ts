import assert from 'node:assert/strict';
import { afterAll, describe, test } from '@jest/globals';
import type { AgentGrouping } from '#runtime/topology';
import { deployed, startEmulators } from '../adapters/aws/deployment.ts';
import app from './app.ts';
import { allowedBy, statementsOf } from './policies.ts';
import { openRoles } from './roles.ts';
import { functionOf, ofType, synthesize } from './support.ts';

const emulators = await startEmulators();
afterAll(() => emulators.stop());

/** Fields that differ between two runs. */
const passing = new Set([
  'at',
  'requestId',
  'lockedBy',
  'completeBy',
  'wakeAt',
  'submittedAt',
  'updatedAt',
  'startedAt',
  'closedAt',
  'requestedAt',
  'answeredAt',
  'responseChannel',
]);
const lasting = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (name, part) => (passing.has(name) ? undefined : part)));

/** Returns the ends of the same orders as seen from outside. */
async function endsWith(agents: AgentGrouping): Promise<readonly unknown[]> {
  const { endpoints } = emulators;
  const roles = await openRoles({ app, topology: { agents }, endpoints, deployment: await deployed(app, endpoints) });
  const orders = ['one', 'both', 'later', 'nothing'].flatMap((workflow) =>
    ['tea', 'sold out'].map((item) => ({ workflow, order: { item } })),
  );
  const submit = async (body: object, key: string): Promise<string> => {
    const answer = await roles.call('POST', '/orders', { as: 'client', client: 'shop', body, headers: { 'idempotency-key': key } });
    return String(answer.body['orderId']);
  };
  const ids: string[] = [];
  for (const [index, body] of orders.entries()) ids.push(await submit(body, `order-${index}`));
  await roles.settle();
  // The request of this order gets lost, so its step is requested again.
  ids.push(await submit({ workflow: 'one', order: { item: 'coffee' } }, 'lost'));
  assert.equal(await roles.lose('stock-requests'), 1);
  for (let minute = 0; minute < 3; minute++) {
    roles.pass(63_000);
    await roles.supervise('supervisor');
    await roles.settle();
  }
  const ends: unknown[] = [];
  for (const id of ids) {
    const order = await roles.call('GET', `/orders/${id}`, { as: 'operator' });
    const history = await roles.call('GET', `/orders/${id}/history`, { as: 'operator', query: 'limit=100' });
    ends.push(lasting([order.body, history.body]));
  }
  roles.close();
  return ends;
}

describe('several agents may share one function', () => {
  test('F-36: the same orders have the same end whether agents share a function or not', async () => {
    const each = await endsWith('each');
    assert.deepEqual(await endsWith('together'), each);
    const outcomes = each.map((end) => (end as [{ processState: string; outcome: string | null }])[0]);
    const expected = ['completed', 'Error', 'completed', 'Error', 'completed', 'Error', 'completed', 'completed', 'completed'];
    assert.deepEqual(
      outcomes.map(({ processState, outcome }) => outcome ?? processState),
      expected,
    );
  });

  test("F-36: agents: 'together' deploys one function that reads every request queue, and may send to every reply queue and requeue requests", () => {
    const together = synthesize({ props: { agents: 'together', functions: { agents: { memorySize: 2048 } } } });
    assert.deepEqual(
      [...together.orders.functions.keys()],
      [
        'api',
        'submissions',
        'children',
        'agents',
        'consumer-ledger',
        'scheduler',
        'supervisor',
        'sweeper',
        'bulk',
        'notifier',
        'dead-letter',
      ],
    );
    const { Environment, MemorySize, Role } = functionOf(together, 'agents');
    assert.deepEqual([Environment.Variables['REDRESS_AGENTS'], MemorySize], ['stock,post', 2048]);
    const allowed = allowedBy(statementsOf(together, Role['Fn::GetAtt'][0]), together);
    const queuesFor = (action: string) => [...allowed].filter((each) => each.startsWith(`${action} `)).map((each) => each.split('/')[1]);
    assert.deepEqual(queuesFor('sqs:ReceiveMessage'), ['stock-requests', 'post-requests']);
    const dead = ['stock-requests-dead', 'post-requests-dead'];
    assert.deepEqual(queuesFor('sqs:SendMessage'), ['stock-replies', 'post-replies', 'stock-requests', 'post-requests', ...dead]);

    const names = (synthesized: Parameters<typeof ofType>[0]) =>
      ofType(synthesized, 'SQS::Queue').map(([, { Properties }]) => String(Properties['QueueName']));
    assert.deepEqual(names(together).toSorted(), names(synthesize()).toSorted());
  });
});

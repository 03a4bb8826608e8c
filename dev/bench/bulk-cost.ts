import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { totalOf } from '#adapters/aws/meter';
import { createBulk } from '#roles/bulk/bulk';
import { openInvoked } from '../../test/adapters/aws/invocations.ts';
import { startDynoxide, startEventBus, startFauxqs } from '../../test/support/emulators.ts';

/**
 * The cost of an order in Error that is resubmitted and completes: by a call of its own, and by a bulk run. The functions run on emulators,
 * which count requests and units. `BENCH_BULK_COST=200` sets the number of orders for each way.
 */
const count = Number(process.env['BENCH_BULK_COST'] ?? 100);
const Item = z.object({ id: z.string() });
const Broken = fault('Broken');
let isSick = true;
const shipping = defineAgent('shipping', {
  ship: operation({
    input: Item,
    output: Item,
    faults: [Broken],
    run: ({ id }, call) => (isSick ? call.failed(Broken, 'The service is sick.') : { id }),
  }),
});
const deliver = defineWorkflow('deliver', { version: 1, order: Item, toOperator: [Broken] }, ({ order }) =>
  sequence(shipping.ship({ id: order.id }).noUndo()),
);
const app = defineApp({ workflows: [deliver], agents: [shipping] });

const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus()]);
const endpoints = { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };
const invoked = await openInvoked({ app, endpoints });
const { system, meter } = invoked;
const bulk = createBulk(system);
const by = { by: 'bench', reason: 'the service is well again' };

async function blocked(name: string): Promise<readonly string[]> {
  isSick = true;
  const orderIds: string[] = [];
  for (let index = 0; index < count; index++)
    orderIds.push(await invoked.submit(`${name}-${index}`, { workflow: 'deliver', order: { id: `${name}-${index}` } }));
  await invoked.settle(10);
  isSick = false;
  invoked.reset();
  return orderIds;
}

async function completed(orderIds: readonly string[], way: string): Promise<void> {
  for (const orderId of orderIds) {
    const head = await invoked.store.head(orderId);
    if (head?.outcome !== 'completed') throw new Error(`${orderId} is ${head?.processState}, so its cost says nothing.`);
  }
  const { requests, writeUnits, readUnits } = totalOf(meter.entries());
  const each = (value: number): number => Number((value / count).toFixed(2));
  const figures = { orders: count, requests: each(requests), writeUnits: each(writeUnits), readUnits: each(readUnits) };
  process.stdout.write(`${JSON.stringify({ bench: 'bulk-cost', way, ...figures })}\n`);
}

const single = await blocked('single');
for (const orderId of single) await system.scheduler.instruct(orderId, { kind: 'resubmit', ...by }, { id: `bench/${orderId}` });
await invoked.settle(10);
await completed(single, 'one by one');

const many = await blocked('many');
const created = await bulk.create(
  { filter: { ids: many }, instruction: { kind: 'resubmit' }, ratePerSecond: 100, starts: true, key: 'bench', ...by },
  () => [],
);
if (created.outcome !== 'created') throw new Error(created.outcome);
for (let run = created.run; run.verifyAt !== null || run.state !== 'done'; run = (await bulk.run(run.id)) ?? run) {
  await invoked.bulk();
  await invoked.settle(10);
  invoked.pass(5_000);
}
await completed(many, 'by a bulk run');

invoked.close();
await Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]);

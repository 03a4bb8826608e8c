import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type App, call, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { manualClock } from '#ports/clock';
import { queueNames } from '#ports/messages';
import { damagedOrders } from '#testing/laws/damaged-orders';
import { failed, journalOf, submitted, timePasses } from '../../roles/support.ts';
import { observedDesk } from './observed-desk.ts';

const worker = defineAgent('worker', { work: operation({ input: z.unknown(), output: z.unknown(), run: () => ({}) }) });
const order = z.unknown();
const stay = defineWorkflow('stay', { version: 1, order }, () => sequence(worker.work({})));
const trip = defineWorkflow('trip', { version: 1, order }, () => sequence(call(stay, {})));
const app: App = defineApp({ workflows: [trip, stay], agents: [worker] });

/** A caller whose record is damaged, while the order that it called goes into Error and waits for a person. */
async function damagedCaller(context: TestContext) {
  const clock = manualClock();
  const observed = observedDesk(context, app, damagedOrders(clock), { clock });
  const { desk, record } = observed;
  const orderId = await submitted(desk);
  await desk.deliver(queueNames.calls);
  const { blob } = await desk.state(orderId);
  desk.database.prepare('UPDATE states SET blob = ? WHERE blob = ?').run(blob.replace(/"state":.*/, '"state":{"ph'), blob);
  record({ type: 'damaged', orderId, at: clock.now() });
  await desk.answer(await desk.request(), failed('Broken'));
  return { ...observed, orderId };
}

/** The caller asks after the order that it called, every ten minutes. A supervisor then moves it to its next place in the worklist. */
async function asks({ desk }: Pick<Awaited<ReturnType<typeof damagedCaller>>, 'desk'>, times: number): Promise<void> {
  for (let asked = 0; asked < times; asked += 1) {
    for (const afterMs of [60_000, 541_000]) {
      await desk.clock.advance(afterMs);
      await timePasses(desk.clock, desk.supervisor.pass());
    }
    await desk.deliver('wake-ups');
    await desk.deliver(queueNames.calls);
  }
}

describe('the law of damaged orders', () => {
  test('L7: an order that was damaged and rebuilt may wait for days for a called order that waits for a person', async (context) => {
    const damaged = await damagedCaller(context);
    const { desk, writes, found, orderId } = damaged;
    await asks(damaged, 205);
    assert.ok((await journalOf(desk, orderId)).some(({ type }) => type === 'InstanceRebuilt'));
    assert.ok(writes.filter(({ after }) => after.orderId === orderId).length > 402, 'a fixed number of writes is not enough');
    assert.deepEqual(found, []);
  });

  test('L7: an order that was damaged and is written again and again without a wait breaks the law', async (context) => {
    const { writes, found, record, orderId } = await damagedCaller(context);
    const write = writes.findLast(({ after }) => after.orderId === orderId) ?? assert.fail('The caller was never written.');
    for (let times = 0; times < 400; times += 1) record(write);
    assert.deepEqual(found, []);
    record(write);
    assert.deepEqual(found, [`order ${orderId} is damaged and was written 401 times since`]);
  });
});

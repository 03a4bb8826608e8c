import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { checkHistories } from '#roles/evolution/histories';
import { failed, journalOf, ok, openDesk, submitted, temporaryFolder, timePasses } from './support.ts';

const Item = z.object({ item: z.string() });
const step = operation({ input: Item, output: Item, run: ({ item }) => ({ item }) });
const worker = defineAgent('worker', { pack: step, weigh: step, ship: step, tell: step, bill: step });

/** Packs the item, ships it, and tells the customer: beside the shipment in version 1, and after it in the others. Version 2 ships another item. */
const deliver = (version: 1 | 2 | 3 | 4) =>
  defineWorkflow('deliver', { version, order: Item }, ({ order }) => {
    const prepare = version === 3 ? worker.weigh(order) : worker.pack(order).noUndo();
    const ship = worker.ship(version === 2 ? { item: 'corrected' } : order).noUndo();
    const tell = worker.tell(order).noUndo();
    const both = version === 1 ? parallel(ship, tell) : sequence(ship, tell, worker.bill(order).noUndo());
    return sequence(prepare.named('prepare'), both.named('both'));
  });
const appOf = (...versions: readonly (1 | 2 | 3 | 4)[]) => defineApp({ workflows: versions.map(deliver), agents: [worker] });

/** An order of version 1, in an app that has got further versions since. */
async function delivered(context: TestContext) {
  const dataFolder = temporaryFolder(context);
  const before = openDesk(context, appOf(1), { dataFolder });
  const orderId = await submitted(before, { item: 'tea' }, { workflow: 'deliver' });
  await before.close();
  const desk = openDesk(context, appOf(1, 2, 3, 4), { dataFolder, clock: before.clock });
  let calls = 0;
  const give = (instruction: { readonly kind: 'migrate'; readonly version: number } | { readonly kind: 'resubmit' }, dryRun = false) => {
    const given = { ...instruction, by: 'olga', reason: 'the new version bills' };
    return timePasses(desk.clock, desk.system.scheduler.instruct(orderId, given, { id: `call-${++calls}`, dryRun }));
  };
  const migrate = (version: number, dryRun = false) => give({ kind: 'migrate', version }, dryRun);
  const done = async (item = 'tea') => {
    const request = await desk.request();
    await desk.answer(request, ok({ item }));
    return request.operation;
  };
  return { desk, orderId, give, migrate, done };
}

const reasonOf = (instructed: object): string =>
  ('refusals' in instructed ? (instructed.refusals as { detail: string }[])[0]?.detail : undefined) ?? '';

test('F-156: an order that has not begun to ship moves to a version that tells the customer later, and completes on that version', async (context) => {
  const { desk, orderId, migrate, done } = await delivered(context);
  const planned = await migrate(2, true);
  assert.ok(planned.outcome === 'planned' && planned.check.refusals.length === 0);
  assert.equal((await migrate(2)).outcome, 'done');
  assert.deepEqual((await desk.state(orderId)).workflow, { name: 'deliver', version: 2 });
  const given = (await journalOf(desk, orderId)).find(({ type }) => type === 'InstructionGiven');
  assert.partialDeepStrictEqual(given ?? {}, { kind: 'migrate', by: 'olga', before: { version: 1 }, after: { version: 2 } });
  assert.deepEqual([await done(), await done(), await done(), await done()], ['pack', 'ship', 'tell', 'bill']);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

test('F-156: an order that has begun a part which differs in the other version keeps its version', async (context) => {
  const { desk, orderId, migrate, done } = await delivered(context);
  await done();
  const { rev } = await desk.state(orderId);
  const refused = await migrate(2);
  assert.equal(refused.outcome, 'infeasible');
  assert.match(reasonOf(refused), /^Version 2 does not lead to what the order has done\. Line \d+ of the journal/);
  assert.match(reasonOf(await migrate(3)), /^order\/prepare has called worker\.pack, and version 3 calls worker\.weigh there\.$/);
  assert.match(reasonOf(await migrate(5)), /no version 5 of deliver/);
  assert.match(reasonOf(await migrate(1)), /has version 1 of deliver already/);
  assert.partialDeepStrictEqual(await desk.state(orderId), { rev, workflow: { version: 1 } });
});

test('F-156: a step at work keeps its version; once it is refused, it is requested with the input of the new one, under a new key', async (context) => {
  const { desk, orderId, give, migrate, done } = await delivered(context);
  await migrate(4);
  await done();
  const first = await desk.request();
  assert.match(reasonOf(await migrate(2)), /^order\/both\/ship is at work with an input that version 2 would not give it/);
  await desk.answer(first, failed('NoSuchItem'));
  assert.equal((await desk.state(orderId)).processState, 'Error');
  assert.equal((await migrate(2)).outcome, 'done');
  assert.equal((await desk.state(orderId)).processState, 'Error', 'nothing is started');
  await give({ kind: 'resubmit' });
  const again = await desk.request();
  assert.deepEqual([again.input, again.idempotencyKey === first.idempotencyKey], [{ item: 'corrected' }, false]);
});

test('F-160, F-156: an order that has moved is rebuilt from its journal by the version that it has', async (context) => {
  const { desk, orderId, migrate, done } = await delivered(context);
  await migrate(2);
  await done();
  const { blob } = await desk.state(orderId);
  const update = desk.database.prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)');
  update.run(blob.replace(/"state":.*/, '"state":{"ph'), orderId);
  assert.deepEqual([await done(), await done(), await done()], ['ship', 'tell', 'bill']);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
  assert.ok((await journalOf(desk, orderId)).some((line) => line.type === 'InstanceRebuilt' && line.exact));
});

test('the histories of stored orders are compared with another version of their workflow, and the first difference is named', async (context) => {
  const { desk, orderId, done } = await delivered(context);
  const target = desk.system.definitions.program('deliver', 2);
  assert.ok(target);
  const checked = async () => (await checkHistories(target, { after: undefined, limit: 10 }, { ...desk, ...desk.system })).items;
  assert.partialDeepStrictEqual(await checked(), [{ head: { orderId, workflow: { version: 1 } }, fits: true }]);
  await done();
  const [item] = await checked();
  assert.equal(item?.fits, false);
  assert.match(item?.reason ?? '', /^Version 2 does not lead to what the order has done\. Line \d+/);
});

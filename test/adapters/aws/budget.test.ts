import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { budget, type Figure, figuresOf, writeUnitsPerStepMax } from '../../../dev/bench/budget.ts';
import { type Played, play, playWithLostAgent, warmUp } from '../../../dev/bench/played.ts';
import shop, { nameOf, order } from '../../../dev/bench/shop.ts';
import { type Stored, storedTable, storeOrders } from '../../../dev/bench/stored-orders.ts';
import { startDynoxide, startEventBus, startFauxqs } from '../../support/emulators.ts';
import { type Invoked, openInvoked } from './invocations.ts';

const [dynoxide, fauxqs, bus] = await Promise.all([startDynoxide(), startFauxqs(), startEventBus()]);
const endpoints = { dynamodb: dynoxide.endpoint, sqs: fauxqs.endpoint, eventbridge: bus.endpoint };
const folder = mkdtempSync(join(tmpdir(), 'redress-budget-'));
let invoked: Invoked;
let good: Played;

before(async () => {
  invoked = await openInvoked({ app: shop, endpoints });
  await warmUp(invoked);
  good = await play(invoked, 'fulfil');
});
after(async () => {
  invoked.close();
  await Promise.all([dynoxide.stop(), fauxqs.stop(), bus.stop()]);
  rmSync(folder, { recursive: true });
});

for (const [figure, most] of Object.entries(budget)) {
  test(`an order of three steps without failures stays within its budget of ${figure}: ${most}`, () => {
    const measured = good.figures[figure as Figure];
    assert.ok(measured > 0 && measured <= most, `it took ${measured}`);
  });
}

test('a step that fails once and is retried by its agent costs no further table or queue calls', async () => {
  const { requests } = await play(invoked, 'fulfil-at-second-try');
  assert.deepEqual(requests, good.requests);
});

test('a step that is requested again after its time limit costs one more write of its failure count, one more request and one more journal page', async () => {
  const { figures } = await play(invoked, 'fulfil', { trouble: playWithLostAgent(invoked) });
  assert.deepEqual(
    { updates: figures.updates - good.figures.updates, messages: figures.messages - good.figures.messages },
    { updates: 3, messages: 2 },
  );
});

test('a step takes at most four write units, and the hundredth step takes no more than the tenth', async () => {
  const [ten, hundred] = [await play(invoked, nameOf(10, 'plain')), await play(invoked, nameOf(100, 'plain'))];
  const [few, many] = [ten.figures.writeUnits / 10, hundred.figures.writeUnits / 100];
  assert.ok(few <= writeUnitsPerStepMax, `${few} units a step`);
  assert.ok(many <= few, `${many} units a step instead of ${few}`);
});

test('a pass of the supervisor costs in proportion to the due orders, not to all stored orders', async () => {
  const orderId = await invoked.submit('example', { workflow: 'fulfil', order });
  const live = await invoked.store.load(orderId);
  await invoked.settle();
  const examples = { live: live as Stored, finished: (await invoked.store.load(orderId)) as Stored };

  const figures = [];
  for (const count of [10, 1000]) {
    const table = await startDynoxide(await storeOrders(folder, examples, { count, due: 10, now: Date.now() }));
    const supervised = await openInvoked({ app: shop, endpoints: { ...endpoints, dynamodb: table.endpoint }, table: storedTable });
    const { counted } = await supervised.run('pass');
    figures.push({ counted, ...figuresOf(supervised.meter.entries(), 0) });
    supervised.close();
    await table.stop();
  }
  assert.deepEqual(figures[0], figures[1]);
  assert.equal(figures[0]?.counted, 10);
});

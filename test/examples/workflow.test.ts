import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { check, PermanentFailure } from 'redress';
import * as z from 'zod';
import app from '../../examples/orders/app.ts';
import { CardDeclined, OutOfStock } from '../../examples/orders/faults.ts';
import { Order } from '../../examples/orders/order.ts';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { startShop } from '../../examples/shop/server.ts';
import { play } from '../support/play.ts';
import { fault, ok, startRun, stepMs } from '../support/run.ts';
import { callOf, lookUp, run } from './support.ts';

const samples = new URL('../../examples/orders/samples/', import.meta.url);

test('F-99: the workflow is plain data without problems, and declares that a message to the customer is not undone', () => {
  const stored = JSON.stringify(fulfilOrder);
  assert.deepEqual(JSON.parse(stored), fulfilOrder);
  assert.equal(JSON.stringify(JSON.parse(stored)), stored);
  assert.deepEqual(check(fulfilOrder), []);
});

test('the steps are reserve, charge, then ship and confirm side by side', () => {
  assert.partialDeepStrictEqual(fulfilOrder, {
    name: 'fulfil-order',
    root: {
      activity: 'sequence',
      children: [
        { name: 'reserve', agent: 'inventory', faults: ['Refused/OutOfStock'], undo: { operation: 'release' } },
        {
          activity: 'retry',
          retries: 3,
          intervalSeconds: 20,
          except: ['Refused/CardDeclined'],
          do: {
            name: 'charge',
            input: { amount: { minorUnits: { $cel: 'sum(order.items.map(item, item.quantity * item.unitPrice))' } } },
            undo: { operation: 'refund', input: { chargeId: { $cel: 'steps.charge.chargeId' } } },
          },
        },
        { activity: 'parallel', children: [{ name: 'ship' }, { name: 'confirm', operation: 'notify', input: { kind: 'shipped' } }] },
      ],
      faultHandlers: [{ fault: 'Refused' }],
    },
  });
});

const { order } = JSON.parse(readFileSync(new URL('ok.json', samples), 'utf8'));
const items = JSON.stringify(order.items);
const reserve = `-> inventory order/reserve key order/reserve/1 attempt 1 with {"orderId":"o1","items":${items}}`;
const charged = (generation: number, attempt: number) =>
  `-> payment order/retry/charge key order/retry/charge/${generation} attempt ${attempt} with {"orderId":"o1","card":"${order.card}","amount":{"currency":"${order.currency}","minorUnits":900}}`;
const apology = (fault: string) =>
  `-> customer order/on-Refused/apologise key order/on-Refused/apologise/1 attempt 1 with {"orderId":"o1","kind":"refused","text":"${order.address.name}, we could not take your order o1: ${fault}."}`;

test('F-100: a declined card is not charged again: the reservation is released, and the customer is notified once', () => {
  play(
    fulfilOrder,
    `
    start
    ${reserve}

    ok order/reserve {"reservationId": "r1"}
    ${charged(1, 1)}

    fault order/retry/charge Refused/CardDeclined permanent
    -> inventory order/reserve/undo key order/reserve/undo/1 attempt 1 with {"reservationId":"r1"}

    ok order/reserve/undo
    ${apology('CardDeclined')}

    ok order/on-Refused/apologise
    == compensated
  `,
    { order },
  );
});

test('without stock there is nothing to undo: the order is rejected, and the customer is notified once', () => {
  play(
    fulfilOrder,
    `
    start
    ${reserve}

    fault order/reserve Refused/OutOfStock permanent
    ${apology('OutOfStock')}

    ok order/on-Refused/apologise
    == rejected
  `,
    { order },
  );
});

test('a charge that fails temporarily is requested again after 20 seconds, under its key', () => {
  play(
    fulfilOrder,
    `
    start
    ${reserve}

    ok order/reserve {"reservationId": "r1"}
    ${charged(1, 1)}

    fault order/retry/charge Engine/ServiceUnavailable transient
    .. wake at +20s

    after 20s
    ${charged(1, 2)}
  `,
    { order },
  );
});

test('an order with an invalid address is blocked, and nothing is undone', () => {
  const run = startRun(fulfilOrder, { order });
  run.happen({ type: 'started', stepMs });
  run.reply('order/reserve', ok({ reservationId: 'r1' }));
  run.reply('order/retry/charge', ok({ chargeId: 'c1' }));
  run.reply('order/parallel/ship', fault('AddressInvalid'));
  assert.equal(run.state.phase, 'blocked');
  assert.deepEqual(run.requests.map(({ path }) => path).toSorted(), [
    'order/parallel/confirm',
    'order/parallel/ship',
    'order/reserve',
    'order/retry/charge',
  ]);
});

test('every sample is a valid order of the workflow', () => {
  const files = readdirSync(samples);
  assert.ok(files.length >= 5);
  for (const file of files) {
    const { order, reference } = JSON.parse(readFileSync(new URL(file, samples), 'utf8'));
    assert.deepEqual(Order.parse(order), order);
    assert.equal(`${reference}.json`, file);
  }
});

test('an order at the limits is valid, and an order beyond the limits is refused', () => {
  const { order } = JSON.parse(readFileSync(new URL('ok.json', samples), 'utf8'));
  const [item] = order.items;
  const taken = (change: object) => Order.safeParse({ ...order, ...change }).success;

  assert.ok(taken({ items: Array(100).fill({ ...item, quantity: 999, unitPrice: 0 }) }));
  assert.ok(!taken({ items: Array(101).fill(item) }));
  assert.ok(!taken({ items: [] }));
  assert.ok(!taken({ items: [{ ...item, quantity: 1000 }] }));
  assert.ok(!taken({ items: [{ ...item, quantity: 1.5 }] }));
  assert.ok(!taken({ items: [{ ...item, unitPrice: -1 }] }));
  assert.ok(taken({ card: 'x'.repeat(64) }));
  assert.ok(!taken({ card: 'x'.repeat(65) }));
  assert.ok(!taken({ currency: 'eur' }));
  assert.ok(!taken({ address: { ...order.address, country: 'GBR' } }));
  assert.ok(!taken({ address: { ...order.address, street: 'x'.repeat(1025) } }));
  assert.ok(!taken({ address: { ...order.address, city: '' } }));
});

test('the card is marked secret in the order and in the input of the payment agent', () => {
  const charge = app.agents.find(({ name }) => name === 'payment')?.operations['charge'];
  for (const schema of [fulfilOrder.order, z.toJSONSchema(charge?.input ?? z.never())]) {
    assert.partialDeepStrictEqual(schema, { properties: { card: { secret: true } } });
  }
});

test('the agents perform, look up and undo at the shop each effect of an order', async () => {
  const shop = await startShop();
  const { agents } = app;
  Object.assign(process.env, shop.environment);
  const as = (key: string) => callOf({ idempotencyKey: key });
  const { order } = JSON.parse(readFileSync(new URL('ok.json', samples), 'utf8'));
  const { items, address, card } = order;
  const amount = { currency: 'EUR', minorUnits: 900 };

  const reservation = (await run(agents, 'inventory.reserve', { orderId: 'o1', items }, as('reserve'))) as object;
  const charge = (await run(agents, 'payment.charge', { orderId: 'o1', amount, card }, as('charge'))) as object;
  const shipment = (await run(agents, 'shipping.ship', { orderId: 'o1', address, items }, as('ship'))) as object;
  assert.deepEqual(await run(agents, 'customer.notify', { orderId: 'o1', kind: 'shipped', text: 'On its way.' }, as('notify')), {});

  const done = { 'inventory.reserve': reservation, 'payment.charge': charge, 'shipping.ship': shipment };
  for (const [operation, output] of Object.entries(done)) {
    assert.deepEqual(await lookUp(agents, operation, as(operation.split('.')[1] ?? '')), output);
    assert.equal(await lookUp(agents, operation, as('another')), undefined);
  }

  assert.deepEqual(await run(agents, 'shipping.recall', shipment, as('compensate')), {});
  assert.ok(await run(agents, 'payment.refund', charge, as('refund')));
  assert.deepEqual(await run(agents, 'inventory.release', reservation, as('release')), {});

  const none = [{ sku: 'none-left', quantity: 1 }];
  assert.partialDeepStrictEqual(await run(agents, 'inventory.reserve', { orderId: 'o2', items: none }, as('none')), {
    failed: OutOfStock,
    data: { sku: 'none-left' },
  });
  assert.partialDeepStrictEqual(await run(agents, 'payment.charge', { orderId: 'o2', amount, card: 'tok_declined' }, as('declined')), {
    failed: CardDeclined,
  });

  await shop.close();
  for (const variable of Object.keys(shop.environment)) delete process.env[variable];
});

test('a service without an address is reported, and the order does not wait for it', async () => {
  process.env['SHIPPING_URL'] = 'shipping.example';
  for (const [operation, input, message] of [
    ['inventory.release', { reservationId: 'res_1' }, /INVENTORY_URL is not set/],
    ['shipping.recall', { shipmentId: 'sh_1' }, /SHIPPING_URL is not an http URL/],
  ] as const) {
    await assert.rejects(run(app.agents, operation, input), (error) => error instanceof PermanentFailure && message.test(error.message));
  }
  delete process.env['SHIPPING_URL'];
});

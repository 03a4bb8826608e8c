import { readFileSync } from 'node:fs';
import { cel, defineAgent, defineApp, defineWorkflow, fault, operation, type StepActivity, sequence, sum, TransientFailure } from 'redress';
import * as z from 'zod';
import { Address, Card, Currency, MinorUnits, Order, Quantity, Text } from '../examples/orders/order.ts';

/** The order that the example shop sends, and three of its steps: reserve, charge, ship. The agents answer at once. */
const sample = JSON.parse(readFileSync(new URL('../examples/orders/samples/ok.json', import.meta.url), 'utf8')) as {
  readonly order: z.output<typeof Order>;
};
export const { order } = sample;

const Items = z.array(z.object({ sku: Text, quantity: Quantity }));
const Amount = z.object({ currency: Currency, minorUnits: MinorUnits });
const Note = z.object({ text: Text });

/** As long as the ids of the example's services. */
const idFrom = (prefix: string, key: string): string => `${prefix}_${Buffer.from(key).toString('hex').slice(-16)}`;

const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ orderId: Text, items: Items }),
    output: z.object({ reservationId: Text }),
    run: (_, { idempotencyKey }) => ({ reservationId: idFrom('res', idempotencyKey) }),
  }),
  release: operation({ input: z.object({ reservationId: Text }), output: z.object({}), run: () => ({}) }),
  note: operation({ input: Note, output: Note, run: ({ text }) => ({ text }) }),
});

const failedOnce = new Set<string>();
const charged = z.object({ orderId: Text, card: Card, amount: Amount });
const payment = defineAgent('payment', {
  charge: operation({
    input: charged,
    output: z.object({ chargeId: Text }),
    run: (_, { idempotencyKey }) => ({ chargeId: idFrom('ch', idempotencyKey) }),
  }),
  refund: operation({ input: z.object({ chargeId: Text }), output: z.object({}), run: () => ({}) }),
  chargeAtSecondTry: operation({
    input: charged,
    output: z.object({ chargeId: Text }),
    run(_, { idempotencyKey }) {
      if (failedOnce.has(idempotencyKey)) return { chargeId: idFrom('ch', idempotencyKey) };
      failedOnce.add(idempotencyKey);
      throw new TransientFailure('The service is overloaded.', { retryAfterMs: 1 });
    },
  }),
});

const Unreachable = fault('Unreachable');
const shipping = defineAgent('shipping', {
  refuse: operation({
    input: z.object({ orderId: Text, address: Address, items: Items }),
    output: z.object({}),
    faults: [Unreachable],
    run: (_, call) => call.failed(Unreachable, 'nobody drives there'),
  }),
  ship: operation({
    input: z.object({ orderId: Text, address: Address, items: Items }),
    output: z.object({ shipmentId: Text, trackingNumber: Text }),
    run: (_, { idempotencyKey }) => ({ shipmentId: idFrom('sh', idempotencyKey), trackingNumber: idFrom('', idempotencyKey).slice(4) }),
  }),
});

const threeSteps = (name: string, charge: 'charge' | 'chargeAtSecondTry', options: { readonly recover?: 'order' } = {}) =>
  defineWorkflow(name, { version: 1, order: Order, ...options }, ({ order, orderId }) => {
    const minorUnits = sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`);
    return sequence(
      inventory.reserve({ orderId, items: order.items }),
      payment[charge]({ orderId, card: order.card, amount: { currency: order.currency, minorUnits } }),
      shipping.ship({ orderId, address: order.address, items: order.items }),
    );
  });

/** The third step is refused, and what the first two did is undone. */
const refused = defineWorkflow('fulfil-refused', { version: 1, order: Order }, ({ order, orderId }) => {
  const minorUnits = sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`);
  const amount = { currency: order.currency, minorUnits };
  return sequence(
    inventory.reserve({ orderId, items: order.items }).undo(({ reservationId }) => inventory.release({ reservationId })),
    payment.charge({ orderId, card: order.card, amount }).undo(({ chargeId }) => payment.refund({ chargeId })),
    shipping.refuse({ orderId, address: order.address, items: order.items }),
  ).on(Unreachable, ({ compensate }) => compensate());
});

/** Their names are as long as each other. Where steps are linked, each reads what the one before it answered; else nobody reads an answer. */
const manySteps = (name: string, count: number, linked: boolean) =>
  defineWorkflow(name, { version: 1, order: Order }, ({ order }) => {
    const steps: StepActivity<never, z.output<typeof Note>>[] = [];
    for (let index = 1; index <= count; index++) {
      const before = linked ? steps.at(-1) : undefined;
      steps.push(inventory.note({ text: before ? before.output.text : order.currency }).named(`step-${String(index).padStart(4, '0')}`));
    }
    return sequence(...steps);
  });

export const counts = [10, 100, 1000] as const;
export const nameOf = (count: number, linked: boolean): string => `${linked ? 'linked-' : ''}steps-${count}`;

const shop = defineApp({
  workflows: [
    threeSteps('fulfil', 'charge'),
    threeSteps('fulfil-as-a-whole', 'charge', { recover: 'order' }),
    threeSteps('fulfil-at-second-try', 'chargeAtSecondTry'),
    refused,
    ...counts.flatMap((count) => [false, true].map((linked) => manySteps(nameOf(count, linked), count, linked))),
  ],
  agents: [inventory, payment, shipping],
});
export default shop;

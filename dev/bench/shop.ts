import { readFileSync } from 'node:fs';
import { cel, defineAgent, defineApp, defineWorkflow, fault, operation, type StepActivity, sequence, sum, TransientFailure } from 'redress';
import * as z from 'zod';
import { Address, Card, Currency, MinorUnits, Order, Quantity, Text } from '../../examples/orders/order.ts';

/** The order of the example shop with three of its steps: reserve, charge, ship. The agents answer at once. */
const sample = JSON.parse(readFileSync(new URL('../../examples/orders/samples/ok.json', import.meta.url), 'utf8')) as {
  readonly order: z.output<typeof Order>;
};
export const { order } = sample;

const Items = z.array(z.object({ sku: Text, quantity: Quantity }));
const Amount = z.object({ currency: Currency, minorUnits: MinorUnits });
const Note = z.object({ text: Text });

/** Returns an id of the same length as the ids of the example's services. */
const idFrom = (prefix: string, key: string): string => `${prefix}_${Buffer.from(key).toString('hex').slice(-16)}`;

const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ orderId: Text, items: Items }),
    output: z.object({ reservationId: Text }),
    run: (_, { idempotencyKey }) => ({ reservationId: idFrom('res', idempotencyKey) }),
  }),
  release: operation({ input: z.object({ reservationId: Text }), output: z.object({}), run: () => ({}) }),
  note: operation({ input: Note, output: Note, run: ({ text }) => ({ text }) }),
  forget: operation({ input: Note, output: z.object({}), run: () => ({}) }),
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

/** The service refuses the third step, and the effects of the first two are undone. */
const refused = defineWorkflow('fulfil-refused', { version: 1, order: Order }, ({ order, orderId }) => {
  const minorUnits = sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`);
  const amount = { currency: order.currency, minorUnits };
  return sequence(
    inventory.reserve({ orderId, items: order.items }).undo(({ reservationId }) => inventory.release({ reservationId })),
    payment.charge({ orderId, card: order.card, amount }).undo(({ chargeId }) => payment.refund({ chargeId })),
    shipping.refuse({ orderId, address: order.address, items: order.items }),
  ).on(Unreachable, ({ compensate }) => compensate());
});

/** The kinds of long orders, by how their steps depend on each other. */
export const kinds = ['plain', 'linked', 'undoable', 'undone'] as const;
export type Kind = (typeof kinds)[number];

/**
 * All step names have the same length. With `linked`, each step reads the output of the step before it; otherwise no output is
 * read.
 */
const manySteps = (count: number, kind: Kind) =>
  defineWorkflow(nameOf(count, kind), { version: 1, order: Order }, ({ order, orderId }) => {
    const steps: StepActivity<never, z.output<typeof Note>>[] = [];
    for (let index = 1; index <= count; index++) {
      const before = kind === 'linked' ? steps.at(-1) : undefined;
      const note = inventory.note({ text: before ? before.output.text : order.currency });
      const step = kind === 'undoable' || kind === 'undone' ? note.undo(({ text }) => inventory.forget({ text })) : note;
      steps.push(step.named(`step-${String(index).padStart(4, '0')}`));
    }
    if (kind !== 'undone') return sequence(...steps);
    const refusal = shipping.refuse({ orderId, address: order.address, items: order.items });
    return sequence(...steps, refusal).on(Unreachable, ({ compensate }) => compensate());
  });

export const counts = [10, 100, 1000] as const;
export const nameOf = (count: number, kind: Kind): string => (kind === 'plain' ? `steps-${count}` : `${kind}-steps-${count}`);

const shop = defineApp({
  workflows: [
    threeSteps('fulfil', 'charge'),
    threeSteps('fulfil-as-a-whole', 'charge', { recover: 'order' }),
    threeSteps('fulfil-at-second-try', 'chargeAtSecondTry'),
    refused,
    ...counts.flatMap((count) => kinds.map((kind) => manySteps(count, kind))),
  ],
  agents: [inventory, payment, shipping],
});
export default shop;

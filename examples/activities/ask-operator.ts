import { askOperator, defineWorkflow, fault, ifTrue, not, type Ref, raise, sequence, text } from 'redress';
import * as z from 'zod';
import { inventory, payment, Refused, shipping } from './agents.ts';

const Order = z.object({ sku: z.string(), total: z.number() });
const NotApproved = fault('NotApproved');

/** A person reviews an unusual order and decides how it continues. */
export const approval = (order: Ref<z.infer<typeof Order>>) =>
  askOperator('approval', {
    question: text`Is an order of ${order.total} right?`,
    answer: z.object({ approved: z.boolean(), why: z.string() }),
    details: { sku: order.sku },
  });

export const approved = defineWorkflow('example-ask-operator', { version: 1, order: Order, toOperator: [Refused] }, ({ order }) => {
  const reserve = inventory.reserve({ sku: order.sku }).undo(({ reservationId }) => inventory.release({ reservationId }));
  const ask = approval(order);
  const ifNot = ifTrue(not(ask.output.approved), raise(NotApproved, ask.output.why));

  return sequence(reserve, ask, ifNot, payment.charge({ amount: order.total }), shipping.ship({ sku: order.sku })).on(
    NotApproved,
    ({ compensate }) => compensate(),
  );
});

export const story = `
  start
  -> inventory order/reserve key order/reserve/1 attempt 1 with {"sku":"gold"}

  ok order/reserve {"reservationId": "r1"}
  == blocked order/approval OperatorAsked

  # Only a person can continue the order, with this instruction.

  answer {"approved": false, "why": "The order was meant for another shop."}
  -> inventory order/reserve/undo key order/reserve/undo/1 attempt 1 with {"reservationId":"r1"}
  == unblocked

  ok order/reserve/undo
  == compensated
`;

export const body = { sku: 'gold', total: 4000 };

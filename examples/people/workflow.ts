import {
  askOperator,
  assign,
  defineRule,
  defineWorkflow,
  greaterThan,
  parallel,
  sequence,
  text,
  variables,
  waitFor,
  withOutput,
} from 'redress';
import { carrier, customer, OutOfStock, warehouse } from './agents.ts';
import { Assessment, Claim, Papers } from './claim.ts';

const vars = variables<{ total: number }>();

/** The customer sends the papers at any time, also before the order waits for them. */
export const papers = waitFor('papers', Papers);

/**
 * A customer claims a replacement. Somebody of the group `claims` assesses the claim, the customer sends the papers, and the goods are
 * shipped. Version 2 tells the customer after the shipment, not in parallel with it.
 */
const claimCase = (version: 1 | 2) =>
  defineWorkflow('claim-case', { version, order: Claim, toOperator: [OutOfStock] }, ({ order, orderId }) => {
    const reserve = warehouse
      .reserve({ sku: order.sku, quantity: order.quantity })
      .undo(({ reservationId }) => warehouse.release({ reservationId }));
    const { reservationId } = reserve.output;
    const promise = warehouse.promise({ sku: order.sku, reservationId }).noUndo();
    const assess = askOperator('assess', {
      question: text`What is the claim of ${order.customer.name} worth, in cents?`,
      answer: Assessment,
      details: { sku: order.sku, claimed: order.amount },
      people: { group: 'claims', dueSeconds: 3600, every: 900, escalateTo: ['claims-leads'] },
    });
    const ship = carrier.ship({ reservationId, to: order.customer.name }).undo(({ shipmentId }) => carrier.recall({ shipmentId }));
    const news = text`Your claim ${orderId} is accepted. You get the goods on ${promise.output.day}.`;
    const tell = customer.tell({ email: order.customer.email, text: news }).noUndo();
    const deliver = version === 1 ? parallel(ship, tell) : sequence(ship, tell);

    return withOutput(
      sequence(
        assign(vars.total, order.amount),
        reserve,
        promise,
        assess,
        assign(vars.total, assess.output.total),
        papers,
        deliver.named('deliver'),
      ),
      { shipmentId: ship.output.shipmentId, promised: promise.output.day, total: vars.total },
    );
  });

export const claimCase1 = claimCase(1);
export const claimCase2 = claimCase(2);

/** A constraint: `total <= 100000`. An order that violates it stops before a person. */
export const totalWithinLimit = defineRule('total-within-limit', {
  name: 'A claim is worth 100,000 cents at most',
  workflow: claimCase1,
  event: { kind: 'data' },
  condition: ({ variables }) => greaterThan(variables<number>('total'), 100_000),
  action: { kind: 'raise', type: 'OverLimit', message: 'The total of the claim is above 100,000 cents.' },
  mode: 'enforce',
});

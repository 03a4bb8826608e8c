import { cel, defineWorkflow, parallel, retry, sequence, sum, text, withOutput } from 'redress';
import { customer, inventory, payment, shipping } from './agents.ts';
import { AddressInvalid, CardDeclined, Refused } from './faults.ts';
import { Order } from './order.ts';

/** Reserves, charges, then ships and notifies the customer in parallel. After a refusal it undoes everything, then notifies the customer. */
export const fulfilOrder = defineWorkflow(
  'fulfil-order',
  { version: 1, order: Order, toOperator: [AddressInvalid] },
  ({ order, orderId }) => {
    const reserve = inventory.reserve({ orderId, items: order.items }).undo(({ reservationId }) => inventory.release({ reservationId }));

    const charge = payment
      .charge({
        orderId,
        card: order.card,
        amount: { currency: order.currency, minorUnits: sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`) },
      })
      .undo(({ chargeId }) => payment.refund({ chargeId }));

    const ship = shipping
      .ship({ orderId, address: order.address, items: order.items })
      .undo(({ shipmentId }) => shipping.recall({ shipmentId }));

    const confirm = customer
      .notify({ orderId, kind: 'shipped', text: text`${order.address.name}, your order ${orderId} is on its way.` })
      .named('confirm')
      .noUndo();

    const payFirst = retry(charge, { retries: 3, intervalSeconds: 20, except: [CardDeclined] });

    const fulfil = sequence(reserve, payFirst, parallel(ship, confirm)).on(Refused, ({ fault, compensate }) => {
      const apologise = customer
        .notify({ orderId, kind: 'refused', text: text`${order.address.name}, we could not take your order ${orderId}: ${fault.type}.` })
        .named('apologise');

      return sequence(compensate(), apologise);
    });

    const { chargeId } = charge.output;
    const { shipmentId, trackingNumber } = ship.output;
    return withOutput(fulfil, { chargeId, shipmentId, trackingNumber });
  },
);

import { cel, defineWorkflow, parallel, sequence, sum, text } from 'redress';
import { customer, inventory, payment, shipping } from './agents.ts';
import { AddressInvalid, Refused } from './faults.ts';
import { Order } from './order.ts';

/** Reserve, charge, then ship and tell the customer side by side. */
export const fulfilOrder = defineWorkflow(
  'fulfil-order',
  { version: 1, order: Order, toOperator: [Refused, AddressInvalid] },
  ({ order, orderId }) => {
    const reserve = inventory.reserve({ orderId, items: order.items });

    const charge = payment.charge({
      orderId,
      card: order.card,
      amount: { currency: order.currency, minorUnits: sum(order.items, (item) => cel`${item.quantity} * ${item.unitPrice}`) },
    });

    const ship = shipping.ship({ orderId, address: order.address, items: order.items });

    const confirm = customer
      .notify({ orderId, kind: 'shipped', text: text`${order.address.name}, your order ${orderId} is on its way.` })
      .named('confirm');

    return sequence(reserve, charge, parallel(ship, confirm));
  },
);

import { defineAgent, operation, PermanentFailure } from 'redress';
import * as z from 'zod';
import { AddressInvalid, AlreadyDispatched, CardDeclined, OutOfStock } from './faults.ts';
import { Address, Card, Currency, MinorUnits, Quantity, Text } from './order.ts';
import { createService } from './service.ts';

const Items = z
  .array(z.object({ sku: Text, quantity: Quantity }))
  .min(1)
  .max(100);
const Reservation = z.object({ reservationId: Text });
const Charge = z.object({ chargeId: Text });
const Refund = z.object({ refundId: Text });
const Shipment = z.object({ shipmentId: Text, trackingNumber: Text });
const Nothing = z.object({});

const stock = createService({ name: 'inventory', url: () => urlFrom('INVENTORY_URL') });

export const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ orderId: Text, items: Items }),
    output: Reservation,
    faults: [OutOfStock],
    run: (input, call) => stock.post('/reservations', input, call, Reservation),
    lookup: (key, call) => stock.get(`/reservations?idempotencyKey=${encodeURIComponent(key)}`, call, Reservation),
  }),
  release: operation({
    input: Reservation,
    output: Nothing,
    run: ({ reservationId }, call) => stock.delete(`/reservations/${encodeURIComponent(reservationId)}`, call),
  }),
});

const till = createService({ name: 'payment', url: () => urlFrom('PAYMENT_URL') });

export const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ orderId: Text, amount: z.object({ currency: Currency, minorUnits: MinorUnits }), card: Card }),
    output: Charge,
    faults: [CardDeclined],
    run: (input, call) => till.post('/charges', input, call, Charge),
    lookup: (key, call) => till.get(`/charges?idempotencyKey=${encodeURIComponent(key)}`, call, Charge),
  }),
  refund: operation({
    input: Charge,
    output: Refund,
    run: ({ chargeId }, call) => till.post(`/charges/${encodeURIComponent(chargeId)}/refund`, undefined, call, Refund),
  }),
});

const parcels = createService({ name: 'shipping', url: () => urlFrom('SHIPPING_URL') });

export const shipping = defineAgent('shipping', {
  ship: operation({
    input: z.object({ orderId: Text, address: Address, items: Items }),
    output: Shipment,
    faults: [AddressInvalid],
    run: (input, call) => parcels.post('/shipments', input, call, Shipment),
    lookup: (key, call) => parcels.get(`/shipments?idempotencyKey=${encodeURIComponent(key)}`, call, Shipment),
  }),
  recall: operation({
    input: Shipment.pick({ shipmentId: true }),
    output: Nothing,
    faults: [AlreadyDispatched],
    run: ({ shipmentId }, call) => parcels.delete(`/shipments/${encodeURIComponent(shipmentId)}`, call),
  }),
});

const desk = createService({ name: 'customer', url: () => urlFrom('CUSTOMER_URL') });

export const customer = defineAgent('customer', {
  notify: operation({
    input: z.object({ orderId: Text, kind: z.enum(['shipped', 'refused']), text: z.string().min(1).max(10_000) }),
    output: Nothing,
    async run(input, call) {
      await desk.post('/notifications', input, call, z.unknown());
      return {};
    },
  }),
});

function urlFrom(variable: string): string {
  const url = process.env[variable];
  if (url && /^https?:/.test(url) && URL.canParse(url)) return url;
  throw new PermanentFailure(
    'NotConfigured',
    `${variable} is ${url ? 'not an http URL' : 'not set'}. Set it to the address of the service, such as http://127.0.0.1:4000.`,
  );
}

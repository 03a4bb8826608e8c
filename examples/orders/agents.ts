import { defineAgent, operation } from 'redress';
import { httpService, path } from 'redress/http';
import * as z from 'zod';
import { AddressInvalid, AlreadyDispatched, CardDeclined, OutOfStock } from './faults.ts';
import { Address, Card, Currency, MinorUnits, Quantity, Text } from './order.ts';

const Items = z
  .array(z.object({ sku: Text, quantity: Quantity }))
  .min(1)
  .max(100);
const Reservation = z.object({ reservationId: Text });
const Charge = z.object({ chargeId: Text });
const Refund = z.object({ refundId: Text });
const Shipment = z.object({ shipmentId: Text, trackingNumber: Text });
const Nothing = z.object({});

const inventoryService = httpService({ name: 'inventory', urlFrom: 'INVENTORY_URL' });

export const inventory = defineAgent('inventory', {
  reserve: operation({
    input: z.object({ orderId: Text, items: Items }),
    output: Reservation,
    faults: [OutOfStock],
    run: (input, call) => inventoryService.post('/reservations', input, call),
    lookup: (key, call) => inventoryService.lookup('/reservations', key, call),
  }),
  release: operation({
    input: Reservation,
    output: Nothing,
    run: ({ reservationId }, call) => inventoryService.delete(path`/reservations/${reservationId}`, call),
  }),
});

const paymentService = httpService({ name: 'payment', urlFrom: 'PAYMENT_URL' });

export const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ orderId: Text, amount: z.object({ currency: Currency, minorUnits: MinorUnits }), card: Card }),
    output: Charge,
    faults: [CardDeclined],
    run: (input, call) => paymentService.post('/charges', input, call),
    lookup: (key, call) => paymentService.lookup('/charges', key, call),
  }),
  refund: operation({
    input: Charge,
    output: Refund,
    run: ({ chargeId }, call) => paymentService.post(path`/charges/${chargeId}/refund`, undefined, call),
  }),
});

const shippingService = httpService({ name: 'shipping', urlFrom: 'SHIPPING_URL' });

export const shipping = defineAgent('shipping', {
  ship: operation({
    input: z.object({ orderId: Text, address: Address, items: Items }),
    output: Shipment,
    faults: [AddressInvalid],
    run: (input, call) => shippingService.post('/shipments', input, call),
    lookup: (key, call) => shippingService.lookup('/shipments', key, call),
  }),
  recall: operation({
    input: Shipment.pick({ shipmentId: true }),
    output: Nothing,
    faults: [AlreadyDispatched],
    run: ({ shipmentId }, call) => shippingService.delete(path`/shipments/${shipmentId}`, call),
  }),
});

const customerService = httpService({ name: 'customer', urlFrom: 'CUSTOMER_URL' });

export const customer = defineAgent('customer', {
  notify: operation({
    input: z.object({ orderId: Text, kind: z.enum(['shipped', 'refused']), text: z.string().min(1).max(10_000) }),
    output: Nothing,
    run: (input, call) => customerService.post('/notifications', input, call),
  }),
});

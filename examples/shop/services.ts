import * as z from 'zod';
import { refusal, service } from './service.ts';

const Text = z.string().min(1).max(1024);
const Items = z
  .array(z.object({ sku: Text, quantity: z.int().min(1).max(999) }))
  .min(1)
  .max(100);
const Amount = z.object({ currency: z.string().regex(/^[A-Z]{3}$/), minorUnits: z.int().min(0) });
const Address = z.object({ name: Text, street: Text, city: Text, postalCode: Text, country: z.string().regex(/^[A-Z]{2}$/) });

/**
 * The sample services. They accept everything, with four exceptions:
 * - a sku that starts with `none-` is out of stock,
 * - a card that starts with `tok_declined` is declined,
 * - the postal code `00000` does not exist,
 * - a parcel to the city `Express` leaves the warehouse at once, so it cannot be recalled.
 */
export const services = {
  inventory: service({
    collection: 'reservations',
    body: z.object({ orderId: Text, items: Items }),
    idPrefix: 'res',
    undoneBy: 'delete',
    created: (reservationId) => ({ reservationId }),
    kind: () => 'reservation',
    refuse({ items }) {
      const missing = items.find(({ sku }) => sku.startsWith('none-'));
      return missing && refusal(409, 'out-of-stock', { sku: missing.sku });
    },
  }),

  payment: service({
    collection: 'charges',
    body: z.object({ orderId: Text, amount: Amount, card: z.string().min(1).max(64) }),
    idPrefix: 'ch',
    undoneBy: 'refund',
    created: (chargeId) => ({ chargeId }),
    kind: () => 'charge',
    refuse: ({ card }) => (card.startsWith('tok_declined') ? refusal(402, 'card-declined') : undefined),
  }),

  shipping: service({
    collection: 'shipments',
    body: z.object({ orderId: Text, address: Address, items: Items }),
    idPrefix: 'sh',
    undoneBy: 'delete',
    created: (shipmentId) => ({ shipmentId, trackingNumber: shipmentId.slice(3, 16).toUpperCase() }),
    kind: () => 'shipment',
    refuse: ({ address }) => (address.postalCode === '00000' ? refusal(422, 'address-invalid') : undefined),
    refuseUndo: ({ address }) => (address.city === 'Express' ? refusal(409, 'already-dispatched') : undefined),
  }),

  customer: service({
    collection: 'notifications',
    body: z.object({ orderId: Text, kind: z.string().min(1).max(100), text: z.string().min(1).max(10_000) }),
    idPrefix: 'msg',
    createdStatus: 202,
    created: (notificationId) => ({ notificationId }),
    kind: ({ kind }) => `notification:${kind}`,
  }),
};

export type ServiceName = keyof typeof services;
export const serviceNames = Object.keys(services) as readonly ServiceName[];

/** Returns the environment of the agents for a shop at `url`: `PAYMENT_URL` and the others. */
export const serviceEnvironment = (url: string): { readonly [variable: string]: string } =>
  Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, `${url}/${name}`]));

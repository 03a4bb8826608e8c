import { secret } from 'redress';
import * as z from 'zod';

export const Text = z.string().min(1).max(1024);

export const Quantity = z.int().min(1).max(999);

/** Of money: cents, pence, yen. */
export const MinorUnits = z.int().min(0);

export const Currency = z.string().regex(/^[A-Z]{3}$/);

/** A token that stands for the card. Nobody but the payment service gets to see it. */
export const Card = secret(z.string().min(1).max(64));

export const Address = z.object({
  name: Text,
  street: Text,
  city: Text,
  postalCode: Text,
  country: z.string().regex(/^[A-Z]{2}$/),
});

/** The body of an order, as a client submits it. */
export const Order = z.object({
  customer: z.object({ id: Text, email: Text }),
  items: z
    .array(z.object({ sku: Text, quantity: Quantity, unitPrice: MinorUnits }))
    .min(1)
    .max(100),
  currency: Currency,
  card: Card,
  address: Address,
});

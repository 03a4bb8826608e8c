import { secret } from 'redress';
import * as z from 'zod';

export const Text = z.string().min(1).max(1024);

export const Quantity = z.int().min(1).max(999);

/** An amount of money in cents, pence or yen. */
export const MinorUnits = z.int().min(0);

export const Currency = z.string().regex(/^[A-Z]{3}$/);

/** A token for the card. Only the payment service reads it. */
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

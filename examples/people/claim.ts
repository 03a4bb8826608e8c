import * as z from 'zod';

export const Text = z.string().min(1).max(1024);

/** The body of an order: a customer claims a replacement. `amount` is in cents. */
export const Claim = z.object({
  customer: z.object({ name: Text, email: Text }),
  sku: Text,
  quantity: z.int().min(1).max(100),
  amount: z.int().min(0),
});

/** The answer of the person who assesses a claim. */
export const Assessment = z.object({ total: z.int().min(0), note: z.string().max(1024).optional() });

/** The payload of the signal `papers`. */
export const Papers = z.object({ pages: z.int().min(1) });

import * as z from 'zod';

export const Text = z.string().min(1).max(128);

/** The body of a receipt: a supplier delivers a lot. */
export const Receipt = z.object({ lot: Text, quantity: z.int().min(1), supplier: Text });

/** The payload of the signal `papers`: an inspector has compared the papers of the supplier with the goods. */
export const Papers = z.object({ correct: z.boolean(), remark: Text.optional() });

/** The body of a sale: a customer takes goods of a lot. */
export const Sale = z.object({ customer: Text, lot: Text, quantity: z.int().min(1), delivery: z.enum(['send', 'collect']) });

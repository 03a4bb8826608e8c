import * as z from 'zod';

export const Health = z.strictObject({ status: z.literal('ok') });

import * as z from 'zod';

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  requestId: z.string(),
  errors: z
    .array(
      z.object({
        pointer: z.string(),
        code: z.string(),
        detail: z.string(),
        path: z.string().optional(),
        column: z.int().min(1).optional(),
      }),
    )
    .optional(),
  heldBy: z.string().nullable().optional().describe('locked: the person who holds the lock, for operators; null for a host'),
  lockedUntil: z.string().optional().describe('locked: until when, for operators'),
});

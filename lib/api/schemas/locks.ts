import * as z from 'zod';
import { reason, time } from './common.ts';

/** Longest lock. Its holder renews it by the same call. */
const lockSecondsMax = 3600;

export const LockBody = z.strictObject({
  seconds: z.int().min(1).max(lockSecondsMax).describe('how long, from now; the same call renews the lock'),
  reason,
});

export const LockedOrder = z.strictObject({
  orderId: z.string(),
  rev: z.int(),
  heldBy: z.string().describe('the subject of the person who holds the lock'),
  lockedUntil: time,
});

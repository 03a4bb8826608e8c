import * as z from 'zod';
import { bodyLimits } from '#roles/submission/body-limits';

export const processState = z.enum(['Pending', 'Processing', 'Processed', 'Error']);
export const outcome = z.enum(['completed', 'compensated', 'rejected', 'canceled', 'terminated']);
/** A time in an answer, in UTC. */
export const time = z.iso.datetime();
export const timeOrNull = time.nullable();
export const anyJson = z.unknown();

export const orderReference = z.string().optional().describe('the reference that the client gave to the order');

/** One of these values in a query string, or nothing. */
export const optionalOneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, `expected one of ${values.join(', ')}`).exactOptional();

/** A time in a query string, with any offset, or nothing. The "+" of an offset must be encoded there. */
export const optionalTime = z.iso
  .datetime({ offset: true, error: 'expected a date and time that exist, such as 2026-01-31T12:00:00Z; in a URL, write + as %2B' })
  .exactOptional();

/** The `Idempotency-Key` of a call: a second call with it changes nothing more. */
export const keyPattern = /^[\x20-\x7e]{1,255}$/;

export const reason = z.string().min(1).max(bodyLimits.charactersMax).regex(/\S/, 'Expected a reason: the history of the order keeps it.');

export const dryRun = z.boolean().exactOptional().describe('true: report the outcome without changing anything');

export const limit = z
  .string()
  .regex(/^\d{1,3}$/, 'expected a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1, 'expected a whole number from 1 to 100').max(100, 'expected a whole number from 1 to 100'))
  .default(20);
export const cursor = z
  .string()
  .min(1, 'expected the "next" of the previous page')
  .max(1024, 'expected the "next" of the previous page')
  .exactOptional();

export const PageQuery = z.strictObject({ limit, cursor });

export const pageOf = (item: z.ZodType) => z.strictObject({ items: z.array(item), next: z.string().nullable() });

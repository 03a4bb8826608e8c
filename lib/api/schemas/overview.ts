import * as z from 'zod';
import { countedMax } from '#ports/order-figures';
import { time } from './common.ts';
import { ExceptionGroup } from './exceptions.ts';

const count = z
  .union([z.int().min(0), z.strictObject({ atLeast: z.literal(countedMax) })])
  .describe(`Counting stops at ${countedMax}: the figure is then {"atLeast": ${countedMax}}`);

export const Overview = z.strictObject({
  asOf: time,
  processing: count,
  pending: count,
  error: count.describe('orders in Error; an order whose undo is stuck is not one of them'),
  overdue: count.describe('orders past completeBy, as the supervisor found them'),
  processedToday: count.describe('orders that finished since midnight, UTC'),
  oldestLiveSeconds: z.int().min(0).nullable().describe('the age of the oldest order that is not finished; null if there is none'),
  tasks: z.strictObject({
    open: count.describe('those that nobody has claimed'),
    claimed: count,
    mine: count,
    overdue: count.describe('open and claimed ones past their due time'),
  }),
  exceptions: z.strictObject({
    open: count.describe('of the last 30 days, those of stuck undos too: the sum of the open ones of all groups'),
  }),
  groups: z.array(ExceptionGroup).max(5).describe('the groups with the most open exceptions'),
  channels: z.array(
    z.strictObject({
      name: z.string(),
      depth: z.int().min(0).describe('messages that wait in its queues'),
      oldestSeconds: z.int().min(0),
      open: z.boolean(),
      outage: z.boolean().describe('the service behind the agent is away'),
    }),
  ),
  perMinute: z
    .array(
      z.strictObject({
        at: time.describe('the start of the minute'),
        processed: z.int().min(0).describe('orders that finished'),
        errors: z.int().min(0).describe('exceptions that were recorded'),
      }),
    )
    .describe('the last hour, the oldest minute first'),
});

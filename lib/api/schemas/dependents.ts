import * as z from 'zod';

const expected = 'expected the path of an activity, such as order/charge, or its name';

export const DependentsQuery = z.strictObject({ path: z.string(expected).min(1, expected).max(1024, expected).default('order') });

const paths = z.array(z.string());

export const Consumer = z.strictObject({ orderId: z.string(), path: z.string(), object: z.string() });

export const OrderDependents = z.strictObject({
  orderId: z.string(),
  path: z.string(),
  data: paths.describe('The activities that read its output or variables, directly or through other activities'),
  control: paths.describe('The activities inside it, after it, and in the handlers of its faults'),
  scope: paths.describe('The affected scope: the closure over both kinds, with the activity itself'),
  consumers: z.array(Consumer).describe('Steps of other orders that have read what it wrote, in the last seven days, and at most 1,000'),
  more: z.boolean().describe('There are more consumers than are listed'),
});

import * as z from 'zod';
import { waitSecondsMax } from '../waiting.ts';
import { anyJson, cursor, keyPattern, limit, optionalOneOf, optionalTime, outcome, processState, time, timeOrNull } from './common.ts';

export const OrderListQuery = z.strictObject({
  state: optionalOneOf(processState.options),
  outcome: optionalOneOf(outcome.options),
  workflow: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'expected the name of a workflow, such as fulfil-order')
    .exactOptional(),
  fault: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,63}$/, 'expected the short type of a fault, such as CardDeclined')
    .exactOptional(),
  reference: z.string().min(1, 'expected 1 to 128 characters').max(128, 'expected 1 to 128 characters').exactOptional(),
  submittedAfter: optionalTime,
  submittedBefore: optionalTime,
  limit,
  cursor,
});

export type OrderListQuery = z.output<typeof OrderListQuery>;

const keyHelp = 'expected 1 to 255 printable ASCII characters that identify this submission; the same key again is the same order';
export const SubmissionHeaders = z.object({
  'idempotency-key': z.string({ error: keyHelp }).regex(keyPattern, keyHelp),
  prefer: z.string().exactOptional().describe('`wait=S`: seconds to wait for the order to end or to block, at most 25'),
});

export const SubmissionBody = z.strictObject({
  workflow: z.string().min(1).max(64).exactOptional(),
  order: anyJson,
  reference: z.string().max(128).exactOptional(),
  responseChannel: z.string().max(128).exactOptional(),
});

export const Accepted = z.strictObject({ orderId: z.string(), processState, submittedAt: time });

export const ReadHeaders = z.object({ 'if-none-match': z.string().exactOptional() });

const waitHelp = `expected a whole number of seconds from 0 to ${waitSecondsMax}`;
export const ReadQuery = z
  .strictObject({
    wait: z
      .string()
      .regex(/^\d{1,2}$/, waitHelp)
      .transform(Number)
      .pipe(z.int().max(waitSecondsMax, waitHelp))
      .exactOptional()
      .describe('seconds to wait until the order ends or blocks'),
    until: optionalOneOf(['rest', 'change']).describe('`change`: wait until the ETag is no longer that of If-None-Match'),
  })
  .refine(({ wait, until }) => until === undefined || wait !== undefined, {
    path: ['until'],
    error: 'expected together with wait=S',
  });

const Fault = z.object({
  type: z.string(),
  class: z.enum(['basic-failure', 'application-failure', 'expected', 'unexpected']),
  message: z.string(),
  permanent: z.boolean(),
  source: z.string().nullable(),
  data: anyJson,
});

const status = z.enum(['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed']);
const result = z.enum(['Succeeded', 'Faulted', 'Canceled', 'Compensated']);

const Step = z.object({
  path: z.string(),
  name: z.string(),
  agent: z.string(),
  operation: z.string(),
  status,
  result: result.nullable(),
  attempts: z.int().min(0),
  completeBy: timeOrNull,
  startedAt: timeOrNull,
  closedAt: timeOrNull,
  output: anyJson.optional().describe('operators only'),
  outputReadAt: z.string().optional().describe('where to read the output, which is omitted because the response would be too long'),
});

const Order = z.object({
  orderId: z.string(),
  reference: z.string().nullable(),
  parent: z.string().optional().describe('the order that called this one'),
  workflow: z.object({ name: z.string(), version: z.int() }),
  processState,
  outcome: outcome.nullable(),
  suspended: z.boolean(),
  failureCount: z.int().min(0).describe('the highest number of missed deadlines among the running steps; 0 after they have succeeded'),
  completeBy: timeOrNull.describe('null while the order is suspended, because its deadlines are stopped'),
  remainingSeconds: z
    .int()
    .min(0)
    .nullable()
    .describe('suspended orders only: the seconds left until completeBy after the order is resumed'),
  submittedAt: time,
  updatedAt: time,
  fault: Fault.nullable().describe('the fault that blocks the order, or that ended it without completing'),
});

const operatorsOnly = {
  client: z.string().optional().describe('operators only'),
  rev: z.int().optional().describe('operators only'),
  epoch: z.int().optional().describe('operators only'),
  lockedBy: z.string().nullable().optional().describe('operators only'),
  heldBy: z.string().nullable().optional().describe('operators only'),
};

export const ListedOrder = z.strictObject({ ...Order.shape, ...operatorsOnly });

export const FullOrder = z.strictObject({
  ...Order.shape,
  output: anyJson.optional().describe('the output of a completed order whose workflow has one'),
  steps: z.array(Step),
  stepsLeftOut: z
    .strictObject({ count: z.int(), readAt: z.string() })
    .optional()
    .describe('closed steps that are omitted because the response would be too long'),
  ...operatorsOnly,
  order: anyJson.optional().describe('operators only; fields marked secret are masked'),
  explanation: z
    .string()
    .nullable()
    .optional()
    .describe(
      'operators only; explains the current state in a sentence with times in UTC; null if the order is quarantined, or its record or workflow cannot be read',
    ),
});

export const HistoryEntry = z.looseObject({ seq: z.int(), at: time, type: z.string(), path: z.string().optional() });

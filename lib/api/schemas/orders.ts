import * as z from 'zod';
import { faultClasses } from '#core/data/fault';
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
  client: z.string().min(1, 'expected 1 to 128 characters').max(128, 'expected 1 to 128 characters').exactOptional(),
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
  prefer: z.string().exactOptional().describe('`wait=S`: seconds to wait until the order ends or is blocked, at most 25'),
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
      .describe('seconds to wait until the order ends or is blocked'),
    until: optionalOneOf(['rest', 'change']).describe('`change`: wait until the ETag is no longer that of If-None-Match'),
  })
  .refine(({ wait, until }) => until === undefined || wait !== undefined, {
    path: ['until'],
    error: 'expected together with wait=S',
  });

const Fault = z.object({
  type: z.string(),
  class: z.enum(faultClasses),
  message: z.string(),
  permanent: z.boolean(),
  source: z.string().nullable(),
  data: anyJson,
});

const status = z.enum(['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed']);
const result = z.enum(['Succeeded', 'Faulted', 'Canceled', 'Compensated']);

const wait = {
  signal: { kind: z.literal('signal').describe('a signal, such as an approval'), name: z.string() },
  answer: { kind: z.literal('answer').describe('the answer of an operator'), question: z.string().nullable() },
  time: { kind: z.literal('time').describe('the end of a pause') },
  order: {
    kind: z.literal('order').describe('the end of a called order'),
    workflow: z.string(),
    orderId: z.string().nullable().describe('null where it is not known'),
  },
  outage: {
    kind: z.literal('outage').describe('the unavailable service behind an agent, or its closed channel'),
    agent: z.string(),
    since: time.describe('since when the request has waited'),
  },
};

const StepWait = z.discriminatedUnion('kind', [
  z.strictObject(wait.signal),
  z.strictObject(wait.answer),
  z.strictObject(wait.time),
  z.strictObject(wait.order),
  z.strictObject(wait.outage),
]);

const place = { path: z.string().nullable(), until: timeOrNull.describe('the end of the time for it; null if it may take any time') };
const OrderWait = z.discriminatedUnion('kind', [
  z.strictObject({ ...wait.signal, ...place, name: z.string().nullable().describe('null if the workflow waits for several signals') }),
  z.strictObject({ ...wait.answer, ...place }),
  z.strictObject({ ...wait.time, ...place }),
  z.strictObject({ ...wait.order, ...place }),
  z.strictObject({ ...wait.outage, ...place }),
  z.strictObject({ kind: z.literal('undo').describe('the next request of an undo that keeps failing'), ...place }),
  z.strictObject({ kind: z.literal('confirmation').describe('the next request for an outcome that is unknown'), ...place }),
]);

/** A step, a call or a wait. */
const Step = z.strictObject({
  path: z.string(),
  name: z.string(),
  activity: z.enum(['step', 'call', 'waitFor', 'askOperator', 'delay']),
  agent: z.string().nullable().describe('null for a wait'),
  operation: z.string().nullable().describe('null for a wait'),
  waitsFor: StepWait.nullable().describe('what a wait waits for; for a step, only the outage that stops its requests'),
  status,
  result: result.nullable(),
  skipped: z
    .enum(['none', 'done'])
    .optional()
    .describe('an instruction closed the step: `done` by hand, or `none`: not done at all; absent if no instruction closed it'),
  attempts: z.int().min(0),
  completeBy: timeOrNull.describe('for a wait: the end of its time'),
  startedAt: timeOrNull,
  closedAt: timeOrNull,
  requestedAt: time.optional().describe('when it was requested first since an operator resubmitted it; absent if that is startedAt'),
  answeredAt: time.optional().describe('when its answer arrived, if the order was blocked or suspended then; absent if that is closedAt'),
  input: anyJson.optional().describe('the input of the next request of an open step; secrets are masked'),
  output: anyJson,
  outputReadAt: z.string().optional().describe('where to read the output, which is omitted because the response would be too long'),
});

const stepsLeftOut = z
  .strictObject({ count: z.int(), readAt: z.string() })
  .optional()
  .describe('closed steps that are omitted because the response would be too long');

/** The fields of an order for each role. */
const common = {
  orderId: z.string(),
  reference: z.string().nullable(),
  workflow: z.object({ name: z.string(), version: z.int() }),
  processState,
  outcome: outcome.nullable(),
  suspended: z.boolean(),
  completeBy: timeOrNull.describe('null while the order is suspended, because its deadlines are stopped'),
  submittedAt: time,
  updatedAt: time,
  restartedAs: z.string().nullable().describe('the order that replaces this one'),
  restartedFrom: z.string().nullable().describe('the order that this one replaces'),
};

const faultHelp = 'the fault that blocks the order, or that ended it without completing';

const forClients = { ...common, fault: z.strictObject({ type: z.string() }).nullable().describe(faultHelp) };

const undo = z.strictObject({
  scope: z.string(),
  done: z.int().min(0).describe('the number of effects that are undone'),
  left: z.int().min(0).describe('the number of effects that are left'),
  now: z.string().nullable().describe('the step whose undo or outcome is requested'),
  stuck: z.array(
    z.strictObject({
      path: z.string(),
      attempts: z.int().min(0),
      lastFault: z
        .strictObject({
          type: z.string(),
          message: z.string(),
          permanent: z.boolean().describe('whether the same request would fail again'),
        })
        .nullable(),
      nextAt: timeOrNull.describe('when it is requested again; null while it is requested, or if it is never requested'),
    }),
  ),
});

const maskedFaults = z.strictObject({
  count: z.int().min(1),
  newest: z
    .array(
      z.strictObject({
        at: time,
        path: z.string().nullable().describe('the step that has failed, or that has read an undone write'),
        type: z.string(),
        message: z.string(),
        maskedBy: z.string().describe('the activity that was recovered'),
      }),
    )
    .describe('the newest ones, newest first'),
});

const instruction = { kind: z.string(), by: z.string(), at: time, reason: z.string() };

const lastInstruction = z.strictObject({
  ...instruction,
  verified: z
    .enum(['running', 'passed', 'failed-again', 'failed-otherwise', 'void'])
    .nullable()
    .describe('whether it has helped; running: not known yet; null for a kind that is not judged'),
  fault: z
    .strictObject({ type: z.string(), message: z.string() })
    .nullable()
    .describe('the fault with which the order failed after the instruction'),
  faultBefore: z.strictObject({ type: z.string(), message: z.string() }).nullable().describe('the fault that blocked the order before it'),
  before: z.record(z.string(), anyJson).describe('the values before the instruction, as the history has them'),
  after: z.record(z.string(), anyJson).describe('what it says, such as another input; secrets are masked'),
  taskId: z.string().nullable().describe('the task that it has resolved'),
});

const amendedRetry = z.strictObject({ path: z.string(), retries: z.int().optional(), intervalSeconds: z.number().optional() });

const amended = z.strictObject({
  endBy: time.optional(),
  maxFailures: z.int().optional(),
  retry: z
    .union([amendedRetry, z.array(amendedRetry)])
    .optional()
    .describe('a list if several retries were changed'),
  variables: z.record(z.string(), anyJson).optional(),
  handle: z
    .array(z.strictObject({ fault: z.string(), workflow: z.string(), version: z.int().optional() }))
    .optional()
    .describe('the workflows that handle exceptions of this order'),
});

const forOperators = {
  ...common,
  parent: z.string().optional().describe('the order that called this one, or whose exception it handles'),
  failureCount: z.int().min(0).describe('the highest number of missed deadlines among the running steps; 0 after they have succeeded'),
  undoing: z.boolean().describe('whether the order, or a scope of it, is being undone'),
  exceptionId: z
    .string()
    .optional()
    .describe(
      'the exception for which the order is in Error; if it is not, the one that was raised about it, or that of an undo that keeps failing',
    ),
  taskId: z.string().optional().describe('the task of the person who decides about that exception'),
  remainingSeconds: z
    .int()
    .min(0)
    .nullable()
    .describe('suspended orders only: the seconds left until completeBy after the order is resumed'),
  fault: Fault.nullable().describe(faultHelp),
  waitsFor: OrderWait.nullable().describe('the event for which the whole order waits; null while it works or has ended'),
  client: z.string(),
  rev: z.int(),
  epoch: z.int(),
  lockedBy: z.string().nullable(),
  heldBy: z.string().nullable().describe('the person or the host that works on the order alone'),
  lockedUntil: timeOrNull.describe('until when, unless the lock is renewed or ends before'),
};

/** The fields of an order that are read from its instance. */
const whole = {
  output: anyJson.optional().describe('the output of a completed order whose workflow has one'),
  endBy: timeOrNull.describe(
    'the time by which the whole order must have ended; null if its workflow has no time limit, before it starts, and while it is suspended',
  ),
  stepsLeftOut,
};

export const ListedOrder = z.union([
  z.strictObject(forOperators).describe('for operators'),
  z.strictObject(forClients).describe('for clients'),
]);

export const ClientOrder = z
  .strictObject({ ...forClients, ...whole, steps: z.array(z.strictObject({ name: z.string(), status, result: result.nullable() })) })
  .describe('for clients');

export const FullOrder = z.union([
  z
    .strictObject({
      ...forOperators,
      ...whole,
      undo: undo.optional().describe('how far the undo is, while the order or a scope is being undone'),
      maskedFaults: maskedFaults.optional().describe('faults that made no exception, because their scope was being recovered'),
      lastInstruction: lastInstruction.optional().describe('the last instruction of a person, and what it has led to'),
      endedBy: z.strictObject(instruction).optional().describe('the instruction by which a person has ended the order, or has it undone'),
      amended: amended.optional().describe('what people have changed for this order alone'),
      steps: z.array(Step).describe('steps, calls and waits, in the order of the definition'),
      order: anyJson.describe('fields marked secret are masked'),
      explanation: z
        .string()
        .nullable()
        .describe(
          'explains the current state in a sentence with times in UTC, and names outages as of now; null if the order is quarantined, or its record or workflow cannot be read',
        ),
    })
    .describe('for operators'),
  ClientOrder,
]);

export const HistoryEntry = z.looseObject({ seq: z.int(), at: time, type: z.string(), path: z.string().optional() });

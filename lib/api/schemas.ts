import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { responseQueuePrefix } from '#ports/queues';
import { bodyLimits } from '#roles/submission/body-limits';
import { clientIdPattern } from './authentication.ts';
import { waitSecondsMax } from './waiting.ts';

/** Schemas of requests and responses: they validate requests, and the OpenAPI document publishes them. */

const processState = z.enum(['Pending', 'Processing', 'Processed', 'Error']);
const outcome = z.enum(['completed', 'compensated', 'rejected', 'canceled', 'terminated']);
const status = z.enum(['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed']);
const result = z.enum(['Succeeded', 'Faulted', 'Canceled', 'Compensated']);
const time = z.iso.datetime();
const timeOrNull = time.nullable();
const anyJson = z.unknown();

// Requests.

const limit = z
  .string()
  .regex(/^\d{1,3}$/, 'expected a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1, 'expected a whole number from 1 to 100').max(100, 'expected a whole number from 1 to 100'))
  .default(20);
const cursor = z
  .string()
  .min(1, 'expected the "next" of the previous page')
  .max(1024, 'expected the "next" of the previous page')
  .exactOptional();
const moment = z.iso
  .datetime({ offset: true, error: 'expected an existing date and time, such as 2026-01-31T12:00:00Z; write + as %2B' })
  .exactOptional();
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `expected one of ${values.join(', ')}`).exactOptional();

export const PlanQuery = z.strictObject({
  undo: z.string().min(1, 'expected the name or path of a scope').max(1024, 'expected the name or path of a scope').default('order'),
});

export const PageQuery = z.strictObject({ limit, cursor });

export const OrderListQuery = z.strictObject({
  state: oneOf(processState.options),
  outcome: oneOf(outcome.options),
  workflow: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'expected the name of a workflow, such as fulfil-order')
    .exactOptional(),
  fault: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,63}$/, 'expected the short type of a fault, such as CardDeclined')
    .exactOptional(),
  reference: z.string().min(1, 'expected 1 to 128 characters').max(128, 'expected 1 to 128 characters').exactOptional(),
  submittedAfter: moment,
  submittedBefore: moment,
  limit,
  cursor,
});
export type OrderListQuery = z.output<typeof OrderListQuery>;

const keyHelp = 'expected 1 to 255 printable ASCII characters that identify this submission; the same key again is the same order';
const keyPattern = /^[\x20-\x7e]{1,255}$/;
export const SubmissionHeaders = z.object({
  'idempotency-key': z.string({ error: keyHelp }).regex(keyPattern, keyHelp),
  prefer: z.string().exactOptional().describe('`wait=S`: seconds to wait for the order to end or to block, at most 25'),
});
export const KeyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(keyPattern, 'expected 1 to 255 printable ASCII characters that identify this call; the same key again changes nothing more')
    .exactOptional(),
});
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
    until: oneOf(['rest', 'change']).describe('`change`: wait until the ETag is no longer that of If-None-Match'),
  })
  .refine(({ wait, until }) => until === undefined || wait !== undefined, {
    path: ['until'],
    error: 'expected together with wait=S',
  });
export const InstructionHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"(0|[1-9]\d{0,14})"$/, 'expected the ETag of the order in quotes, such as "7"')
    .exactOptional(),
});

export const SubmissionBody = z.strictObject({
  workflow: z.string().min(1).max(64).exactOptional(),
  order: anyJson,
  reference: z.string().max(128).exactOptional(),
  responseChannel: z.string().max(128).exactOptional(),
});

const reason = z.string().min(1).max(bodyLimits.charactersMax).regex(/\S/, 'Expected a reason: the history of the order keeps it.');

export const CancelBody = z.strictObject({ reason });

export const SignalBody = anyJson.describe('the payload of the signal, with the schema that the waiting workflow declares');

export const ChannelCloseBody = z.strictObject({ reason });
export const ChannelOpenBody = z.strictObject({
  reason: reason.exactOptional(),
  canary: z.boolean().exactOptional().describe('agents only: send one request first, and the others after its reply'),
});

export const InstructionBody = z.strictObject({
  kind: z.enum(['resubmit', 'compensate', 'mark-compensated', 'suspend', 'resume', 'terminate']),
  reason,
  dryRun: z.boolean().exactOptional(),
  completeWithinSeconds: z
    .int()
    .min(1)
    .max(limits.secondsMax)
    .exactOptional()
    .describe('resubmit: the time limit of the whole order, from now'),
  answer: anyJson.exactOptional().describe('resubmit: the answer to the question for which the order is blocked'),
  path: z
    .string()
    .min(1)
    .max(bodyLimits.charactersMax)
    .exactOptional()
    .describe('mark-compensated: the step whose undo keeps failing; optional if there is only one'),
});

const channelId = z
  .string()
  .regex(
    new RegExp(`^${responseQueuePrefix}[A-Za-z0-9_-]{1,60}$`),
    'expected redress-response- followed by 1 to 60 letters, digits, "-" and "_"',
  );
const senderId = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'expected 1 to 256 printable ASCII characters without spaces');
export const ClientBody = z.strictObject({
  responseChannels: z.array(channelId).max(100),
  senders: z.array(senderId).max(100),
});

const queueName = z.string().min(1).max(bodyLimits.charactersMax);
export const DeadLetterFilter = z.strictObject({
  id: z.string().min(1).max(512).exactOptional().describe('the id of one message'),
  queue: queueName.exactOptional().describe('the queue of the message'),
  type: z.string().min(1).max(64).exactOptional().describe('the type of the message: request, reply, submission'),
  orderId: z.string().min(1).max(128).exactOptional(),
  reason: z.string().min(1).max(256).exactOptional().describe('a part of the reason why it was dead-lettered'),
  sentAfter: moment,
  sentBefore: moment,
});
export const DeadLetterQuery = z.strictObject({ ...DeadLetterFilter.shape, limit, cursor });

const again = z.boolean().exactOptional().describe('true: send it even if an earlier, interrupted resubmission may have sent it');
const dryRun = z.boolean().exactOptional().describe('true: report the outcome without changing anything');
export const ResubmitMessageBody = z.strictObject({
  reason,
  body: anyJson.exactOptional().describe('a new message body; masked values that are sent back unchanged keep their original value'),
  again,
  dryRun,
});
export const DiscardBody = z.strictObject({ reason, dryRun });
export const BulkBody = z.strictObject({
  filter: DeadLetterFilter,
  action: z.enum(['resubmit', 'discard']),
  reason,
  dryRun: z.boolean().describe('true: list the outcome of each message without changing anything'),
  again,
  limit: z.int().min(1).max(50).default(50).describe('most messages in this call'),
  cursor,
});

// Responses.

const Fault = z.object({
  type: z.string(),
  class: z.enum(['basic-failure', 'application-failure', 'expected', 'unexpected']),
  message: z.string(),
  permanent: z.boolean(),
  source: z.string().nullable(),
  data: anyJson,
});

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
  fault: Fault.nullable(),
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
export const Accepted = z.strictObject({ orderId: z.string(), processState, submittedAt: time });
export const Instructed = z.strictObject({ orderId: z.string(), rev: z.int(), processState });
const UndoPlan = z.strictObject({
  scope: z.string(),
  steps: z.array(
    z.strictObject({
      path: z.string(),
      agent: z.string(),
      operation: z.string(),
      input: anyJson.describe('null if the outcome is unknown or the undo is impossible; secrets are masked'),
      outcomeUnknown: z.boolean().describe('true: a lookup first confirms whether the effect exists'),
      impossible: z.string().optional().describe('why the input of the undo cannot be evaluated; the undo waits for mark-compensated'),
    }),
  ),
  withoutUndo: z.array(z.strictObject({ path: z.string(), agent: z.string(), operation: z.string() })),
});
export const UndoPlanned = z.strictObject({ orderId: z.string(), ...UndoPlan.shape });
export const InstructionPlan = z.strictObject({
  orderId: z.string(),
  processState,
  requests: z.array(
    z.object({
      path: z.string(),
      agent: z.string(),
      operation: z.string(),
      attempt: z.int(),
      idempotencyKey: z.string(),
      completeBy: time,
    }),
  ),
  fault: z.string().optional(),
  suspended: z.boolean(),
  completeBy: timeOrNull,
  remainingSeconds: z.int().min(0).nullable(),
  undo: UndoPlan.optional().describe('compensate only'),
});
export const HistoryEntry = z.looseObject({ seq: z.int(), at: time, type: z.string(), path: z.string().optional() });
export const Client = z.strictObject({
  id: z.string().regex(clientIdPattern),
  responseChannels: z.array(channelId),
  senders: z.array(senderId),
});
const Depth = z.strictObject({ visible: z.int(), inFlight: z.int(), delayed: z.int(), oldestAgeMs: z.number() });
export const ChannelState = z.strictObject({
  name: z.string(),
  open: z.boolean(),
  failuresInRow: z.int().describe('consecutive failures of handling its messages'),
  since: time.optional().describe('when the channel was opened or closed; absent if it was never closed'),
  by: z.string().optional().describe('the operator who opened or closed it, or engine'),
  reason: z.string().optional(),
  letsGo: z.boolean().optional().describe('the channel is open, and some waiting messages are not released yet'),
  deadLetters: z.int().min(0).max(100).describe('how many of its messages are dead letters, at most 100'),
  moreDeadLetters: z.literal(true).optional().describe('there are more dead letters than were counted'),
  requests: Depth.describe('the depth of the request queue, or of the only queue'),
  replies: Depth.optional(),
  /** The circuit breaker of the service behind the agent. */
  breaker: z
    .strictObject({
      phase: z.enum(['closed', 'open', 'half-open']),
      awaySince: time.optional(),
      failedProbes: z.int().optional(),
      nextProbeAt: time.optional(),
      backSince: time.optional(),
    })
    .optional(),
});
const deadLetter = {
  id: z.string(),
  channel: z.string(),
  queue: z.string(),
  messageId: z.string(),
  type: z.string().nullable(),
  orderId: z.string().nullable(),
  senderId: z.string().nullable(),
  reason: z.string(),
  failures: z.int().min(0),
  bytes: z.int().min(0),
  sentAt: time,
  deadAt: time,
  handling: z
    .strictObject({ action: z.enum(['resubmit', 'discard']), by: z.string(), at: time, reason: z.string() })
    .nullable()
    .describe('a resubmission or deletion that has begun; after half a minute it counts as interrupted'),
};
export const DeadLetterSummary = z.strictObject(deadLetter);
export const DeadLetterMessage = z.strictObject({
  ...deadLetter,
  attempts: z.array(z.strictObject({ at: time, error: z.string() })).describe('the last ten attempts, oldest first'),
  body: anyJson.describe('the message; null if it is not JSON; secrets are masked'),
  text: z.string().nullable().describe('the message as text if it is not JSON'),
});
export const MessageTreated = z.strictObject({
  id: z.string(),
  channel: z.string(),
  queue: z.string(),
  action: z.enum(['resubmit', 'discard']),
  dryRun: z.boolean(),
  orderId: z.string().nullable().describe('the order whose history records this'),
});
export const TreatedInBulk = z.strictObject({
  ...deadLetter,
  outcome: z.enum(['done', 'possible', 'not-found', 'conflict', 'invalid', 'locked']),
  errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })),
});
export const Health = z.strictObject({ status: z.literal('ok') });
export const pageOf = (item: z.ZodType) => z.strictObject({ items: z.array(item), next: z.string().nullable() });

export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  requestId: z.string(),
  errors: z.array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
});

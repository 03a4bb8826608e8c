import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { responseQueuePrefix } from '#ports/queues';
import { bodyLimits } from '#roles/submission/body-limits';
import { clientIdPattern } from './authentication.ts';

/** What the API takes and gives: checked against requests, and published as the contract. */

const processState = z.enum(['Pending', 'Processing', 'Processed', 'Error']);
const outcome = z.enum(['completed', 'compensated', 'rejected', 'canceled', 'terminated']);
const status = z.enum(['Initialized', 'Executing', 'Canceling', 'Faulting', 'Compensating', 'Closed']);
const result = z.enum(['Succeeded', 'Faulted', 'Canceled', 'Compensated']);
const time = z.iso.datetime();
const timeOrNull = time.nullable();
const anyJson = z.unknown();

// What comes in.

const limit = z
  .string()
  .regex(/^\d{1,3}$/, 'a whole number from 1 to 100')
  .transform(Number)
  .pipe(z.int().min(1, 'a whole number from 1 to 100').max(100, 'a whole number from 1 to 100'))
  .default(20);
const cursor = z.string().min(1, 'the "next" of the page before').max(1024, 'the "next" of the page before').exactOptional();
const moment = z.iso
  .datetime({ offset: true, error: 'a date and time that exists, such as 2026-01-31T12:00:00Z; a + must be written %2B' })
  .exactOptional();
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `one of ${values.join(', ')}`).exactOptional();

export const PlanQuery = z.strictObject({
  undo: z.string().min(1, 'a scope: its name, or its path').max(1024, 'a scope: its name, or its path').default('order'),
});

export const PageQuery = z.strictObject({ limit, cursor });

export const OrderListQuery = z.strictObject({
  state: oneOf(processState.options),
  outcome: oneOf(outcome.options),
  workflow: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'the name of a workflow, such as fulfil-order')
    .exactOptional(),
  fault: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,63}$/, 'the short type of a fault, such as CardDeclined')
    .exactOptional(),
  reference: z.string().min(1, '1 to 128 characters').max(128, '1 to 128 characters').exactOptional(),
  submittedAfter: moment,
  submittedBefore: moment,
  limit,
  cursor,
});
export type OrderListQuery = z.output<typeof OrderListQuery>;

const keyHelp = '1 to 255 printable ASCII characters that name this submission: the same key again is the same order';
const keyPattern = /^[\x20-\x7e]{1,255}$/;
export const SubmissionHeaders = z.object({ 'idempotency-key': z.string({ error: keyHelp }).regex(keyPattern, keyHelp) });
export const KeyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(keyPattern, '1 to 255 printable ASCII characters that name this call: the same key again changes nothing more')
    .exactOptional(),
});
export const ReadHeaders = z.object({ 'if-none-match': z.string().exactOptional() });
export const InstructionHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"(0|[1-9]\d{0,14})"$/, 'the ETag of the order in its quotes, such as "7"')
    .exactOptional(),
});

export const SubmissionBody = z.strictObject({
  workflow: z.string().min(1).max(64).exactOptional(),
  order: anyJson,
  reference: z.string().max(128).exactOptional(),
  responseChannel: z.string().max(128).exactOptional(),
});

const reason = z.string().min(1).max(bodyLimits.charactersMax).regex(/\S/, 'A reason is wanted: it stays in the history of the order.');

export const CancelBody = z.strictObject({ reason });

export const SignalBody = anyJson.describe('what the signal brings along, as the workflow that waits for it says');

export const ChannelCloseBody = z.strictObject({ reason });
export const ChannelOpenBody = z.strictObject({
  reason: reason.exactOptional(),
  canary: z.boolean().exactOptional().describe('of an agent: one request goes first, and the others when it was answered'),
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
    .describe('resubmit: a new time for the whole order, from now'),
  answer: anyJson.exactOptional().describe('resubmit: to the question for which the order is held'),
  path: z
    .string()
    .min(1)
    .max(bodyLimits.charactersMax)
    .exactOptional()
    .describe('mark-compensated: of the step whose undo goes on failing; may be left out where there is one only'),
});

const channelId = z
  .string()
  .regex(new RegExp(`^${responseQueuePrefix}[A-Za-z0-9_-]{1,60}$`), 'redress-response- and 1 to 60 letters, digits, "-" and "_"');
const senderId = z.string().regex(/^[\x21-\x7e]{1,256}$/, '1 to 256 printable ASCII characters without spaces');
export const ClientBody = z.strictObject({
  responseChannels: z.array(channelId).max(100),
  senders: z.array(senderId).max(100),
});

const queueName = z.string().min(1).max(bodyLimits.charactersMax);
export const DeadLetterFilter = z.strictObject({
  id: z.string().min(1).max(512).exactOptional().describe('this one'),
  queue: queueName.exactOptional().describe('that it came on'),
  type: z.string().min(1).max(64).exactOptional().describe('of message: request, reply, submission'),
  orderId: z.string().min(1).max(128).exactOptional(),
  reason: z.string().min(1).max(256).exactOptional().describe('a part of the reason for which it was dead-lettered'),
  sentAfter: moment,
  sentBefore: moment,
});
export const DeadLetterQuery = z.strictObject({ ...DeadLetterFilter.shape, limit, cursor });

const again = z.boolean().exactOptional().describe('also where it was begun before, and nobody knows whether it was sent');
const dryRun = z.boolean().exactOptional().describe('says what would become of it, and changes nothing');
export const ResubmitMessageBody = z.strictObject({
  reason,
  body: anyJson
    .exactOptional()
    .describe('the message in place of its own; what is masked where it is shown, and is left as it is, stays what it was'),
  again,
  dryRun,
});
export const DiscardBody = z.strictObject({ reason, dryRun });
export const BulkBody = z.strictObject({
  filter: DeadLetterFilter,
  action: z.enum(['resubmit', 'discard']),
  reason,
  dryRun: z.boolean().describe('true: lists what would become of each, and changes nothing'),
  again,
  limit: z.int().min(1).max(50).default(50).describe('messages of this call at the most'),
  cursor,
});

// What goes out.

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
  outputReadAt: z.string().optional().describe('where the output can be read: it is left out, since the answer would be too long'),
});

const Order = z.object({
  orderId: z.string(),
  reference: z.string().nullable(),
  parent: z.string().optional().describe('the order that called this one'),
  workflow: z.object({ name: z.string(), version: z.int() }),
  processState,
  outcome: outcome.nullable(),
  suspended: z.boolean(),
  failureCount: z.int().min(0).describe('how often the step was late that was late most, of those at work; 0 once they have succeeded'),
  completeBy: timeOrNull.describe('null while the order is suspended: its time stands still'),
  remainingSeconds: z.int().min(0).nullable().describe('of a suspended order: what is left of that time, from when it is resumed'),
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
    .describe('closed steps that are left out, since the answer would be too long'),
  ...operatorsOnly,
  order: anyJson.optional().describe('operators only; fields marked secret are masked'),
  explanation: z
    .string()
    .nullable()
    .optional()
    .describe(
      'operators only; why the order is where it is, in a sentence with times in UTC; null where the order is quarantined, or its record or its workflow cannot be read',
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
      input: anyJson.describe('null where the outcome is unknown, or the undo impossible; what is secret is masked'),
      outcomeUnknown: z.boolean().describe('whether it was done is found out first'),
      impossible: z.string().optional().describe('why its input cannot be evaluated: it waits until it is marked as compensated'),
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
  undo: UndoPlan.optional().describe('compensate'),
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
  failuresInRow: z.int().describe('of handling what came on it'),
  since: time.optional().describe('since when it is so, where it ever was closed'),
  by: z.string().optional().describe('engine, or an operator'),
  reason: z.string().optional(),
  letsGo: z.boolean().optional().describe('it is open, and some of what waited have not had their turn yet'),
  requests: Depth.describe('of the one queue, where it is no pair'),
  replies: Depth.optional(),
  /** What is known of the service behind the agent. */
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
    .describe('what somebody has begun to do with it; after half a minute it was broken off'),
};
export const DeadLetterSummary = z.strictObject(deadLetter);
export const DeadLetterMessage = z.strictObject({
  ...deadLetter,
  attempts: z.array(z.strictObject({ at: time, error: z.string() })).describe('the last ten, oldest first'),
  body: anyJson.describe('the message; null where it is no JSON text; what is secret is masked'),
  text: z.string().nullable().describe('what came instead of a JSON text'),
});
export const MessageTreated = z.strictObject({
  id: z.string(),
  channel: z.string(),
  queue: z.string(),
  action: z.enum(['resubmit', 'discard']),
  dryRun: z.boolean(),
  orderId: z.string().nullable().describe('in whose history it stands'),
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

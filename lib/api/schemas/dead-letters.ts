import * as z from 'zod';
import { bodyLimits } from '#roles/submission/body-limits';
import { anyJson, cursor, dryRun, limit, optionalTime, reason, time } from './common.ts';

const queueName = z.string().min(1).max(bodyLimits.charactersMax);
export const DeadLetterFilter = z.strictObject({
  id: z.string().min(1).max(512).exactOptional().describe('the id of one message'),
  queue: queueName.exactOptional().describe('the queue of the message'),
  type: z.string().min(1).max(64).exactOptional().describe('the type of the message: request, reply, submission'),
  orderId: z.string().min(1).max(128).exactOptional(),
  reason: z.string().min(1).max(256).exactOptional().describe('a part of the reason why it was dead-lettered'),
  sentAfter: optionalTime,
  sentBefore: optionalTime,
});

export const DeadLetterQuery = z.strictObject({ ...DeadLetterFilter.shape, limit, cursor });

const again = z.boolean().exactOptional().describe('true: send it even if an earlier, interrupted resubmission may have sent it');

export const ResubmitMessageBody = z.strictObject({
  reason,
  body: anyJson.exactOptional().describe('a new message body; masked values that are sent back unchanged keep their original value'),
  again,
  dryRun,
});

export const DiscardBody = z.strictObject({ reason, dryRun });

/** The most messages in one call. */
const treatedMax = 50;

export const BulkBody = z.strictObject({
  filter: z.strictObject({
    ...DeadLetterFilter.shape,
    ids: z
      .array(z.string().min(1).max(512))
      .min(1)
      .max(treatedMax)
      .exactOptional()
      .describe('the ids of the messages; those that are no dead letters any more are left out of the answer'),
  }),
  action: z.enum(['resubmit', 'discard']),
  reason,
  dryRun: z.boolean().describe('true: list the outcome of each message without changing anything'),
  again,
  limit: z.int().min(1).max(treatedMax).default(treatedMax).describe('most messages in this call'),
  cursor,
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
  text: z.string().nullable().describe('the size of a message that is not JSON, and the place of its first error'),
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

import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { bodyLimits } from '#roles/submission/body-limits';
import { anyJson, keyPattern, processState, reason, time, timeOrNull } from './common.ts';

export const KeyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(keyPattern, 'expected 1 to 255 printable ASCII characters that identify this call; the same key again changes nothing more')
    .exactOptional(),
});

export const CancelBody = z.strictObject({ reason });

export const EraseBody = z.strictObject({ reason });

export const SecretsErased = z.strictObject({
  orderId: z.string(),
  erasedAt: time,
  orders: z.array(z.string()).describe('the order, and the orders that it called, whose secrets were erased by this call'),
  deadLetters: z.int().describe('the number of dead letters whose texts were erased by this call'),
});

export const SignalBody = anyJson.describe('the payload of the signal, with the schema that the waiting workflow declares');

export const InstructionHeaders = z.object({
  'if-match': z
    .string()
    .regex(/^"(0|[1-9]\d{0,14})"$/, 'expected the ETag of the order in quotes, such as "7"')
    .exactOptional(),
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

export const Instructed = z.strictObject({ orderId: z.string(), rev: z.int(), processState });

export const PlanQuery = z.strictObject({
  undo: z.string().min(1, 'expected the name or path of a scope').max(1024, 'expected the name or path of a scope').default('order'),
});

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

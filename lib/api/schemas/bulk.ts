import * as z from 'zod';
import { bulkStates, outcomes } from '#roles/bulk/run';
import { cursor, keyPattern, limit, optionalOneOf, orderReference, outcome, processState, reason, time } from './common.ts';
import { InstructionAlone } from './instructions.ts';
import { Values, withInstructionOrSolution } from './solutions.ts';

const keyHelp = 'expected an Idempotency-Key of 1 to 255 printable ASCII characters: the same key again leads to the same bulk run';
const text = z.string().min(1).max(1024).exactOptional();
const moment = z.iso.datetime({ offset: true, error: 'expected a date and time that exist, such as 2026-01-31T12:00:00Z' }).exactOptional();
const itemOutcomes = [...outcomes, 'left'] as const;

/** The most orders that a filter names. */
const idsMax = 5_000;

export const BulkHeaders = z.object({ 'idempotency-key': z.string({ error: keyHelp }).regex(keyPattern, keyHelp) });

export const BulkBody = withInstructionOrSolution(
  z.strictObject({
    filter: z
      .strictObject({
        state: processState.exactOptional(),
        workflow: text,
        fingerprint: text.describe('of the open exception'),
        fault: text.describe('the last part of the fault type: CardDeclined'),
        submittedAfter: moment,
        submittedBefore: moment,
        ids: z.array(z.string().min(1).max(128)).min(1).max(idsMax).exactOptional(),
      })
      .refine((filter) => Object.keys(filter).length > 0, 'Expected at least one field: an empty filter would mean every order.'),
    instruction: InstructionAlone.describe(
      'as for one order; a value may be {"$cel": "…"} over order, exception, outputs and variables of each order',
    ).exactOptional(),
    solutionId: z.string().min(1).max(64).exactOptional().describe('a solution in place of an instruction'),
    parameters: Values.exactOptional().describe('the values for the places of the solution, by name; each may be {"$cel": "…"}'),
    reason,
    ratePerSecond: z.int().min(1).max(100),
    canary: z.int().min(1).max(100_000).exactOptional().describe('pause after so many orders, until somebody resumes the run'),
    stopAfterFailures: z.int().min(1).max(100_000).exactOptional().describe('stop when so many orders have failed after the instruction'),
    continues: z.string().min(1).max(64).exactOptional().describe('the bulk run whose untouched orders this one takes'),
    start: z.boolean().exactOptional().describe('true: start as soon as it is prepared'),
    sameForAll: z.boolean().exactOptional().describe('true: each order may get the same literal value'),
  }),
);

export const BulkActBody = z.strictObject({ reason });

export const BulkCreated = z.strictObject({ id: z.string() });

export const BulkQuery = z.strictObject({ limit, cursor });
export const BulkItemQuery = z.strictObject({ outcome: optionalOneOf(itemOutcomes), limit, cursor });

const count = z.int().min(0);

const shape = {
  id: z.string(),
  state: z.enum(bulkStates),
  by: z.string(),
  reason: z.string(),
  createdAt: time,
  kind: z.string().describe('the kind of the instruction'),
  ratePerSecond: z.int(),
  canary: z.int().nullable(),
  stopAfterFailures: z.int().nullable(),
  continues: z.string().optional().describe('the bulk run whose untouched orders this one takes'),
  count: count.describe('orders of the frozen set; 0 until it is frozen'),
  feasible: count.describe('orders on which the check found the instruction feasible; while the run is prepared: so far'),
  infeasible: count,
  applied: count,
  refused: count.describe('the check refused them when their turn came'),
  movedOn: count.describe('their exception was no longer the one that was frozen'),
  failed: count.describe('each of five tries to apply the instruction failed'),
  left: count,
  verified: z.strictObject({ running: count, passed: count, failedAgain: count, failedOtherwise: count }),
  frozenAt: time.nullable(),
  paused: z
    .strictObject({
      by: z.enum(['person', 'canary', 'breaker', 'backlog']).describe('a run paused by a breaker or a backlog goes on by itself'),
      agent: z.string().optional(),
      queue: z.string().optional(),
    })
    .nullable(),
  stopped: z.strictObject({ code: z.string(), detail: z.string() }).nullable().describe('why the run stopped by itself'),
  changes: z.array(
    z.strictObject({ at: time, by: z.string(), action: z.enum(['create', 'start', 'pause', 'resume', 'stop']), reason: z.string() }),
  ),
};

export const ListedBulkRun = z.strictObject(shape);

export const BulkRun = z.strictObject({
  ...shape,
  filter: z.unknown().describe('as it was given; in place of the list `ids`, its length'),
  solutionId: z.string().optional(),
  sinceFrozen: count.describe('orders that match by now and are not in the set: counted once a minute at most, up to 1,000'),
});

export const BulkItem = z.strictObject({
  orderId: z.string(),
  reference: orderReference,
  outcome: z.enum(itemOutcomes),
  at: time.optional(),
  refusals: z.array(z.strictObject({ code: z.string(), path: z.string().optional(), detail: z.string() })).optional(),
  verified: z.enum(['running', 'passed', 'failed-again', 'failed-otherwise']).optional(),
  now: z
    .strictObject({
      processState,
      outcome: outcome.nullable(),
      fault: z
        .strictObject({ type: z.string(), message: z.string() })
        .nullable()
        .describe('the one that blocks the order or has ended it, or that of its failing undo'),
    })
    .optional()
    .describe('how the order is now, if it failed after the instruction'),
});

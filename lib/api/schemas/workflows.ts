import * as z from 'zod';
import { bodyLimits } from '#roles/submission/body-limits';
import { cursor, time } from './common.ts';

const versions = z
  .array(
    z.strictObject({
      version: z.int(),
      live: z.int().min(0).describe('orders of the version that are not finished'),
      inApp: z.boolean().describe('false: orders need this version, and the app does not have it'),
    }),
  )
  .describe('the newest first');

export const ListedWorkflow = z.strictObject({
  name: z.string(),
  version: z.int().nullable().describe('the version with which new orders begin; null if the app has none'),
  versions,
  asOf: time.describe('the time of the counts'),
});

/** The kinds of nodes and frames are open, so that a new kind of activity does not break a reader. */
const graphItem = z.discriminatedUnion('item', [
  z.strictObject({
    item: z.literal('node'),
    id: z.string(),
    kind: z.string(),
    title: z.string(),
    detail: z.string().optional().describe('the operation'),
    path: z.string().optional().describe('the activity; for an undo, the activity that it undoes'),
  }),
  z.strictObject({
    item: z.literal('edge'),
    kind: z.enum(['flow', 'fault', 'undo']),
    from: z.string(),
    to: z.string(),
    label: z.string().optional().describe('the condition of a branch, or the type of the fault'),
  }),
  z.strictObject({
    item: z.literal('frame'),
    id: z.string(),
    kind: z.enum(['scope', 'retry', 'loop']),
    title: z.string(),
    path: z.string(),
    get items() {
      return z.array(graphItem);
    },
  }),
]);

const schema = z.record(z.string(), z.unknown()).optional();

export const Workflow = z.strictObject({
  name: z.string(),
  version: z.int(),
  versions,
  asOf: time.describe('the time of `running` and `live`'),
  graph: z.array(graphItem).describe('boxes and arrows, in the order of the definition'),
  steps: z
    .array(
      z.strictObject({
        path: z.string(),
        name: z.string(),
        activity: z.string(),
        agent: z.string().nullable(),
        operation: z.string().nullable(),
        undo: z.string().nullable().describe('the operation that undoes it'),
        inputSchema: schema.describe('a JSON Schema; absent: any value'),
        outputSchema: schema.describe('of the operation, the signal or the answer'),
        blocked: z.int().min(0).describe('orders in Error that failed here'),
        running: z.int().min(0).describe('orders whose next deadline is that of this step'),
      }),
    )
    .describe('steps, calls and waits, in the order of the definition; a path of a loop has no index'),
  order: schema.describe('the JSON Schema of its orders'),
  variables: z.array(z.string()),
  faults: z
    .array(
      z.strictObject({
        path: z.string(),
        fault: z.string(),
        origin: z.enum(['declared', 'raised', 'engine']),
        retries: z.array(z.unknown()).describe('the retries that run the activity again, innermost first'),
        askedAgain: z.boolean().describe('the step is requested again as overdue, up to the failure limit'),
        end: z.looseObject({ kind: z.enum(['handled', 'operator', 'waits', 'undone']) }),
      }),
    )
    .describe('what becomes of each fault of each step'),
});

/** The most orders of one page: the journal of each is read. */
const historiesMax = 50;

export const HistoriesBody = z.strictObject({
  cursor: cursor.describe('the `next` of the page before'),
  limit: z.int().min(1).max(historiesMax).default(historiesMax).describe('most orders that this page looks at'),
  cluster: z
    .string()
    .min(1)
    .max(bodyLimits.charactersMax)
    .exactOptional()
    .describe('a fingerprint: replays the orders with this exception on the proposal for it, which changes the newest version'),
});

export const CheckedHistories = z.strictObject({
  items: z
    .array(
      z.strictObject({
        orderId: z.string(),
        version: z.int().describe('the version that the order has'),
        processState: z.string(),
        outcome: z.string().nullable(),
        fits: z
          .boolean()
          .describe(
            'the version leads to everything that the order has done; `migrate` may move an unfinished one. With `cluster`: the order would have ended without a person',
          ),
        assumed: z.literal(true).optional().describe('with `cluster`: it fits if requests that it never made succeed'),
        reason: z.string().optional().describe('the first thing that does not fit'),
        path: z.string().optional().describe('the activity that it is about'),
      }),
    )
    .describe('orders of other versions, the newest first; with `cluster` those with the exception, of any version'),
  checked: z.int().min(0).describe('orders on this page'),
  fit: z.int().min(0).describe('those of them that fit'),
  assumed: z.int().min(0).optional().describe('with `cluster`: those of `fit` that rest on an assumption'),
  next: z.string().nullable(),
});

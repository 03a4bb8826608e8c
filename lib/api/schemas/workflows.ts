import * as z from 'zod';

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
      }),
    )
    .describe('steps, calls and waits, in the order of the definition; a path of a loop has no index'),
  order: schema.describe('the JSON Schema of its orders'),
  variables: z.array(z.string()),
});

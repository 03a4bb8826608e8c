import * as z from 'zod';
import { processState, reason } from './common.ts';

export const RebuildBody = z.strictObject({
  reason,
  dryRun: z.boolean().exactOptional().describe('true: the answer compares the state with its journal, and nothing is changed'),
});

export const RebuiltOrder = z.strictObject({
  orderId: z.string(),
  rev: z.int(),
  processState,
  rebuilt: z.boolean().describe('whether this call has replaced the state'),
  readable: z.boolean().describe('whether the state could be read before'),
  lines: z.int().describe('the number of journal lines that were read'),
  pages: z.int().describe('the number of pages in which the older lines lie'),
  difference: z
    .string()
    .nullable()
    .describe('where the journal ends too early, or where it and the state differ; null if the journal tells the state'),
});

import * as z from 'zod';
import { faultClasses } from '#core/data/fault';
import { proposalLimits } from '#core/evolution/ways';
import { cursor, time } from './common.ts';

/** The most clusters of one page. The number is small because the resolved tasks of each cluster are read. */
const limitMax = 20;
const expected = `expected a whole number from 1 to ${limitMax}`;

export const ClusterQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,2}$/, expected)
    .transform(Number)
    .pipe(z.int().min(1, expected).max(limitMax, expected))
    .default(limitMax),
  cursor,
});

const instruction = z.looseObject({ kind: z.string() });
const count = z.int().min(0);

export const Cluster = z.strictObject({
  fingerprint: z.string(),
  type: z.string().describe('the last part of the fault type'),
  class: z.enum(faultClasses),
  step: z.string().nullable(),
  count: count.describe('exceptions of the last 30 days'),
  open: count,
  firstAt: time,
  lastAt: time,
  sampleOrderId: z.string(),
  sampleMessage: z.string(),
  resolutions: z
    .array(z.strictObject({ instruction, used: count, passed: count, failedAgain: count, failedOtherwise: count }))
    .describe('what people did about the last 100 of them, with a verdict; the one that passed most often first'),
  proposal: z
    .strictObject({
      kind: z.enum(['retry', 'handler', 'if']),
      path: z.string().describe('the activity that changes'),
      version: z.int().describe('the version that the changed definition would have'),
      drawnFrom: z.strictObject({ instruction, used: count, passed: count }),
      code: z.string().describe('the change as an author would write it'),
      diff: z.array(z.string()).describe('lines of the definition: "- " is gone, "+ " is new'),
      alsoTakes: z.array(z.string()).describe('other steps whose faults the change takes'),
    })
    .nullable()
    .describe(`drawn from ${proposalLimits.usesMin} uses or more, of which ${proposalLimits.shareMin * 100} % passed; it type-checks`),
  why: z.string().optional().describe('why there is no proposal'),
});

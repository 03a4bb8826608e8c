import * as z from 'zod';
import { reason, time } from './common.ts';

export const ChannelCloseBody = z.strictObject({ reason });

export const ChannelOpenBody = z.strictObject({
  reason: reason.exactOptional(),
  canary: z.boolean().exactOptional().describe('agents and consumers only: send one message first, and the others after its success'),
});

const Depth = z.strictObject({ visible: z.int(), inFlight: z.int(), delayed: z.int(), oldestAgeMs: z.number() });

export const ChannelState = z.strictObject({
  name: z.string(),
  open: z.boolean(),
  failuresInRow: z.int().describe('consecutive failures of handling messages of the channel'),
  since: time.optional().describe('when the channel was opened or closed; absent if it was never closed'),
  by: z.string().optional().describe('the operator who opened or closed it, or engine'),
  reason: z.string().optional(),
  releasing: z.boolean().optional().describe('the channel is open, and some waiting messages are not released yet'),
  deadLetters: z.int().min(0).max(100).describe('the number of dead letters of the channel, counted up to 100'),
  moreDeadLetters: z.literal(true).optional().describe('there are more dead letters than were counted'),
  requests: Depth.describe('the depth of the request queue, or of the only queue'),
  replies: Depth.optional(),
  /** The circuit breaker of the services behind the agent or the consumer. */
  breaker: z
    .strictObject({
      phase: z.enum(['closed', 'open', 'half-open']).describe('an open breaker lets no request pass; an open channel lets all pass'),
      awaySince: time.optional().describe('since when the service has failed'),
      failedProbes: z.int().optional().describe('probes that have failed since then'),
      nextProbeAt: time.optional(),
      backSince: time.optional().describe('since when the service answers again, while requests return step by step'),
    })
    .optional(),
});

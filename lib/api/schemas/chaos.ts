import * as z from 'zod';
import { time, timeOrNull } from './common.ts';

/** The faults that a person may inject on one machine, by the name of their experiment. */
export const experimentKinds = ['drop-reply', 'silence-agent', 'kill-scheduler', 'double-message', 'sicken-service'] as const;

/** Longest time of a fault that lasts, in seconds. */
const secondsMax = 120;

const sample = z
  .string()
  .min(1)
  .max(64)
  .exactOptional()
  .describe('the sample to submit, so that an order meets the fault; without it, the fault waits for the next order');
const agent = z.string().min(1).max(64).describe('the agent that the fault is for');
const seconds = z.int().min(5).max(secondsMax).exactOptional().describe('how long the fault lasts; it has a default');

export const ChaosBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('drop-reply'), agent, sample }),
  z.strictObject({ kind: z.literal('silence-agent'), agent, seconds, sample }),
  z.strictObject({ kind: z.literal('kill-scheduler'), seconds, sample }),
  z.strictObject({ kind: z.literal('double-message'), agent, sample }),
  z.strictObject({ kind: z.literal('sicken-service'), agent, seconds, sample }),
]);
export type ChaosBody = z.output<typeof ChaosBody>;

export const Experiment = z.strictObject({
  id: z.string(),
  kind: z.enum(experimentKinds),
  agent: z.string().nullable(),
  state: z
    .enum(['waiting', 'running', 'passed', 'stopped'])
    .describe('waiting: the fault has not happened yet; running: not every step has happened; passed: all have; stopped: by a person'),
  startedAt: time,
  endedAt: timeOrNull,
  by: z.string().describe('the subject of the person who started it'),
  orders: z.array(z.string()).describe('the orders that it has submitted'),
  steps: z
    .array(
      z.strictObject({
        text: z.string().describe('what should happen'),
        at: timeOrNull.describe('when it happened; null while it has not'),
        orderId: z.string().nullable().describe('the order to which it happened'),
        note: z.string().nullable(),
      }),
    )
    .describe('what should happen, in order'),
});

export const ChaosQuery = z.strictObject({
  agent: z.string().min(1, 'expected the name of an agent').max(64, 'expected the name of an agent').exactOptional(),
});

export const Chaos = z.strictObject({
  agents: z.array(z.string()),
  faults: z
    .array(
      z.strictObject({
        kind: z.enum(experimentKinds),
        seconds: z.int().describe('how long it lasts by default; 0: it happens once'),
        steps: z.array(z.string()).describe('what should happen, in order'),
      }),
    )
    .describe('the faults that may be injected, with what should happen for the agent of the query, or for the first agent'),
  samples: z.array(z.string()).describe('the sample orders of the app, by name'),
  experiments: z.array(Experiment).describe('the latest 20, newest first'),
});

import * as z from 'zod';
import { faultClasses, faultTags } from '#core/data/fault';
import { fits, type Json } from '#core/data/json';
import { exceptionLimits } from '#core/exceptions/exception';
import { bodyLimits } from '#roles/submission/body-limits';
import { anyJson, cursor, limit, optionalOneOf, optionalTime, orderReference, processState, time } from './common.ts';

const states = ['open', 'handled'] as const;
const text = z.string().min(1).max(1024).exactOptional();

export const ExceptionQuery = z.strictObject({
  class: optionalOneOf(faultClasses),
  type: text.describe('the last part of the fault type: CardDeclined'),
  workflow: text,
  step: text.describe('the path of the step, without the turns of loops: order/charge'),
  fingerprint: text,
  state: optionalOneOf(states),
  tag: optionalOneOf(faultTags),
  since: optionalTime,
  until: optionalTime,
  limit,
  cursor,
});

export const GroupQuery = z.strictObject({ since: optionalTime, state: optionalOneOf(states), limit, cursor });

const condition = z.strictObject({
  processState,
  status: z.string().nullable().describe('the status of the activity; null if the exception is about no activity'),
});

export const Exception = z.strictObject({
  id: z.string(),
  orderId: z.string(),
  reference: orderReference,
  workflow: z.strictObject({ name: z.string(), version: z.int() }),
  path: z.string().nullable(),
  step: z.string().nullable().describe('the path without the turns of loops'),
  type: z.string(),
  class: z.enum(faultClasses),
  tags: z.array(z.enum(faultTags)),
  message: z.string().describe('without secrets'),
  data: anyJson.optional().describe('without secrets'),
  before: condition,
  after: condition,
  attempt: z.int().min(0).describe('how often the step was requested, over the life of the order'),
  at: time,
  fingerprint: z.string(),
  state: z.enum(states),
  handling: z
    .strictObject({
      by: z.enum(['rule', 'recovery', 'person', 'supervisor']),
      id: z.string().optional(),
      control: z.enum(['none', 'ready', 'resumed', 'parallel']),
      at: time,
    })
    .nullable()
    .describe('null while the exception is open'),
  causedBy: z.string().optional().describe('the exception of which this one is a consequence, or the order whose recovery led to it'),
  taskId: z.string().optional(),
});

/** Types of faults to which the engine gives a meaning. People may not raise them. */
const reserved: ReadonlySet<string> = new Set(['Engine', 'Transient', 'OperatorAsked']);

export const RaiseBody = z.strictObject({
  type: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]{0,63}$/, 'expected a capital letter, then letters and digits, at most 64: GoodsDamaged')
    .refine((type) => !reserved.has(type), { error: 'this type is reserved for the engine: choose another one' }),
  message: z.string().min(1).max(exceptionLimits.messageCharactersMax).describe('what happened; people and rules read it'),
  path: z
    .string()
    .min(1)
    .max(bodyLimits.charactersMax)
    .exactOptional()
    .describe('the activity that it is about, begun or not: order/charge; absent: the order as a whole'),
  data: anyJson
    // The check also runs for a body without data.
    .refine((data) => data === undefined || fits(data as Json, exceptionLimits.dataBytesMax), {
      error: `at most ${exceptionLimits.dataBytesMax} bytes as JSON: give a reference to the data instead`,
    })
    .exactOptional(),
});

export const Raised = z.strictObject({ exceptionId: z.string() });

export const ExceptionGroup = z.strictObject({
  fingerprint: z.string(),
  type: z.string(),
  class: z.enum(faultClasses),
  workflow: z.string(),
  step: z.string().nullable(),
  count: z.int().describe('of the last 30 days, or since the given hour'),
  open: z.int(),
  firstAt: time,
  lastAt: time,
  perHour: z.array(z.int()).length(24).describe('the last 24 hours, the oldest first'),
  sampleOrderId: z.string(),
  sampleMessage: z.string(),
  mutedUntil: time.optional().describe('until then nobody hears of these exceptions'),
  note: z.string().optional(),
  ticket: z.string().optional(),
});

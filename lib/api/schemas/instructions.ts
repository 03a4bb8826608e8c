import * as z from 'zod';
import { limits } from '#core/definition/definition';
import { changes } from '#core/instructions/check';
import type { OrderInstructionKind } from '#core/instructions/index';
import { refusalCodes } from '#core/instructions/kind';
import { bodyLimits } from '#roles/submission/body-limits';
import { anyJson, keyPattern, processState, reason, time, timeOrNull } from './common.ts';
import { Consumer } from './dependents.ts';

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
  ...KeyHeaders.shape,
  'if-match': z
    .string()
    .regex(/^"(0|[1-9]\d{0,14})"$/, 'expected the ETag of the order in quotes, such as "7"')
    .exactOptional(),
});

const path = z.string().min(1).max(bodyLimits.charactersMax);

/** Returns the schema of the instructions of a kind. */
const instruction = <K extends OrderInstructionKind, Fields extends z.ZodRawShape>(kind: K, fields: Fields) =>
  z.strictObject({
    kind: z.literal(kind),
    reason,
    dryRun: z.boolean().exactOptional().describe('true: the answer is the check, and nothing is changed'),
    ...fields,
  });

export const InstructionBody = z.discriminatedUnion('kind', [
  instruction('resubmit', {
    completeWithinSeconds: z.int().min(1).max(limits.secondsMax).exactOptional().describe('the time limit of the whole order, from now'),
    answer: anyJson.exactOptional().describe('the answer to the question for which the order is blocked'),
  }),
  instruction('compensate', {
    path: path
      .exactOptional()
      .describe('an open scope around the blocked activity, behind which the order goes on; default: the whole order'),
  }),
  instruction('mark-compensated', {
    path: path.exactOptional().describe('the step whose undo or confirmation keeps failing; optional if there is only one'),
  }),
  instruction('skip', {
    path: path.exactOptional().describe('a step, a wait or a question that is not closed; optional where one is blocked'),
    output: anyJson.exactOptional().describe('fits the schema of the operation, of the signal or of the answer'),
    effect: z.enum(['none', 'done']).describe('done: somebody did it by hand, so that its undo is registered with that output'),
  }),
  instruction('replace-input', {
    path: path.exactOptional().describe('a step that is not closed; optional where one is blocked'),
    input: anyJson.describe('the whole input; a mask stands for the secret that is there'),
  }),
  instruction('resume-at', {
    path: path.describe(
      'an activity outside every parallel and loop; if it lies in a branch, that branch was taken; if in a handler, that handler is running',
    ),
    undoBetween: z.boolean().describe('true: what was done since is undone first; false: it stays done, and is not requested again'),
  }),
  instruction('recover', {
    path: path
      .exactOptional()
      .describe('the activity whose affected scope is undone, and at which the order goes on; default: the whole order'),
  }),
  instruction('retry-undo', { path: path.exactOptional().describe('the step whose undo keeps failing; default: all such steps') }),
  instruction('amend', {
    endBy: z.iso.datetime({ offset: true }).exactOptional().describe('when the whole order must have ended'),
    maxFailures: z.int().min(0).max(1000).exactOptional(),
    retry: z
      .strictObject({
        path,
        retries: z.int().min(0).max(1000).exactOptional(),
        intervalSeconds: z.number().min(0).max(limits.secondsMax).exactOptional(),
      })
      .exactOptional()
      .describe('settings of the retry at `path`, or of the innermost retry around the activity at `path`'),
    variables: z.record(z.string().min(1).max(bodyLimits.charactersMax), anyJson).exactOptional(),
    handle: z
      .array(
        z.strictObject({
          fault: z.string().min(1).max(256),
          workflow: z.string().min(1).max(128),
          version: z.int().min(1).exactOptional(),
        }),
      )
      .min(1)
      .max(20)
      .exactOptional()
      .describe('another workflow handles exceptions with these faults; the failed step is requested again after it'),
  }).refine(({ kind: _, reason: __, dryRun: ___, ...changed }) => Object.keys(changed).length > 0, {
    error: 'expected at least one of endBy, maxFailures, retry, variables, handle',
  }),
  instruction('migrate', { version: z.int().min(1).describe('another version of the workflow of the order') }),
  instruction('restart', {
    order: anyJson.exactOptional().describe('the body of the new order; a mask stands for the secret that is there'),
    version: z.int().min(1).exactOptional().describe('the version of its workflow; default: that of this order'),
    undoFirst: z.boolean().describe('whether everything is undone before the new order begins'),
    keepEffects: z.boolean().exactOptional().describe('true: the effects of this order may stay, although the new order has them again'),
  }),
  instruction('handle', {
    workflow: z
      .string()
      .min(1)
      .max(128)
      .describe('the workflow that handles each open exception of a finished order, as an order of its own'),
    version: z.int().min(1).exactOptional().describe('its version; default: the newest one'),
  }),
  instruction('acknowledge', {}),
  instruction('suspend', {}),
  instruction('resume', {}),
  instruction('cancel', {}),
  instruction('terminate', {}),
]);

type Described = z.output<typeof InstructionBody>['kind'];
type Undescribed = Exclude<OrderInstructionKind, Described>;

/** If a kind of the core has no fields above, this does not compile, and the error names the kind. */
const kinds: readonly ([Undescribed] extends [never] ? Described : { 'has no fields': Undescribed })[] = InstructionBody.options.flatMap(
  ({ shape }) => [...shape.kind.values],
);

/** An instruction without `reason` and `dryRun`, which are fields of the call itself. */
export const InstructionAlone = z.looseObject({ kind: z.string().meta({ enum: kinds }) }).superRefine((given, context) => {
  for (const field of ['reason', 'dryRun'])
    if (field in given) context.addIssue({ code: 'unrecognized_keys', keys: [field], input: given });
  const { reason: _, dryRun: __, ...instruction } = given;
  const { error } = InstructionBody.safeParse({ ...instruction, reason: 'a reason' });
  for (const issue of error?.issues ?? []) context.addIssue({ ...issue, input: given } as never);
});

export const Instructed = z.strictObject({
  orderId: z.string(),
  rev: z.int(),
  processState,
  restartedAs: z.string().optional().describe('the order that replaces this one'),
});

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
      outcomeUnknown: z
        .boolean()
        .describe('true: the operation is asked first whether the effect exists, by its lookup or by another request under the same key'),
      impossible: z.string().optional().describe('why the input of the undo cannot be evaluated; the undo waits for mark-compensated'),
    }),
  ),
  withoutUndo: z.array(z.strictObject({ path: z.string(), agent: z.string(), operation: z.string() })),
});

export const UndoPlanned = z.strictObject({ orderId: z.string(), ...UndoPlan.shape });

const Operation = z.strictObject({ path: z.string(), operation: z.string() });
const reasonOf = { code: z.enum(refusalCodes), path: z.string().optional(), detail: z.string() };

const RecoveryPlanned = z.strictObject({
  scope: z.array(z.string()).describe('the affected scope, by the paths of its activities'),
  consumers: z.array(Consumer).describe('steps of other orders that have read what is undone'),
  more: z.boolean().describe('there are more consumers than are listed'),
});

export const InstructionCheck = z.strictObject({
  orderId: z.string(),
  feasible: z.boolean(),
  refusals: z.array(z.strictObject({ ...reasonOf, pointer: z.string().optional() })).describe('every reason against the instruction'),
  warnings: z.array(z.strictObject(reasonOf)),
  effects: z.strictObject({
    requests: z.array(Operation).describe('what the write itself requests'),
    undoes: z.array(Operation).describe('what is undone until the order is at rest, in order'),
    skips: z.array(z.string()).describe('what is closed without being done'),
    marks: z.array(z.string()).describe('the steps that count as undone from now on, because a person has undone them by hand'),
  }),
  whenResumed: z.array(Operation).describe('the undos that go on when somebody resumes the order, in order; empty if it is not suspended'),
  // biome-ignore lint/suspicious/noThenProperty: the contract names the field, and it is a list.
  then: z.array(Operation).describe('what follows if every step answers well; this is a forecast, not a promise'),
  graph: z
    .array(z.strictObject({ path: z.string(), changes: z.array(z.enum(changes)) }))
    .describe('every step and every blocked activity; without changes it stays as it is'),
  estimate: z
    .strictObject({
      requests: z.int().min(0),
      attempts: z.int().min(0).describe('how often one step is requested under one key before it fails'),
      dollars: z.number().min(0),
    })
    .describe('upper bounds, at the list price of us-east-1'),
  processState: processState.optional(),
  requests: z
    .array(
      z.object({
        path: z.string(),
        agent: z.string(),
        operation: z.string(),
        attempt: z.int(),
        idempotencyKey: z.string(),
        completeBy: time,
      }),
    )
    .optional(),
  fault: z.string().optional(),
  suspended: z.boolean().optional(),
  completeBy: timeOrNull.optional(),
  remainingSeconds: z.int().min(0).nullable().optional(),
  undo: UndoPlan.optional().describe('compensate only'),
  recovery: RecoveryPlanned.optional().describe('recover only'),
});

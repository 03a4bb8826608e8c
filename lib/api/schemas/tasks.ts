import * as z from 'zod';
import { faultClasses } from '#core/data/fault';
import { taskKinds, taskLimits, taskStates, verdicts } from '#ports/tasks';
import { anyJson, cursor, dryRun, limit, optionalOneOf, orderReference, reason, time, timeOrNull } from './common.ts';
import { Instructed, InstructionAlone, InstructionCheck } from './instructions.ts';
import { AppliesWhen, SolutionName, Suggestion, Values, withInstructionOrSolution } from './solutions.ts';

const text = z.string().min(1).max(1024).exactOptional();
const nameText = `expected 1 to ${taskLimits.nameCharactersMax} characters, not only spaces`;
const name = z.string().min(1, nameText).max(taskLimits.nameCharactersMax, nameText).regex(/\S/, nameText);

export const TaskQuery = z.strictObject({
  state: optionalOneOf(taskStates).describe('default: open and claimed tasks'),
  assignee: name.exactOptional().describe('the `sub` of a person; `me`: yours; `none`: nobody has claimed it'),
  group: name.exactOptional().describe('`mine`: the groups that your token names'),
  workflow: text,
  kind: optionalOneOf(taskKinds),
  fingerprint: text,
  orderId: text,
  overdue: z.literal('true', 'expected true').exactOptional(),
  limit,
  cursor,
});

export const AssignBody = z
  .strictObject({ assignee: name.exactOptional().describe('claims the task for this person'), group: name.exactOptional() })
  .refine(({ assignee, group }) => assignee !== undefined || group !== undefined, { error: 'expected at least one of assignee, group' });

export const CommentBody = z.strictObject({
  text: z.string().min(1).max(taskLimits.commentCharactersMax).regex(/\S/, 'Expected a text.'),
});

export const ResolveBody = withInstructionOrSolution(
  z
    .strictObject({
      instruction: InstructionAlone.describe('as in POST /orders/{id}/instructions, without its reason').exactOptional(),
      solutionId: z.string().min(1).max(64).exactOptional().describe('a solution in place of an instruction'),
      parameters: Values.exactOptional().describe('the values for the places of the solution, by name'),
      reason,
      saveAs: z
        .strictObject({ name: SolutionName, appliesWhen: AppliesWhen.exactOptional() })
        .exactOptional()
        .describe('keeps the instruction as a solution, with a parameter in place of each value of this order'),
      dryRun,
    })
    .refine(({ saveAs, solutionId }) => saveAs === undefined || solutionId === undefined, {
      path: ['saveAs'],
      error: 'saveAs goes with an instruction: this solution is kept already',
    }),
);

const task = {
  id: z.string(),
  rev: z.int().describe('rises with every change of the task; the order has its own'),
  orderId: z.string().optional().describe('absent if the task is about no order'),
  reference: orderReference,
  workflow: z.strictObject({ name: z.string(), version: z.int() }).optional(),
  kind: z.enum(taskKinds),
  state: z.enum(taskStates),
  group: z.string().optional(),
  assignee: z.string().optional().describe('the person who has claimed it'),
  claimedAt: time.optional(),
  openedAt: time,
  dueAt: time,
  overdue: z.boolean(),
  reminders: z.int(),
  nextReminderAt: timeOrNull,
  escalation: z.strictObject({ level: z.int(), to: z.string().nullable() }),
  exceptionId: z.string().optional(),
  fingerprint: z.string().optional(),
  fault: z
    .strictObject({
      type: z.string(),
      class: z.enum(faultClasses),
      message: z.string(),
      permanent: z.boolean(),
      source: z.string().optional(),
      data: anyJson.optional(),
    })
    .optional()
    .describe('without secrets'),
  question: z
    .strictObject({ text: z.string(), schema: anyJson.describe('the JSON Schema of the answer, or null'), details: anyJson.optional() })
    .optional(),
  text: z.string().optional().describe('what a rule tells the people'),
  candidates: z.array(anyJson).optional().describe('rules about such an exception that did not act'),
  comments: z.array(z.strictObject({ by: z.string(), at: time, text: z.string() })),
  verified: z.enum(verdicts).optional().describe('whether the instruction has helped; absent if instructions of its kind are not verified'),
  previousTaskId: z.string().optional().describe('the earlier task of the order, whose instruction has failed again'),
  nextTaskId: z.string().optional(),
  resolution: z
    .strictObject({
      by: z.string(),
      at: time,
      reason: z.string().nullable(),
      instruction: anyJson.optional().describe('without secrets; absent if the order went on by itself'),
      solutionId: z.string().optional().describe('the solution that was used, or that was made of this resolution'),
    })
    .optional(),
};

export const Task = z.strictObject(task);

export const WholeTask = z.strictObject({
  ...task,
  orderRev: z.int().describe('the ETag of the order is this number in quotes'),
  suggestions: z.array(Suggestion).describe('solutions for this exception, the most trusted first'),
  objects: z.array(
    z.strictObject({ kind: z.enum(['order', 'step', 'output', 'dependent']), id: z.string(), name: z.string(), href: z.string() }),
  ),
  similar: z.strictObject({ open: z.int(), resolved: z.int() }).describe('other exceptions of the same fingerprint in the last 30 days'),
});

/** The check of an instruction that resolves a task. A task of a destination has no order. */
export const TaskCheck = InstructionCheck.partial({ orderId: true });

export const Resolved = z.union([Instructed, Task]);

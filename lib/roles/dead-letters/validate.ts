import * as z from 'zod';
import { schemasOf } from '#authoring/catalog';
import type { Json } from '#core/data/json';
import type { Definitions } from '#ports/definitions';
import {
  agentOfReplies,
  agentOfRequests,
  ConsumerMessage,
  Heartbeat,
  namesItsAttempt,
  queueNames,
  Reply,
  type Request,
  SubmissionMessage,
  ToAgent,
  type ToScheduler,
  WakeUp,
} from '#ports/messages';
import { validatorOf } from '#ports/util/validation';
import { calledProgram } from '#roles/definitions/called';
import { bodyProblems, type SubmissionProblem } from '#roles/submission/submission';
import { messageTypesOf, operationOf, operationsOf } from './schemas.ts';

/** A message that is valid for its queue. */
export type Fitting = ToAgent | ToScheduler | SubmissionMessage;

export type Fit =
  | { readonly problems: readonly SubmissionProblem[]; readonly message?: undefined }
  | { readonly problems: readonly []; readonly message: Fitting };

interface ValidationContext {
  readonly definitions: Definitions;
  readonly defaultWorkflow: string;
}

/** JSON pointer of the body in what an operator sends to resubmit a dead letter. */
export const bodyPointer = '/body';

/** Validates a body for its queue: its form, and its data against the schema of the operation or workflow. */
export function fit(queue: string, body: Json, known: ValidationContext): Fit {
  const schema = schemaOf(queue);
  const problems = bodyProblems(schema, body, bodyPointer);
  if (problems.length > 0) return { problems };
  const message = schema.parse(body);
  const meaning = [...contradictions(message), ...problemsOfMeaning(queue, message, known)];
  return meaning.length > 0 ? { problems: meaning } : { problems: [], message };
}

/** Returns the problems of a message for a consumer: of its form, its type and its body. */
export function problemsForConsumer(queue: string, message: Json, { definitions }: ValidationContext): readonly SubmissionProblem[] {
  const problems = bodyProblems(ConsumerMessage, message, bodyPointer);
  if (problems.length > 0) return problems;
  const { type, body } = ConsumerMessage.parse(message);
  const types = messageTypesOf(queue, definitions);
  const declared = Object.hasOwn(types, type) ? types[type] : undefined;
  return declared ? bodyProblems(declared.body, body ?? null, `${bodyPointer}/body`) : [unknown('type', Object.keys(types))];
}

const Answer = z.discriminatedUnion('type', [Reply, Heartbeat]);

function schemaOf(queue: string): z.ZodType<Fitting> {
  if (queue === queueNames.submissions) return SubmissionMessage;
  if (queue === queueNames.wakeUps) return WakeUp;
  return agentOfReplies(queue) === undefined ? ToAgent : Answer;
}

function contradictions(message: Fitting): readonly SubmissionProblem[] {
  if (!('requestId' in message) || namesItsAttempt(message)) return [];
  const detail = 'Expected a request id that agrees with orderId, path, epoch and attempt.';
  return [{ pointer: `${bodyPointer}/requestId`, code: 'contradiction', detail }];
}

function problemsOfMeaning(queue: string, message: Fitting, known: ValidationContext): readonly SubmissionProblem[] {
  if (message.type === 'submission') return problemsOfOrder(message, known);
  if (message.type === 'request')
    return queue === queueNames.calls ? problemsOfCall(message, known) : problemsOfInput(queue, message, known);
  return [];
}

function problemsOfOrder(
  { workflow, order }: SubmissionMessage,
  { definitions, defaultWorkflow }: ValidationContext,
): readonly SubmissionProblem[] {
  const program = definitions.newest(workflow ?? defaultWorkflow);
  return program
    ? bodyProblems(validatorOf(program.definition.order), order, `${bodyPointer}/order`)
    : [unknown('workflow', definitions.names())];
}

function problemsOfInput(queue: string, { operation, input }: Request, { definitions }: ValidationContext): readonly SubmissionProblem[] {
  const agent = agentOfRequests(queue);
  const described = operationOf(agent, operation, definitions);
  return described
    ? bodyProblems(described.input, input, `${bodyPointer}/input`)
    : [unknown('operation', Object.keys(operationsOf(agent, definitions)))];
}

/** Validates the input of a call (`fulfil-order@1`). The input of an undo has no schema here: only the calling order knows that input. */
function problemsOfCall({ operation, input }: Request, { definitions }: ValidationContext): readonly SubmissionProblem[] {
  if (operation === 'undo') return [];
  const program = calledProgram(operation, definitions);
  return program
    ? bodyProblems(validatorOf(program.definition.order), input, `${bodyPointer}/input`)
    : [unknown('operation', definitions.names())];
}

const unknown = (field: string, names: readonly string[]): SubmissionProblem => ({
  pointer: `${bodyPointer}/${field}`,
  code: `unknown-${field}`,
  detail: `Expected one of: ${names.join(', ')}.`,
});

/** Returns problems of a reply's output. Without this check the scheduler would ignore an invalid output. */
export function problemsOfOutput(
  { agent, operation }: { readonly agent: string; readonly operation: string },
  { result }: Reply,
  definitions: Definitions,
): readonly SubmissionProblem[] {
  const described = operationOf(agent, operation, definitions);
  if (result.status !== 'succeeded' || !described) return [];
  return bodyProblems(validatorOf(schemasOf(described).output ?? {}), result.output, `${bodyPointer}/result/output`);
}

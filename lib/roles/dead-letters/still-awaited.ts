import { generationOf, idempotencyKeyOf, requestIdOf } from '#core/data/ids';
import type { JsonObject } from '#core/data/json';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, stepAt } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import { agentOfReplies, agentOfRequests, queueNames, type Request, timeText } from '#ports/messages';
import type { Loaded } from '#roles/scheduler/types';
import type { SubmissionProblem } from '#roles/submission/submission';
import { waitsSinceField } from './requeue.ts';
import { bodyPointer, type Fitting, problemsOfOutput } from './validate.ts';

/** Objections to a resubmission. The operator can correct `problems` in the message, but not `reasons`. */
export interface Objections {
  readonly problems: readonly SubmissionProblem[];
  readonly reasons: readonly string[];
}

const none: Objections = { problems: [], reasons: [] };
const because = (...reasons: readonly string[]): Objections => ({ problems: [], reasons });

type StepMessage = Exclude<Fitting, { type: 'submission' | 'wake-up' | 'cancel' }>;

/**
 * Returns objections unless an order still waits for the message. An agent must not serve an obsolete request: its effect could
 * occur after its compensation.
 */
export function objectionsTo(queue: string, message: Fitting, loaded: Loaded | undefined, at: ObjectionContext): Objections {
  if (message.type === 'submission') return none;
  if (!loaded) return because(`Order ${message.orderId} does not exist or cannot be read. Discard the message.`);
  if (message.type === 'wake-up' || message.type === 'cancel') return none;
  const agent = agentOfRequests(queue) ?? agentOfReplies(queue);
  const awaited = awaitedStepIn(message, loaded);
  if (!awaited || awaited.agent !== agent) return because(voidAttempt(message, loaded));
  if (message.type === 'request') return objectionsToRequest(message, awaited, at.now);
  if (message.type === 'heartbeat' || queue === queueNames.callReplies) return none;
  if (Date.parse(message.sentAt) > awaited.local.completeBy)
    return because(`The reply was sent after its deadline, ${timeText(awaited.local.completeBy)}: ${remedyFor(loaded)}`);
  return { problems: problemsOfOutput(awaited, message, at.definitions), reasons: [] };
}

interface ObjectionContext {
  readonly now: number;
  readonly definitions: Definitions;
}

interface AwaitedStep {
  readonly agent: string;
  readonly operation: string;
  readonly local: StepState;
}

/** Returns the step that waits for exactly this request. A called order's reply fits all requests of the same generation. */
function awaitedStepIn({ type, requestId, path }: StepMessage, { program, record, instance }: Loaded): AwaitedStep | undefined {
  const activity = instance.state.activities[path];
  const local = stepAt(program, instance.state, path);
  if (!activity || activity.reply || local?.phase !== 'requested' || local.mode === 'cancel') return undefined;
  const node = nodeAt(program, path);
  if (!isRemote(node)) return undefined;
  const isSame =
    node.agent === agentOfReplies(queueNames.callReplies) && type === 'reply'
      ? generationOf(requestId) === local.generation
      : local.epoch === record.epoch && requestIdOf(record.orderId, path, local) === requestId;
  return isSame ? { agent: node.agent, operation: node.operation, local } : undefined;
}

function objectionsToRequest(request: Request, { local, operation }: AwaitedStep, now: number): Objections {
  const { orderId, path, completeBy, idempotencyKey } = request;
  const until = local.completeBy;
  if (until <= now)
    return because(
      `The deadline of this request passed at ${timeText(until)}. The order sends a new request or is in Error. Discard the message.`,
    );
  const key = idempotencyKeyOf(orderId, path, local.generation);
  const problems = [
    ...(idempotencyKey === key ? [] : [{ field: 'idempotencyKey', detail: `Expected the idempotency key ${key}, got ${idempotencyKey}.` }]),
    ...(request.operation === operation
      ? []
      : [{ field: 'operation', detail: `Expected the operation ${operation}, got ${request.operation}.` }]),
    ...(Date.parse(completeBy) > now && Date.parse(completeBy) <= until
      ? []
      : [{ field: 'completeBy', detail: `Expected a deadline after now and up to ${timeText(until)}, got ${completeBy}.` }]),
  ];
  return {
    problems: problems.map(({ field, detail }) => ({ pointer: `${bodyPointer}/${field}`, code: 'not-awaited', detail })),
    reasons: [],
  };
}

const voidAttempt = ({ path }: StepMessage, loaded: Loaded): string =>
  `The order no longer waits for this request of ${path}: ${remedyFor(loaded)}`;

/** Returns the state of the order, and what to do with the message. */
function remedyFor({ record: { orderId, processState, outcome } }: Loaded): string {
  if (processState === 'Processed') return `the order is finished (${outcome}). Discard the message.`;
  if (processState === 'Error') return `the order is in Error. Resubmit the order ${orderId} itself, and discard the message.`;
  return 'the order has continued or sent a new request. Discard the message.';
}

/** Returns the request with its remaining time updated. It is marked as resent, because an earlier delivery may have been served. */
export function renewed(given: JsonObject, { completeBy, remainingMs, givenMs = remainingMs }: Request, now: number): JsonObject {
  const kept = Object.entries(given).filter(([field]) => field !== 'requeued' && field !== waitsSinceField);
  return { ...Object.fromEntries(kept), remainingMs: Date.parse(completeBy) - now, givenMs, resent: true } as JsonObject;
}

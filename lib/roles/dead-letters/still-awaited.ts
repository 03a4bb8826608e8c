import type { StepState } from '#core/activities/step';
import { generationOf, idempotencyKeyOf, requestIdOf } from '#core/data/ids';
import type { JsonObject } from '#core/data/json';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import type { Definitions } from '#ports/definitions';
import { agentOfReplies, agentOfRequests, queueNames, type Request, timeText } from '#ports/messages';
import type { Loaded } from '#roles/scheduler/types';
import type { SubmissionProblem } from '#roles/submission/submission';
import { since } from './requeue.ts';
import { bodyPointer, type Fitting, problemsOfOutput } from './validate.ts';

/** What speaks against sending a message to whom it is about: `problems` can be mended in it, `reasons` cannot. */
export interface Objections {
  readonly problems: readonly SubmissionProblem[];
  readonly reasons: readonly string[];
}

const none: Objections = { problems: [], reasons: [] };
const because = (...reasons: readonly string[]): Objections => ({ problems: [], reasons });

type StepMessage = Exclude<Fitting, { type: 'submission' | 'wake-up' | 'cancel' }>;

/**
 * Whether somebody waits for what the message brings about. An asking that is void must not be served: what it does could
 * come after it was undone.
 */
export function objectionsTo(queue: string, message: Fitting, loaded: Loaded | undefined, at: At): Objections {
  if (message.type === 'submission') return none;
  if (!loaded) return because(`There is no order ${message.orderId} that could be read. Discard the message.`);
  if (message.type === 'wake-up' || message.type === 'cancel') return none;
  const agent = agentOfRequests(queue) ?? agentOfReplies(queue);
  const awaited = awaitedStepIn(message, loaded);
  if (!awaited || awaited.agent !== agent) return because(voidAttempt(message, loaded));
  if (message.type === 'request') return objectionsToRequest(message, awaited, at.now);
  if (message.type === 'heartbeat' || queue === queueNames.callReplies) return none;
  if (Date.parse(message.sentAt) > awaited.local.completeBy)
    return because(`It was sent after ${timeText(awaited.local.completeBy)}, when its time was over: ${remedyFor(loaded)}`);
  return { problems: problemsOfOutput(awaited, message, at.definitions), reasons: [] };
}

interface At {
  readonly now: number;
  readonly definitions: Definitions;
}

interface AwaitedStep {
  readonly agent: string;
  readonly operation: string;
  readonly local: StepState;
}

/** What is asked for at the path of the message, where it is that very asking; a child answers for all askings of its effect. */
function awaitedStepIn({ type, requestId, path }: StepMessage, { program, record, instance }: Loaded): AwaitedStep | undefined {
  const activity = instance.state.activities[path];
  const local = activity?.local as StepState | undefined;
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
    return because(`Its time was over at ${timeText(until)}: its order asks anew, or waits for an operator. Discard the message.`);
  const key = idempotencyKeyOf(orderId, path, local.generation);
  const problems = [
    ...(idempotencyKey === key ? [] : [{ field: 'idempotencyKey', detail: `The effect that is asked for is called ${key}.` }]),
    ...(request.operation === operation ? [] : [{ field: 'operation', detail: `The step asks for ${operation}.` }]),
    ...(Date.parse(completeBy) > now && Date.parse(completeBy) <= until
      ? []
      : [
          { field: 'completeBy', detail: `The order waits until ${timeText(until)}: a later time, or one that is over, would be in vain.` },
        ]),
  ];
  return {
    problems: problems.map(({ field, detail }) => ({ pointer: `${bodyPointer}/${field}`, code: 'not-awaited', detail })),
    reasons: [],
  };
}

const voidAttempt = ({ path }: StepMessage, loaded: Loaded): string =>
  `Nobody waits for this asking of ${path} any more: ${remedyFor(loaded)}`;

/** What becomes of the order without it. */
function remedyFor({ record: { orderId, processState, outcome } }: Loaded): string {
  if (processState === 'Processed') return `the order is finished (${outcome}). Discard the message.`;
  if (processState === 'Error') return `the order is in Error. Resubmit the order ${orderId} itself, and discard the message.`;
  return 'the order has gone on, or has asked anew. Discard the message.';
}

/** The request with the time that is left. An earlier delivery of it may have been served. */
export function renewed(given: JsonObject, { completeBy }: Request, now: number): JsonObject {
  const kept = Object.entries(given).filter(([field]) => field !== 'requeued' && field !== since);
  return { ...Object.fromEntries(kept), remainingMs: Date.parse(completeBy) - now, resent: true } as JsonObject;
}

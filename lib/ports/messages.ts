import * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import type { CancelCommand, RequestCommand } from '#core/data/command';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { peopleLimits } from '#core/definition/people';
import { unattendedReasons } from '#core/exceptions/unattended';
import { NewerMessageError } from './errors.ts';
import { groupOf, type Outgoing, responseQueuePrefix } from './queues.ts';

/** Names of the queues. Each adapter adds its own prefix. */
export const queueNames = {
  requests: (agent: string) => `${agent}-requests`,
  replies: (agent: string) => `${agent}-replies`,
  /** Wake-ups for the scheduler. */
  wakeUps: 'wake-ups',
  submissions: 'submissions',
  /** Messages for a consumer of the app. */
  messages: (consumer: string) => `${consumer}-messages`,
  /** Requests of orders that call other orders; `callReplies` holds the replies. */
  calls: `${workflowsAgent}-requests`,
  callReplies: `${workflowsAgent}-replies`,
  /** A client's own response queue, by the id under which it is registered. */
  response: (channel: string) => channel,
  deadLetters: (queue: string) => `${queue}-dead`,
} as const;

/** Whether a name is that of a queue, and not that of an agent or a consumer. */
export const isQueueName = (name: string): boolean =>
  name === queueNames.submissions ||
  name === queueNames.wakeUps ||
  name.startsWith(responseQueuePrefix) ||
  /-(requests|replies|messages|dead)$/.test(name);

export const isDeadLetterQueue = (queue: string): boolean => queue.endsWith('-dead');

/** Returns the queue that a dead-letter queue belongs to; any other queue itself. */
export const sourceQueueOf = (queue: string): string => queue.replace(/-dead$/, '');

/** Returns the agent of a reply queue; undefined for any other queue. */
export const agentOfReplies = (queue: string): string | undefined =>
  queue.endsWith('-replies') ? queue.slice(0, -'-replies'.length) : undefined;

/** Returns the agent of a request queue; undefined for any other queue. */
export const agentOfRequests = (queue: string): string | undefined =>
  queue.endsWith('-requests') ? queue.slice(0, -'-requests'.length) : undefined;

/** Returns the app's consumer behind a queue; undefined for any other queue. */
export const consumerOf = (queue: string): string | undefined =>
  queue.endsWith('-messages') ? queue.slice(0, -'-messages'.length) : undefined;

/** Whether programs outside the system send to this queue. */
export const isOpenToSenders = (queue: string): boolean => queue === queueNames.submissions || consumerOf(queue) !== undefined;

/** Version of all messages between the roles. A program of a new version must also read messages of the version before. */
export const messageVersion = 1;

/** Returns the error for a message of a later version, which newer processes can read; undefined for any other message. */
export function newerProblem(message: unknown): NewerMessageError | undefined {
  const version = isObject(message) ? message['v'] : undefined;
  const isNewer = typeof version === 'number' && Number.isSafeInteger(version) && version > messageVersion;
  return isNewer ? new NewerMessageError(`Expected a message of version ${messageVersion}, got version ${version}.`) : undefined;
}

const time = z.iso.datetime();
/** Any result of JSON.parse. */
const json = z.custom<Json>((value) => value !== undefined);
const id = z.string().min(1).max(2048);

/** Pattern of the short fault names that agents return: `CardDeclined`. */
export const faultName = /^[A-Z][A-Za-z0-9]{0,63}$/;

/** Fields that identify an attempt, in its request and in every message about it. */
export const attemptFields = {
  v: z.literal(messageVersion),
  requestId: id,
  orderId: id,
  path: id,
  attempt: z.int().min(1),
  epoch: z.int().min(1),
};

type AttemptFields = { readonly [K in keyof typeof attemptFields]: z.infer<(typeof attemptFields)[K]> };

/** Whether the fields of a message agree with its request id. A cancellation has neither epoch nor attempt. */
export const namesItsAttempt = ({
  requestId,
  orderId,
  path,
  ...asked
}: Omit<AttemptFields, 'epoch' | 'attempt'> | AttemptFields): boolean =>
  requestId.startsWith(`${orderId}/${path}/`) && (!('attempt' in asked) || requestId.endsWith(`#${asked.epoch}.${asked.attempt}`));

export const Request = z.object({
  ...attemptFields,
  type: z.literal('request'),
  operation: id,
  completeBy: time,
  /** Time left when it was sent. The agent uses the earlier of both deadlines, because its clock may be wrong. */
  remainingMs: z.number(),
  /** Time that the request had when it was first sent, if this later copy has less. Each heartbeat extends the deadline by that much. */
  givenMs: z.number().optional(),
  idempotencyKey: id,
  /** The input; its secrets are sealed if there is a `key`. */
  input: json,
  /** The order's key, encrypted with the key of its day. Agents of operations that declare a secret decrypt it. */
  key: z.string().min(1).max(1024).optional(),
  /**
   * The request only confirms the outcome: whether the effect under this key exists. A permanent failure means that the effect does not
   * exist.
   */
  confirming: z.literal(true).optional(),
  /** The request is the first under its key, but not the first of its step: the earlier ones were definitely refused. */
  newKey: z.literal(true).optional(),
  /** The number of times that the agent has requeued it because the service was down. */
  requeued: z.int().min(1).optional(),
  /** A copy of this request may have been sent and served before. */
  resent: z.literal(true).optional(),
});
export type Request = z.infer<typeof Request>;

/**
 * Whether an earlier request, a try before a requeue, or a copy may have had the effect already. A refusal from an agent that
 * did not check the key does not rule that out.
 */
export const isRepeated = ({
  attempt,
  newKey,
  confirming,
  requeued,
  resent,
}: Pick<Request, 'attempt' | 'newKey' | 'confirming' | 'requeued' | 'resent'>): boolean =>
  confirming === true || resent === true || requeued !== undefined || (attempt > 1 && newKey !== true);

/** A cancellation of a request. The agent that works on the request stops if it can. */
export const Cancel = z.object({
  v: z.literal(messageVersion),
  type: z.literal('cancel'),
  requestId: id,
  orderId: id,
  path: id,
  idempotencyKey: id,
});
export type Cancel = z.infer<typeof Cancel>;

/** An order is at its end, and another one replaces it. `orderId` is the ended order, whose record names the other one. */
export const Restart = z.object({ v: z.literal(messageVersion), type: z.literal('restart'), orderId: id });

/** A rule has another order handle the exception `seq` of this order. The record of this order names the other one. */
export const Handle = z.object({ v: z.literal(messageVersion), type: z.literal('handle'), orderId: id, seq: z.int().min(1) });

/** A recovery has undone what a step wrote: the orders that have read those objects are to be notified. */
export const Undone = z.object({
  v: z.literal(messageVersion),
  type: z.literal('undone'),
  orderId: id,
  path: id,
  /** The time at which the step was undone: milliseconds since 1970. Absent in messages of an older process. */
  undoneAt: z.int().optional(),
  /** The number of earlier searches for the orders that have read those objects. Absent: none. */
  looks: z.int().min(1).optional(),
});
export type Undone = z.infer<typeof Undone>;

/** Messages that an agent accepts. */
export const ToAgent = z.discriminatedUnion('type', [Request, Cancel]);
export type ToAgent = z.infer<typeof ToAgent>;

export const Reply = z.object({
  ...attemptFields,
  type: z.literal('reply'),
  sentAt: time,
  result: z.discriminatedUnion('status', [
    z.object({ status: z.literal('succeeded'), output: json }),
    z.object({
      status: z.literal('failed'),
      fault: z.object({
        type: z.string().regex(faultName),
        message: z.string(),
        permanent: z.boolean(),
        outcomeUnknown: z.boolean().optional(),
        data: json.optional(),
      }),
    }),
    z.object({
      status: z.literal('rejected'),
      code: z.literal(500),
      message: z.string(),
      /** Id of the dead letter that keeps the message for an operator. */
      deadLetter: z.string().optional(),
      /** An attempt to process the message may have had the effect. */
      outcomeUnknown: z.literal(true).optional(),
    }),
  ]),
});
export type Reply = z.infer<typeof Reply>;

export const Heartbeat = z.object({ ...attemptFields, type: z.literal('heartbeat'), sentAt: time, completeBy: time });
export type Heartbeat = z.infer<typeof Heartbeat>;

/** `handled`: the order that handles an exception of this one has ended. */
export const WakeUp = z.object({
  v: z.literal(messageVersion),
  type: z.literal('wake-up'),
  orderId: id,
  sentAt: time,
  handled: z.object({ seq: z.int().min(1), handler: id, isCompleted: z.boolean(), message: z.string() }).optional(),
  /** A write that the order has read was undone. */
  inconsistency: z
    .object({
      id,
      cause: z.object({ orderId: id, path: id }),
      causedBy: id.optional(),
      uses: z.array(z.object({ path: id, object: id, at: z.number().optional() })),
      isTooMany: z.literal(true).optional(),
    })
    .optional(),
  /** The task of this number is a question, and no person takes it. */
  unattended: z
    .object({ id, seq: z.int().min(1), why: z.enum(unattendedReasons), group: z.string().min(1).max(peopleLimits.groupCharactersMax) })
    .optional(),
});
export type WakeUp = z.infer<typeof WakeUp>;

/** A submission from the queue. It has the same limits as a submission through the API. */
export const SubmissionMessage = z.object({
  v: z.literal(messageVersion),
  type: z.literal('submission'),
  idempotencyKey: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'Expected 1 to 255 printable ASCII characters'),
  client: z.string(),
  workflow: z.string().max(64).optional(),
  order: json,
  reference: z.string().max(128).optional(),
  responseChannel: z.string().max(128).optional(),
});

export type SubmissionMessage = z.infer<typeof SubmissionMessage>;

/** A message for a consumer of the app. `client` and `responseChannel` say where its sender receives an error. */
export const ConsumerMessage = z.object({
  v: z.literal(messageVersion),
  type: z.string().min(1).max(64),
  conversation: z.string().min(1).max(256).optional(),
  body: json.optional(),
  client: z.string().max(128).optional(),
  responseChannel: z.string().max(128).optional(),
  reference: z.string().max(128).optional(),
});
export type ConsumerMessage = z.infer<typeof ConsumerMessage>;

export type StatusKind = 'received' | 'refused' | 'delayed' | 'completed' | 'failed';

/** Messages that the scheduler accepts from queues. */
export const ToScheduler = z.discriminatedUnion('type', [Reply, Heartbeat, WakeUp]);
export type ToScheduler = z.infer<typeof ToScheduler>;

export const timeText = (at: number): string => new Date(at).toISOString();

export const requestMessage = (orderId: string, command: RequestCommand, now: number, key?: string): JsonObject => ({
  v: 1,
  type: 'request',
  requestId: command.requestId,
  orderId,
  path: command.path,
  operation: command.operation,
  attempt: command.attempt,
  epoch: command.epoch,
  completeBy: timeText(command.completeBy),
  remainingMs: command.completeBy - now,
  idempotencyKey: command.idempotencyKey,
  input: command.input,
  ...(key === undefined ? {} : { key }),
  ...(command.confirming ? { confirming: true } : {}),
  ...(command.newKey ? { newKey: true } : {}),
  ...(command.resent ? { resent: true } : {}),
});

export const cancelMessage = (orderId: string, { requestId, path, idempotencyKey }: CancelCommand): JsonObject => ({
  v: 1,
  type: 'cancel',
  requestId,
  orderId,
  path,
  idempotencyKey,
});

/** An order and its client. The client is absent if the order's record is unreadable. */
export interface OrderAndClient {
  readonly orderId: string;
  readonly client?: string;
}

/** Returns a wake-up for the scheduler, in the group of the order's client. */
export const wakeUpOf = ({ orderId, client }: OrderAndClient, now: number): Outgoing => ({
  queue: queueNames.wakeUps,
  body: JSON.stringify(wakeUpMessage(orderId, now)),
  ...groupOf({ group: client }),
});

export const wakeUpMessage = (orderId: string, now: number): JsonObject => ({ v: 1, type: 'wake-up', orderId, sentAt: timeText(now) });

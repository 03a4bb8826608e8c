import * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import type { CancelCommand, RequestCommand } from '#core/data/command';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { NewerMessageError } from './errors.ts';
import { groupOf, type Outgoing } from './queues.ts';

/** Names of the queues; every implementation puts its own prefix before them. */
export const queueNames = {
  requests: (agent: string) => `${agent}-requests`,
  replies: (agent: string) => `${agent}-replies`,
  /** Wake-ups for the scheduler. */
  wakeUps: 'wake-ups',
  submissions: 'submissions',
  /** Of orders that call others, to the engine, and back. */
  calls: `${workflowsAgent}-requests`,
  callReplies: `${workflowsAgent}-replies`,
  /** A client's own response queue, by the id under which it is registered. */
  response: (channel: string) => channel,
  deadLetters: (queue: string) => `${queue}-dead`,
} as const;

/** The agent whose reply queue this is; undefined for any other queue. */
export const agentOfReplies = (queue: string): string | undefined =>
  queue.endsWith('-replies') ? queue.slice(0, -'-replies'.length) : undefined;

/** The agent whose request queue this is; undefined for any other queue. */
export const agentOfRequests = (queue: string): string | undefined =>
  queue.endsWith('-requests') ? queue.slice(0, -'-requests'.length) : undefined;

/** Of every message between the roles. Whoever changes one reads the version before, too, and sends this one. */
export const messageVersion = 1;

/** What is wrong with a message of a later version, which whoever runs that can read; undefined for any other. */
export function newerProblem(message: unknown): NewerMessageError | undefined {
  const version = isObject(message) ? message['v'] : undefined;
  const isNewer = typeof version === 'number' && Number.isSafeInteger(version) && version > messageVersion;
  return isNewer ? new NewerMessageError(`The message has the version ${version}, and this program reads ${messageVersion}.`) : undefined;
}

const time = z.iso.datetime();
/** Whatever JSON.parse gave. */
const json = z.custom<Json>((value) => value !== undefined);
const id = z.string().min(1).max(2048);

/** The short name of a fault, as agents give it: `CardDeclined`. */
export const faultName = /^[A-Z][A-Za-z0-9]{0,63}$/;

/** What every asking, and all that is said to it, is named by. */
export const attemptFields = {
  v: z.literal(messageVersion),
  requestId: id,
  orderId: id,
  path: id,
  attempt: z.int().min(1),
  epoch: z.int().min(1),
};

type AttemptFields = { readonly [K in keyof typeof attemptFields]: z.infer<(typeof attemptFields)[K]> };

/** One that contradicts the very asking that it names speaks for none. A cancellation says neither epoch nor attempt. */
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
  /** Time left when it was sent: whoever's clock is wrong takes the smaller of both. */
  remainingMs: z.number(),
  idempotencyKey: id,
  input: json,
  /** Only whether the effect under this key exists is wanted; a permanent failure says that it does not. */
  confirming: z.literal(true).optional(),
  /** The first asking under its key, although not the first of its step: the ones before were refused for certain. */
  newKey: z.literal(true).optional(),
  /** How often its agent has put it back, because its service was away. */
  requeued: z.int().min(1).optional(),
  /** A copy of this request may have been sent before, and served. */
  resent: z.literal(true).optional(),
});
export type Request = z.infer<typeof Request>;

/**
 * Whether something may have been done under the key already: by an earlier asking, an earlier try of this one before it was put
 * back, or a copy of it. A refusal by whoever does not know the key says nothing of that.
 */
export const isRepeated = ({
  attempt,
  newKey,
  confirming,
  requeued,
  resent,
}: Pick<Request, 'attempt' | 'newKey' | 'confirming' | 'requeued' | 'resent'>): boolean =>
  confirming === true || resent === true || requeued !== undefined || (attempt > 1 && newKey !== true);

/** An asking is not wanted any more: whoever is at work on it stops if he can. */
export const Cancel = z.object({
  v: z.literal(messageVersion),
  type: z.literal('cancel'),
  requestId: id,
  orderId: id,
  path: id,
  idempotencyKey: id,
});
export type Cancel = z.infer<typeof Cancel>;

/** What an agent takes in. */
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
      /** Where the message is kept for a person. */
      deadLetter: z.string().optional(),
      /** Whoever tried to process it may have done it. */
      outcomeUnknown: z.literal(true).optional(),
    }),
  ]),
});
export type Reply = z.infer<typeof Reply>;

export const Heartbeat = z.object({ ...attemptFields, type: z.literal('heartbeat'), sentAt: time, completeBy: time });
export type Heartbeat = z.infer<typeof Heartbeat>;

export const WakeUp = z.object({ v: z.literal(messageVersion), type: z.literal('wake-up'), orderId: id, sentAt: time });
export type WakeUp = z.infer<typeof WakeUp>;

/** Within the same bounds as a call of the API: an order is the same whichever way it comes. */
export const SubmissionMessage = z.object({
  v: z.literal(messageVersion),
  type: z.literal('submission'),
  idempotencyKey: z.string().regex(/^[\x20-\x7e]{1,255}$/, '1 to 255 printable ASCII characters are wanted'),
  client: z.string(),
  workflow: z.string().max(64).optional(),
  order: json,
  reference: z.string().max(128).optional(),
  responseChannel: z.string().max(128).optional(),
});

export type SubmissionMessage = z.infer<typeof SubmissionMessage>;

export type StatusKind = 'received' | 'refused' | 'delayed' | 'completed' | 'failed';

/** What the scheduler takes in from queues. */
export const ToScheduler = z.discriminatedUnion('type', [Reply, Heartbeat, WakeUp]);
export type ToScheduler = z.infer<typeof ToScheduler>;

export const timeText = (at: number): string => new Date(at).toISOString();

export const requestMessage = (orderId: string, command: RequestCommand, now: number): JsonObject => ({
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

/** An order, and its client where he is known: whoever cannot read an order does not know him. */
export interface Whose {
  readonly orderId: string;
  readonly client?: string;
}

/** On its way to the scheduler, as work of the order's client. */
export const wakeUpOf = ({ orderId, client }: Whose, now: number): Outgoing => ({
  queue: queueNames.wakeUps,
  body: JSON.stringify(wakeUpMessage(orderId, now)),
  ...groupOf({ group: client }),
});

export const wakeUpMessage = (orderId: string, now: number): JsonObject => ({ v: 1, type: 'wake-up', orderId, sentAt: timeText(now) });

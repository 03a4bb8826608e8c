import type { FaultClass } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import type { ProcessState } from '#core/data/state';
import type { OnExhausted } from '#core/definition/definition';
import type { Subject } from '#core/engine/transition';
import type { CauseContent } from './cause-entries.ts';
import type { ObjectsContent } from './object-entries.ts';

export type { ProcessState } from '#core/data/state';

/** The call that created a called order: its caller, its path there, and its request. */
export interface CallerRef {
  readonly orderId: string;
  /** Path of the call in the caller. */
  readonly path: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly epoch: number;
}

/** The order as it was submitted. Only an erasure changes it. */
export interface OrderRecord {
  readonly orderId: string;
  readonly client: string;
  readonly reference?: string;
  readonly workflow: { readonly name: string; readonly version: number };
  /** The order as its schema describes it. Fields that are marked secret hold sealed texts, except in orders of older releases. */
  readonly body: Json;
  /**
   * Hash of the whole submission, keyed with the order's key if it has one. If an idempotency key comes again with another hash, the client
   * has made an error.
   */
  readonly hash: string;
  /** The order's key, encrypted with the key of its day. Absent if the workflow marks nothing secret, and after an erasure. */
  readonly key?: string;
  /** The time at which the order's key was erased: milliseconds since 1970. Nobody can read its secrets since then. */
  readonly erasedAt?: number;
  /** Id of the client's registered response queue. */
  readonly responseChannel?: string;
  /** Milliseconds since 1970. */
  readonly submittedAt: number;
  /**
   * First generation of each effect; absent: 1. After an order of the same id may have been deleted, it is the submission time in seconds,
   * so that idempotency keys are new.
   */
  readonly firstGeneration?: number;
  /** The order that this one replaces. */
  readonly restartedFrom?: string;
  /** The exception that this order handles. */
  readonly handles?: ExceptionRef;
  /** The caller of this order and its request. */
  readonly caller?: CallerRef;
  /** Body of the 202 response, byte for byte. */
  readonly answer: string;
}

/** An exception of another order, by its number there. */
export interface ExceptionRef {
  readonly orderId: string;
  readonly seq: number;
}

/** Returns the part of an order that the core sees. */
export const subjectOf = ({ orderId, body: order, firstGeneration }: OrderRecord): Subject => ({ orderId, order, firstGeneration });

export type Outcome = 'completed' | 'compensated' | 'rejected' | 'canceled' | 'terminated';

/** Reason for the next deadline. Only a deadline of a `step` or a `claim` counts as a failure when it passes. */
export interface DueFor {
  readonly kind:
    | 'unclaimed'
    | 'step'
    | 'claim'
    | 'request'
    | 'timer'
    | 'outbox'
    | 'unsent'
    | 'reminder'
    | 'suspended'
    | 'handler'
    | 'lock'
    | 'rule';
  readonly path?: string;
  readonly agent?: string;
  /** The number of times that the same step or claim was late before; absent if never. */
  readonly failures?: number;
  /** A sentence about the failure that the step's agent reported last, without secrets; absent if it reported none. */
  readonly heard?: string;
  /** The extended deadline of a step whose expiry was counted: milliseconds since 1970. */
  readonly waitsUntil?: number;
  /** The step has failed, and is requested again at this time: a rule gave it a pause. */
  readonly pauses?: true;
  /** Path of an undo, or of the confirmation of an outcome, that has failed and is requested again; absent if there is none. */
  readonly failing?: string;
  /** The time since which the step waits, if an outage of the service or unread replies explain its lateness: milliseconds since 1970. */
  readonly waitingSince?: number;
  /**
   * The earliest time at which a timer ends, rules about times are to be asked, or a step of another agent is late. It accompanies a step
   * or claim that may be late. Milliseconds since 1970.
   */
  readonly wakeAt?: number;
  /**
   * For each agent whose late steps the supervisor has put off: until when, and since when these steps wait. Both: milliseconds since 1970.
   */
  readonly putOff?: { readonly [agent: string]: { readonly until: number; readonly waitingSince: number } };
}

/** The reason why an order is blocked, as shown to operators and clients. */
export interface FaultSummary {
  /** `CardDeclined` */
  readonly type: string;
  readonly class: FaultClass;
  readonly message: string;
  readonly permanent: boolean;
  /** Path of the activity. */
  readonly source?: string;
  readonly data?: Json;
}

/** A cause for which an exception, a task or both are open. */
export interface OpenCause {
  /** The number of the cause within its order, from 1. The exception and the task have the same. */
  readonly seq: number;
  /**
   * `error/3`: the order is in Error for the third time. `undo/order/charge`: the undo of this step keeps failing. `report/4`: an exception
   * from outside that came while the order was stopped. `lost/5`: the name of the cause was lost with the state of the order.
   */
  readonly cause: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A question to a person is a task without an exception. So is a task that a rule asks for. */
  readonly isQuestion?: true;
  /** The exception is part of a task that was open already. */
  readonly hasNoTask?: true;
  /** The activity and the fingerprint of an exception, if the state of the order does not contain them otherwise. */
  readonly path?: string;
  readonly fingerprint?: string;
}

/** An announcement, a status message, or a change of the records of causes and objects, kept in the state until its delivery is certain. */
export type OutboxEntry = {
  /** Unchanged if the entry is sent twice. */
  readonly id: string;
  /** A send failed. From then on no reply proves the entry: only a send that succeeds clears it. */
  readonly unproven?: true;
  /** Requests that were sent after the entry. A reply to one of them proves that the entry was sent. */
  readonly provenBy?: readonly string[];
} & (
  | { readonly kind: 'announcement'; readonly detailType: DetailType; readonly detail: JsonObject }
  | { readonly kind: 'status'; readonly channel: string; readonly message: JsonObject }
  | ObjectsContent
  | CauseContent
);

export const detailTypes = [
  'Order Processed',
  'Order In Error',
  'Workflow Terminated',
  'Service Exception',
  'Message Dead-Lettered',
  'Channel Closed',
  'Exception Raised',
  'Task Opened',
  'Task Reminder',
  'Task Resolved',
  'Compensation Stuck',
  'Bulk Run Waiting',
  'Rule Announced',
  'Rule Demoted',
  'Rule Stale',
] as const;
export type DetailType = (typeof detailTypes)[number];

/** Announcements that repeat an alert, or that nobody must act on. */
const quietTypes: ReadonlySet<DetailType> = new Set([
  'Order Processed',
  'Exception Raised',
  'Task Opened',
  'Task Reminder',
  'Task Resolved',
  'Bulk Run Waiting',
]);

/** Announcements that are alerts: a person must act on them. */
export const alertTypes = detailTypes.filter((type) => !quietTypes.has(type));

/** A fact from a role that does not read the instance. The scheduler adds it to the journal with its next write. */
export type Note = { readonly at: number } & (
  | { readonly type: 'DeadlineExpired'; readonly path?: string; readonly failureCount: number }
  | { readonly type: 'OrderReset'; readonly failureCount: number }
  | { readonly type: 'ThresholdExceeded'; readonly path?: string; readonly failureCount: number }
  | { readonly type: 'DeadlineMoved'; readonly path?: string; readonly reason: string }
  /** `before`: the order was in Error already, for another reason. */
  | { readonly type: 'RecordUnreadable'; readonly reason: string; readonly before?: 'Error' }
  /** An operator's action on a dead letter; `message` is its id. */
  | { readonly type: 'MessageResubmitted'; readonly message: string; readonly by: string; readonly reason: string; readonly edited?: true }
  | { readonly type: 'MessageDiscarded'; readonly message: string; readonly by: string; readonly reason: string }
);

/**
 * The number of open causes of one order from which on a failing undo opens none: it waits until one of these causes is gone. Errors and
 * reports are not limited.
 */
export const openCausesMax = 8;

/** The state of one order. Roles decide on its fields without knowing the workflow; `blob` holds the instance. */
export interface StateRecord {
  readonly schemaVersion: 1;
  readonly orderId: string;
  /** Copied from the order, for lists of states: milliseconds since 1970. */
  readonly submittedAt: number;
  /** Rises by one with every write. */
  readonly rev: number;
  /** Rises by one with each claim and each reset. Together with `rev` it fences every write. */
  readonly epoch: number;
  /** Id of the host that claimed the order, until the order is finished or reset (F-12). */
  readonly lockedBy: string | null;
  /** Deadline of the current work (F-12): milliseconds since 1970. */
  readonly completeBy: number | null;
  readonly processState: ProcessState;
  readonly outcome: Outcome | null;
  /**
   * The highest failure count of the steps at work, also if the order expires as a whole (`recover: 'order'`). The count of a step ends
   * with the step.
   */
  readonly failureCount: number;
  /** Rises by one each time the order enters Error. It is part of the ids of alerts. */
  readonly errorGen: number;
  /** The number of causes so far: each exception and each task of the order has one. Absent: none. */
  readonly causes?: number;
  /** The causes that are open. From `openCausesMax` on, no failing undo opens a further one. Absent: none. */
  readonly open?: readonly OpenCause[];
  /** The order that replaces this one as soon as this one is at its end. Absent: none. */
  readonly restartedAs?: string;
  /** A key that identifies the rules about ages and late steps with which the order's deadlines were planned. Absent: there were none. */
  readonly ruleTimers?: string;
  /** The order, or a scope of it, is being undone. Absent: it is not. */
  readonly undoing?: true | undefined;
  /** An operator suspended the order: it begins no work, and its deadlines stand still. Only its outbox can be due. */
  readonly suspended: boolean;
  /** Time left for the current work while the order is suspended; else null. */
  readonly remainingMs: number | null;
  readonly fault: FaultSummary | null;
  /** Lease of the instance: its holder, a host or a person, and with `heldUntil` its end (F-15). */
  readonly heldBy: string | null;
  readonly heldUntil: number | null;
  /** The exact next deadline. */
  readonly nextDueAt: number | null;
  readonly nextDueFor: DueFor | null;
  /** The worklist that lists the order. Its time there, `worklistAt`, is never later than `nextDueAt` and often earlier. */
  readonly worklist: 'due' | 'error' | null;
  readonly worklistAt: number | null;
  readonly recover: 'step' | 'order';
  readonly maxFailures: number;
  readonly onExhausted: OnExhausted;
  /** The pause of a step above its failure limit, with `onExhausted: 'wait'`; absent: an hour. */
  readonly longWaitMs?: number | undefined;
  readonly stepMs: number;
  readonly client: string;
  readonly responseChannel: string | null;
  readonly statusSeq: number;
  readonly workflow: { readonly name: string; readonly version: number };
  /** Hash of the definition with which the order began; null for an order of an older release. */
  readonly definition: string | null;
  /** Ids of the events that the last write applied. */
  readonly lastBy: readonly string[];
  /** Ids of the last four writes. A writer that lost the store's answer finds its own id here. */
  readonly writeIds: readonly { readonly id: string; readonly rev: number }[];
  readonly outbox: readonly OutboxEntry[];
  readonly notes: readonly Note[];
  readonly updatedAt: number;
  /** JSON of the instance. Only the scheduler reads it. */
  readonly blob: string;
}

/** The record without the instance. The supervisor sees only this. */
export type StateHead = Omit<StateRecord, 'blob'>;

/** Counters that only rise. They fence writes, and are part of the ids of pages, requests and announcements. */
export type Counters = Pick<StateHead, 'rev' | 'epoch' | 'errorGen' | 'statusSeq'>;

/**
 * Returns the prefix of the ids of an order's announcements. An order submitted under the same key after the first was forgotten
 * has the same order id. The time of submission tells the two apart for subscribers that drop duplicates.
 */
export const announcedAs = ({ orderId, submittedAt }: Pick<StateHead, 'orderId' | 'submittedAt'>): string => `${orderId}@${submittedAt}`;

export const shardCount = 16;

/** Returns a hash below 2^32 that spreads orders evenly. */
export const hashOf = (orderId: string): number => {
  let hash = 0;
  for (let index = 0; index < orderId.length; index++) hash = (hash * 31 + orderId.charCodeAt(index)) >>> 0;
  return hash;
};

/** Returns the shard of the worklist for an order. */
export const shardOf = (orderId: string): number => hashOf(orderId) % shardCount;

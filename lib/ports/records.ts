import type { FaultClass } from '#core/data/fault';
import type { Json, JsonObject } from '#core/data/json';
import type { OnExhausted } from '#core/definition/definition';
import type { Subject } from '#core/engine/transition';

/** The asking for which an order was made: that of a call in another order. */
export interface CallerRef {
  readonly orderId: string;
  /** Of the call. */
  readonly path: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly epoch: number;
}

/** The order as it was submitted. It never changes. */
export interface OrderRecord {
  readonly orderId: string;
  readonly client: string;
  readonly reference?: string;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly body: Json;
  /** SHA-256 of all that was submitted: the same key with another hash is a mistake of the client. */
  readonly hash: string;
  /** Id of the client's registered response queue. */
  readonly responseChannel?: string;
  /** Milliseconds since 1970. */
  readonly submittedAt: number;
  /** Of each of its effects: where an order of the same id may have been forgotten, the second of its submission. */
  readonly firstGeneration?: number;
  /** The order that called this one, with its asking. */
  readonly caller?: CallerRef;
  /** The very bytes of the 202 answer. */
  readonly answer: string;
}

/** What the core sees of an order. */
export const subjectOf = ({ orderId, body: order, firstGeneration }: OrderRecord): Subject => ({ orderId, order, firstGeneration });

export type ProcessState = 'Pending' | 'Processing' | 'Processed' | 'Error';
export type Outcome = 'completed' | 'compensated' | 'rejected' | 'canceled' | 'terminated';

/** What the next deadline is about. Only `step` and `claim` count as failures when they pass. */
export interface DueFor {
  readonly kind: 'unclaimed' | 'step' | 'claim' | 'request' | 'timer' | 'outbox' | 'unsent' | 'reminder' | 'suspended';
  readonly path?: string;
  readonly agent?: string;
  /** How often what is due was late before; absent for never. */
  readonly failures?: number;
  /** Something was counted as late, and has been given until then: milliseconds since 1970. */
  readonly waitsUntil?: number;
  /** Its step was late through no fault of its agent, whose service was away or whose answers nobody read: since when it waits, milliseconds since 1970. */
  readonly waitingSince?: number;
}

/** Why an order waits for a person, as shown outside. */
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

/** Something to be told outside, kept in the state until it is known to have been told. */
export type OutboxEntry = {
  /** The same when sent twice. */
  readonly id: string;
  /** Sending failed: from now on only a seen acknowledgement clears it. */
  readonly unproven?: true;
  /** Requests that were sent after it: the reply to one of them proves that it was sent. */
  readonly provenBy?: readonly string[];
} & (
  | { readonly kind: 'announcement'; readonly detailType: DetailType; readonly detail: JsonObject }
  | { readonly kind: 'status'; readonly channel: string; readonly message: JsonObject }
);

export const detailTypes = [
  'Order Processed',
  'Order In Error',
  'Workflow Terminated',
  'Service Exception',
  'Poison Message Dead-Lettered',
  'Channel Closed',
  'Exception Raised',
  'Compensation Stuck',
] as const;
export type DetailType = (typeof detailTypes)[number];

/** Those that a person must see; the others are for whoever wants to know. */
export const alertTypes = detailTypes.filter((type) => type !== 'Order Processed');

/** What others did to an order without reading its instance, for the journal: the scheduler writes it down with its next write. */
export type Note = { readonly at: number } & (
  | { readonly type: 'DeadlineExpired'; readonly path?: string; readonly failureCount: number }
  | { readonly type: 'OrderReset'; readonly failureCount: number }
  | { readonly type: 'ThresholdExceeded'; readonly path?: string; readonly failureCount: number }
  | { readonly type: 'DeadlineMoved'; readonly path?: string; readonly reason: string }
  /** `before`: it was in Error already, for something else. */
  | { readonly type: 'RecordUnreadable'; readonly reason: string; readonly before?: 'Error' }
  /** What a person did with a message that was dead-lettered. `message`: its id there. */
  | { readonly type: 'MessageResubmitted'; readonly message: string; readonly by: string; readonly reason: string; readonly edited?: true }
  | { readonly type: 'MessageDiscarded'; readonly message: string; readonly by: string; readonly reason: string }
);

/** The state of one order: what roles decide on without knowing the workflow, and the instance itself in `blob`. */
export interface StateRecord {
  readonly schemaVersion: 1;
  readonly orderId: string;
  /** The order's own, for lists of states: milliseconds since 1970. */
  readonly submittedAt: number;
  /** Rises by one at every write. */
  readonly rev: number;
  /** Rises by one at each claim and each reset. With `rev` it fences every write. */
  readonly epoch: number;
  /** Id of the host that claimed the order, until it is finished or reset (SAS). */
  readonly lockedBy: string | null;
  /** By when what is at work now must be done (SAS); milliseconds since 1970. */
  readonly completeBy: number | null;
  readonly processState: ProcessState;
  readonly outcome: Outcome | null;
  /** The most that any step at work was late; with `recover: 'order'`, too. A step that passes takes its count along. */
  readonly failureCount: number;
  /** Rises by one each time the order goes into Error; makes ids of alerts. */
  readonly errorGen: number;
  /** By an operator: nothing new is begun, and no time passes for it; only what it has to tell is due. */
  readonly suspended: boolean;
  /** Of the time of what is at work, what is left while it is suspended; else null. */
  readonly remainingMs: number | null;
  readonly fault: FaultSummary | null;
  /** Lease: who has the instance to himself, and until when (LOCK). */
  readonly heldBy: string | null;
  readonly heldUntil: number | null;
  /** The exact next deadline. */
  readonly nextDueAt: number | null;
  readonly nextDueFor: DueFor | null;
  /** Where and when the supervisor looks for it: never later than `nextDueAt`, often earlier. */
  readonly worklist: 'due' | 'error' | null;
  readonly worklistAt: number | null;
  readonly recover: 'step' | 'order';
  readonly maxFailures: number;
  readonly onExhausted: OnExhausted;
  /** How long a step above the threshold is left alone, with `onExhausted: 'wait'`; absent: an hour. */
  readonly longWaitMs?: number | undefined;
  readonly stepMs: number;
  readonly client: string;
  readonly responseChannel: string | null;
  readonly statusSeq: number;
  readonly workflow: { readonly name: string; readonly version: number };
  /** Hash of what steers that version, as it was when the order began; null of an order of an older program. */
  readonly definition: string | null;
  /** Ids of the events that the last write took in. */
  readonly lastBy: readonly string[];
  /** The last four writes: whose write it was, when the answer got lost. */
  readonly writeIds: readonly { readonly id: string; readonly rev: number }[];
  readonly outbox: readonly OutboxEntry[];
  readonly notes: readonly Note[];
  readonly updatedAt: number;
  /** JSON of the instance; only the scheduler looks inside. */
  readonly blob: string;
}

/** The record without the instance: all that the supervisor may see. */
export type StateHead = Omit<StateRecord, 'blob'>;

/** A client of the API and what it may name. */
export interface ClientRecord {
  readonly id: string;
  readonly responseChannels: readonly string[];
  /** SQS sender ids that may post submissions in its name. */
  readonly senders: readonly string[];
}

/**
 * What the ids of an order's announcements begin with. An order that is submitted under the same key after the first was
 * forgotten has the same id: those who drop what they were told before must hear of both.
 */
export const announcedAs = ({ orderId, submittedAt }: Pick<StateHead, 'orderId' | 'submittedAt'>): string => `${orderId}@${submittedAt}`;

export const shardCount = 16;

/** Spreads orders evenly over the numbers below 2^32. */
export const hashOf = (orderId: string): number => {
  let hash = 0;
  for (let index = 0; index < orderId.length; index++) hash = (hash * 31 + orderId.charCodeAt(index)) >>> 0;
  return hash;
};

/** The shard of the worklist in which an order stands: its id is a hash already. */
export const shardOf = (orderId: string): number => hashOf(orderId) % shardCount;

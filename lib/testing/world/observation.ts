import type { Destination } from '#core/notifications/delivery';
import type { PeopleMessage } from '#core/notifications/message';
import type { UndoPlan } from '#core/views/undo-plan';
import type { Document } from '#ports/documents';
import type { Announcement } from '#ports/event-bus';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { DeadLetter } from '#roles/dead-letters/dead-letter';
import type { InstructionPlan } from '#roles/operator/feasibility';
import type { Instructed } from '#roles/operator/instruct';
import type { Decision } from '#roles/operator/instruction';
import type { ObjectUse } from '#roles/recovery/objects';
import type { LockPolicy } from '#roles/scheduler/lease';
import type { StepReport } from '#roles/scheduler/step-report';
import type { Submission, SubmissionProblem } from '#roles/submission/submission';
import type { AgentObservation, ClockJumps } from './agent-event.ts';
import type { ConsumerObservation } from './consumer-observation.ts';

/** An observation of the system from outside of its processes. */
export type Observation =
  /** A write of an order's record. `before` is undefined for a new order. */
  | {
      readonly type: 'written';
      readonly before: StateRecord | undefined;
      readonly after: StateRecord;
      /** The order, if this write created it. */
      readonly order?: OrderRecord | undefined;
      /** Documents that were written in the same transaction. */
      readonly documents?: readonly Document[];
      /** The role that wrote it, where the world knows it. */
      readonly role?: string | undefined;
    }
  | { readonly type: 'sent'; readonly queue: string; readonly body: string; readonly delayMs: number }
  /** A function acknowledged a message that it had processed. */
  | { readonly type: 'acknowledged'; readonly queue: string; readonly messageId: string; readonly body: string }
  | { readonly type: 'published'; readonly announcement: Announcement }
  /** The answer to a submission: `accepted`, or `key-reused` for a key of another order. */
  | {
      readonly type: 'submitted';
      readonly orderId: string;
      readonly workflow: string;
      readonly outcome: 'accepted' | 'key-reused';
      /** Whether the answer says that the order existed before; undefined for a refusal. */
      readonly replayed: boolean | undefined;
      /** The body of the answer. */
      readonly answer: string | undefined;
    }
  /** The answer to an invalid submission. `expected`: pointer and code of the problem that must be among its problems. */
  | {
      readonly type: 'refused';
      readonly key: string;
      readonly outcome: string;
      readonly problems: readonly SubmissionProblem[];
      readonly expected: string;
    }
  /** An invalid submission was sent to the queue. */
  | { readonly type: 'posted invalid'; readonly submission: Submission; readonly body: string; readonly expected: string }
  /** A document of a bulk run was written by itself. The outcome `applied` is written with its order: see `written`. */
  | { readonly type: 'bulk recorded'; readonly document: Document }
  /** Documents of tasks, notices and messages for people were written by themselves, in one transaction. */
  | { readonly type: 'people recorded'; readonly documents: readonly Document[] }
  /** A message for people was removed: it is delivered, or given up. */
  | { readonly type: 'message removed'; readonly id: string }
  /** A receiver got a message for people. `isConfirmed`: whether the receiver has confirmed it. */
  | { readonly type: 'message received'; readonly message: PeopleMessage; readonly destination: Destination; readonly isConfirmed: boolean }
  /** An operator decided on the revision `seenRev` of an order, with this answer. */
  | { readonly type: 'decided'; readonly orderId: string; readonly reason: string; readonly seenRev: number; readonly answer: Instructed }
  /**
   * The answer to an instruction or a signal. `reason`: its unique name. `id`: the id of this try. `startedAt`: the time when the try
   * began. `revAtStart`: the order's revision then, undefined without an order. `isUnchanged`: whether that is still its revision.
   * `isInvalid`: whether its payload or its answer to a question does not fit the workflow.
   */
  | {
      readonly type: 'instructed';
      readonly orderId: string;
      readonly decision: Decision;
      readonly reason: string;
      readonly id: string;
      readonly outcome: Instructed['outcome'] | 'unreadable';
      readonly revAtStart: number | undefined;
      readonly startedAt: number;
      readonly isUnchanged: boolean;
      readonly isInvalid: boolean;
      /** The reasons of a refusal. */
      readonly reasons: readonly string[];
    }
  /** The dry run of a decision on the revision `rev`. */
  | { readonly type: 'previewed'; readonly orderId: string; readonly reason: string; readonly rev: number; readonly plan: InstructionPlan }
  /** The answer to a repetition of an applied instruction, under the same key. */
  | { readonly type: 'repeated'; readonly orderId: string; readonly key: string; readonly outcome: string }
  /** A newer program has written the record (`isNewer`), or has restored the version that this program knows. */
  | { readonly type: 'newer'; readonly orderId: string; readonly isNewer: boolean }
  /** The answer to a signal; `pending` before it arrives. */
  | { readonly type: 'signal'; readonly orderId: string; readonly key: string; readonly answer: 'pending' | 'accepted' | 'refused' }
  /** The record of an order was damaged: the character at this place of its blob changed. */
  | { readonly type: 'damaged'; readonly orderId: string; readonly at: number }
  /** The table was restored to an earlier time (milliseconds since 1970). `hasOldProcess`: a process from before the restore still runs. */
  | { readonly type: 'restored'; readonly asOf: number; readonly orders: readonly string[]; readonly hasOldProcess: boolean }
  /** A person viewed the step reports and the undo plan of the revision `rev`. */
  | {
      readonly type: 'viewed';
      readonly orderId: string;
      readonly rev: number;
      readonly steps: readonly StepReport[];
      readonly plan: UndoPlan;
    }
  /** A holder requests or renews a lease. `now`: the time by the clock of the holder. */
  | { readonly type: 'lease requested'; readonly orderId: string; readonly holder: string; readonly leaseMs: number; readonly now: number }
  /** The request for a lease failed after this time, because another host holds the lease. */
  | { readonly type: 'locked'; readonly orderId: string; readonly policy: LockPolicy; readonly afterMs: number }
  /** The answer to the renewal of a lease. */
  | { readonly type: 'renewed'; readonly orderId: string; readonly holder: string; readonly isKept: boolean }
  /** A message that met a person's lock was kept in the inbox of its order under this id (`kept`), or was removed from there (`drained`). */
  | { readonly type: 'kept'; readonly orderId: string; readonly id: string; readonly queue: string; readonly body: string }
  | { readonly type: 'drained'; readonly orderId: string; readonly id: string }
  /** The record of a step's use of an object was written after the write of its order. */
  | { readonly type: 'object noted'; readonly object: string; readonly use: ObjectUse }
  /** A message was purged from its queue. */
  | { readonly type: 'purged'; readonly body: string }
  /** A function received a batch. */
  | {
      readonly type: 'delivered';
      readonly queue: string;
      readonly messages: readonly { readonly messageId: string; readonly body: string }[];
      /** Names the batch, if a consumer received it. */
      readonly batch?: string;
    }
  /** A function answered a batch: the ids of all messages, and of those that it reports as failed. */
  | {
      readonly type: 'answered';
      readonly queue: string;
      readonly came: readonly string[];
      readonly failed: readonly string[];
      readonly batch?: string;
    }
  | ConsumerObservation
  /** A function changes the visibility of a message. The call may fail to reach the queue. */
  | { readonly type: 'visibility changed'; readonly messageId: string; readonly afterMs: number }
  /** A run of a function returned while nothing else ran in its process. `pendingCalls`: calls without an answer. */
  | { readonly type: 'returned'; readonly name: string; readonly pendingCalls: number }
  /** An error was thrown or logged: its place, its name and its message. `orderId` if it names an order. */
  | { readonly type: 'failed'; readonly where: string; readonly name: string; readonly message: string; readonly orderId?: string }
  /** A message that cannot be processed was sent. */
  | { readonly type: 'poisoned'; readonly body: string }
  /** A message became a dead letter: its document was written. */
  | { readonly type: 'dead-lettered'; readonly message: DeadLetter }
  /** A remote service applied an effect, or an undo of the effect under `undoes`. */
  | { readonly type: 'effect'; readonly operation: string; readonly key: string; readonly undoes?: string }
  /** A write to a store with limits: its cost and its outcome. */
  | {
      readonly type: 'metered';
      readonly orderId: string;
      readonly write: string;
      readonly bytes: number;
      readonly units: number;
      readonly outcome: 'written' | 'refused' | 'throttled' | 'too large';
    }
  /** Orders were deleted that had ended before this time (milliseconds since 1970). */
  | { readonly type: 'forgotten'; readonly orderIds: readonly string[]; readonly finishedBefore: number }
  /** The moment from which faults happen. Before it, only the limits of the store were in effect. */
  | { readonly type: 'faults begin' }
  | AgentObservation
  | ClockJumps
  /** An agent pauses between two tries for one request. */
  | { readonly type: 'backs off'; readonly requestId: string; readonly tries: number; readonly ms: number };

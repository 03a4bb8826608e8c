import type { UndoPlan } from '#core/views/undo-plan';
import type { Announcement } from '#ports/event-bus';
import type { StateRecord } from '#ports/records';
import type { DeadLetter } from '#roles/dead-letters/dead-letter';
import type { InstructionPlan } from '#roles/operator/feasibility';
import type { Instructed } from '#roles/operator/instruct';
import type { Decision } from '#roles/operator/instruction';
import type { LockPolicy } from '#roles/scheduler/lease';
import type { StepReport } from '#roles/scheduler/step-report';
import type { Submission, SubmissionProblem } from '#roles/submission/submission';
import type { ClockJumps, GuardedBy } from './guarded.ts';

/** An event that is visible outside of the processes. Laws judge observations. */
export type Observation =
  /** The state of an order was written. `before` is undefined for a new order. */
  | {
      readonly type: 'written';
      readonly before: StateRecord | undefined;
      readonly after: StateRecord;
      readonly caller?: string | undefined;
      /** The path of the step that called it. */
      readonly callerPath?: string | undefined;
    }
  | { readonly type: 'sent'; readonly queue: string; readonly body: string; readonly delayMs: number }
  /** A message was removed from its queue after its processing. */
  | { readonly type: 'acknowledged'; readonly queue: string; readonly body: string }
  | { readonly type: 'published'; readonly announcement: Announcement }
  /** A submission was answered: it was accepted, or its key belongs to another order. */
  | {
      readonly type: 'submitted';
      readonly orderId: string;
      readonly workflow: string;
      readonly outcome: 'accepted' | 'key-reused';
      /** Whether the answer says that the order existed before; undefined if the submission was refused. */
      readonly replayed: boolean | undefined;
      /** The answer, as text. */
      readonly answer: string | undefined;
    }
  /** An invalid submission was answered. `wanted`: pointer and code of a problem that the answer must have. */
  | {
      readonly type: 'refused';
      readonly key: string;
      readonly outcome: string;
      readonly problems: readonly SubmissionProblem[];
      readonly wanted: string;
    }
  /** An invalid submission was posted. */
  | { readonly type: 'posted wrongly'; readonly submission: Submission; readonly body: string; readonly wanted: string }
  /** A decision about an order at the revision `saw` was answered. */
  | { readonly type: 'decided'; readonly orderId: string; readonly reason: string; readonly saw: number; readonly answer: Instructed }
  /**
   * An instruction or signal was answered. `reason` is its name, and `id` that of the try. `since`: the revision of the order when the
   * try began; undefined without an order. `still`: the order was not written since. `isWrong`: the workflow does not accept its payload
   * or answer.
   */
  | {
      readonly type: 'instructed';
      readonly orderId: string;
      readonly decision: Decision;
      readonly reason: string;
      readonly id: string;
      readonly outcome: Instructed['outcome'] | 'unreadable';
      readonly since: number | undefined;
      readonly still: boolean;
      readonly isWrong: boolean;
      /** The reasons for a refusal. */
      readonly reasons: readonly string[];
    }
  /** A dry run has shown what an instruction would do at `rev`. */
  | { readonly type: 'foreseen'; readonly orderId: string; readonly reason: string; readonly rev: number; readonly plan: InstructionPlan }
  /** An instruction that was carried out was repeated under its key, and answered. */
  | { readonly type: 'repeated'; readonly orderId: string; readonly key: string; readonly outcome: string }
  /** A newer version of the program has written the order, or was rolled back. */
  | { readonly type: 'newer'; readonly orderId: string; readonly isNewer: boolean }
  | { readonly type: 'signal'; readonly orderId: string; readonly key: string; readonly answer: 'none yet' | 'accepted' | 'refused' }
  /** The stored order was damaged: the character of its blob at this place was changed. */
  | { readonly type: 'damaged'; readonly orderId: string; readonly at: number }
  /**
   * The table was restored to a time (milliseconds since 1970), with these orders. `isLeftBehind`: a process of before the restore
   * continues.
   */
  | { readonly type: 'restored'; readonly asOf: number; readonly orders: readonly string[]; readonly isLeftBehind: boolean }
  /** An operator has seen the steps of an order and the plan of its undo, at `rev`. */
  | {
      readonly type: 'looked';
      readonly orderId: string;
      readonly rev: number;
      readonly steps: readonly StepReport[];
      readonly plan: UndoPlan;
    }
  /** A process asks for a lease on an order, or to keep it. `now` is the time by its clock. */
  | { readonly type: 'wanted'; readonly orderId: string; readonly holder: string; readonly leaseMs: number; readonly now: number }
  /** The process learned, after this time, that another one has the lease. */
  | { readonly type: 'locked'; readonly orderId: string; readonly policy: LockPolicy; readonly afterMs: number }
  /** The process learned whether it keeps its lease. */
  | { readonly type: 'renewed'; readonly orderId: string; readonly holder: string; readonly isKept: boolean }
  /** A queue was purged of a message. */
  | { readonly type: 'purged'; readonly body: string }
  /** A function received a batch. */
  | {
      readonly type: 'delivered';
      readonly queue: string;
      readonly messages: readonly { readonly messageId: string; readonly body: string }[];
    }
  /** A function has answered a batch: the ids of its messages, and of those to be redelivered. */
  | { readonly type: 'answered'; readonly queue: string; readonly came: readonly string[]; readonly failed: readonly string[] }
  /** A function sets the time after which a message is visible again, whether or not the queue receives that. */
  | { readonly type: 'to be shown'; readonly messageId: string; readonly afterMs: number }
  /** A run of a function is over, and nothing runs beside it. `open`: its calls without an answer. */
  | { readonly type: 'returned'; readonly name: string; readonly open: number }
  /** An error was thrown or logged. `orderId`: the order that the log names, if any. */
  | { readonly type: 'failed'; readonly where: string; readonly name: string; readonly message: string; readonly orderId?: string }
  /** A message without a meaning was sent. */
  | { readonly type: 'poisoned'; readonly body: string }
  /** A message was dead-lettered: its document was written. */
  | { readonly type: 'dead-lettered'; readonly message: DeadLetter }
  /** A remote service had an effect, or undid one. */
  | { readonly type: 'effect'; readonly operation: string; readonly key: string; readonly undoes?: string }
  /** A store with limits has answered a write about an order. */
  | {
      readonly type: 'metered';
      readonly orderId: string;
      readonly write: string;
      readonly bytes: number;
      readonly units: number;
      readonly outcome: 'written' | 'refused' | 'throttled' | 'too large';
    }
  /** Orders that had ended before a time (milliseconds since 1970) were forgotten. */
  | { readonly type: 'forgotten'; readonly orderIds: readonly string[]; readonly finishedBefore: number }
  /** The part of the run in which only the limits of the store were in the way is over. */
  | { readonly type: 'calm is over' }
  | GuardedBy
  | ClockJumps
  /** An agent pauses between two tries of one request. */
  | { readonly type: 'rests'; readonly requestId: string; readonly tries: number; readonly ms: number };

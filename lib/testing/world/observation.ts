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
import type { AgentObservation, ClockJumps } from './agent-event.ts';

/** What the world sees of the system: everything that left a mark outside of a host. */
export type Observation =
  /** `before` is undefined for a new order. */
  | {
      readonly type: 'written';
      readonly before: StateRecord | undefined;
      readonly after: StateRecord;
      readonly caller?: string | undefined;
    }
  | { readonly type: 'sent'; readonly queue: string; readonly body: string; readonly delayMs: number }
  /** A message was taken off its queue by who had processed it. */
  | { readonly type: 'acknowledged'; readonly queue: string; readonly body: string }
  | { readonly type: 'published'; readonly announcement: Announcement }
  /** A submission was answered: `accepted`, or that its key stands for another one. */
  | {
      readonly type: 'submitted';
      readonly orderId: string;
      readonly workflow: string;
      readonly outcome: 'accepted' | 'key-reused';
      /** Whether it is said to have been there; undefined where it was refused. */
      readonly replayed: boolean | undefined;
      /** What stood in its answer, as text. */
      readonly answer: string | undefined;
    }
  /** One that is wrong was answered: its problems, and pointer and code of the one that must be among them. */
  | {
      readonly type: 'refused';
      readonly key: string;
      readonly outcome: string;
      readonly problems: readonly SubmissionProblem[];
      readonly wanted: string;
    }
  /** One that is wrong was posted. */
  | { readonly type: 'posted invalid'; readonly submission: Submission; readonly body: string; readonly wanted: string }
  /** A person has looked at an order, and then decided: what he saw, and what his decision became. */
  | { readonly type: 'decided'; readonly orderId: string; readonly reason: string; readonly saw: number; readonly answer: Instructed }
  /**
   * A decision or signal was answered. `reason`: its own name; `id`: that of the try. `since`: the order's revision when the
   * try began, undefined where there was none; `still`: nobody has written it since. `isWrong`: its payload, or its answer
   * to a question, is not what the workflow takes.
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
      /** Why it was refused. */
      readonly reasons: readonly string[];
    }
  /** What a decision would do, as of `rev`, was looked at before. */
  | { readonly type: 'previewed'; readonly orderId: string; readonly reason: string; readonly rev: number; readonly plan: InstructionPlan }
  /** A call that was carried out came once more under its key, and was answered. */
  | { readonly type: 'repeated'; readonly orderId: string; readonly key: string; readonly outcome: string }
  /** A newer program has written the order's record, or gives it back as this one knows it. */
  | { readonly type: 'newer'; readonly orderId: string; readonly isNewer: boolean }
  | { readonly type: 'signal'; readonly orderId: string; readonly key: string; readonly answer: 'pending' | 'accepted' | 'refused' }
  /** What is stored of an order makes no sense any more: the character of its blob at this place is another one. */
  | { readonly type: 'damaged'; readonly orderId: string; readonly at: number }
  /** The table is as it was then (milliseconds since 1970), and these orders with it. `isLeftBehind`: somebody goes on as if it were not. */
  | { readonly type: 'restored'; readonly asOf: number; readonly orders: readonly string[]; readonly isLeftBehind: boolean }
  /** Somebody was shown how the steps of an order fare, and what an undo of it would do, as of `rev`. */
  | {
      readonly type: 'looked';
      readonly orderId: string;
      readonly rev: number;
      readonly steps: readonly StepReport[];
      readonly plan: UndoPlan;
    }
  /** Somebody wants an order for himself for so long, or wants to keep it; `now` by his clock. */
  | { readonly type: 'lease requested'; readonly orderId: string; readonly holder: string; readonly leaseMs: number; readonly now: number }
  /** He is told that somebody else has it, after so long. */
  | { readonly type: 'locked'; readonly orderId: string; readonly policy: LockPolicy; readonly afterMs: number }
  /** He is told that he keeps it, or not. */
  | { readonly type: 'renewed'; readonly orderId: string; readonly holder: string; readonly isKept: boolean }
  /** What lay on a queue is gone. */
  | { readonly type: 'purged'; readonly body: string }
  /** A function is given a batch. */
  | {
      readonly type: 'delivered';
      readonly queue: string;
      readonly messages: readonly { readonly messageId: string; readonly body: string }[];
    }
  /** A function has answered to a batch: ids of what came, and of what it says is to come again. */
  | { readonly type: 'answered'; readonly queue: string; readonly came: readonly string[]; readonly failed: readonly string[] }
  /** A function wants a message that it has to be shown again after so long, whether or not the queue hears of it. */
  | { readonly type: 'visibility changed'; readonly messageId: string; readonly afterMs: number }
  /** A run of a function is over, and nothing else is at work beside it; so many calls of it were not answered yet. */
  | { readonly type: 'returned'; readonly name: string; readonly open: number }
  /** Something was thrown, or told as an error: where, and what it calls itself. `orderId` where one is named. */
  | { readonly type: 'failed'; readonly where: string; readonly name: string; readonly message: string; readonly orderId?: string }
  /** A message came that means nothing. */
  | { readonly type: 'poisoned'; readonly body: string }
  /** A message was dead-lettered: its document is written. */
  | { readonly type: 'dead-lettered'; readonly message: DeadLetter }
  /** A remote service was asked for an effect, or for its undo, and did it. */
  | { readonly type: 'effect'; readonly operation: string; readonly key: string; readonly undoes?: string }
  /** A write came to a store that has limits, about an order: what became of it, and what it cost. */
  | {
      readonly type: 'metered';
      readonly orderId: string;
      readonly write: string;
      readonly bytes: number;
      readonly units: number;
      readonly outcome: 'written' | 'refused' | 'throttled' | 'too large';
    }
  /** Orders are forgotten that had ended before then: milliseconds since 1970. */
  | { readonly type: 'forgotten'; readonly orderIds: readonly string[]; readonly finishedBefore: number }
  /** All that came before was played while nothing but the store's limits was in the way. */
  | { readonly type: 'faults begin' }
  | AgentObservation
  | ClockJumps
  /** An agent rests between two tries within one asking. */
  | { readonly type: 'backs off'; readonly requestId: string; readonly tries: number; readonly ms: number };

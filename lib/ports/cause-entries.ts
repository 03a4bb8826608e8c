import type { JsonObject } from '#core/data/json';
import type { ExceptionRecord, Handling } from '#core/exceptions/exception';
import type { Verdict } from '#core/exceptions/verdict';
import type { UsedSolution } from '#core/solutions/solution';
import type { TaskRecord } from './tasks.ts';

/** The content of an outbox entry about a cause. */
export type CauseContent =
  /**
   * A cause has come up: its exception and its task are to be stored, and announced. `task` is absent if a rule has handled the exception.
   */
  | { readonly kind: 'opened'; readonly exception?: ExceptionRecord; readonly task?: Omit<TaskRecord, 'rev'> }
  /** A cause is gone: its exception is handled, and its task resolved. */
  | {
      readonly kind: 'closed';
      readonly orderId: string;
      /** The time at which the order was submitted. Absent in entries of an older release. */
      readonly submittedAt?: number;
      readonly seq: number;
      readonly hasException: boolean;
      readonly hasNoTask?: true;
      readonly handling: Handling;
      readonly reason: string | null;
      /** The instruction that ended the cause, without secrets. */
      readonly instruction?: JsonObject;
      /** The solution that gave the instruction, or that was made of it. */
      readonly solution?: UsedSolution;
      /** The order watches whether the instruction helps. */
      readonly isVerified?: true;
    }
  /** A rule has handed the task of a question to other people, or has given them more time (F-177). */
  | {
      readonly kind: 'handed';
      readonly orderId: string;
      readonly submittedAt: number;
      readonly seq: number;
      readonly at: number;
      /** The number of the exception about which the rule has decided. */
      readonly exception: number;
      readonly group?: string;
      readonly text?: string;
      readonly dueSeconds?: number;
    }
  /** Whether the instruction that resolved a task has helped. `orderId` may be the order that replaces the order of the task. */
  | {
      readonly kind: 'verified';
      readonly orderId: string;
      readonly submittedAt: number;
      readonly seq: number;
      readonly at: number;
      readonly verdict: Verdict;
      /** The next task, which the new failure opened. */
      readonly nextTaskId?: string;
    };

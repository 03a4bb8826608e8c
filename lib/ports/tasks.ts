import type { Json, JsonObject } from '#core/data/json';
import type { CandidateRule } from '#core/rules/situation';
import type { UsedSolution } from '#core/solutions/solution';
import type { FaultSummary } from './records.ts';

export type { People, PeopleFor } from '#core/definition/people';

export const taskKinds = ['fault', 'question', 'undo-stuck', 'outcome-unknown', 'inconsistency', 'dead-letter', 'rule'] as const;
/** The reason for which a person must decide. */
export type TaskKind = (typeof taskKinds)[number];

export const taskStates = ['open', 'claimed', 'resolved'] as const;
export type TaskState = (typeof taskStates)[number];

/** The end of a task. */
export interface TaskResolution {
  /** The person's `sub`, or the rule or the part of the system that made the task needless. */
  readonly by: string;
  readonly at: number;
  readonly reason: string | null;
  /** The instruction that ended the task, without secrets. Absent if the order went on by itself. */
  readonly instruction?: JsonObject;
  /** The solution that gave the instruction, or that was made of it. */
  readonly solution?: UsedSolution;
}

/** Whether the instruction that resolved a task has helped. `void`: somebody ended the order in another way before this was known. */
export const verdicts = ['running', 'passed', 'failed-again', 'failed-otherwise', 'void'] as const;
export type TaskVerdict = (typeof verdicts)[number];

export interface TaskComment {
  readonly by: string;
  readonly at: number;
  readonly text: string;
}

/** An API call with an idempotency key that has changed the task. */
export interface TaskCall {
  readonly name: string;
  /** A hash of its content. */
  readonly hash: string;
  readonly at: number;
}

/** A decision that a person has to make. Each cause of an order has one task. All times: milliseconds since 1970. */
export interface TaskRecord {
  readonly id: string;
  /** Rises by one with every write of the task. It is independent of the order's rev. */
  readonly rev: number;
  readonly orderId: string;
  /** The time at which the order was submitted. A new order may have the id of a forgotten one, but not its time. */
  readonly submittedAt: number;
  /** The reference of the order, as in `ExceptionRecord`. */
  readonly reference?: string;
  /** The number of the cause within its order. An exception of the same cause has the same number. */
  readonly seq: number;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly kind: TaskKind;
  readonly state: TaskState;
  readonly openedAt: number;
  readonly dueAt: number;
  readonly exceptionId?: string;
  readonly fingerprint?: string;
  /** The fault, without secrets. Absent for a question. */
  readonly fault?: FaultSummary;
  readonly question?: { readonly text: string; readonly schema: JsonObject | null; readonly details?: Json };
  /** The people who should take the task, and what a rule tells them. */
  readonly group?: string;
  readonly text?: string;
  /** The reminders, as in `People`. Absent if neither its workflow nor its question has set them. */
  readonly every?: number;
  readonly escalateTo?: readonly string[];
  /** The person who has claimed the task. Absent if nobody has. */
  readonly assignee?: string;
  readonly claimedAt?: number;
  /** The number of reminders so far. Absent: none. */
  readonly reminders?: number;
  /** The time of the next reminder. Absent: at `dueAt`. Null: there is no further reminder. */
  readonly nextReminderAt?: number | null;
  /** The time of the agenda's entry for the last reminder, so that a repeated entry sends none. Absent: there was none. */
  readonly remindedFor?: number;
  /** The number of times that the task was handed to the next group, and that group. Absent: never. */
  readonly escalation?: { readonly level: number; readonly to: string | null };
  /**
   * The last time at which a rule handed the task to other people, and the number of the exception about which the rule decided. Absent:
   * never.
   */
  readonly handed?: { readonly at: number; readonly exception: number };
  /** The comments, the oldest first, at most `taskLimits.commentsMax`. Absent: none. */
  readonly comments?: readonly TaskComment[];
  /** The last calls with an idempotency key. */
  readonly calls?: readonly TaskCall[];
  /** Rules about such an exception that did not act (F-144). */
  readonly candidates?: readonly CandidateRule[];
  readonly resolution?: TaskResolution;
  /** The verdict. Absent before the resolution, and if its kind of instruction gets no verdict. */
  readonly verified?: TaskVerdict;
  /** The previous task, whose instruction did not help, and the next task, which the later failure opened. */
  readonly previousTaskId?: string;
  readonly nextTaskId?: string;
}

export const taskLimits = {
  /** Characters of the name of a person or of a group. */
  nameCharactersMax: 64,
  commentCharactersMax: 1024,
  commentsMax: 100,
  callsMax: 20,
} as const;

/** Whether a task belongs to an order. A task about a destination of the notifier does not: its `orderId` names no order. */
export const hasOrder = ({ kind }: Pick<TaskRecord, 'kind'>): boolean => kind !== 'dead-letter';

import type { Json, JsonObject } from '#core/data/json';
import type { CandidateRule } from '#core/rules/situation';
import type { FaultSummary } from './records.ts';

export type { People, PeopleFor } from '#core/definition/people';

/** The reason for which a person must decide. */
export type TaskKind = 'fault' | 'question' | 'undo-stuck' | 'outcome-unknown' | 'inconsistency' | 'dead-letter' | 'rule';

/** How a task came to its end. */
export interface TaskResolution {
  /** The person's `sub`, or the rule or the part of the system that made the task needless. */
  readonly by: string;
  readonly at: number;
  readonly reason: string | null;
}

/** A decision that a person has to make. Each cause of an order has one task. All times: milliseconds since 1970. */
export interface TaskRecord {
  readonly id: string;
  /** Rises by one with every write of the task. The order has its own. */
  readonly rev: number;
  readonly orderId: string;
  /** When the order was submitted. A new order may have the id of one that was forgotten, but not its time. */
  readonly submittedAt: number;
  /** The number of the cause within its order. An exception of the same cause has the same number. */
  readonly seq: number;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly kind: TaskKind;
  readonly state: 'open' | 'claimed' | 'resolved';
  readonly openedAt: number;
  readonly dueAt: number;
  readonly exceptionId?: string;
  readonly fingerprint?: string;
  /** Without secrets. Absent for a question. */
  readonly fault?: FaultSummary;
  readonly question?: { readonly text: string; readonly schema: JsonObject | null; readonly details?: Json };
  /** The people who should take it, and what a rule tells them. */
  readonly group?: string;
  readonly text?: string;
  /** As in `People`, where its workflow or its question has set them. */
  readonly every?: number;
  readonly escalateTo?: readonly string[];
  /** Rules about such an exception that did not act (F-144). */
  readonly candidates?: readonly CandidateRule[];
  readonly resolution?: TaskResolution;
}

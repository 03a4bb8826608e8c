import type { CancelCommand, RequestCommand } from '#core/data/command';
import type { StepReply } from '#core/data/event';
import type { Json } from '#core/data/json';
import type { PeopleFor } from '#core/definition/people';
import type { Program } from '#core/definition/program';
import type { ByteBudget } from '#core/engine/transition';
import type { UndoPages } from '#core/engine/undo-pages';
import type { UnattendedReason } from '#core/exceptions/unattended';
import type { Verdict } from '#core/exceptions/verdict';
import type { Past } from '#core/instructions/past';
import type { RuleSet } from '#core/rules/rule-set';
import type { UsedSolution } from '#core/solutions/solution';
import type { OrderRecord, OutboxEntry, StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import type { Instruction, Report, Signal } from '#roles/operator/instruction';
import type { Inconsistency } from '#roles/recovery/inconsistencies';
import type { Instance } from './instance.ts';

/** A message for one order. However often it comes, it counts at most once. */
export type Incoming = { readonly id: string } & (
  | { readonly type: 'reply'; readonly requestId: string; readonly agent: string; readonly sentAt: number; readonly reply: StepReply }
  | { readonly type: 'heartbeat'; readonly requestId: string; readonly agent: string; readonly completeBy: number }
  | { readonly type: 'wake-up' }
  /** The order that handles the exception of this number has ended. */
  | {
      readonly type: 'handled';
      readonly seq: number;
      readonly handler: string;
      readonly isCompleted: boolean;
      readonly message: string;
    }
  /** A write that this order has read was undone. */
  | { readonly type: 'inconsistent'; readonly inconsistency: Inconsistency }
  /** No person takes the task of a question. */
  | { readonly type: 'unattended'; readonly seq: number; readonly why: UnattendedReason; readonly group: string }
  /** The caller of this order has it undone. */
  | { readonly type: 'compensate' }
  /**
   * `key`: see `callKey`. A repeated API call with this key changes nothing. `past`: what the journal says, for the kinds of instructions
   * that read it. `solution`: the one that gave the instruction, or that was made from it.
   */
  | {
      readonly type: 'instruction';
      readonly instruction: Instruction;
      readonly key?: string;
      readonly past?: Past;
      readonly solution?: UsedSolution;
    }
  /** A person locks the order until a time, in milliseconds since 1970. */
  | { readonly type: 'lock'; readonly by: string; readonly reason: string; readonly until: number }
  | { readonly type: 'unlock'; readonly by: string }
  | { readonly type: 'signal'; readonly signal: Signal; readonly key?: string }
  | { readonly type: 'report'; readonly report: Report; readonly key?: string }
);

/** One order as it was loaded, with its instance decoded. */
export interface Loaded {
  readonly program: Program;
  readonly order: OrderRecord;
  readonly record: StateRecord;
  readonly instance: Instance;
  /** Set if the instance was rebuilt from the journal. Another host may have stored other pages under the same rev. */
  readonly rebuilt?: true;
  /** The version of the workflow that the order had, if the order moves to the one of `program`. */
  readonly migratedFrom?: number;
  /** Undo pages that were read because a plan needed them. */
  readonly undoPages?: UndoPages;
  /** The pages of the journal, read only if a plan needs them: see `NeedsPage`. */
  readonly pages?: readonly Page[];
}

/** Properties of the host that a transition depends on. */
export interface Settings {
  /** Names the host in claims. */
  readonly hostId: string;
  readonly announceProcessed: boolean;
  /** Largest difference between the clocks of two hosts. */
  readonly clockToleranceMs: number;
  /** Whether an output matches the schema of its operation. */
  readonly isValidOutput: (agent: string, operation: string, output: Json) => boolean;
  /** Whether an input matches the schema of its operation. */
  readonly isValidInput: (agent: string, operation: string, input: Json) => boolean;
  /** Set after a plan turned out to be too large. */
  readonly byteBudget?: ByteBudget | undefined;
  /** Returns the people for whom the tasks of a workflow are. */
  readonly peopleFor?: PeopleFor | undefined;
  /** The rules that are asked about events of the order. Absent: none. */
  readonly rules?: RuleSet | undefined;
}

/** The use of a rule in a plan, to be counted after its write. */
export interface RuleHit {
  readonly ruleId: string;
  /** Whether the rule acted. A rule in dry-run does not act, nor does one that fails or is stopped. */
  readonly acted: boolean;
}

/** The verdict on an action of a rule. */
export interface RuleVerdict {
  readonly ruleId: string;
  readonly version: number;
  readonly verdict: Verdict;
}

/** A rule that was skipped, because it does not fit the version of the order's workflow. */
export interface StaleRule {
  readonly ruleId: string;
  readonly version: number;
}

/** The order in whose write rules have acted. */
export type RuledOrder = Pick<StateRecord, 'orderId' | 'workflow'>;

/** The uses, verdicts and skips of rules in a write. They are counted after the write. */
export interface RuleUse {
  readonly hits?: readonly RuleHit[];
  readonly verdicts?: readonly RuleVerdict[];
  readonly stale?: readonly StaleRule[];
}

/** One write of an order, and the messages to send after it. */
export interface PlannedWrite {
  /** The new record. Its rev, write ids, outbox, deadline and blob are not final: the writer sets them. */
  readonly record: StateRecord;
  readonly instance: Instance;
  readonly requests: readonly RequestCommand[];
  readonly cancels: readonly CancelCommand[];
  /** Times at which the scheduler is to wake the order, in milliseconds since 1970. */
  readonly wakeUps: readonly number[];
  /** Entries that this transition adds; they are part of the record's outbox. */
  readonly outbox: readonly OutboxEntry[];
  /** Ids of the messages that changed something. */
  readonly taken: readonly string[];
  readonly ruleUse?: RuleUse;
  /** The number of the exception that the API call reported. */
  readonly reported?: number;
}

/** A read that the plan needs first: the rev of an undo page, or the pages of the journal. */
export interface NeedsPage {
  readonly needs: number | 'journal';
}

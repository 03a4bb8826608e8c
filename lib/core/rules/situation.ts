import type { Fault, FaultClass } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { RuleScope } from './language.ts';
import type { EventPattern, PlainAction, RuleEventKind, RuleExecutor } from './rule.ts';

/** Something that happened to an order, and that rules may be about. */
export interface RuleEvent {
  /** Unique within the order, and the same if the event is seen again: `exc-3`, `late:order/charge:2`. */
  readonly id: string;
  readonly kind: RuleEventKind;
  /** The time of the event itself, in milliseconds since 1970. It may arrive later than a younger event. */
  readonly at: number;
  /** The type of a fault with its ancestors; the process state; the status of the step; the name of the signal. */
  readonly type?: string;
  readonly class?: FaultClass;
  /** The path of the step, without the turns of loops. */
  readonly step?: string;
  readonly agent?: string;
  /** The fingerprint of an exception. */
  readonly fingerprint?: string;
  /** `order-age`: seconds since submission. `step-late`: seconds after `completeBy`. */
  readonly seconds?: number;
  /** The number of rules in a row that caused the event, each by raising or signaling: the `round` of their decision. */
  readonly round?: number;
}

/** An event with the order that it happened to. */
export interface Situation {
  readonly orderId: string;
  readonly workflow: { readonly name: string; readonly version: number };
  readonly event: RuleEvent;
  /** `steps`: at an event of data, the steps that rules name in their objects, by path. */
  readonly values: Omit<RuleScope, 'at'> & { readonly steps?: { readonly [path: string]: Json } };
  /** The rules of compensation in force were asked already, when the steps closed. So they are not asked about this event. */
  readonly undosAreRuled?: true;
}

/** An action with its values. It is plain JSON, so that the journal keeps it and a replay needs no rules. */
export type DecidedAction =
  | PlainAction<Json>
  | { readonly kind: 'retry'; readonly afterSeconds: number }
  /** `toPerson`: the rule itself failed or is stopped. No rule is asked about this exception. */
  | { readonly kind: 'raise'; readonly fault: Fault; readonly toPerson: boolean; readonly round: number }
  | { readonly kind: 'signal'; readonly name: string; readonly payload: Json; readonly round: number }
  | { readonly kind: 'announce'; readonly text: string }
  | { readonly kind: 'task'; readonly group?: string; readonly dueSeconds?: number; readonly text?: string };

/** The answer of a rule to an event. `dry-run`: the history notes it as *would have*, and nothing is done. */
export interface Decision {
  readonly ruleId: string;
  readonly version: number;
  readonly mode: 'dry-run' | 'enforce';
  readonly action: DecidedAction;
  readonly executor?: RuleExecutor;
}

/** A line of the history about rules, beside their decisions. */
export type RuleFact =
  /** The memory was full: the oldest event completes no list of events any more. */
  | { readonly type: 'RuleEventForgotten'; readonly eventId: string; readonly kind: RuleEventKind; readonly at: number }
  /** The rule does not fit this version of the workflow and was skipped. It is announced once for each version. */
  | { readonly type: 'RuleStale'; readonly ruleId: string; readonly version: number };

/** A rule about the event that did not act (F-144): a person may decide in its place. */
export interface CandidateRule {
  readonly ruleId: string;
  readonly version: number;
  readonly name: string;
  readonly why: 'condition-false' | 'incomplete' | 'dry-run' | 'stale';
  /** The events that have not happened within the time, with `incomplete`. */
  readonly missing?: readonly EventPattern[];
}

/** A rule that was asked about an event, for `ExceptionDiagnosed`. */
export interface AskedRule {
  readonly id: string;
  readonly version: number;
  readonly matched: boolean;
}

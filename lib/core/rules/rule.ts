import type { FaultClass } from '#core/data/fault';
import type { Template } from '#core/definition/definition';

/** The kinds of events that a rule may be about. */
export const ruleEventKinds = ['exception', 'step-late', 'order-state', 'order-age', 'step-state', 'data', 'signal'] as const;
export type RuleEventKind = (typeof ruleEventKinds)[number];

/** Events of trouble: a rule may read all outputs that the order has so far. */
export const troubleKinds: ReadonlySet<RuleEventKind> = new Set(['exception', 'step-late', 'order-age', 'signal']);
/** The events that are about one step of an order. */
export const stepKinds: ReadonlySet<RuleEventKind> = new Set(['exception', 'step-late', 'step-state']);

/** The events that a rule is about. */
export interface EventPattern {
  readonly kind: RuleEventKind;
  /**
   * For an exception, the type of its fault or an ancestor of it; for other events, the process state, the status of the step or the name
   * of the signal.
   */
  readonly type?: string;
  /** The class of the fault, for an exception. */
  readonly class?: FaultClass;
  /** `order-age`: seconds since submission. `step-late`: seconds after `completeBy`. Default: 0. */
  readonly afterSeconds?: number;
}

/** The orders and steps that a rule is about. Without it, all of them. */
export interface RuleObject {
  /** The name of the workflow, for all its versions. */
  readonly workflow?: string;
  /** The path of the step, without the turns of loops. */
  readonly step?: string;
  readonly agent?: string;
  readonly orderId?: string;
}

export const ruleModes = ['off', 'dry-run', 'enforce'] as const;
export type RuleMode = (typeof ruleModes)[number];

/** The way in which control returns to an order whose exception another workflow handles (F-138, F-139). */
export const ruleControls = ['none', 'ready', 'resumed', 'parallel'] as const;
export type RuleControl = (typeof ruleControls)[number];

/** The actions that have the same fields as written in a rule and as decided: only their values differ. */
export type PlainAction<Value> =
  | { readonly kind: 'compensate' }
  /** Undoes what depends on an activity, and goes on there; without a path, undoes the whole order. Orders that have read what is undone are notified. */
  | { readonly kind: 'recover'; readonly path?: string }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'skip'; readonly output: Value }
  | { readonly kind: 'replace-input'; readonly path: string; readonly input: Value }
  | {
      readonly kind: 'handle';
      readonly workflow: string;
      readonly version?: number;
      readonly control: RuleControl;
      /** The place at which the order goes on with `control: 'resumed'`. */
      readonly path?: string;
    }
  | { readonly kind: 'compensate-with'; readonly agent: string; readonly operation: string; readonly input: Value };

/** The action of a rule as written: texts and values may be expressions, `{"$cel": "…"}`. */
export type RuleAction =
  | PlainAction<Template>
  | { readonly kind: 'retry'; readonly afterSeconds?: number }
  | { readonly kind: 'raise'; readonly type: string; readonly message: Template }
  | { readonly kind: 'signal'; readonly name: string; readonly payload: Template }
  | { readonly kind: 'announce'; readonly text: Template }
  | { readonly kind: 'task'; readonly group?: string; readonly dueSeconds?: number; readonly text?: Template };

/** The executor of a `task` or a `handle` (F-140). Without it, the default of the action. */
export interface RuleExecutor {
  readonly group?: string;
  readonly role?: string;
}

/** A rule: (object, event, condition)(executor, action) of WSEHF 3.2, as plain data (F-140). */
export interface Rule {
  readonly id: string;
  readonly name: string;
  /** `app`: declared with the workflows. `people`: written by an admin at run time. */
  readonly origin: 'app' | 'people';
  readonly object?: RuleObject;
  /** The event. Absent with `all` and `any` (F-143). */
  readonly event?: EventPattern;
  /** The list of events: the rule fires at the event that completes the list within `withinSeconds`. */
  readonly all?: readonly EventPattern[];
  /** The events at each of which the rule fires. */
  readonly any?: readonly EventPattern[];
  readonly withinSeconds?: number;
  /** The condition, in CEL. Without it, the event alone decides. */
  readonly condition?: string;
  readonly executor?: RuleExecutor;
  readonly action: RuleAction;
  readonly mode: RuleMode;
  /** Rules with the highest priority come first, rules of equal priority in the order of their ids. */
  readonly priority: number;
  /** The most actions on one order for the same fingerprint, or for the same kind of event if the event has no fingerprint. */
  readonly timesPerOrder: number;
  readonly version: number;
}

export const ruleLimits = {
  rulesMax: 1000,
  /** UTF-8 bytes of one rule as JSON. */
  ruleBytesMax: 16 * 1024,
  /** UTF-8 bytes of all rules together as JSON. */
  setBytesMax: 1024 * 1024,
  /** Rules that are not off, for one kind of event. */
  inForceMax: 200,
  /** Events in `all` or `any`. */
  patternsMax: 8,
  /** Raised exceptions and sent signals in a row, each caused by the one before. */
  roundsMax: 3,
  timesPerOrderDefault: 3,
} as const;

export const ruleIdPattern = /^[a-z0-9-]{1,64}$/;

/** Returns the events of a rule: one, or those of `all` or `any`. */
export const patternsOf = ({ event, all, any }: Pick<Rule, 'event' | 'all' | 'any'>): readonly EventPattern[] =>
  event ? [event] : (all ?? any ?? []);

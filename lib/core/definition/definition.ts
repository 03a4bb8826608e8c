import type { Call } from '#core/activities/call';
import type { ActivityOf } from '#core/activities/index';
import type { Step } from '#core/activities/step';
import type { Json, JsonObject } from '#core/data/json';
import type { People } from './people.ts';

/** A CEL expression in place of a value: `{"$cel": "order.items"}`. */
export interface CelExpression {
  readonly $cel: string;
}

/** A literal, an expression, or a mixture of both. */
export type Template = Json | CelExpression;

/** One node of a definition's tree. The file of its type in `activities/` defines its fields. */
export type Activity = ActivityOf;

/** The fields of every activity. Siblings have different names; the path of a node is the names from the root down. */
export interface ActivityBase {
  readonly activity: string;
  readonly name: string;
  /** The handlers of a composite, in the order in which they are compared after its children have closed. The first match runs. */
  readonly faultHandlers?: readonly FaultHandler[];
  /**
   * The step that undoes this activity after it has succeeded; its name is `undo`. The undo of a composite replaces the
   * undos of its parts.
   */
  readonly undo?: Step;
}

/** An activity that sends a request: a step to its agent, a call to the engine, which runs another workflow. */
export type RemoteActivity = Step | Call;

export const isRemote = (node: Activity): node is RemoteActivity => node.activity === 'step' || node.activity === 'call';

/** Whether the type of the activity is an app's own: `shop:ensure`. */
export const isCustom = (node: Activity): boolean => node.activity.includes(':');

/** The handler of a fault type and of all types that extend it. The order continues after the composite. */
export interface FaultHandler {
  /** The type with its ancestors: `Refused/CardDeclined`. */
  readonly fault: string;
  readonly do: Activity;
}

/**
 * The reaction to a step that is overdue beyond its failure limit (SAS). `error`: the order goes into Error. `wait`:
 * the step is requested again after a long pause. `fault`: the step faults, for an enclosing retry or handler. `undo`:
 * the whole order is compensated.
 */
export type OnExhausted = 'error' | 'wait' | 'fault' | 'undo';

/**
 * A versioned workflow as plain data, which is stored, pinned, drawn and previewed. Its author writes it with the
 * functions of `redress`, by hand, or in another language.
 */
export interface WorkflowDefinition {
  readonly name: string;
  readonly version: number;
  /** The version of the expression language for every `$cel`. */
  readonly exprVersion: 1;
  /** The JSON Schema of the order's body. A property with `"secret": true` is never shown. */
  readonly order: JsonObject;
  /** Faults that block the order for an operator, with all that extend them. */
  readonly toOperator: readonly string[];
  /** Faults that go to the caller, with all that extend them. Without a caller they go to an operator. */
  readonly toCaller?: readonly string[];
  /** Seconds for the whole order, from its start. Every request of a step respects this limit; undos and confirmations do not. */
  readonly completeWithinSeconds?: number;
  /** The reaction to a missed deadline of a step. `step` (default): the step is requested again. `order`: the order is reset. */
  readonly recover?: 'step' | 'order';
  /** The failure limit: a step that misses more deadlines than this leads to `onExhausted`. Default: the system's `MAX_FAILURES`. */
  readonly maxFailures?: number;
  readonly onExhausted?: OnExhausted;
  /**
   * With `onExhausted: 'wait'`: the seconds before a step over its failure limit is requested again. Default: the
   * system's `LONG_WAIT_SECONDS`.
   */
  readonly longWaitSeconds?: number;
  /** The people for whom the tasks of its orders are. */
  readonly people?: People;
  readonly root: Activity;
}

/** The name of the root, with which every path starts. */
export const rootPath = 'order';

export const limits = {
  /** Levels of the tree, including the root. */
  depthMax: 32,
  /** Activities of the tree. */
  activitiesMax: 10_000,
  /** Entries of the list of a forEach. */
  itemsMax: 1000,
  /** Turns of a forEach at work at the same time, if it has no `maxConcurrency`. */
  concurrencyDefault: 20,
  /** Activities that the loops of an order start in one event. The limit bounds the size of a write, and the time for which the event delays other orders. */
  portionMax: 200,
  /** Kept signals, which came before an activity waited for them. */
  signalsMax: 100,
  /** Turns of a while without `maxTurns`. */
  turnsMax: 1000,
  /** UTF-8 bytes of the input of a step or a call, as JSON. The body of a called order must fit into one item. */
  inputBytesMax: 256 * 1024,
  /** The longest time that anything takes or waits: a year. Larger values would exceed the range of dates. */
  secondsMax: 366 * 24 * 3600,
  /** UTF-8 bytes of one step's output as JSON. */
  outputBytesMax: 256 * 1024,
  /** UTF-8 bytes of the output of a workflow as JSON. Every answer about the order contains it. */
  orderOutputBytesMax: 16 * 1024,
  /** UTF-8 bytes of one instance's state item. */
  stateBytesMax: 350 * 1024,
  /**
   * UTF-8 bytes that one write adds to the journal. DynamoDB allows 4 MB in one transaction, for the order, its state
   * and the journal.
   */
  journalBytesMax: 3 * 1024 * 1024,
} as const;

/** Returns the problem of a number of seconds in a definition, or undefined. `from` is its lower bound. */
export function secondsProblem(field: string, seconds: unknown, from: 'above 0' | 'from 0 up'): string | undefined {
  const isNumber = typeof seconds === 'number' && (from === 'above 0' ? seconds > 0 : seconds >= 0);
  const unit = from === 'above 0' ? 'a number above 0' : 'a number of seconds of at least 0';
  if (!isNumber) return `${field} is ${typeof seconds === 'number' ? seconds : JSON.stringify(seconds)}; it must be ${unit}.`;
  return seconds <= limits.secondsMax ? undefined : `${field} is ${seconds}; the maximum is ${limits.secondsMax} seconds (a year).`;
}

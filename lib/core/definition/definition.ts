import type { Call } from '#core/activities/call';
import type { ActivityOf } from '#core/activities/index';
import type { Step } from '#core/activities/step';
import type { Json, JsonObject } from '#core/data/json';

/** A CEL expression where a value may stand: `{"$cel": "order.items"}`. */
export interface CelExpression {
  readonly $cel: string;
}

/** A literal, an expression, or a mixture of both. */
export type Template = Json | CelExpression;

/** One node of a definition's tree. Its shape beyond the name belongs to the file of its type in `activities/`. */
export type Activity = ActivityOf;

/** What every activity has. Siblings have different names; the path of a node is the names from the root down. */
export interface ActivityBase {
  readonly activity: string;
  readonly name: string;
  /** Of a composite: tried in this order once its children are closed; the first that matches runs. */
  readonly faultHandlers?: readonly FaultHandler[];
  /**
   * What takes back what it did, once it has succeeded; its name is `undo`. Of a composite: instead of what its parts
   * name as their own.
   */
  readonly undo?: Step;
}

/** What asks and waits for an answer: a step asks its agent, a call the engine, which runs another workflow. */
export type RemoteActivity = Step | Call;

export const isRemote = (node: Activity): node is RemoteActivity => node.activity === 'step' || node.activity === 'call';

/** What happens about a fault of a type, or of one that extends it. It goes on after the composite. */
export interface FaultHandler {
  /** With its ancestors: `Refused/CardDeclined`. */
  readonly fault: string;
  readonly do: Activity;
}

/**
 * What becomes of a step that stays overdue above the threshold (SAS): the order goes into Error; it waits long; the
 * step faults, for a retry or a handler around it; the whole order is undone.
 */
export type OnExhausted = 'error' | 'wait' | 'fault' | 'undo';

/**
 * A versioned workflow as plain data: what is stored, pinned, drawn and previewed. Written by the typed functions of
 * `redress`, by hand, or by another language.
 */
export interface WorkflowDefinition {
  readonly name: string;
  readonly version: number;
  /** Version of the expression language in which every `$cel` is to be read. */
  readonly exprVersion: 1;
  /** JSON Schema of the order's body. A property with `"secret": true` is shown to nobody. */
  readonly order: JsonObject;
  /** Faults that go to an operator, with all that extend them. */
  readonly toOperator: readonly string[];
  /** Faults that go to the workflow that called this one, with all that extend them; in an order of its own, to an operator. */
  readonly toCaller?: readonly string[];
  /** The whole order's time, from its start. Every asking checks it. */
  readonly completeWithinSeconds?: number;
  /** What an expiry recovers: the step that is late (default), or the order as a whole. */
  readonly recover?: 'step' | 'order';
  /** Expiries above this many put the order in Error (default: the system's `MAX_FAILURES`). */
  readonly maxFailures?: number;
  readonly onExhausted?: OnExhausted;
  /** With `onExhausted: 'wait'`: the pause before a step above the threshold is requested again (default: the system's `LONG_WAIT_SECONDS`). */
  readonly longWaitSeconds?: number;
  readonly root: Activity;
}

/** Name of the path at which every tree starts. */
export const rootPath = 'order';

export const limits = {
  /** Levels of the tree, the root included. */
  depthMax: 32,
  activitiesMax: 10_000,
  /** Entries of the list that a forEach goes through. */
  itemsMax: 1000,
  /** Turns of a forEach at work at the same time where it names no `maxConcurrency`. */
  concurrencyDefault: 20,
  /** Activities that the loops of an order begin in one event: what a write holds, and how long it keeps others waiting, follow from it. */
  portionMax: 200,
  /** Signals that came before anything waited for them. */
  signalsMax: 100,
  /** Of a while that says nothing else. */
  turnsMax: 1000,
  /** UTF-8 bytes of what a step or a call is requested with, as JSON: the body of the order that a call makes is one item. */
  inputBytesMax: 256 * 1024,
  /** The longest that anything takes or waits: a year. Times beyond it have no date in the end. */
  secondsMax: 366 * 24 * 3600,
  /** UTF-8 bytes of one step's output as JSON. */
  outputBytesMax: 256 * 1024,
  /** UTF-8 bytes of one instance's state item. */
  stateBytesMax: 350 * 1024,
  /** UTF-8 bytes that one write adds to the journal: with the order and its state, DynamoDB takes 4 MB in one transaction. */
  journalBytesMax: 3 * 1024 * 1024,
} as const;

/** What is wrong with a number of seconds that a definition names, `from` which up it may be; undefined where nothing is. */
export function secondsProblem(field: string, seconds: unknown, from: 'above 0' | 'from 0 up'): string | undefined {
  const isNumber = typeof seconds === 'number' && (from === 'above 0' ? seconds > 0 : seconds >= 0);
  const unit = from === 'above 0' ? 'a number above 0' : 'a number of seconds from 0 up';
  if (!isNumber) return `${field} is ${typeof seconds === 'number' ? seconds : JSON.stringify(seconds)}; it is ${unit}.`;
  return seconds <= limits.secondsMax
    ? undefined
    : `${field} is ${seconds}; at most ${limits.secondsMax} seconds, a year, can be waited for.`;
}

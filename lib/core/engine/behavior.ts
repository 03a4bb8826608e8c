import type { StepReply } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import type { Start } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Closing, KeptSignal } from '#core/data/state';
import type { StepMemo } from '#core/data/step-state';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';

/** One request to an agent. `advance` adds the agent and the ids. */
export interface Attempt {
  readonly input: Json;
  readonly generation: number;
  readonly attempt: number;
  readonly completeBy: number;
  /** The first request under its key, although not the first of its step. */
  readonly newKey?: true;
}

interface NextOf<Verb extends string, S> {
  readonly verb: Verb;
  /** The new local state of the activity. */
  readonly state?: S;
  /** The kept signal that the activity takes. */
  readonly takeSignal?: KeptSignal;
  /** The new part of the state, which may be too large. `otherwise` returns the state to use in that case. */
  readonly collects?: { readonly value: Json; readonly otherwise: (fault: Fault) => S };
}

/** Starts children, in this order. */
interface Run<S> extends NextOf<'run', S> {
  readonly run: readonly Start[];
  /** Whether the variables that the child sets get back the values that they had before the first run. */
  readonly resetsVariables?: boolean;
}

interface Wait<S> extends NextOf<'wait', S> {
  /** An undo, or the confirmation before it, has failed and will be repeated. `stuck`: a person is notified, or reminded. */
  readonly undoFailed?: { readonly stuck: boolean; readonly fault?: Fault };
}

interface Request<S> extends NextOf<'request', S> {
  readonly request: Attempt;
}

interface Close<S> extends NextOf<'close', S> {
  readonly close: Closing;
  readonly assign?: { readonly [variable: string]: Json };
}

/** Raises a fault. If no handler matches, the order is blocked as it is. */
interface Raise<S> extends NextOf<'raise', S> {
  readonly raise: Fault;
  /** Raises the fault only if something handles it. Otherwise the activity waits as before. */
  readonly onlyIfHandled?: boolean;
}

/** Blocks the order for this question to a person. */
interface Ask<S> extends NextOf<'ask', S> {
  readonly question: Fault;
}

/** The outcome of one call of a behavior: one verb. A behavior returns `undefined` for a repeated or late event: nothing happens. */
export type Next<S> =
  | Run<S>
  | Wait<S>
  | Request<S>
  /** Requests the step's open operation again, with the same input. */
  | NextOf<'requestAgain', S>
  | Close<S>
  | Raise<S>
  | Ask<S>
  /** Cancels all open children. */
  | NextOf<'cancelChildren', S>
  /** Undoes the newest completed work in `state.scope`. If none is left, the activity continues with `undone`, or closes. */
  | NextOf<'undoNext', S>
  /**
   * The step has another input than in an earlier run. The engine finds out whether that run had its effect, and undoes the
   * effect. Then the step starts again.
   */
  | NextOf<'replaceFormer', S>
  /** Ends the order at once. */
  | NextOf<'terminate', S>;

/** The values that a behavior may read besides its activity and its state, such as the time and the values of expressions. */
export interface Context {
  /** Milliseconds since 1970, from the event. */
  readonly at: number;
  /** The number of activities that may still start in this event (`limits.portionMax`). A loop starts the others when it is woken. */
  readonly portion: number;
  /** The epoch of the current claim. */
  readonly epoch: number;
  /** Milliseconds for a step whose definition gives no time limit. */
  readonly stepMs: number;
  /** The time at which the time limit of the whole order passes. */
  readonly endBy: number | undefined;
  /** The generation of an effect that this order has not requested before. */
  readonly firstGeneration: number;
  readonly path: string;
  /** The number of the turn that has closed, for an activity that `repeats`. */
  readonly turn: number | undefined;
  /** A factor from 0.8 to 1.2 for the pauses of one effect. It spreads the retries of steps that failed together. */
  readonly jitter: (generation: number) => number;
  /** The input that a person gave the step in place of that of its definition. */
  readonly input: Json | undefined;
  /** The memo of a step inside an activity that may run it again, such as a retry. */
  readonly memo: StepMemo | undefined;
  /** Returns the path of the composite with this name. Without a name, returns the composite whose handler contains this activity. */
  readonly scopePath: (name?: string) => string;
  readonly evaluate: (template: Template) => Evaluated;
  /** Evaluates a template that reads the activity's own output. */
  readonly evaluateWith: (template: Template, output: Json) => Evaluated;
  /** Returns the oldest kept signal of this name. */
  readonly signalKept: (name: string) => KeptSignal | undefined;
  /** The fault that the nearest enclosing handler has caught. */
  readonly caught: Fault | undefined;
  /** The answer of a person to the question that blocked the order. */
  readonly answer: Json | undefined;
}

export type Evaluated = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: Fault };

/** Children that clean up, one after the other. Their own faults are recorded and do not propagate. */
export type CleanUp = { readonly run: readonly Start[] } | undefined;

/** The implementation of one activity type: small pure functions, each answering with one verb. */
export interface Behavior<A extends ActivityBase = ActivityBase, S = unknown> {
  /** Returns the inner activities, in order. A leaf has `noChildren`. */
  readonly children: (activity: A) => readonly Activity[];
  /** Whether expressions can read the output of the activity as `steps.<name>`. */
  readonly answers?: boolean | ((activity: A) => boolean);
  /** Each child may run many times, with the number of its turn in its path. */
  readonly repeats?: boolean;
  /** Returns the problems of the activity's fields, one sentence each: a definition may be written by hand. */
  readonly problems?: (activity: A) => readonly string[];
  /** Returns all parts of the activity that may hold expressions. `check` and the search for outputs that are read later need this. */
  readonly templates: (activity: A) => readonly Template[];
  readonly execute: (activity: A, context: Context) => Next<S>;
  /**
   * Executes the activity again: its request expired, the order was reset, or an operator resubmits the activity. Without
   * this function the activity continues as it was.
   */
  readonly repeat?: (activity: A, state: S, context: Context) => Next<S>;
  /**
   * The activity may run a child again at the same path. Completed steps inside keep their results and are not requested
   * again; `retries` implies this. Without this field, running a child twice is a fault. Each turn of a loop (`repeats`)
   * has a separate path.
   */
  readonly reruns?: boolean;
  /** Whether the activity handles a fault of its child itself. Then the handlers of that child do not run. */
  readonly retries?: (activity: A, state: S, fault: Fault) => boolean;
  /**
   * Whether the activity would run its child again after this fault, but has no run left. Then a temporary fault does not wait for the
   * deadline.
   */
  readonly isUsedUp?: (activity: A, state: S, fault: Fault) => boolean;
  /** Called when the child has closed with a fault for which `retries` is true. */
  readonly childFaulted?: (activity: A, state: S, fault: Fault, context: Context) => Next<S>;
  /** Called when the scope that the activity undoes has no work left. Without this function the activity closes. */
  readonly undone?: (activity: A, state: S, context: Context) => Next<S>;
  /**
   * Called one time for each fault of the activity or of a child (WF: HandleFault). The children that it returns clean
   * up: they start after the other children have closed, and end before any handler starts.
   */
  readonly handleFault?: (activity: A, state: S, fault: Fault, context: Context) => CleanUp;
  /** Called one time, when the activity is canceled. The children that it returns clean up after the other children have closed. */
  readonly cancel?: (activity: A, state: S, context: Context) => CleanUp;
  readonly childClosed?: (activity: A, state: S, closing: Closing, context: Context) => Next<S> | undefined;
  /** Called when a signal has come that the activity waits for. */
  readonly signaled?: (activity: A, state: S, payload: Json, context: Context) => Next<S> | undefined;
  /** Called whenever the activity may be due. The function itself compares the time. */
  readonly woken?: (activity: A, state: S, context: Context) => Next<S> | undefined;
  readonly replied?: (activity: A, state: S, reply: StepReply, context: Context) => Next<S> | undefined;
  /** Returns when `woken` should be called: milliseconds since 1970. */
  readonly wakeAt?: (state: S) => number | undefined;
  /** Returns the state with its times moved by the length of a suspension. Without this function the times pass during the suspension. */
  readonly postponed?: (state: S, byMs: number) => S;
}

/** The `children` of a leaf. */
export const noChildren = (): readonly Activity[] => [];

export const run = <S>(children: readonly Start[], state: S): Run<S> => ({ verb: 'run', state, run: children });
export const wait = <S>(state: S): Wait<S> => ({ verb: 'wait', state });
export const request = <S>(attempt: Attempt, state: S): Request<S> => ({ verb: 'request', state, request: attempt });
export const close = (closing: Closing): Close<never> => ({ verb: 'close', close: closing });
export const raise = <S = never>(fault: Fault, state?: S): Raise<S> => ({
  verb: 'raise',
  raise: fault,
  ...(state === undefined ? {} : { state }),
});
export const undoNext = <S>(state: S): NextOf<'undoNext', S> => ({ verb: 'undoNext', state });

export const succeeded = (output?: Json): Closing => (output === undefined ? { result: 'Succeeded' } : { result: 'Succeeded', output });

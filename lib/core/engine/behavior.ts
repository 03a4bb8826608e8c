import type { StepReply } from '#core/data/event';
import type { Fault } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { KeptSignal } from '#core/data/state';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';

/** How an activity ended. The status says where it is in its life, the result how that life ended. */
export type Closing =
  /** `collected`: an output made of other outputs, which the journal already has. */
  | { readonly result: 'Succeeded'; readonly output?: Json; readonly collected?: Json }
  | { readonly result: 'Faulted'; readonly fault: Fault }
  | { readonly result: 'Canceled' }
  | { readonly result: 'Compensated' };

/** One asking of an agent; `advance` adds who is asked, and the ids. */
export interface Attempt {
  readonly input: Json;
  readonly generation: number;
  readonly attempt: number;
  readonly completeBy: number;
  /** The first asking under its key, although not the first of its step. */
  readonly newKey?: true;
}

/** A child to start: by name, or, inside a loop, one turn of it. */
export type Start = string | { readonly name: string; readonly index: number };

/** The path of a child that an activity starts. */
export const childPath = (path: string, start: Start): string =>
  typeof start === 'string' ? `${path}/${start}` : `${path}[${start.index}]/${start.name}`;

/** What earlier runs of a step inside a retry have come to: its key says what must not be done twice. */
export interface StepMemo {
  readonly generation: number;
  readonly attempt: number;
  /** `open`: it was asked, and nobody knows a definite answer. */
  readonly outcome: 'done' | 'refused' | 'undone' | 'open';
  readonly output?: Json;
  /** Of what is open: under its key it is asked for with nothing else. */
  readonly input?: Json;
  /** Of what is open: the last request may still have its effect until then. */
  readonly until?: number;
  /** Of what is done: the fingerprint of its input. Another input is another effect. */
  readonly inputHash?: string;
}

/**
 * What an activity wants to happen now; made by the verbs `run`, `wait`, `ask`, `close` and `raise`. `undefined` from
 * a behavior means that nothing happens: the event was a repetition, or came too late.
 */
export interface Next<S> {
  readonly state?: S;
  /** The children to start, in this order. */
  readonly run?: readonly Start[];
  /** Variables set outside of its child are as they were when it first began. */
  readonly resetsVariables?: boolean;
  /** Asks all children that are alive to cancel. */
  readonly cancelChildren?: boolean;
  /** The newest completed work in `state.scope` is undone next; where nothing is left, the activity goes on by `undone`, or closes. */
  readonly undoNext?: boolean;
  readonly assign?: { readonly [variable: string]: Json };
  /** What of its state comes on top of what was there, and may be too large; and its state instead, with the fault that says so. */
  readonly collects?: { readonly value: Json; readonly otherwise: (fault: Fault) => S };
  /** A signal that was kept is taken. */
  readonly takeSignal?: KeptSignal;
  /** The order is held for a question to a person. */
  readonly question?: Fault;
  /** Ends the order at once. */
  readonly terminate?: boolean;
  readonly request?: Attempt;
  readonly close?: Closing;
  /** The fault looks for a handler at once; where none matches, the order is held as it is. */
  readonly raise?: Fault;
  /** Only where something takes the fault; else the activity waits, as if nothing had been said. */
  readonly onlyIfHandled?: boolean;
  /** What a step is asked for is asked again, with the input that it had. */
  readonly requestAgain?: boolean;
  /** The step has another input than in an earlier run: that run's effect is confirmed and undone, then the step begins anew. */
  readonly replacesFormer?: boolean;
  /** An undo, or the question whether there is anything to undo, has failed and will be repeated. */
  readonly undoFailed?: { readonly stuck: boolean; readonly fault?: Fault };
}

/** What a behavior may know beside its own activity and state: when it is, and what expressions yield. */
export interface Context {
  /** Milliseconds since 1970, from the event. */
  readonly at: number;
  /** Activities that may still begin in this event: a loop begins no more, and waits until it is woken for the rest. */
  readonly portion: number;
  /** The claim under which this happens. */
  readonly epoch: number;
  /** How long a step may take that says nothing itself. */
  readonly stepMs: number;
  /** When the whole order's time is over. */
  readonly endBy: number | undefined;
  /** The generation of an effect that this order has not requested before. */
  readonly firstGeneration: number;
  readonly path: string;
  /** The number of the turn that has closed, for an activity that `repeats`. */
  readonly turn: number | undefined;
  /** What is repeated after a pause is repeated after so much of it (0.8 to 1.2), so that what failed together is not repeated together. */
  readonly jitter: (generation: number) => number;
  /** Of a step inside an activity that may run it again, such as a retry. */
  readonly memo: StepMemo | undefined;
  /** The path of a composite by name; without a name, of the one whose handler this activity is part of. */
  readonly scopePath: (name?: string) => string;
  readonly evaluate: (template: Template) => Evaluated;
  /** The oldest signal of this name that came before anything waited for it. */
  readonly signalKept: (name: string) => KeptSignal | undefined;
  /** The fault that the nearest handler around it has caught. */
  readonly caught: Fault | undefined;
  /** What a person has answered to the question for which the order was held. */
  readonly answer: Json | undefined;
}

export type Evaluated = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: Fault };

/** Children that clean up, one after the other; a fault of theirs is noted, and goes nowhere. */
export type CleanUp = { readonly run: readonly Start[] } | undefined;

/** What one type of activity does: small pure functions, each answering with one verb. */
export interface Behavior<A extends ActivityBase = ActivityBase, S = unknown> {
  /** The activities inside it, in order; leaves have none. */
  readonly children: (activity: A) => readonly Activity[];
  /** What it closes with is read later, as `steps.<name>`. */
  readonly answers?: boolean | ((activity: A) => boolean);
  /** Each child may run many times, and has the number of its turn in its path. */
  readonly repeats?: boolean;
  /** What is wrong with its own fields, a sentence each: a definition may be written by hand. */
  readonly problems?: (activity: A) => readonly string[];
  /** All in it that holds expressions: for `check`, and for knowing which outputs are read later. */
  readonly templates: (activity: A) => readonly Template[];
  readonly execute: (activity: A, context: Context) => Next<S>;
  /** Starts the same execution once more: it expired, was reset, or an operator resubmits it. Left out, it goes on as it was. */
  readonly repeat?: (activity: A, state: S, context: Context) => Next<S>;
  /**
   * It may run a child again at the same place: what steps inside have done is kept, and not requested again. Said by
   * `absorbs` already. Left out, running a child twice is a fault; each turn of a loop (`repeats`) is a place of its own.
   */
  readonly reruns?: boolean;
  /** Whether a fault of its child stays with it for now, before any handler sees it. */
  readonly retries?: (activity: A, state: S, fault: Fault) => boolean;
  /** Whether it would run its child again after this fault, and has no run left: what its child answered last is its answer. */
  readonly isUsedUp?: (activity: A, state: S, fault: Fault) => boolean;
  /** Its child closed with a fault that it absorbs. */
  readonly childFaulted?: (activity: A, state: S, fault: Fault, context: Context) => Next<S>;
  /** Nothing is left to undo. Left out, the activity closes. */
  readonly undone?: (activity: A, state: S, context: Context) => Next<S>;
  /**
   * Called once for each fault, its own or a child's (WF: HandleFault). What it wants run cleans up: that begins once
   * its children are closed, and ends before any handler is looked at.
   */
  readonly handleFault?: (activity: A, state: S, fault: Fault, context: Context) => CleanUp;
  /** Called once when it is canceled. What it wants run cleans up, once its children are closed. */
  readonly cancel?: (activity: A, state: S, context: Context) => CleanUp;
  readonly childClosed?: (activity: A, state: S, closing: Closing, context: Context) => Next<S> | undefined;
  /** A signal that it waits for has come. */
  readonly signaled?: (activity: A, state: S, payload: Json, context: Context) => Next<S> | undefined;
  /** Time has passed. Called whenever it might concern this activity, so it looks at the clock itself. */
  readonly woken?: (activity: A, state: S, context: Context) => Next<S> | undefined;
  readonly replied?: (activity: A, state: S, reply: StepReply, context: Context) => Next<S> | undefined;
  /** Milliseconds since 1970 at which `woken` should be called. */
  readonly wakeAt?: (state: S) => number | undefined;
  /** The same state with its times so much later: the order was suspended for so long. Left out, they pass meanwhile. */
  readonly postponed?: (state: S, byMs: number) => S;
}

export const run = <S>(children: readonly Start[], state: S): Next<S> => ({ state, run: children });
export const wait = <S>(state: S): Next<S> => ({ state });
export const request = <S>(attempt: Attempt, state: S): Next<S> => ({ state, request: attempt });
export const close = (closing: Closing): Next<never> => ({ close: closing });
export const raise = <S = never>(fault: Fault, state?: S): Next<S> => (state === undefined ? { raise: fault } : { raise: fault, state });

export const succeeded = (output?: Json): Closing => (output === undefined ? { result: 'Succeeded' } : { result: 'Succeeded', output });

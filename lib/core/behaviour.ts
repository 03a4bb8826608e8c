import type { Activity, ActivityBase, Template } from './definition.ts';
import type { StepReply } from './event.ts';
import type { Fault } from './fault.ts';
import type { Json } from './json.ts';

/** How an activity ended. The status says where it is in its life, the result how that life ended. */
export type Closing = { readonly result: 'Succeeded'; readonly output?: Json } | { readonly result: 'Faulted'; readonly fault: Fault };

/** One asking of an agent; `advance` adds who is asked, and the ids. */
export interface Asking {
  readonly input: Json;
  readonly generation: number;
  readonly attempt: number;
  readonly completeBy: number;
}

/**
 * What an activity wants to happen now; made by the verbs `run`, `wait`, `ask`, `close` and `raise`. `undefined` from
 * a behaviour means that nothing happens: the event was a repetition, or came too late.
 */
export interface Next<S> {
  readonly state?: S;
  /** Names of the children to start, in this order. */
  readonly run?: readonly string[];
  readonly ask?: Asking;
  readonly close?: Closing;
  /** The fault looks for a handler at once; where none matches, the order is held as it is. */
  readonly raise?: Fault;
  /** A failure that changes nothing yet, for the journal. */
  readonly failedForNow?: Fault;
}

/** What a behaviour may know beside its own activity and state: when it is, and what expressions yield. */
export interface Context {
  /** Milliseconds since 1970, from the event. */
  readonly at: number;
  /** The claim under which this happens. */
  readonly epoch: number;
  /** How long a step may take that says nothing itself. */
  readonly stepMs: number;
  /** When the whole order's time is over. */
  readonly endBy: number | undefined;
  readonly evaluate: (template: Template) => Evaluated;
}

export type Evaluated = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: Fault };

/** What one type of activity does: small pure functions, each answering with one verb. */
export interface Behaviour<A extends ActivityBase = ActivityBase, S = unknown> {
  /** The activities inside it, in order; leaves have none. */
  readonly children: (activity: A) => readonly Activity[];
  /** What is wrong with its own fields, a sentence each: a definition may be written by hand. */
  readonly problems?: (activity: A) => readonly string[];
  /** All in it that holds expressions: for `check`, and for knowing which outputs are read later. */
  readonly templates: (activity: A) => readonly Template[];
  readonly execute: (activity: A, context: Context) => Next<S>;
  /** Starts the same execution once more: it expired, was reset, or an operator resubmits it. Left out, it goes on as it was. */
  readonly repeat?: (activity: A, state: S, context: Context) => Next<S>;
  readonly childClosed?: (activity: A, state: S, closing: Closing, context: Context) => Next<S> | undefined;
  /** Time has passed. Called whenever it might concern this activity, so it looks at the clock itself. */
  readonly woken?: (activity: A, state: S, context: Context) => Next<S> | undefined;
  readonly replied?: (activity: A, state: S, reply: StepReply, context: Context) => Next<S> | undefined;
  /** Milliseconds since 1970 at which `woken` should be called. */
  readonly wakeAt?: (state: S) => number;
}

export const run = <S>(children: readonly string[], state: S): Next<S> => ({ state, run: children });
export const wait = <S>(state: S): Next<S> => ({ state });
export const ask = <S>(asking: Asking, state: S): Next<S> => ({ state, ask: asking });
export const close = (closing: Closing): Next<never> => ({ close: closing });
export const raise = <S = never>(fault: Fault, state?: S): Next<S> => (state === undefined ? { raise: fault } : { raise: fault, state });

export const succeeded = (output?: Json): Closing => (output === undefined ? { result: 'Succeeded' } : { result: 'Succeeded', output });

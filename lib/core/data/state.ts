import type { Start, StepMemo } from '#core/engine/behavior';
import type { StepReply } from './event.ts';
import type { Fault } from './fault.ts';
import type { Json } from './json.ts';

export type Status = 'Initialized' | 'Executing' | 'Canceling' | 'Faulting' | 'Compensating' | 'Closed';
export type Result = 'Succeeded' | 'Faulted' | 'Canceled' | 'Compensated';

/** One activity that is alive. */
export interface ActivityState<S = unknown> {
  readonly status: Exclude<Status, 'Initialized' | 'Closed'>;
  /** What its behavior keeps; absent where it could not even begin. */
  readonly local?: S;
  /** An answer that came while the order was held or suspended: recorded, and applied when it goes on. */
  readonly reply?: StepReply;
  /** Why it is Faulting. */
  readonly fault?: Fault;
  /** Nobody takes its fault: it waits for a person, or until one has dealt with another fault. */
  readonly awaitsPerson?: true;
  /** Its children are closed, and one of its handlers runs. */
  readonly handling?: true;
  /** What is still to clean up before it closes; `cleaning`: it has begun to. */
  readonly cleanUp?: readonly Start[];
  readonly cleaning?: true;
  /** Who waits for it, where that is not the activity around it: an undo closes to whoever asked for it. */
  readonly parent?: string;
  /** Of an activity of an app's own that does not say that it may run a child again: the children that it has run. */
  readonly ran?: readonly string[];
  /** Of a retry: the variables that are set inside it, as they were when it first began. */
  readonly vars?: Variables;
  /** The newest page of the undo list when it began: neither that one nor those below hold anything of it. */
  readonly above?: number;
  /** Of a step: how often it was late. With the step that succeeds its count is gone. */
  readonly late?: number;
  /** Late above its threshold, it is requested again then, and not before: milliseconds since 1970. */
  readonly waitsUntil?: number;
}

export type Variables = { readonly [name: string]: Json };

/** Something that was done and can be undone. */
export interface UndoEntry {
  /** Of the step that did it. */
  readonly path: string;
  readonly generation: number;
  /** What its undo is asked with; absent as long as nobody knows whether it was done at all. */
  readonly input?: Json;
  /** Why its undo has no input: it is never asked. */
  readonly fault?: Fault;
  /** Of what nobody knows the outcome of: what its undo reads beside its answer, as it was then. */
  readonly reads?: UndoReads;
  /** The last asking of what nobody knows the outcome of, and what it was asked with. */
  readonly attempt?: number;
  readonly requestInput?: Json;
  /** What was asked last may still be done until then: milliseconds since 1970. */
  readonly until?: number;
  /** The page that it was taken out of. */
  readonly from?: number;
}

/** What of the undo list lies outside of the state, in pages with rising numbers; each names the one below it. */
export interface PagedUndo {
  /** The newest page. */
  readonly top: number;
  /** How much is left in all of them. */
  readonly entries: number;
  /** Of pages from `to` down to `next`, which is left out: nothing of this scope, without its handler's own work, is left there. */
  readonly searched?: readonly { readonly scope: string; readonly own?: string; readonly to: number; readonly next: number }[];
}

/** Entries that were put aside, oldest first, and the page below with older ones. */
export interface UndoPage {
  readonly entries: readonly UndoEntry[];
  readonly below?: number;
}

/** A part of what an expression may read: it may be gone by the time it is needed. */
export interface UndoReads {
  readonly steps?: { readonly [name: string]: Json };
  readonly vars?: Variables;
  readonly each?: { readonly [name: string]: Json };
  readonly fault?: Json;
}

/** The order is being ended from outside: everything that was done is undone, then it closes. */
export interface Ending {
  readonly outcome: 'canceled' | 'compensated';
  /** Why, where that goes to whoever called it. */
  readonly fault?: Fault;
}

/** A signal that came before anything waited for it. */
export interface KeptSignal {
  readonly name: string;
  readonly payload: Json;
}

/** How an order ended. */
export type Outcome = 'completed' | 'compensated' | 'rejected' | 'canceled' | 'terminated';

/** Why an order waits for a person. */
export interface Blocked {
  readonly path: string;
  readonly fault: Fault;
  readonly at: number;
}

/**
 * Where one instance of a workflow is: plain JSON, only what is alive or needed later, and paths instead of nodes of
 * the definition.
 */
export interface State {
  readonly phase: 'initialized' | 'running' | 'blocked' | 'suspended' | 'closed';
  /** By path: `order/parallel/ship`. */
  readonly activities: { readonly [path: string]: ActivityState };
  /** By path: the outputs that a later expression reads. */
  readonly outputs: { readonly [path: string]: Json };
  /** How long a step may take that says nothing itself; pinned when the order starts. */
  readonly stepMs: number;
  /** When the whole order's time is over. */
  readonly endBy?: number;
  readonly blocked?: Blocked;
  /** When its time was stopped; all times in here are as they were then. */
  readonly suspendedAt?: number;
  readonly vars?: Variables;
  /** Oldest first. */
  readonly signals?: readonly KeptSignal[];
  /** Another order waits for its end, and may undo it later. */
  readonly called?: true;
  /** That other order has it undone, although it was completed. */
  readonly compensatedByCaller?: true;
  /** The fault with which it goes back to the order that called it. */
  readonly failure?: Fault;
  /** Oldest first. */
  readonly undo?: readonly UndoEntry[];
  /** What is older than all of it. */
  readonly pagedUndo?: PagedUndo;
  /** By path: what is known of steps inside a retry that is at work. */
  readonly memos?: { readonly [path: string]: StepMemo };
  readonly ending?: Ending;
  /** The whole order was compensated by its own handler. */
  readonly compensated?: true;
  /** Something that was done has been undone. */
  readonly undone?: true;
  /** Once closed. */
  readonly outcome?: Outcome;
}

export const initialState: State = { phase: 'initialized', activities: {}, outputs: {}, stepMs: 0 };

import type { StepReply } from './event.ts';
import type { Fault } from './fault.ts';
import type { Start } from './ids.ts';
import type { Json } from './json.ts';
import type { StepMemo } from './step-state.ts';

/** The stage of an order, as everybody may see it (SAS). */
export type ProcessState = 'Pending' | 'Processing' | 'Processed' | 'Error';

export type Status = 'Initialized' | 'Executing' | 'Canceling' | 'Faulting' | 'Compensating' | 'Closed';
export type Result = 'Succeeded' | 'Faulted' | 'Canceled' | 'Compensated';

/** The end of an activity. Its status says what it is doing, its closing how it ended. */
export type Closing =
  /** `collected`: an output made of other outputs, which the journal already has. */
  | { readonly result: 'Succeeded'; readonly output?: Json; readonly collected?: Json }
  | { readonly result: 'Faulted'; readonly fault: Fault }
  | { readonly result: 'Canceled' }
  | { readonly result: 'Compensated' };

/** One activity that has started and is not closed. */
export interface ActivityState {
  readonly status: Exclude<Status, 'Initialized' | 'Closed'>;
  /** The behavior's own state; absent if the activity failed before it could start. */
  readonly local?: unknown;
  /** A reply that arrived while the order was blocked or suspended. It is applied when the order continues. */
  readonly reply?: StepReply;
  /** A person has done this undo, or the undo of this unconfirmed step, during a suspension. The activity ends when the order continues. */
  readonly marked?: true;
  /** The reason for the status Faulting. */
  readonly fault?: Fault;
  /** No handler matches its fault, so it waits for a person. The order may be blocked for another activity's fault first. */
  readonly awaitsPerson?: true;
  /** Its children are closed, and one of its handlers runs. */
  readonly handling?: true;
  /** The children that still have to clean up before it closes. `cleaning`: the first of them has started. */
  readonly cleanUp?: readonly Start[];
  readonly cleaning?: true;
  /** The activity that waits for this one, if that is not the enclosing one. For an undo, it is the activity that started the undo. */
  readonly parent?: string;
  /** The children that a custom activity has run, if it does not declare that it may run a child again. */
  readonly ran?: readonly string[];
  /** The order goes on at `to` when the work of this activity is canceled and `scopes` are undone. */
  readonly resumes?: { readonly to: string; readonly scopes: readonly string[]; readonly local?: unknown };
  /** For a retry: the variables that activities inside it set, with their values before its first run. */
  readonly vars?: Variables;
  /** The newest page of the undo list when the activity started. That page and all older ones hold nothing of this activity. */
  readonly above?: number;
  /** The number of times that a step was overdue. It is dropped when the step closes, or when a person or a rule decides. */
  readonly late?: number;
  /** The end of a pause (milliseconds since 1970): of a step over its failure limit, or of an activity that a rule runs again. */
  readonly waitsUntil?: number;
}

export type Variables = { readonly [name: string]: Json };

/** Work that was done, or may have been done, and can be undone. */
export interface UndoEntry {
  /** The path of the step, or of the composite, that did the work. */
  readonly path: string;
  readonly generation: number;
  /** The input of the undo; absent while the outcome of the step is unknown. */
  readonly input?: Json;
  /** The reason why the input of the undo could not be evaluated. Such an undo is never requested. */
  readonly fault?: Fault;
  /** The values that the undo reads besides the step's own output, if the outcome is unknown. They may change or be gone later. */
  readonly reads?: UndoReads;
  /** The last attempt, and its input, if the outcome is unknown. */
  readonly attempt?: number;
  readonly requestInput?: Json;
  /** The time until which the last request may have its effect: milliseconds since 1970. */
  readonly until?: number;
  /** The page from which the entry was paged in. */
  readonly from?: number;
}

/** A rule of compensation: it gives an undo to a step that has none in the definition (F-104). */
export interface RuledUndo {
  readonly rule: { readonly id: string; readonly version: number };
  /** An expression of the rule. If it is false when the step closes, the step has no undo. */
  readonly condition?: string;
  readonly agent: string;
  readonly operation: string;
  /** A template of the rule. It is filled when the step closes. */
  readonly input: Json;
}

/** The part of the undo list outside of the state. Pages have rising numbers, and each page names the next older one. */
export interface PagedUndo {
  /** The newest page. */
  readonly top: number;
  /** The number of entries left in all pages. */
  readonly entries: number;
  /**
   * Ranges already searched: pages `to` down to `next` (exclusive) hold nothing more of this scope. `own` is the
   * scope's handler, whose own work does not count.
   */
  readonly searched?: readonly { readonly scope: string; readonly own?: string; readonly to: number; readonly next: number }[];
}

/** Entries paged out together, oldest first, and the number of the page with older ones. */
export interface UndoPage {
  readonly entries: readonly UndoEntry[];
  readonly below?: number;
}

/** A part of what an expression may read, kept because it may be gone by the time it is needed. */
export interface UndoReads {
  readonly steps?: { readonly [name: string]: Json };
  readonly vars?: Variables;
  readonly each?: { readonly [name: string]: Json };
  readonly fault?: Json;
}

/** A client, an operator or a fault for the caller ends the order: all its work is undone, then it closes. */
export interface Ending {
  readonly outcome: 'canceled' | 'compensated';
  /** The fault for the caller. */
  readonly fault?: Fault;
}

/** A signal that came before any activity waited for it. */
export interface KeptSignal {
  readonly name: string;
  readonly payload: Json;
}

/** The end of an order. */
export type Outcome = 'completed' | 'compensated' | 'rejected' | 'canceled' | 'terminated';

/** An activity that is closed without being done, with an output that somebody gave. */
export interface Skip {
  readonly output?: Json;
  /**
   * `none`: nothing was done. `done`: a person did it by hand, and it can be undone. `kept`: it was done before the order went back, and
   * its output is taken again.
   */
  readonly effect: 'none' | 'done' | 'kept';
  /** The generation of what was done by hand, if the step was requested before. */
  readonly generation?: number;
}

/** A workflow that handles exceptions of one order. */
export type GivenHandler = {
  /** The type of the faults, or an ancestor of it. */
  readonly fault: string;
  readonly workflow: string;
  /** The version of the workflow. Default: the newest when the handler begins. */
  readonly version?: number;
};

/** The settings of one order that a person has changed. */
export interface Amended {
  /** Milliseconds since 1970. */
  readonly endBy?: number;
  readonly maxFailures?: number;
  /** The changed retries, by their paths. */
  readonly retry?: { readonly [path: string]: { readonly retries?: number; readonly intervalSeconds?: number } };
  readonly variables?: Variables;
  /** The handlers that the order has beside those of its workflow, one for each type of fault. */
  readonly handle?: readonly GivenHandler[];
}

/** The reason why an order waits for a person. */
export interface Blocked {
  readonly path: string;
  readonly fault: Fault;
  readonly at: number;
  /** The fault came from outside: no activity has failed, and all of them go on where they were. */
  readonly reported?: true;
}

/**
 * One instance of a workflow as plain JSON. It holds only open activities and what they need later, with paths instead
 * of nodes of the definition.
 */
export interface State {
  readonly phase: 'initialized' | 'running' | 'blocked' | 'suspended' | 'closed';
  /** The open activities by path: `order/parallel/ship`. */
  readonly activities: { readonly [path: string]: ActivityState };
  /** The outputs that a later expression reads, by path. */
  readonly outputs: { readonly [path: string]: Json };
  /** Milliseconds for a step whose definition gives no time limit. Fixed when the order starts. */
  readonly stepMs: number;
  /** The time at which the time limit of the whole order passes: milliseconds since 1970. */
  readonly endBy?: number;
  readonly blocked?: Blocked;
  /** The time at which the order was suspended. The resumption moves all other times by the length of the suspension. */
  readonly suspendedAt?: number;
  /** The time since which the deadlines stand still, because a person locked the order: milliseconds since 1970. */
  readonly stillSince?: number;
  readonly vars?: Variables;
  /** The kept signals, oldest first. */
  readonly signals?: readonly KeptSignal[];
  /** Another order called this one. The caller waits for the end of this order, and may compensate it later. */
  readonly called?: true;
  /** The caller compensates this order, although it had completed. */
  readonly compensatedByCaller?: true;
  /** The fault that the caller receives. */
  readonly failure?: Fault;
  /** The newest part of the undo list, oldest first. */
  readonly undo?: readonly UndoEntry[];
  /** The entries older than those in `undo`. */
  readonly pagedUndo?: PagedUndo;
  /** The results of steps inside a running retry, by path. */
  readonly memos?: { readonly [path: string]: StepMemo };
  /** The undos that rules give to steps, by the path in the definition. They are part of the state, so that a replay needs no rules. */
  readonly ruledUndos?: { readonly [step: string]: RuledUndo };
  /** The activities that are closed without being done, as soon as they would begin, by path. */
  readonly skips?: { readonly [path: string]: Skip };
  /** The inputs that a person gave in place of those of the definition, by the path of the step. */
  readonly inputs?: { readonly [path: string]: Json };
  readonly amended?: Amended;
  readonly ending?: Ending;
  /** The activity whose affected scope is being undone, so that orders which have read what it wrote get a message about it. */
  readonly recovering?: string;
  /** A fault handler of the workflow compensated the whole order. */
  readonly compensated?: true;
  /** The fault because of which the order does not complete. */
  readonly cause?: Fault;
  /** At least one step has been undone. */
  readonly undone?: true;
  /** Present after the order has closed. */
  readonly outcome?: Outcome;
}

export const initialState: State = { phase: 'initialized', activities: {}, outputs: {}, stepMs: 0 };

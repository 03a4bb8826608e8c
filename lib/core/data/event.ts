import type { OrderInstruction } from '#core/instructions/index';
import type { PastActivity } from '#core/instructions/past';
import type { Fault } from './fault.ts';
import type { Json } from './json.ts';
import type { State } from './state.ts';

/** The reply of an agent to one attempt. */
export type StepReply =
  | { readonly status: 'succeeded'; readonly output: Json }
  | { readonly status: 'failed'; readonly fault: Fault }
  /** The agent could not process the request message. The reason is not an answer of the service (Process Manager: error 500). */
  | {
      readonly status: 'rejected';
      readonly message: string;
      /** The id of the dead letter that keeps the message for a person. */
      readonly deadLetter?: string;
      /** The agent may have caused the effect before it failed. */
      readonly outcomeUnknown?: true;
    };

interface EventBase {
  /** The time of the event: milliseconds since 1970. The core has no other clock. */
  readonly at: number;
  /** The number of the scheduler's claim on the order. Each new claim has a higher one, and a write under an older one is refused. */
  readonly epoch: number;
}

/** Something that has happened to an order, named in the past tense. The state machine of the order accepts nothing else. */
export type Event = EventBase &
  /**
   * The fields of `started`: another order waits for the end of this one if it is `called`; `stepMs` is the time limit of a step that has
   * none of its own, in milliseconds.
   */
  (
    | { readonly type: 'started'; readonly stepMs: number; readonly called?: true }
    /** `sentAt`: by the clock of the replying agent. `clocksApartMs`: how far that clock may be ahead of another agent's clock. */
    | {
        readonly type: 'replied';
        readonly requestId: string;
        readonly sentAt: number;
        readonly clocksApartMs?: number;
        readonly reply: StepReply;
      }
    /** A running operation needs longer: `completeBy` is its new absolute deadline. */
    | { readonly type: 'heartbeat'; readonly requestId: string; readonly completeBy: number }
    /** Time has passed: due activities continue now. */
    | { readonly type: 'woken' }
    /**
     * The supervisor counted a missed deadline, either of the step at this path or of all working steps. A step that has
     * missed more deadlines than its failure limit pauses until `waitsUntil`; then it is requested again.
     */
    | { readonly type: 'counted'; readonly path?: string; readonly waitsUntil?: number }
    /** Every step whose deadline has passed is requested again, unless it pauses because of its failure limit. */
    | { readonly type: 'expired' }
    /** The order was reset and has a new claim: all earlier attempts are void. */
    | { readonly type: 'reclaimed' }
    /** The order was put into Error from outside: a step exceeded its failure limit, or the given fault occurred. */
    | { readonly type: 'exhausted'; readonly path?: string; readonly fault?: Fault }
    /** An exception from outside. `fault.source` is the activity that the exception is about; absent: the order as a whole. */
    | { readonly type: 'reported'; readonly fault: Fault }
    /** A step is overdue beyond its failure limit, and its workflow handles that as a fault. */
    | { readonly type: 'overdue'; readonly path: string }
    /**
     * The open work is canceled, and the completed work is undone: for a client or an operator, or for a step above its failure limit.
     * `late` is the path of that step. A client never causes `compensated`. `recovers`: orders that have read what is undone get a message.
     */
    | { readonly type: 'canceled'; readonly outcome: 'canceled' | 'compensated'; readonly late?: string; readonly recovers?: true }
    /** An operator ended the order as it is, without compensation. */
    | { readonly type: 'terminated' }
    /** An operator resubmits the failed step, or answers a question. `completeWithinSeconds` gives the order a new time limit. */
    | { readonly type: 'resubmitted'; readonly completeWithinSeconds?: number; readonly answer?: Json }
    /** A signal from outside. An activity that waits for it continues; otherwise the state keeps it. */
    | { readonly type: 'signaled'; readonly name: string; readonly payload: Json }
    /** An operator confirms that the undo of this step is done, or that there is nothing to undo. */
    | { readonly type: 'markedCompensated'; readonly path: string }
    /** An operator stops the time of the order. The order starts no activity until it is resumed. */
    | { readonly type: 'suspended' }
    | { readonly type: 'resumed' }
    /** A person, or a rule, has given an instruction that has no event of its own in this list. */
    | { readonly type: 'instructed'; readonly instruction: OrderInstruction }
    /** A person locks the order: until the lock ends, the deadlines of the order stand still. */
    | { readonly type: 'locked' }
    /** The deadlines of a locked order stood still until this time. `goesOn`: the order is still locked. */
    | { readonly type: 'stoodStill'; readonly until: number; readonly goesOn: boolean }
    /** The caller compensates this order after it has completed. */
    | { readonly type: 'compensatedByCaller' }
    /** The order that handles an exception of this order has ended. A rule has said how this order then goes on. */
    | { readonly type: 'handlerEnded'; readonly place: string; readonly next: AfterHandler }
    /** The rules of compensation for the order have changed. */
    | { readonly type: 'undosRuled'; readonly undos: NonNullable<State['ruledUndos']> }
    /**
     * A rule decided about the order. The decision is complete, so that a replay needs no rules. `path`: the step that the decision is
     * about, if no exception names it.
     */
    | {
        readonly type: 'decided';
        readonly rule: { readonly id: string; readonly version: number };
        readonly action: RuledAction;
        readonly path?: string;
      }
  );

/** The way in which an order goes on after the handler of its exception. `place`: the activity that the exception is about. */
export type AfterHandler =
  /** The handler did not complete: that is an exception of this order. */
  | { readonly kind: 'block'; readonly fault: Fault }
  | { readonly kind: 'resume-at'; readonly path: string; readonly past: { readonly [path: string]: PastActivity } };

/** The action of a rule on an order that an exception has stopped, or on a step at work. */
export type RuledAction =
  | { readonly kind: 'retry'; readonly afterSeconds: number }
  /** The order goes on where it was. Nothing is requested again. */
  | { readonly kind: 'go-on' }
  /** Raises another fault at the same activity. The handlers of the workflow may take it, unless `toPerson`. */
  | { readonly kind: 'raise'; readonly fault: Fault; readonly toPerson: boolean }
  /** `again`: a step whose request is open is requested again, too, when the order is resumed. */
  | { readonly kind: 'suspend'; readonly again?: true };

/** An event without its time and epoch. */
export type EventContent = Event extends infer E ? (E extends Event ? Omit<E, 'at' | 'epoch'> : never) : never;

import type { Fault } from './fault.ts';
import type { Json } from './json.ts';

/** What an agent answered to one asking. */
export type StepReply =
  | { readonly status: 'succeeded'; readonly output: Json }
  | { readonly status: 'failed'; readonly fault: Fault }
  /** The message itself could not be processed (PM: error 500). */
  | {
      readonly status: 'rejected';
      readonly message: string;
      /** Where it is kept for a person. */
      readonly deadLetter?: string;
      /** Whoever tried to process it may have done it. */
      readonly outcomeUnknown?: true;
    };

interface EventBase {
  /** When it happened: milliseconds since 1970. The core has no other clock. */
  readonly at: number;
  /** The claim under which it is applied. */
  readonly epoch: number;
}

/** What happened to an instance; past tense. */
export type Event = EventBase &
  /** `called`: by another order, which waits for its end. */
  (
    | { readonly type: 'started'; readonly stepMs: number; readonly called?: true }
    /** `clocksApartMs`: by how much the clock of whoever answered may be ahead of that of another agent. */
    | {
        readonly type: 'replied';
        readonly requestId: string;
        readonly sentAt: number;
        readonly clocksApartMs?: number;
        readonly reply: StepReply;
      }
    /** A running operation needs longer: its new absolute deadline. */
    | { readonly type: 'heartbeat'; readonly requestId: string; readonly completeBy: number }
    /** Time has passed: whatever is due happens now. */
    | { readonly type: 'woken' }
    /** The supervisor counted an expiry: of the step at this path, or of all that is at work. `waitsUntil`: the long wait begins. */
    | { readonly type: 'counted'; readonly path?: string; readonly waitsUntil?: number }
    /** Every step that is past its time is asked again, unless it waits for long. */
    | { readonly type: 'expired' }
    /** The order was reset and claimed anew: every asking is void. */
    | { readonly type: 'reclaimed' }
    /** The order was put into Error from outside: its threshold is exceeded, or for the fault that is given. */
    | { readonly type: 'exhausted'; readonly path?: string; readonly fault?: Fault }
    /** A step stays overdue above the threshold, and its workflow has said who deals with that. */
    | { readonly type: 'overdue'; readonly path: string }
    /** Client or operator: what runs is canceled, what was done is undone. `compensated` is an operator's instruction. */
    | { readonly type: 'canceled'; readonly outcome: 'canceled' | 'compensated' }
    /** Ended by a person: nothing is undone. */
    | { readonly type: 'terminated' }
    /** An operator resubmits the failed step, or answers what was asked. `completeWithinSeconds` gives the order a new time. */
    | { readonly type: 'resubmitted'; readonly completeWithinSeconds?: number; readonly answer?: Json }
    /** A signal from outside: whatever waits for it goes on; else it is kept. */
    | { readonly type: 'signaled'; readonly name: string; readonly payload: Json }
    /** A person says that an undo is done, or that there is nothing to undo: of the step at this path. */
    | { readonly type: 'markedCompensated'; readonly path: string }
    /** An operator stops its time: nothing is begun until he has it go on. */
    | { readonly type: 'suspended' }
    | { readonly type: 'resumed' }
    /** The order that called this one undoes it after it was completed. */
    | { readonly type: 'compensatedByCaller' }
  );

/** An event without its time and claim. */
export type EventContent = Event extends infer E ? (E extends Event ? Omit<E, 'at' | 'epoch'> : never) : never;

import type { Json } from '#core/data/json';

/** What an operator decided. Every one carries who and why, and goes into the order's journal. */
export type Instruction = {
  readonly by: string;
  readonly reason: string;
} & (
  | {
      readonly kind: 'resubmit';
      /** A new time for the whole order, from now. */
      readonly completeWithinSeconds?: number;
      /** To the question for which it is held. */
      readonly answer?: Json;
    }
  /** What runs is canceled, what was done is undone, newest first. A client may do so, too. */
  | { readonly kind: 'cancel' }
  /** The same for an order in Error, by an operator's decision: it ends as compensated. */
  | { readonly kind: 'compensate' }
  /** An undo that goes on failing was seen to by hand. `path`: of the step, or of its undo; left out, where there is one only. */
  | { readonly kind: 'mark-compensated'; readonly path?: string }
  /** Its time stands still: what was asked may be answered, and nothing new is begun, until it is resumed. */
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resume' }
  /** Ended at once: nothing is undone. */
  | { readonly kind: 'terminate' }
);

/** What a client or operator tells an order from outside; it decides nothing. */
export interface Signal {
  readonly kind: 'signal';
  readonly name: string;
  readonly payload: Json;
}

/** Something that one call asks of an order. */
export type Decision = Instruction | Signal;

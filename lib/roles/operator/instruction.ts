import type { Json } from '#core/data/json';

/** A decision of an operator. The journal records it, with its author and reason. */
export type Instruction = {
  readonly by: string;
  readonly reason: string;
} & (
  | {
      readonly kind: 'resubmit';
      /** A new time limit for the whole order, from now. */
      readonly completeWithinSeconds?: number;
      /** The answer to the question that blocks the order. */
      readonly answer?: Json;
    }
  /** Cancels running activities and undoes completed ones, newest first. A client may cancel, too. */
  | { readonly kind: 'cancel' }
  /** Cancels and undoes an order in Error, which then ends as compensated. */
  | { readonly kind: 'compensate' }
  /** Records that a failing undo was done by hand. `path`: the path of the step or of its undo; optional if only one undo fails. */
  | { readonly kind: 'mark-compensated'; readonly path?: string }
  /** Stops the order's time until it is resumed. Replies still count, but no new activity begins. */
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resume' }
  /** Ends the order at once, without undoing anything. */
  | { readonly kind: 'terminate' }
);

/** A message of a client or an operator that a workflow may wait for. */
export interface Signal {
  readonly kind: 'signal';
  readonly name: string;
  readonly payload: Json;
}

/** An instruction or a signal of one call. */
export type Decision = Instruction | Signal;

/** What an operator decided. Every one carries who and why, and goes into the order's journal. */
export type Instruction = {
  readonly by: string;
  readonly reason: string;
} /** `completeWithinSeconds`: a new time for the whole order, from now. */ & (
  | { readonly kind: 'resubmit'; readonly completeWithinSeconds?: number }
  /** What runs is cancelled, what was done is undone, newest first. A client may do so, too. */
  | { readonly kind: 'cancel' }
  /** The same for an order in Error, by an operator's decision: it ends as compensated. */
  | { readonly kind: 'compensate' }
  /** Ended at once: nothing is undone. */
  | { readonly kind: 'terminate' }
);

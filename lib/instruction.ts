/** What an operator decided. Every one carries who and why, and goes into the order's journal. */
export type Instruction = {
  readonly kind: 'resubmit';
  readonly by: string;
  readonly reason: string;
  /** A new time for the whole order, in seconds from now. */
  readonly completeWithinSeconds?: number;
};

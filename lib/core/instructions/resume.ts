import { firstOf, type InstructionKind, refusal, whenFinished } from './kind.ts';

/** Resumes a suspended order with the time that it had left. */
export interface Resume {
  readonly kind: 'resume';
}

export const resume: InstructionKind<Resume> = {
  refusals: (order) =>
    firstOf(
      () => whenFinished(order),
      () => (order.suspended ? [] : [refusal('not-suspended', 'The order is not suspended: there is nothing to resume.')]),
    ),
  event: () => ({ type: 'resumed' }),
};

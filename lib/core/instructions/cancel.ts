import { firstOf, type InstructionKind, whenFinished, whenUndone } from './kind.ts';

/** Cancels running activities and undoes completed ones, newest first. A client may cancel, too. */
export interface Cancel {
  readonly kind: 'cancel';
}

export const cancel: InstructionKind<Cancel> = {
  refusals: (order) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
    ),
  event: () => ({ type: 'canceled', outcome: 'canceled' }),
};

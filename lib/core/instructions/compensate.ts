import { firstOf, type InstructionKind, refusal, whenFinished, whenUndone } from './kind.ts';

/** Cancels and undoes an order in Error, which then ends as compensated. */
export interface Compensate {
  readonly kind: 'compensate';
}

export const compensate: InstructionKind<Compensate> = {
  refusals: (order) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () =>
        order.processState === 'Error'
          ? []
          : [refusal('not-blocked', `Only an order in Error can be compensated; this one is ${order.processState}. Cancel it instead.`)],
    ),
  event: () => ({ type: 'canceled', outcome: 'compensated' }),
};

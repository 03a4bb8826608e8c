import { type InstructionKind, refusal } from './kind.ts';

/** Notes that a person has seen the exception. Nothing else is changed. */
export interface Acknowledge {
  readonly kind: 'acknowledge';
}

export const acknowledge: InstructionKind<Acknowledge> = {
  refusals({ processState, outcome, openCauses }) {
    if (processState === 'Error' || openCauses > 0) return [];
    return processState === 'Processed'
      ? [refusal('finished', `The order is finished (${outcome}) and has no open exception: there is nothing to acknowledge.`)]
      : [refusal('nothing-to-do', 'The order has no open exception: there is nothing to acknowledge.')];
  },
  staysStopped: () => true,
  apply: () => undefined,
};

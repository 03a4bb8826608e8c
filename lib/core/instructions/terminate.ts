import { type InstructionKind, whenFinished } from './kind.ts';

/** Ends the order at once, without undoing anything. */
export interface Terminate {
  readonly kind: 'terminate';
}

export const terminate: InstructionKind<Terminate> = {
  refusals: whenFinished,
  event: () => ({ type: 'terminated' }),
};

import type { DecidedAction } from './situation.ts';

/** The kind of instruction with which a person does what an action of a rule does. Other actions have none. */
const instructionLike: { readonly [kind in DecidedAction['kind']]?: string } = {
  retry: 'resubmit',
  skip: 'skip',
  'replace-input': 'replace-input',
  compensate: 'compensate',
};

/** The decision that ended an exception, and its verdict. */
export interface Resolution {
  readonly by: 'rule' | 'recovery' | 'person' | 'supervisor';
  /** The kind of a rule's action, or of a person's instruction. Absent if the order went on by itself. */
  readonly kind?: string;
  readonly verified?: string;
}

/** Whether a rule would have taken the same kind of action as the resolution, and the resolution has passed. */
export const isSameOutcome = (action: DecidedAction, { by, kind, verified }: Resolution): boolean =>
  verified === 'passed' && kind !== undefined && kind === (by === 'rule' ? action.kind : instructionLike[action.kind]);

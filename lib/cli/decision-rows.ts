import { type FaultView, type InstructionView, type OrderView, secondText } from './orders.ts';

/** Returns the rows about what people have decided: who has the order undone or ended, and what the last instruction has led to. */
export function decisionRows({ processState, endedBy, lastInstruction }: OrderView): readonly (readonly string[])[] {
  // The state of a finished order names who ended it.
  const ending = endedBy && processState !== 'Processed' ? [[endedBy.kind, `${givenText(endedBy)}: ${endedBy.reason}`]] : [];
  const isShown = endedBy !== undefined && lastInstruction?.at === endedBy.at && lastInstruction.kind === endedBy.kind;
  if (!lastInstruction || isShown) return ending;
  const { kind, taskId } = lastInstruction;
  return [
    ...ending,
    ['last instruction', `${kind} ${givenText(lastInstruction)}${resultText(lastInstruction)}`],
    ...(taskId ? [['resolved task', taskId]] : []),
  ];
}

const givenText = ({ by, at }: InstructionView): string => `by ${by} at ${secondText(at)}`;

/** The meaning of each verdict, in words. */
export const verdictWords: { readonly [verified: string]: string } = {
  running: 'not known yet',
  passed: 'passed',
  'failed-again': 'failed again',
  'failed-otherwise': 'failed otherwise',
  void: 'another instruction came before its outcome was known',
};

/** Returns whether an instruction has helped. Some kinds, such as suspend, are not judged. */
function resultText({ verified, fault }: InstructionView): string {
  if (!verified) return '';
  return `: ${verdictWords[verified] ?? verified}${failedWith(fault)}`;
}

/** Returns the fault with which something has failed, to follow what is said about it; empty without one. */
export const failedWith = (fault: FaultView | null | undefined): string =>
  fault ? `: ${fault.type}${fault.message ? ` (${fault.message})` : ''}` : '';

import { changedPlaces } from './input-places.ts';
import { type FaultView, type InstructionView, type OrderView, secondText } from './orders.ts';
import { shortened } from './text.ts';

/** Returns rows about two instructions of people: the one that has ended the order or lets it be undone, and the last one. */
export function decisionRows({ processState, endedBy, lastInstruction }: OrderView): readonly (readonly string[])[] {
  // The state of a finished order names who ended it.
  const ending = endedBy && processState !== 'Processed' ? [[endedBy.kind, `${givenText(endedBy)}: ${endedBy.reason}`]] : [];
  const isShown = endedBy !== undefined && lastInstruction?.at === endedBy.at && lastInstruction.kind === endedBy.kind;
  if (!lastInstruction || isShown) return ending;
  const { kind, taskId, faultBefore } = lastInstruction;
  return [
    ...ending,
    ['last instruction', `${kind} ${givenText(lastInstruction)}${resultText(lastInstruction)}`],
    ['its reason', lastInstruction.reason],
    ...valueRows(lastInstruction),
    ...(faultBefore ? [['fault before', faultText(faultBefore)]] : []),
    ...(taskId ? [['resolved task', taskId]] : []),
  ];
}

/** The most changes of an instruction that are shown, and the most characters of each. */
const changesMax = 5;
const valueCharactersMax = 600;

/** Returns the values that an instruction gives, each with the value before if the history has it. */
function valueRows({ before = {}, after = {} }: InstructionView): readonly (readonly string[])[] {
  const rows = Object.entries(after).flatMap(([name, value]): readonly (readonly string[])[] => {
    const { [name]: was } = before;
    if (was === undefined) return [['it says', shortened(`${name} ${JSON.stringify(value)}`, valueCharactersMax)]];
    return changedPlaces(was, value, name).map((each) => ['it changes', shortened(each, valueCharactersMax)]);
  });
  const more = rows.length - changesMax;
  return more > 0 ? [...rows.slice(0, changesMax), ['', `and ${more} more: see redress order history`]] : rows;
}

const givenText = ({ by, at }: InstructionView): string => `by ${by} at ${secondText(at)}`;

/** The meaning of each verdict, in words. */
export const verdictWords: { readonly [verified: string]: string } = {
  running: 'not known yet',
  passed: 'passed',
  'failed-again': 'failed again',
  'failed-otherwise': 'failed otherwise',
  void: 'another instruction came before the outcome of this one was known',
};

/** Returns whether an instruction has helped. Some kinds, such as suspend, are not judged. */
function resultText({ verified, fault }: InstructionView): string {
  if (!verified) return '';
  return `: ${verdictWords[verified] ?? verified}${failedWith(fault)}`;
}

/** Returns the end of a sentence about a failure: `: ` and the fault; empty without a fault. */
export const failedWith = (fault: FaultView | null | undefined): string => (fault ? `: ${faultText(fault)}` : '');

export const faultText = ({ type, source, message }: FaultView): string =>
  `${type}${source ? ` at ${source}` : ''}${message ? ` (${message})` : ''}`;

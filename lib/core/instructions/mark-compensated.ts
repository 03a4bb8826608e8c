import { undoPathOf } from '#core/data/ids';
import type { State } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import { failingUndos } from '#core/engine/compensation';
import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished } from './kind.ts';

/** Records that a failing undo was done by hand. `path`: the path of the step or of its undo; optional if only one undo fails. */
export interface MarkCompensated {
  readonly kind: 'mark-compensated';
  readonly path?: string;
}

export const markCompensated: InstructionKind<MarkCompensated> = {
  refusals: (order, { path }) =>
    firstOf(
      () => whenFinished(order),
      () => [...whenInError(order), ...whenMarkIsLost(order), ...ofChoice(order, path)],
    ),
  // The undo goes on when the order is resumed.
  staysStopped: ({ state }) => state.phase === 'suspended',
  event: ({ program, state }, { path }) => ({ type: 'markedCompensated', path: failingUndoAt(program, state, path) ?? rootPath }),
};

/** Returns the step whose undo is meant: `path` names the step or its undo. Without a path, the undo must be the only failing one. */
export function failingUndoAt(program: Program, state: State, path: string | undefined): string | undefined {
  const failing = failingUndos(program, state);
  if (path === undefined) return failing.length === 1 ? failing[0] : undefined;
  return failing.find((each) => each === path || undoPathOf(each) === path);
}

const whenInError = ({ processState }: Judged): readonly InstructionRefusal[] =>
  processState === 'Error' ? [refusal('undo-running', 'The order is in Error. Resubmit or compensate it; then its undos continue.')] : [];

const whenSuspended = ({ suspended }: Pick<Judged, 'suspended'>): readonly InstructionRefusal[] =>
  suspended ? [refusal('suspended', 'The order is suspended. Resume it; then its undos continue.')] : [];

/** Only an order that has begun keeps a mark while it is suspended. */
const whenMarkIsLost = ({ suspended, state }: Judged): readonly InstructionRefusal[] =>
  state.phase === 'suspended' ? [] : whenSuspended({ suspended });

/** Returns the reasons why no undo of the order continues at present. */
export const whenUndosStandStill = (order: Judged): readonly InstructionRefusal[] => [...whenInError(order), ...whenSuspended(order)];

function ofChoice({ program, state }: Judged, path: string | undefined): readonly InstructionRefusal[] {
  if (failingUndoAt(program, state, path) !== undefined) return [];
  const failing = failingUndos(program, state);
  const known = failing.length === 0 ? 'No undo of this order has failed.' : `Failed undos: ${failing.join(', ')}.`;
  if (path !== undefined)
    return [refusal('no-such-step', `The undo of ${path} is not running, or has not failed yet. ${known}`, { path, pointer: '/path' })];
  return [
    failing.length > 1
      ? refusal('no-such-step', `Several undos have failed: choose one with "path". ${known}`, { pointer: '/path' })
      : refusal('nothing-to-do', known),
  ];
}

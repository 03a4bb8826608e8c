import { definitionPath, undoPathOf } from '#core/data/ids';
import type { State } from '#core/data/state';
import type { TransitionBuilder } from './transition-builder.ts';

type Undos = NonNullable<State['ruledUndos']>;

/**
 * Takes over the undos that rules give to steps from now on. A step that is open, or whose effect may have to be undone, keeps the undo
 * that it has, or gets none: an undo is made for one operation, when its step closes.
 */
export function ruleUndos(builder: TransitionBuilder, undos: Undos): void {
  const { ruledUndos: before = {} } = builder.state;
  const kept = Object.entries(before).filter(([step]) => isInUse(builder.state, step));
  const given = Object.entries(undos).filter(([step]) => before[step] !== undefined || !isInUse(builder.state, step));
  const next: Undos = { ...Object.fromEntries(given), ...Object.fromEntries(kept) };
  if (JSON.stringify(sorted(next)) === JSON.stringify(sorted(before))) return;
  const { ruledUndos: _, ...state } = builder.state;
  builder.replaceState(Object.keys(next).length > 0 ? { ...state, ruledUndos: next } : state);
}

/** Whether a step of this path in the definition is open, has a memo, or may have an undo in the list. Any step may, if the list has pages. */
function isInUse({ activities, undo = [], pagedUndo, memos = {} }: State, step: string): boolean {
  const isOf = (path: string): boolean => definitionPath(path) === step || definitionPath(path) === undoPathOf(step);
  return pagedUndo !== undefined || undo.some(({ path }) => isOf(path)) || [...Object.keys(activities), ...Object.keys(memos)].some(isOf);
}

const sorted = (undos: Undos) => Object.entries(undos).toSorted(([one], [other]) => (one < other ? -1 : 1));

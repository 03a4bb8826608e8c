import { definitionPath } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { nodeAt, type Program, parentOf } from '#core/definition/program';
import { isAt } from '#core/engine/undo-pages';

/** Whether an activity is the target, is inside the target, or runs after it in a sequence around both. */
export function isAtOrAfter(program: Program, path: string, target: string): boolean {
  if (isAt(definitionPath(path), definitionPath(target))) return true;
  return sidesOf(program, definitionPath(target)).some(({ after }) => after.some((each) => isAt(definitionPath(path), each)));
}

/** Whether an activity runs before the target in a sequence around both. */
export const isBefore = (program: Program, path: string, target: string): boolean =>
  sidesOf(program, definitionPath(target)).some(({ before }) => before.some((each) => isAt(definitionPath(path), each)));

/**
 * Returns the scopes to undo before an order goes on at the target, newest first: the activities after the target inside the
 * open activity, and then the target.
 */
export function scopesFrom(program: Program, open: string, target: string): readonly string[] {
  const inside = sidesOf(program, target).filter(({ around }) => isAt(around, open));
  return [...inside.toReversed().flatMap(({ after }) => after.toReversed()), target];
}

/** Returns, for each sequence around a target from inside out, its children before and after the child that contains the target. */
function sidesOf(program: Program, target: string) {
  const sides: { readonly around: string; readonly before: readonly string[]; readonly after: readonly string[] }[] = [];
  for (let inside = target, around = parentOf(target); around !== undefined; inside = around, around = parentOf(around)) {
    const node = nodeAt(program, around);
    if (node.activity !== 'sequence') continue;
    const paths = node.children.map((child) => `${around}/${child.name}`);
    const at = paths.indexOf(inside);
    if (at >= 0) sides.push({ around, before: paths.slice(0, at), after: paths.slice(at + 1) });
    if (around === rootPath) break;
  }
  return sides;
}

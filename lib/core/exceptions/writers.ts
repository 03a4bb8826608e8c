import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import { awaitsReply } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { inputOf, nodeAt, type Program, stepAt } from '#core/definition/program';
import { usedObjects } from '#core/recovery/object-names';

/** Two steps at work that write the same object: `stock/tea`. */
export interface Conflict {
  readonly object: string;
  readonly path: string;
  readonly other: string;
}

interface Subject {
  readonly orderId: string;
  readonly order: Json;
}

/** Returns the conflict of a step that begins to write an object while another step at work writes the same object (F-125). */
export function conflictAt(program: Program, subject: Subject, state: State, path: string): Conflict | undefined {
  const mine = objectsAt(program, subject, state, path);
  if (mine.length === 0) return undefined;
  for (const other of Object.keys(state.activities)) {
    if (other === path) continue;
    const object = objectsAt(program, subject, state, other).find((each) => mine.includes(each));
    if (object !== undefined) return { object, path, other };
  }
  return undefined;
}

/** Returns the objects that a step at work writes, as far as its input names them. */
function objectsAt(program: Program, subject: Subject, state: State, path: string): readonly string[] {
  const node = nodeAt(program, path);
  if (!isRemote(node) || !node.writes) return [];
  const step = stepAt(program, state, path);
  if (!step || step.mode !== undefined || !awaitsReply(step)) return [];
  const input = inputOf(program, subject, state, path);
  return input.ok ? usedObjects(node, [input.value]).writes : [];
}

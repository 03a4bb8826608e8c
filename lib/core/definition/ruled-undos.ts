import { undoPathOf } from '#core/data/ids';
import type { RuledUndo, State } from '#core/data/state';
import { type Activity, isRemote } from './definition.ts';
import type { Program } from './program.ts';

/** Programs with the undos of rules, by the undos as text, and the program of the definition that each was made from. */
const made = new WeakMap<Program, Map<string, Program>>();
const origins = new WeakMap<Program, Program>();
const madeMax = 100;

/** Returns the program of one order: that of its definition, with the undos that rules have given to its steps. */
export function withRuledUndos(program: Program, { ruledUndos }: Pick<State, 'ruledUndos'>): Program {
  const origin = origins.get(program) ?? program;
  if (!ruledUndos) return origin;
  const key = JSON.stringify(ruledUndos);
  const known = made.get(origin) ?? new Map<string, Program>();
  made.set(origin, known);
  const found = known.get(key);
  if (found) return found;
  const next = { ...origin, nodes: nodesWith(origin.nodes, ruledUndos) };
  origins.set(next, origin);
  if (known.size >= madeMax) known.clear();
  known.set(key, next);
  return next;
}

/** Returns the rule that has given an activity its undo; undefined if the definition has, or nobody. */
export const ruledUndoOf = ({ undo }: Activity): RuledUndo | undefined => (undo?.activity === 'step' ? undo.ruled : undefined);

function nodesWith(nodes: Program['nodes'], undos: { readonly [step: string]: RuledUndo }): Program['nodes'] {
  return new Map(
    [...nodes].flatMap(([path, node]): readonly (readonly [string, Activity])[] => {
      const ruled = undos[path];
      if (!ruled || node.undo || !isRemote(node)) return [[path, node]];
      const { noUndo: _, ...step } = node;
      const undo = { activity: 'step', name: 'undo', agent: ruled.agent, operation: ruled.operation, input: null, ruled } as const;
      return [
        [path, { ...step, undo }],
        [undoPathOf(path), undo],
      ];
    }),
  );
}

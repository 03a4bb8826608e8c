import { undoPathOf } from '#core/data/ids';
import type { RuledUndo, State } from '#core/data/state';
import { type Activity, isRemote } from './definition.ts';
import type { Program } from './program.ts';

/** The programs made from the program of a definition, by the undos of rules as JSON text. */
const made = new WeakMap<Program, Map<string, Program>>();
/** The original program of each program in `made`. */
const origins = new WeakMap<Program, Program>();
/** The most programs that are cached for one definition. */
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

/** Returns the rule that has given an activity its undo; undefined if the undo is from the definition, or if there is none. */
export const ruledUndoOf = ({ undo }: Activity): RuledUndo | undefined => (undo?.activity === 'step' ? undo.ruled : undefined);

function nodesWith(nodes: Program['nodes'], undos: { readonly [step: string]: RuledUndo }): Program['nodes'] {
  return new Map(
    [...nodes].flatMap(([path, node]): readonly (readonly [string, Activity])[] => {
      const ruled = undos[path];
      // An undo of the definition takes precedence, and only a remote step has effects to undo.
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

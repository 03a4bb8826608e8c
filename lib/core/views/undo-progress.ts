import type { Fault } from '#core/data/fault';
import { stepOfUndo, undoPathOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { type Program, stepAt } from '#core/definition/program';
import { failingWork } from '#core/engine/compensation';
import { undoneBy } from '#core/engine/replay';
import { isAt, undoneScope } from '#core/engine/undo-pages';
import { lastAnswers } from './last-answers.ts';

/** The progress of the undo of a scope. Paths are those of the steps that are undone. */
export interface UndoProgress {
  readonly scope: string;
  /** The numbers of effects that are undone, and of those that are left. */
  readonly done: number;
  readonly left: number;
  /** The step whose undo or outcome is requested. */
  readonly now: string | null;
  readonly stuck: readonly {
    readonly path: string;
    readonly attempts: number;
    readonly lastFault: Pick<Fault, 'type' | 'message' | 'permanent'> | null;
    /** Milliseconds since 1970; null while a request is at work, while the order is suspended, or if the undo cannot be requested. */
    readonly nextAt: number | null;
  }[];
}

/** Returns how far the undo of an order is; undefined if nothing is being undone. */
export function undoProgress(program: Program, state: State, facts: readonly { readonly type: string }[]): UndoProgress | undefined {
  const scope = scopeOf(state);
  if (scope === undefined) return undefined;
  const { undo = [], pagedUndo, activities } = state;
  const undone = (facts as readonly CoreFact[]).flatMap((fact) => {
    if (fact.type !== 'ActivityClosed' || fact.result !== 'Compensated') return [];
    const path = undoneBy(program, fact.path);
    return path !== undefined && isAt(path, scope) ? [path] : [];
  });
  const isMarked = (path: string): boolean => activities[path]?.marked === true || activities[undoPathOf(path)]?.marked === true;
  const unfinished = Object.keys(activities).filter((path) => {
    if (isMarked(path)) return false;
    const { mode, phase } = stepAt(program, state, path) ?? {};
    return (mode === 'undo' || mode === 'confirm' || (mode === 'cancel' && phase === 'requested')) && isAt(path, scope);
  });
  const answers = lastAnswers(facts);
  return {
    scope,
    // Steps that a person has marked during a suspension count as undone, although they close only when the order is resumed.
    done: undone.length + Object.values(activities).filter(({ marked }) => marked).length,
    left:
      new Set([...undo.map(({ path }) => path), ...unfinished.map(stepOfUndo)].filter((path) => isAt(path, scope) && !isMarked(path)))
        .size + (pagedUndo?.entries ?? 0),
    now: unfinished.map(stepOfUndo)[0] ?? null,
    stuck: failingWork(program, state).map((path) => {
      const { attempt = 1, from = 1, phase, completeBy = 0 } = stepAt(program, state, path) ?? {};
      const fault = answers.get(path);
      return {
        path: stepOfUndo(path),
        attempts: attempt - from + 1,
        lastFault: fault ? { type: fault.type, message: fault.message, permanent: fault.permanent } : null,
        nextAt: phase === 'waitingToRetry' && state.suspendedAt === undefined ? completeBy : null,
      };
    }),
  };
}

/** Whether an order, or a scope of it, is being undone. */
export const isBeingUndone = (state: State): boolean => scopeOf(state) !== undefined;

/** Returns the scope that is being undone; undefined if none is. */
function scopeOf({ phase, ending, activities }: State): string | undefined {
  if (phase === 'closed') return undefined;
  if (ending) return rootPath;
  return Object.values(activities)
    .map((activity) => undoneScope(activity))
    .find((scope) => scope !== undefined);
}

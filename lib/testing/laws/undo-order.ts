import { isUndoPath, stepOfUndo, undonePath } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { isAt } from '#core/engine/undo-pages';
import type { StoredEntry } from '#roles/scheduler/instance';
import type { Law } from './law.ts';

/** Each undo reverses the newest effect that is not undone yet, or the newest of the scope that somebody has undone (S11, F-101). */
export const undoOrder = (): Law => ({
  name: 'undo order',
  atEnd: (history) =>
    history.sound.flatMap(({ orderId, journal }) => {
      const done: string[] = [];
      const wrong: string[] = [];
      const canBeUndone = new Set(
        journal.flatMap((fact) => (fact.type === 'StepRequested' && isUndoPath(fact.path) ? [undonePath(fact.path)] : [])),
      );
      /** Open activities, which may be undone early: a step with an effect for another input is undone before its next request. */
      const begun = new Set<string>();
      /** Paths whose undo has been requested and has not ended. */
      const undoing = new Set<string>();
      let scope: string = rootPath;
      for (const fact of journal) {
        scope = scopeAfter(fact, scope, undoing);
        if (fact.type === 'StepRequested' && isUndoPath(fact.path)) undoing.add(undonePath(fact.path));
        if (fact.type === 'ActivityClosed' && isUndoPath(fact.path)) undoing.delete(undonePath(fact.path));
        if (fact.type === 'ActivityStarted') begun.add(fact.path);
        if (fact.type !== 'ActivityClosed') continue;
        begun.delete(fact.path);
        // A later run of a retry passes a step that is already done, and the step keeps its place.
        if (fact.result === 'Succeeded' && canBeUndone.has(fact.path) && !done.includes(fact.path)) done.push(fact.path);
        const path = fact.result === 'Compensated' ? stepOfUndo(fact.path) : undefined;
        if (path === undefined || !done.includes(path)) continue;
        const newest = done.findLast((each) => isAt(each, scope));
        if (newest !== path && !begun.has(path)) wrong.push(`order ${orderId}: ${path} was undone before ${newest}, which was done later`);
        done.splice(done.lastIndexOf(path), 1);
      }
      return wrong;
    }),
});

/**
 * Returns the activity inside which an instruction or a rule undoes steps; the root again once the order requests a step or the
 * activity succeeds. A parallel branch may request steps too, so the activity stays the scope as long as an undo inside it lasts.
 */
function scopeAfter(fact: StoredEntry, scope: string, undoing: ReadonlySet<string>): string {
  if (fact.type === 'StepRequested' && !isUndoPath(fact.path)) return [...undoing].some((path) => isAt(path, scope)) ? scope : rootPath;
  if (fact.type === 'ActivityClosed' && fact.path === scope && fact.result === 'Succeeded') return rootPath;
  if (fact.type === 'RuleActed' && fact.action.kind === 'recover') return around(fact.action.path);
  if (fact.type !== 'InstructionGiven') return scope;
  const path = fact.after?.['path'];
  if (fact.kind === 'compensate' && typeof path === 'string') return path;
  if (fact.kind === 'recover' && typeof path === 'string') return around(path);
  return fact.kind === 'cancel' || fact.kind === 'compensate' || fact.kind === 'recover' ? rootPath : scope;
}

const around = (path: string = rootPath): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : path);

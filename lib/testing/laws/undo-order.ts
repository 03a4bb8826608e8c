import { definitionPath, isUndoPath, stepOfUndo, undonePath } from '#core/data/ids';
import { rootPath } from '#core/definition/definition';
import { type Program, relocated } from '#core/definition/program';
import { isAt } from '#core/engine/undo-pages';
import type { StoredEntry } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import type { Law } from './law.ts';

/**
 * Each undo reverses the newest effect in its scope that is not undone yet (S11, F-101). The scope is the innermost activity around the
 * effect that is still open, or that a `compensate` names. So a branch of a parallel may be undone while a later effect of another branch
 * stays. The undo of the whole order begins when all activities have closed.
 */
export const undoOrder = (): Law => ({
  name: 'undo order',
  atEnd: (history) => history.sound.flatMap(undoneTooEarly),
});

function undoneTooEarly({ orderId, journal, program }: Pick<Tracked, 'orderId' | 'journal' | 'program'>): readonly string[] {
  const canBeUndone = new Set(journal.flatMap(undoneBy));
  let done: readonly string[] = [];
  const wrong: string[] = [];
  const scopes = new Scopes(program);
  for (const fact of journal) {
    scopes.note(fact);
    if (fact.type !== 'ActivityClosed') continue;
    if (fact.result === 'Succeeded' && canBeUndone.has(fact.path)) done = withDone(done, fact.path);
    const path = fact.result === 'Compensated' ? stepOfUndo(fact.path) : undefined;
    if (path === undefined || !done.includes(path)) continue;
    const newest = done.findLast((each) => scopes.isInScopeOf(path, each));
    // An open step is undone early: its effect for another input is undone before its next request.
    if (newest !== path && !scopes.isOpen(path)) wrong.push(`order ${orderId}: ${path} was undone before ${newest}, which was done later`);
    done = done.filter((each) => each !== path);
  }
  return wrong;
}

/**
 * Adds an activity to those that are done, in place of its parts: its undo replaces their undos. If a later run of a retry closes an
 * activity that is done already, the activity keeps its place.
 */
function withDone(done: readonly string[], path: string): readonly string[] {
  const others = done.filter((each) => !isAt(each, path));
  return done.includes(path) && others.length === done.length - 1 ? done : [...others, path];
}

/** Returns the path of the step that a fact undoes, in a list. */
function undoneBy(fact: StoredEntry): readonly string[] {
  const isUndo = fact.type === 'StepRequested' || (fact.type === 'ActivityClosed' && fact.result === 'Compensated');
  return isUndo && isUndoPath(fact.path) ? [undonePath(fact.path)] : [];
}

/** The scopes in which an order may undo effects at one moment, from its journal. */
class Scopes {
  private readonly program: Program | undefined;
  /** Paths of the activities that have started and have not closed. */
  private readonly open = new Set<string>();
  /** Paths of the handlers that have started. */
  private readonly handlers = new Set<string>();
  /** The scopes that open activities `compensate` by name, by the path of the activity. */
  private readonly named = new Map<string, string>();

  constructor(program: Program | undefined) {
    this.program = program;
  }

  note(fact: StoredEntry): void {
    if (fact.type === 'FaultHandled') this.handlers.add(`${fact.path}/${fact.handler}`);
    if (fact.type === 'ActivityStarted') {
      this.open.add(fact.path);
      const scope = this.namedBy(fact.path);
      if (scope !== undefined) this.named.set(fact.path, scope);
    }
    if (fact.type !== 'ActivityClosed') return;
    this.open.delete(fact.path);
    this.named.delete(fact.path);
  }

  isOpen(path: string): boolean {
    return this.open.has(path);
  }

  /** Whether an effect is in the scope in which `path` is undone. The effects of a running handler are only in scopes inside of that handler. */
  isInScopeOf(path: string, effect: string): boolean {
    return (
      isAt(effect, this.scopeOf(path)) && ![...this.handlers].some((each) => this.isOpen(each) && isAt(effect, each) && !isAt(path, each))
    );
  }

  private scopeOf(path: string): string {
    const around = [...this.open, ...this.named.values()].filter((each) => isAt(path, each));
    return around.reduce((inner, each) => (each.length > inner.length ? each : inner), rootPath);
  }

  private namedBy(path: string): string | undefined {
    const nodes = this.program?.nodes;
    const node = nodes?.get(definitionPath(path));
    if (!nodes || node?.activity !== 'compensate' || node.scope === undefined) return undefined;
    const [found] = [...nodes].find(([, each]) => each.name === node.scope) ?? [];
    return found === undefined ? undefined : relocated(found, path);
  }
}

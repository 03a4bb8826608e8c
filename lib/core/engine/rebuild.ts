import type { Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State } from '#core/data/state';
import type { RemoteActivity } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { expressionsIn, nodeAt, type Program, scopeOf } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import { assumeRequested, type Losses } from './lost-facts.ts';
import { Replay } from './replay.ts';
import type { Subject } from './transition.ts';

export interface Remains {
  /** A state without open activities. Everything undoable is in its undo list. */
  readonly state: State;
  /** The obstacles to undoing everything, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Rebuilds a state from a journal, just far enough to undo the order. A step not known to be done, or known only with
 * secrets masked, counts as unknown. Before such a step is undone, its service is asked for the outcome under the step's idempotency key.
 */
export function rebuiltState(program: Program, subject: Subject, facts: readonly Fact[], losses: Losses): Remains {
  const replay = new Replay(program, subject);
  for (const fact of facts) replay.fact(fact);
  if (!losses.isWhole) assumeRequested(replay, losses);
  return { state: replay.state(losses.stepMs), problems: problemsOf(replay) };
}

/** Returns the obstacles to undoing everything that the journal tells of. */
function problemsOf(replay: Replay): readonly string[] {
  const withoutUndoInput = replay.entries.filter(({ input: undoInput }) => undoInput === undefined);
  return [
    ...new Set([
      ...replay.unclear,
      ...withoutUndoInput.flatMap(({ path, requestInput }) =>
        requestInput === undefined
          ? [`It cannot be confirmed whether ${path} was done: its input needs lost or secret data.`]
          : isUndoable(replay, path)
            ? []
            : [`If ${path} was done, it cannot be undone: its undo needs lost or secret data.`],
      ),
    ]),
  ];
}

/** Whether all values are known that the undo of this step reads, besides the step's own output. */
function isUndoable(replay: Replay, path: string): boolean {
  const { name, undo } = nodeAt(replay.program, path) as RemoteActivity;
  const known = scopeOf(replay.program, replay.subject, { outputs: replay.outputs, vars: replay.vars }, path);
  const isThere = (value: Json | undefined): boolean => value !== undefined && !JSON.stringify(value).includes(mask);
  return [...expressionsIn(undo?.input ?? null)].every(({ text }) => {
    const parsed = parseExpression(text);
    if (!parsed.ok) return false;
    const { steps, vars } = parsed.expression;
    const others = steps.filter((read) => read.name !== name);
    return others.every((read) => isThere(known.steps[read.name])) && vars.every((read) => isThere(replay.vars[read.name]));
  });
}

import { engineFault, engineFaults } from '#core/data/fault';
import { conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { limits } from '#core/definition/definition';
import { type Behavior, type Context, close, type Next, raise, run, succeeded, wait } from '#core/engine/behavior';

export interface While extends ActivityBase {
  readonly activity: 'while';
  /** The condition, which is evaluated before each turn. */
  readonly condition: Template;
  readonly do: Activity;
  /** The number of turns above which the loop faults; 1,000 by default. */
  readonly maxTurns?: number;
}

export interface WhileState {
  /** The number of the turn that runs, or whose condition could not be evaluated; from 0. */
  readonly turn: number;
  /**
   * The time at which the loop paused (milliseconds since 1970): one event starts at most `limits.portionMax` activities. A wake-up starts
   * the turn.
   */
  readonly rests?: number;
}

/** Repeats its activity while a condition holds (WF). */
export const whileLoop: Behavior<While, WhileState> = {
  children: (loop) => [loop.do],
  repeats: true,
  problems: ({ maxTurns }) =>
    maxTurns === undefined || (Number.isSafeInteger(maxTurns) && maxTurns >= 1)
      ? []
      : [`maxTurns is ${maxTurns}; it must be an integer of at least 1.`],
  templates: ({ condition }) => [condition],
  execute: (loop, context) => turn(loop, 0, context),
  // A failed condition leaves no child open, so the turn can be tried again.
  repeat: (loop, state, context) => turn(loop, state.turn, context),
  childClosed: (loop, state, _, context) => turn(loop, state.turn + 1, context),
  woken: (loop, state, context) => (state.rests === undefined ? undefined : turn(loop, state.turn, context)),
  wakeAt: ({ rests }) => rests,
};

function turn({ condition, do: body, maxTurns = limits.turnsMax }: While, number: number, context: Context): Next<WhileState> {
  const state = { turn: number };
  if (context.portion === 0) return wait({ ...state, rests: context.at });
  const evaluated = conditionOf(condition, context);
  if (!evaluated.ok) return raise(evaluated.fault, state);
  if (!evaluated.holds) return close(succeeded());
  if (number >= maxTurns)
    return raise(
      engineFault(engineFaults.tooManyTurns, `The loop has reached its limit of ${maxTurns} turns. Set maxTurns to allow more.`),
      state,
    );

  return run([{ name: body.name, index: number }], state);
}

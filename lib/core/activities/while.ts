import { engineFault, engineFaults } from '#core/data/fault';
import { conditionOf } from '#core/definition/condition';
import type { Activity, ActivityBase, Template } from '#core/definition/definition';
import { limits } from '#core/definition/definition';
import { type Behavior, type Context, close, type Next, raise, succeeded, wait } from '#core/engine/behavior';

export interface While extends ActivityBase {
  readonly activity: 'while';
  /** Evaluated before each turn. */
  readonly condition: Template;
  readonly do: Activity;
  /** More turns than this are a fault (1,000). */
  readonly maxTurns?: number;
}

export interface WhileState {
  /** The turn that runs, or whose condition is in doubt; from 0. */
  readonly turn: number;
  /** Since then it waits to be woken, to go on with this turn. */
  readonly rests?: number;
}

/** Repeats its activity while a condition holds (WF). */
export const whileLoop: Behavior<While, WhileState> = {
  children: (loop) => [loop.do],
  repeats: true,
  problems: ({ maxTurns }) =>
    maxTurns === undefined || (Number.isSafeInteger(maxTurns) && maxTurns >= 1)
      ? []
      : [`maxTurns is ${maxTurns}; it is a whole number from 1 up.`],
  templates: ({ condition }) => [condition],
  execute: (loop, context) => turn(loop, 0, context),
  // Nothing runs inside while its condition is in doubt.
  repeat: (loop, state, context) => turn(loop, state.turn, context),
  childClosed: (loop, state, _, context) => turn(loop, state.turn + 1, context),
  woken: (loop, state, context) => (state.rests === undefined ? undefined : turn(loop, state.turn, context)),
  wakeAt: ({ rests }) => rests,
};

function turn({ condition, do: body, maxTurns = limits.turnsMax }: While, number: number, context: Context): Next<WhileState> {
  const state = { turn: number };
  if (context.portion === 0) return wait({ ...state, rests: context.at });
  const goesOn = conditionOf(condition, context);
  if (!goesOn.ok) return raise(goesOn.fault, state);
  if (!goesOn.holds) return close(succeeded());
  if (number >= maxTurns)
    return raise(
      engineFault(
        engineFaults.tooManyTurns,
        `The loop has made ${maxTurns} turns, the most it may make. Set maxTurns if it may make more.`,
      ),
      state,
    );

  return { state, run: [{ name: body.name, index: number }] };
}
